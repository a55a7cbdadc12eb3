//! From link.toml and a trait to the code of both sides.

use std::path::PathBuf;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemTrait, Path};

use crate::{
    declared::Declared,
    faults::Faults,
    fitted::{Fitted, fit},
    model::Spec,
    render::{Names, client, server, service},
};

/// How the code is made.
#[derive(Clone)]
pub struct Options {
    /// The crate that the code names: `::riff_link`, or what it was renamed to.
    pub facade: Path,
    /// The absolute path of link.toml, so that an edit of it compiles the crate again. None for
    /// text that is kept.
    pub track: Option<PathBuf>,
    /// Whether each side stands in the pass-through macro of the facade, which leaves it out when
    /// the facade is built without it.
    pub sides: Sides,
}

/// Whether the facade decides which sides there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// It does: what the macros make.
    AsBuilt,
    /// Both are there: what is kept for a review.
    Both,
}

/// What was made, and what was wrong.
///
/// After a fault the code is still there, without the routes at fault, so that one mistake gives
/// one error.
#[derive(Debug)]
pub struct Expanded {
    /// The trait and all that was made of it.
    pub code: TokenStream,
    /// All faults of the trait, each on its token.
    pub faults: Option<Error>,
}

/// Makes the code of one link.
pub fn expand(spec: &Spec, item: &ItemTrait, options: &Options) -> Expanded {
    let mut faults = Faults::default();
    let declared = Declared::read(item, &mut faults);
    let vis = declared.vis;
    let names = Names::new(declared.name, options.facade.clone());
    let (fitted, rest) = fit(spec, declared, &mut faults);
    let track = options.track.as_ref().map(|path| track(path));
    let declaration = declaration(&names, item);
    let service = service::table(spec, &names, vis);
    let client = client::client(spec, &names, vis, &fitted, &rest);
    let server = server_side(spec, &names, vis, &fitted, faults.is_empty());
    let facade = &names.facade;
    let sides = match options.sides {
        Sides::Both => quote!(#client #server),
        Sides::AsBuilt => quote! {
            #facade::__client! { #client }
            #facade::__server! { #server }
        },
    };
    Expanded {
        code: quote!(#track #declaration #service #sides),
        faults: faults.into_error(),
    }
}

fn server_side(
    spec: &Spec,
    names: &Names,
    vis: &syn::Visibility,
    fitted: &[Fitted<'_>],
    whole: bool,
) -> TokenStream {
    let server = server::server(spec, names, vis, fitted);
    let table = server::handlers_table(spec, names, vis, fitted, whole);
    quote!(#server #table)
}

/// The trait as the user wrote it, but sealed: it declares, and nobody implements it.
pub(crate) fn declaration(names: &Names, item: &ItemTrait) -> TokenStream {
    let Names { sealed, .. } = names;
    let ItemTrait {
        attrs,
        vis,
        unsafety,
        trait_token,
        ident,
        generics,
        items,
        ..
    } = item;
    quote! {
        #[doc(hidden)]
        #[allow(missing_docs, unused, reason = "it exists so that nobody can implement the trait")]
        mod #sealed {
            pub trait Sealed {}
        }

        #(#attrs)*
        #[allow(dead_code, private_bounds, reason = "it declares the wire; nothing calls it")]
        #vis #unsafety #trait_token #ident #generics: #sealed::Sealed {
            #(#items)*
        }
    }
}

/// Makes Cargo compile the crate again when link.toml changes, or another one is chosen.
fn track(path: &std::path::Path) -> TokenStream {
    let path = path.to_string_lossy();
    quote! {
        const _: &[u8] = ::core::include_bytes!(#path);
        const _: ::core::option::Option<&str> = ::core::option_env!("LINK_TOML");
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Span, TokenTree};
    use syn::parse_quote;

    use super::*;

    const SPEC: &str = "\
[link]
name = \"demo\"
line = \"1.0\"

[budgets]
short = \"60s\"

[routes.who]
kind = \"query\"
path = \"GET /v1/who\"
budget = \"short\"
";

    const TRAIT: &str = "\
pub trait Demo {
    /// Who is there.
    #[riff_route]
    fn who(query: Who) -> WhoReply;
}
";

    fn expanded() -> TokenStream {
        let spec = crate::parse(SPEC, "link.toml").unwrap();
        let item: ItemTrait = syn::parse_str(TRAIT).unwrap();
        let options = Options {
            facade: parse_quote!(::riff_link),
            track: None,
            sides: Sides::Both,
        };
        let Expanded { code, faults } = expand(&spec, &item, &options);
        assert!(faults.is_none());
        code
    }

    /// The spans of all identifiers with this name.
    fn spans(tokens: TokenStream, name: &str, found: &mut Vec<Span>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => spans(group.stream(), name, found),
                TokenTree::Ident(ident) if ident == name => found.push(ident.span()),
                _ => {}
            }
        }
    }

    #[test]
    fn each_generated_method_has_the_span_of_the_users_method() {
        let mut found = Vec::new();
        spans(expanded(), "who", &mut found);
        let own = found
            .iter()
            .filter(|span| (span.start().line, span.start().column) == (4, 7));
        // The trait, the client's method, its trait and impl, the handlers' trait and their call.
        assert!(own.count() >= 6, "{found:?}");
    }

    #[test]
    fn a_generated_method_says_kind_budget_retry_and_line() {
        let code = expanded().to_string();
        let wanted = [
            "Who is there.",
            "`GET /v1/who`: a query with the budget `short` (60s).",
            "It changes nothing, so it is sent again within its budget.",
            "Declared at link.toml:8.",
        ];
        for text in wanted {
            assert!(code.contains(text), "{text}\n{code}");
        }
    }
}
