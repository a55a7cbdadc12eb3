//! `expanded/NAME.rs`: all code that the macros make of a link, for a person who reviews a change.

use syn::{Attribute, Item, ItemTrait, parse_quote};

use super::{GenerateError, hash::fingerprint};
use crate::{
    args::LinkArgs,
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
    let mut items = Vec::new();
    declarations(&file.items, &mut items);
    let mut item = match items.as_slice() {
        [] => {
            return Err(GenerateError::NoTrait {
                file: trait_file.to_owned(),
            });
        }
        [one] => (*one).clone(),
        [_, second, ..] => {
            let error = syn::Error::new_spanned(
                &second.ident,
                "this is a second trait with #[riff_link]; give each link a file of its own",
            );
            return Err(refused(trait_file, error));
        }
    };
    check_attribute(spec, &item).map_err(|error| refused(trait_file, error))?;
    item.attrs.retain(|attr| !is_link(attr));
    let options = Options {
        facade: parse_quote!(::riff_link),
        track: None,
        sides: Sides::Both,
    };
    let expanded = expand(spec, &item, &options);
    if let Some(error) = expanded.faults {
        return Err(refused(trait_file, error));
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

/// The traits with `#[riff_link]`, also in a module of the file.
fn declarations<'a>(items: &'a [Item], found: &mut Vec<&'a ItemTrait>) {
    for item in items {
        match item {
            Item::Trait(item) if item.attrs.iter().any(is_link) => found.push(item),
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    declarations(items, found);
                }
            }
            _ => {}
        }
    }
}

/// Holds that the attribute names this file, as the compiler will read what it names.
fn check_attribute(spec: &Spec, item: &ItemTrait) -> syn::Result<()> {
    for attr in item.attrs.iter().filter(|attr| is_link(attr)) {
        let args: LinkArgs = attr.parse_args()?;
        let named = args.file.value();
        let name = |path: &str| path.rsplit(['/', '\\']).next().map(str::to_owned);
        if name(&named) != name(&spec.source.name) {
            return Err(syn::Error::new_spanned(
                &args.file,
                format!(
                    "the trait names this file, and {} is read",
                    spec.source.name
                ),
            ));
        }
    }
    Ok(())
}

/// The trait is refused, with the place of each fault.
fn refused(file: &str, error: syn::Error) -> GenerateError {
    GenerateError::Trait {
        file: file.to_owned(),
        messages: error.into_iter().map(|one| place(file, &one)).collect(),
    }
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
        let mut found = Vec::new();
        declarations(&file.items, &mut found);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].ident, "Demo");
    }
}
