//! The client: `…Api`, its methods, and `…Calls`, the trait that generic code names.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Type, spanned::Spanned as _};

use crate::{
    declared::Method,
    fitted::{Carrier, Fitted},
    model::{Kind, Spec},
    render::{Names, method_docs, reply},
};

/// The client half of the expansion.
pub(crate) fn client(
    spec: &Spec,
    names: &Names,
    vis: &syn::Visibility,
    fitted: &[Fitted<'_>],
    rest: &[Method<'_>],
) -> TokenStream {
    let Names {
        facade,
        api,
        calls,
        service,
        declared,
        ..
    } = names;
    let methods = fitted.iter().map(|one| {
        let (docs, sig, body) = (
            method_docs(spec, one),
            sig(names, one),
            body(names, fitted, one),
        );
        quote!(#docs #vis #sig { #body })
    });
    let signatures = fitted.iter().map(|one| {
        let (docs, sig) = (method_docs(spec, one), sig(names, one));
        quote!(#docs #sig;)
    });
    let forwards = fitted.iter().map(|one| {
        let (sig, name) = (sig(names, one), one.name);
        let args = args(one).map(|(name, _)| name);
        quote!(#sig { #api::#name(self #(, #args)*) })
    });
    let stubs = rest.iter().map(|method| stub(spec, names, vis, method));
    let checks = fitted
        .iter()
        .filter_map(|one| catch_up_check(names, fitted, one));
    let api_doc = format!(
        "The typed client of [`{declared}`]: one method for each route of {}.\n\nIt is cheap to \
         clone, and each clone uses the same link.",
        spec.source.name
    );
    let calls_doc = format!(
        "The calls of [`{declared}`], for code that is generic over its client. [`{api}`] \
         implements it; it can be a trait object."
    );
    quote! {
        #[doc = #api_doc]
        #[derive(Clone, Debug)]
        #vis struct #api {
            api: #facade::client::Api,
        }

        impl #api {
            /// A client of the server at `base`, with the limits of link.toml.
            ///
            /// All clients of one server and the same limits share one link in a process.
            ///
            /// # Errors
            ///
            /// When `base` is no URL that the link can call.
            #vis fn open(
                base: &str,
                credentials: #facade::client::Credentials,
            ) -> ::core::result::Result<Self, #facade::client::InvalidBase> {
                let link = #facade::client::link::with(base, #service.limits)?;
                ::core::result::Result::Ok(Self::new(link, credentials))
            }

            /// A client over a link that the caller chose, with the limits of that link:
            /// those of link.toml hold for [`open`](Self::open) only.
            #vis fn new(
                link: #facade::client::Link,
                credentials: #facade::client::Credentials,
            ) -> Self {
                Self { api: #facade::client::Api::new(link, credentials, &#service) }
            }

            /// The same client, whose commands stand in an outbox until they have a reply, as far
            /// as link.toml says so. What earlier processes of the same caller have left in it is
            /// sent from now on.
            #[must_use]
            #vis fn with_outbox(self, outbox: &#facade::client::Outbox) -> Self {
                Self { api: self.api.with_outbox(outbox) }
            }

            /// The link that all its calls go over.
            #vis fn link(&self) -> &#facade::client::Link {
                self.api.link()
            }

            #(#methods)*
            #(#stubs)*
        }

        /// What is below the typed client: it asks what became of a call.
        impl ::core::convert::AsRef<#facade::client::Api> for #api {
            fn as_ref(&self) -> &#facade::client::Api {
                &self.api
            }
        }

        #[doc = #calls_doc]
        #vis trait #calls: ::core::marker::Send + ::core::marker::Sync {
            #(#signatures)*
        }

        impl #calls for #api {
            #(#forwards)*
        }

        #(#checks)*
    }
}

