//! `expanded/NAME.rs`: all code that the macros make of a link, for a person who reviews a change.

use syn::{Attribute, Item, ItemTrait, parse_quote};

use super::{GenerateError, hash::fingerprint};
use crate::{
    expand::{Options, Sides, expand},
    model::Spec,
};

/// The code of both sides, printed.
pub(super) fn code(
    spec: &Spec,
    file: &syn::File,
    trait_file: &str,
    command: &str,
) -> Result<String, GenerateError> {
    let mut item = declaration(&file.items).ok_or_else(|| GenerateError::NoTrait {
        file: trait_file.to_owned(),
    })?;
    item.attrs.retain(|attr| !is_link(attr));
    let options = Options {
        facade: parse_quote!(::riff_link),
        track: None,
        sides: Sides::Both,
    };
    let expanded = expand(spec, &item, &options);
    if let Some(error) = expanded.faults {
        return Err(GenerateError::Trait {
            file: trait_file.to_owned(),
            messages: error
                .into_iter()
                .map(|one| place(trait_file, &one))
                .collect(),
        });
    }
    // What the macros make is Rust; the error is there so that nothing here can panic.
    let printed = syn::parse2(expanded.code)
        .map(|file| prettyplease::unparse(&file))
        .map_err(|error| GenerateError::Trait {
            file: trait_file.to_owned(),
            messages: vec![error.to_string()],
        })?;
    Ok(format!(
        "// Made by riff-link {} of {}, fingerprint {}. Do not edit.\n\
         // Made again by: {command}\n\n{printed}",
        env!("CARGO_PKG_VERSION"),
        spec.source.name,
        fingerprint(&spec.source.text),
    ))
}

/// The first trait with `#[riff_link]`, also in a module of the file.
fn declaration(items: &[Item]) -> Option<ItemTrait> {
    items.iter().find_map(|item| match item {
        Item::Trait(item) if item.attrs.iter().any(is_link) => Some(item.clone()),
        Item::Mod(module) => declaration(&module.content.as_ref()?.1),
        _ => None,
    })
}

fn is_link(attr: &Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|last| last.ident == "riff_link")
}

/// An error with its place in the trait's file.
fn place(file: &str, error: &syn::Error) -> String {
    let start = error.span().start();
    let text = error.to_string();
    format!("{file}:{}:{}: {text}", start.line, start.column + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trait_is_found_in_a_module() {
        let file: syn::File = parse_quote! {
            pub trait Other {}
            mod inner {
                #[riff_link::riff_link("link.toml")]
                pub trait Demo {}
            }
        };
        assert!(declaration(&file.items).is_some_and(|item| item.ident == "Demo"));
    }
}
