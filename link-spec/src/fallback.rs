//! What a link leaves behind when its link.toml cannot be used: enough that the rest of the user's
//! code compiles, so that one mistake gives one error.

use std::fmt::Write as _;

use proc_macro2::{Punct, Spacing, TokenStream};
use quote::quote;
use syn::{ItemTrait, Path};

use crate::{
    declared::{Declared, Method},
    expand::declaration,
    faults::Faults,
    fitted::fit,
    model::Spec,
    render::{Names, client, service},
};

/// The trait, and stand-ins for all that would be made of it. They are compiled and never run: an
/// error stands beside them.
///
/// All routes are taken for queries, as their kinds are not known. The impl of the handlers is left
/// out, since what they should answer is not known either.
pub fn fallback(item: &ItemTrait, facade: &Path) -> TokenStream {
    // The trait's own faults are told when link.toml can be read.
    let mut unheard = Faults::default();
    let declared = Declared::read(item, &mut unheard);
    let Some(spec) = made_up(&declared.methods) else {
        return quote!(#item);
    };
    let vis = declared.vis;
    let names = Names::new(declared.name, facade.clone());
    let (fitted, rest) = fit(&spec, declared, &mut unheard);
    let declaration = declaration(&names, item);
    let service = service::table(&spec, &names, vis);
    let client = client::client(&spec, &names, vis, &fitted, &rest);
    let Names {
        handlers,
        server,
        table,
        ..
    } = &names;
    let dollar = Punct::new('$', Spacing::Alone);
    quote! {
        #declaration
        #service
        #facade::__client! { #client }
        #facade::__server! {
            #[doc(hidden)]
            #[allow(missing_docs, reason = "it stands in for one that could not be made")]
            #vis trait #handlers: #facade::server::State {}

            #[doc(hidden)]
            #[allow(missing_docs, reason = "it stands in for one that could not be made")]
            #vis enum #server {}

            #[allow(missing_docs, clippy::new_ret_no_self, reason = "it stands in for another")]
            impl #server {
                #vis fn new<__State: #facade::server::State>(
                    _: #facade::server::Engine<__State>,
                ) -> #facade::server::Server<__State> {
                    ::core::unreachable!()
                }
            }

            #[doc(hidden)]
            #[macro_export]
            macro_rules! #table {
                (#dollar(#dollar item:tt)*) => {};
            }

            #[doc(hidden)]
            #[allow(unused_imports, reason = "there may be no handlers yet")]
            #vis use #table as #handlers;
        }
    }
}

/// A file that fits these methods. None when no file can, as with a method called `new`.
fn made_up(methods: &[Method<'_>]) -> Option<Spec> {
    let mut text =
        "[link]\nname = \"faulty\"\nline = \"0.0\"\n\n[budgets]\nshort = \"60s\"\n".to_owned();
    for (n, method) in methods.iter().enumerate() {
        let names = || method.params.iter().map(|param| param.name.to_string());
        let verb = if names().any(|name| name == "body") {
            "POST"
        } else {
            "GET"
        };
        let path: Vec<String> = names()
            .filter(|name| name != "body" && name != "query")
            .map(|name| format!("/{{{name}}}"))
            .collect();
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n[routes.{}]\nkind = \"query\"\npath = \"{verb} /{n}{}\"\nbudget = \"short\"\n",
            method.name,
            path.concat()
        );
    }
    crate::parse(&text, "link.toml").ok()
}
