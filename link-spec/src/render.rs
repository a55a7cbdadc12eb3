//! The Rust code that is made of link.toml and its trait. One module a part:
//!
//! | module | what it makes |
//! |---|---|
//! | [`service`] | the static table of names, limits and routes |
//! | [`client`] | `…Api` and `…Calls` |
//! | [`server`] | `…Handlers`, `…Server`, and the table that `#[riff_handlers]` reads |
//! | [`docs`] | what a generated method says of itself |

pub(crate) mod client;
pub(crate) mod docs;
pub(crate) mod server;
pub(crate) mod service;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Path, ext::IdentExt as _};

use crate::{fitted::Fitted, model::Spec};

/// The names of what is made of one trait.
pub(crate) struct Names {
    /// The trait itself, with the user's span: where "go to definition" leads.
    pub(crate) declared: Ident,
    pub(crate) service: Ident,
    pub(crate) api: Ident,
    pub(crate) calls: Ident,
    pub(crate) handlers: Ident,
    pub(crate) server: Ident,
    /// What the hidden names of its types begin with.
    pub(crate) alias: String,
    pub(crate) sealed: Ident,
    pub(crate) table: Ident,
    /// The facade crate.
    pub(crate) facade: Path,
}

impl Names {
    pub(crate) fn new(declared: &Ident, facade: Path) -> Self {
        let declared = declared.unraw();
        let snake = snake(&declared.to_string());
        Self {
            service: Ident::new(&snake.to_uppercase(), declared.span()),
            api: format_ident!("{declared}Api"),
            calls: format_ident!("{declared}Calls"),
            handlers: format_ident!("{declared}Handlers"),
            server: format_ident!("{declared}Server"),
            alias: format!("__{snake}"),
            sealed: Ident::new(&format!("__{snake}_sealed"), Span::call_site()),
            table: Ident::new(&format!("__{snake}_handlers"), Span::call_site()),
            declared,
            facade,
        }
    }
}

fn snake(camel: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in camel.char_indices() {
        if letter.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// The reply of a method; without an arrow it is `()`.
pub(crate) fn reply(one: &Fitted<'_>) -> TokenStream {
    one.reply.map_or_else(|| quote!(()), |ty| quote!(#ty))
}

/// The user's own docs, then what the route says of itself.
pub(crate) fn method_docs(spec: &Spec, one: &Fitted<'_>) -> TokenStream {
    let (user, paragraph) = (&one.docs, docs::paragraph(spec, one));
    let gap = (!user.is_empty()).then(|| quote!(#[doc = ""]));
    quote!(#(#user)* #gap #[doc = #paragraph])
}