/// A method that stands in for one with a fault, so that its callers have none.
fn stub(spec: &Spec, names: &Names, vis: &syn::Visibility, method: &Method<'_>) -> TokenStream {
    let name = method.name;
    let route = spec.route(&name.to_string());
    let kind = route.map_or(Kind::Query, |route| route.kind);
    let params = method.params.iter().map(|param| {
        let (name, ty) = (param.name, param.ty);
        quote!(#name: &#ty)
    });
    let reply = method.reply.map_or_else(|| quote!(()), |ty| quote!(#ty));
    let call = call_type(names, kind, &reply);
    quote! {
        #[doc = "It has a fault."]
        #[allow(unused_variables, reason = "it stands in for a method with a fault")]
        #vis fn #name(&self #(, #params)*) -> #call {
            ::core::unreachable!()
        }
    }
}

/// What a method of this kind gives.
fn call_type(names: &Names, kind: Kind, reply: &TokenStream) -> TokenStream {
    let facade = &names.facade;
    match kind {
        Kind::Query | Kind::Signal => quote!(#facade::client::Call<#reply>),
        Kind::Command => quote!(#facade::client::CommandCall<#reply>),
        Kind::Stream => quote!(#facade::client::EventStream<#reply>),
    }
}

fn args<'a>(one: &'a Fitted<'_>) -> impl Iterator<Item = (&'a syn::Ident, &'a Type)> {
    let input = one.input.iter().map(|input| (input.name, input.ty));
    one.path
        .iter()
        .map(|param| (param.name, param.ty))
        .chain(input)
}

fn sig(names: &Names, one: &Fitted<'_>) -> TokenStream {
    let name = one.name;
    let args = args(one).map(|(name, ty)| quote!(#name: &#ty));
    let call = call_type(names, one.route.kind, &reply(one));
    quote!(fn #name(&self #(, #args)*) -> #call)
}

fn body(names: &Names, fitted: &[Fitted<'_>], one: &Fitted<'_>) -> TokenStream {
    let request = request(names, one);
    let input = one.input.as_ref().map(|input| {
        let name = input.name;
        match input.carrier {
            Carrier::Query => quote!(.query(#name)),
            Carrier::Body => quote!(.body(#name)),
        }
    });
    let end = match one.route.kind {
        Kind::Query | Kind::Signal => quote!(.call()),
        Kind::Command => quote!(.command()),
        Kind::Stream => {
            let resumed =
                cursor(names, one)
                    .zip(catch_up(fitted, one))
                    .map(|(cursor, catch_up)| {
                        let catch_up = self::request(names, catch_up);
                        quote!(.ordered(#cursor, #catch_up))
                    });
            quote!(.stream() #resumed)
        }
    };
    quote!(#request #input #end)
}

fn request(names: &Names, one: &Fitted<'_>) -> TokenStream {
    let (service, index) = (&names.service, one.index);
    let path = one.path.iter().map(|param| {
        let (name, text) = (param.name, param.name.to_string());
        quote!(.path(#text, #name))
    });
    quote!(self.api.request(&#service.routes[#index]) #(#path)*)
}

/// The closure that reads the cursor of an event. A fault of it stands on the event's type.
pub(crate) fn cursor(names: &Names, one: &Fitted<'_>) -> Option<TokenStream> {
    let (facade, event) = (&names.facade, one.reply?);
    let field = syn::Ident::new(&one.route.cursor.as_ref()?.value, event.span());
    Some(quote_spanned!(event.span()=>
        |event: &#event| #facade::Cursor::cursor(&event.#field)
    ))
}

fn catch_up<'a, 'b>(fitted: &'a [Fitted<'b>], one: &Fitted<'_>) -> Option<&'a Fitted<'b>> {
    let wanted = &one.route.catch_up.as_ref()?.value;
    fitted
        .iter()
        .find(|other| other.route.name.value == *wanted)
}

/// Holds that the query of `catch_up` is asked with `After` and answers with a `Page` of the
/// stream's events. A fault of it stands on the user's type.
fn catch_up_check(names: &Names, fitted: &[Fitted<'_>], one: &Fitted<'_>) -> Option<TokenStream> {
    let facade = &names.facade;
    let (event, query) = (one.reply?, catch_up(fitted, one)?);
    let asked = query.input.as_ref().map(|input| {
        let ty = input.ty;
        quote_spanned!(ty.span()=> const _: fn(#ty) -> #facade::After = |query| query;)
    });
    let given = query.reply.map(
        |ty| quote_spanned!(ty.span()=> const _: fn(#ty) -> #facade::Page<#event> = |page| page;),
    );
    Some(quote!(#asked #given))
}
