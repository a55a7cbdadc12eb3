//! The server: `…Handlers`, `…Server`, and the table that `#[riff_handlers]` reads.

use proc_macro2::{Literal, Punct, Spacing, TokenStream};
use quote::{format_ident, quote};
use syn::Ident;

use crate::{
    fitted::{Carrier, Fitted},
    model::{Kind, Spec},
    render::{Names, client, method_docs, reply},
};

/// The server half of the expansion.
pub(crate) fn server(
    spec: &Spec,
    names: &Names,
    vis: &syn::Visibility,
    fitted: &[Fitted<'_>],
) -> TokenStream {
    let Names {
        facade,
        handlers,
        server,
        service,
        declared,
        ..
    } = names;
    let methods = fitted.iter().map(|one| {
        let (docs, sig) = (method_docs(spec, one), handler_sig(names, one));
        quote! {
            #docs
            ///
            /// # Errors
            ///
            /// A refusal, when the answer is no.
            #sig;
        }
    });
    let runs = fitted.iter().map(|one| run(names, one));
    let handlers_doc = format!(
        "What the server of [`{declared}`] does: one handler for each route of {}.\n\nHandlers \
         read and decide. They change nothing, do no I/O and read no clock but `cx.now()`.",
        spec.source.name
    );
    let server_doc = format!("Makes the server of [`{declared}`] from an engine.");
    quote! {
        #[doc = #handlers_doc]
        #[diagnostic::on_unimplemented(
            message = "`{Self}` does not handle the routes of this link",
            label = "has no handlers",
            note = "write `#[riff_handlers] impl … for {Self}`, with one method for each route"
        )]
        #vis trait #handlers: #facade::server::State {
            #(#methods)*
        }

        #[doc = #server_doc]
        #[derive(Debug)]
        #vis enum #server {}

        impl #server {
            /// The server of this engine, without authentication yet.
            #[allow(clippy::new_ret_no_self, reason = "the one server type is generic over all links")]
            #vis fn new<__State: #handlers>(
                engine: #facade::server::Engine<__State>,
            ) -> #facade::server::Server<__State> {
                #facade::server::Server::new(&#service, engine, ::std::vec![#(#runs),*])
            }
        }
    }
}

