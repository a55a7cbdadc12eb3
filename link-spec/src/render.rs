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

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::Path;

/// The names of what is made of one trait.
pub(crate) struct Names {
    /// The trait itself, with the user's span: where "go to definition" leads.
    pub(crate) declared: Ident,
    pub(crate) service: Ident,
    pub(crate) api: Ident,
    pub(crate) calls: Ident,
    pub(crate) handlers: Ident,
    pub(crate) server: Ident,
    pub(crate) shapes: Ident,
    pub(crate) sealed: Ident,
    pub(crate) table: Ident,
    /// The facade crate.
    pub(crate) facade: Path,
}

impl Names {
    pub(crate) fn new(declared: &Ident, facade: Path) -> Self {
        let snake = snake(&declared.to_string());
        Self {
            service: Ident::new(&snake.to_uppercase(), declared.span()),
            api: format_ident!("{declared}Api"),
            calls: format_ident!("{declared}Calls"),
            handlers: format_ident!("{declared}Handlers"),
            server: format_ident!("{declared}Server"),
            shapes: Ident::new(&format!("__{snake}_shapes"), Span::call_site()),
            sealed: Ident::new(&format!("__{snake}_sealed"), Span::call_site()),
            table: Ident::new(&format!("__{snake}_handlers"), Span::call_site()),
            declared: declared.clone(),
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
