//! From an attribute to the code: find and read link.toml, then hand all to `link-spec`.

use link_spec::{LinkArgs, Options, Sides};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Error, ItemTrait};

use crate::find;

pub(crate) fn riff_link(args: TokenStream, item: TokenStream) -> TokenStream {
    let parsed: ItemTrait = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => return with_errors(item, &error),
    };
    let args: LinkArgs = match syn::parse2(args) {
        Ok(args) => args,
        Err(error) => {
            let facade = syn::parse_quote!(::riff_link);
            return with_errors(link_spec::fallback(&parsed, &facade), &error);
        }
    };
    let name = args.file.value();
    let source_file = proc_macro::Span::call_site().local_file();
    let (path, text) = match find::read(&name, source_file) {
        Ok(found) => found,
        Err(missing) => {
            let fallback = link_spec::fallback(&parsed, &args.facade);
            return with_errors(fallback, &Error::new_spanned(&args.file, missing));
        }
    };
    let spec = match link_spec::parse(&text, &name) {
        Ok(spec) => spec,
        Err(report) => {
            let path = path.to_string_lossy();
            // The next try must read the file again, although this one made nothing of it.
            let track = quote!(
                const _: &[u8] = ::core::include_bytes!(#path);
            );
            let fallback = link_spec::fallback(&parsed, &args.facade);
            return with_errors(quote!(#fallback #track), &of_report(&args, &report));
        }
    };
    let options = Options {
        facade: args.facade,
        track: Some(path),
        sides: Sides::AsBuilt,
    };
    let expanded = link_spec::expand(&spec, &parsed, &options);
    match expanded.faults {
        None => expanded.code,
        Some(error) => with_errors(expanded.code, &error),
    }
}

pub(crate) fn riff_handlers(args: TokenStream, item: TokenStream) -> TokenStream {
    if args.is_empty() {
        link_spec::hand_over(item)
    } else {
        let error = Error::new_spanned(
            args,
            "#[riff_handlers] takes nothing: the routes come with the trait of the impl",
        );
        with_errors(item, &error)
    }
}

/// One error for each problem of link.toml, on the argument that names the file: a span cannot
/// point into another file on stable Rust, so the text shows the place.
fn of_report(args: &LinkArgs, report: &link_spec::Report) -> Error {
    let mut errors = report
        .problems()
        .iter()
        .map(|problem| Error::new_spanned(&args.file, report.render(problem)));
    let first = errors
        .next()
        .unwrap_or_else(|| Error::new_spanned(&args.file, "link.toml has a fault without a text"));
    errors.fold(first, |mut all, error| {
        all.combine(error);
        all
    })
}

/// The user's item stays, so that completion and the rest of the file keep working.
fn with_errors(item: impl ToTokens, error: &Error) -> TokenStream {
    let errors = error.to_compile_error();
    quote!(#item #errors)
}