/// The types of a handler, in the order of its signature: path, input, reply.
fn types(one: &Fitted<'_>) -> Vec<TokenStream> {
    let path = one.path.iter().map(|param| param.ty);
    let input = one.input.iter().map(|input| input.ty);
    let mut types: Vec<TokenStream> = path.chain(input).map(|ty| quote!(#ty)).collect();
    types.push(reply(one));
    types
}

/// The parameters of a handler behind `cx`, and its result, with these types in the order of
/// [`types`].
fn shape(names: &Names, one: &Fitted<'_>, types: &[TokenStream]) -> (TokenStream, TokenStream) {
    let facade = &names.facade;
    let params = one.path.iter().map(|param| param.name);
    let params = params.chain(one.input.iter().map(|input| input.name));
    let params = params.zip(types).map(|(name, ty)| quote!(, #name: #ty));
    let reply = types.last();
    let success = match one.route.kind {
        Kind::Query | Kind::Signal => quote!(#reply),
        Kind::Command => quote!(
            #facade::server::Accepted<<Self as #facade::server::State>::Change, #reply>
        ),
        Kind::Stream => quote!(
            #facade::server::Events<<Self as #facade::server::State>::Change, #reply>
        ),
    };
    (
        quote!(#(#params)*),
        quote!(::core::result::Result<#success, #facade::server::Refusal>),
    )
}

fn handler_sig(names: &Names, one: &Fitted<'_>) -> TokenStream {
    let (facade, name) = (&names.facade, one.name);
    let (params, result) = shape(names, one, &types(one));
    quote!(fn #name(&self, cx: &#facade::server::Cx<'_> #params) -> #result)
}

/// The entry of the route in the table of `Server::new`: decode, ask the handler, encode.
fn run(names: &Names, one: &Fitted<'_>) -> TokenStream {
    let Names {
        facade,
        handlers,
        service,
        ..
    } = names;
    let (index, name) = (one.index, one.name);
    let reads = one.path.iter().map(|param| {
        let (name, ty, text) = (param.name, param.ty, param.name.to_string());
        quote!(let #name = input.path::<#ty>(#text)?;)
    });
    let read_input = one.input.as_ref().map(|input| {
        let (name, ty) = (input.name, input.ty);
        match input.carrier {
            Carrier::Query => quote!(let #name = input.query::<#ty>()?;),
            Carrier::Body => quote!(let #name = input.body::<#ty>()?;),
        }
    });
    let args = one
        .path
        .iter()
        .map(|param| param.name)
        .chain(one.input.iter().map(|i| i.name));
    let ask = quote!(#handlers::#name(state, cx #(, #args)*));
    let end = match one.route.kind {
        Kind::Query => quote!(#facade::server::reply(#ask)),
        Kind::Signal => {
            // The handler takes the body; what is kept of it is read once more.
            let kept = one.input.as_ref().map_or_else(
                || quote!(()),
                |input| {
                    let ty = input.ty;
                    quote!(input.body::<#ty>()?)
                },
            );
            quote!(#facade::server::heard(#ask, #kept))
        }
        Kind::Command => quote!(#facade::server::decision(#ask)),
        Kind::Stream => {
            let cursor = client::cursor(names, one).map_or_else(
                || quote!(::core::option::Option::None),
                |cursor| quote!(::core::option::Option::Some(#cursor)),
            );
            quote!(#facade::server::projection(#ask, #cursor))
        }
    };
    let door = format_ident!("{}", one.route.kind.as_str());
    quote! {
        #facade::server::Handler::#door(
            &#service.routes[#index],
            |state: &__State, cx, input| {
                #(#reads)*
                #read_input
                #end
            },
        )
    }
}

/// The hidden `macro_rules!` through which `#[riff_handlers]`, in whatever crate, learns what the
/// handlers are, and the aliases through which it can name their types.
///
/// `$crate` stands for the crate of the trait, so the aliases are found when the trait lies in
/// the root of its crate; elsewhere only the stubs after a fault do not resolve.
///
/// `whole` says that the link has no fault. Otherwise a handler without a row is no fault of the
/// impl: its route may be the one at fault.
pub(crate) fn handlers_table(
    spec: &Spec,
    names: &Names,
    vis: &syn::Visibility,
    fitted: &[Fitted<'_>],
    whole: bool,
) -> TokenStream {
    let Names {
        facade,
        handlers,
        table,
        ..
    } = names;
    let dollar = Punct::new('$', Spacing::Alone);
    let alias = |one: &Fitted<'_>, n: usize| format_ident!("{}_{}_{n}", names.alias, one.index);
    let aliases = fitted.iter().flat_map(|one| {
        let types = types(one).into_iter().enumerate();
        types.map(|(n, ty)| {
            let alias = alias(one, n);
            quote! {
                #[doc(hidden)]
                #[allow(non_camel_case_types, reason = "a name for a macro")]
                #vis type #alias = #ty;
            }
        })
    });
    let rows = fitted.iter().map(|one| {
        let name = Ident::new(&one.name.to_string(), proc_macro2::Span::call_site());
        let aliases: Vec<TokenStream> = (0..types(one).len())
            .map(|n| alias(one, n))
            .map(|alias| quote!(#dollar crate::#alias))
            .collect();
        let (params, result) = shape(names, one, &aliases);
        let text = signature_text(one);
        let place = format!("{}:{}", spec.source.name, spec.line_of(one.route));
        let count = Literal::usize_unsuffixed(one.path.len() + usize::from(one.input.is_some()));
        let kind = one.route.kind.as_str();
        quote!([#name #kind #place #text #count { fn #name(&self, cx: &#facade::server::Cx<'_> #params) -> #result }])
    });
    let whole = if whole { quote!(whole) } else { quote!(faulty) };
    quote! {
        #(#aliases)*

        #[doc(hidden)]
        #[macro_export]
        macro_rules! #table {
            (#dollar(#dollar item:tt)*) => {
                #facade::__handlers! {
                    #whole #handlers { #(#rows)* } { #dollar(#dollar item)* }
                }
            };
        }

        #[doc(hidden)]
        #vis use #table as #handlers;
    }
}

/// The signature as a person would write it.
fn signature_text(one: &Fitted<'_>) -> String {
    let text = |tokens: TokenStream| {
        tokens
            .to_string()
            .replace(" < ", "<")
            .replace(" > ", ">")
            .replace(" >", ">")
            .replace(" :: ", "::")
    };
    let params: Vec<String> = one
        .path
        .iter()
        .map(|param| (param.name, param.ty))
        .chain(one.input.iter().map(|input| (input.name, input.ty)))
        .map(|(name, ty)| format!(", {name}: {}", text(quote!(#ty))))
        .collect();
    let params = params.concat();
    let reply = text(reply(one));
    let success = match one.route.kind {
        Kind::Query | Kind::Signal => reply,
        Kind::Command => format!("Accepted<Self::Change, {reply}>"),
        Kind::Stream => format!("Events<Self::Change, {reply}>"),
    };
    format!(
        "fn {}(&self, cx: &Cx<'_>{params}) -> Result<{success}, Refusal>",
        one.name
    )
}
