//! `#[riff_handlers]`: holds an impl against the table of its link, and says what is missing.
//!
//! The attribute cannot read link.toml, since the server may be another crate than the link. It
//! calls the hidden macro that has the name of the handlers' trait, which adds the table and
//! comes back here.

use std::fmt::Write as _;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    FnArg, ImplItem, ImplItemFn, ItemImpl, LitInt, LitStr, braced, bracketed,
    parse::{Parse, ParseStream},
};

use crate::{
    declared::{check_mark, is_route_mark},
    distance::closest,
    faults::Faults,
};

/// What `#[riff_handlers]` becomes: a call of the hidden macro of the impl's trait.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape of an attribute macro, which is given its tokens"
)]
pub fn hand_over(item: TokenStream) -> TokenStream {
    let parsed: ItemImpl = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = error.to_compile_error();
            return quote!(#item #error);
        }
    };
    let Some((path, _)) = &parsed.trait_ else {
        let error = syn::Error::new_spanned(
            &parsed.self_ty,
            "#[riff_handlers] stands on the impl of a handlers' trait: \
             write `impl …Handlers for` before this type",
        )
        .to_compile_error();
        return quote!(#item #error);
    };
    quote!(#path! { #item })
}

/// What the hidden macro comes back with: the impl, and what is wrong with it.
///
/// # Errors
///
/// Only when the hidden macro was not made by the same version of this library.
pub fn check(input: TokenStream) -> syn::Result<TokenStream> {
    let Call {
        whole,
        handlers,
        rows,
        mut item,
    } = syn::parse2(input)?;
    let mut faults = Faults::default();
    let mut kept = Vec::new();
    let mut stubs = Vec::new();
    let mut unknown = Vec::new();
    let mut missing: Vec<&Row> = rows.iter().collect();
    for member in std::mem::take(&mut item.items) {
        let ImplItem::Fn(method) = member else {
            kept.push(member);
            continue;
        };
        let Some(row) = rows.iter().find(|row| row.name == method.sig.ident) else {
            unknown.push(method);
            continue;
        };
        missing.retain(|other| other.name != row.name);
        let mut own = Faults::default();
        check_handler(&method, row, &mut own);
        match own.into_error() {
            None => kept.push(ImplItem::Fn(method)),
            Some(error) => {
                faults.push(error);
                stubs.push(&row.stub);
            }
        }
    }
    // When the link itself has a fault, its own crate tells it.
    for method in unknown.iter().filter(|_| whole) {
        let names: Vec<String> = missing.iter().map(|row| row.name.to_string()).collect();
        let near = closest(
            &method.sig.ident.to_string(),
            names.iter().map(String::as_str),
        );
        faults.add(
            &method.sig.ident,
            unknown_handler(&handlers, &method.sig.ident, near),
        );
        // A misspelt handler is one mistake, and it was told.
        if let Some(at) = missing
            .iter()
            .position(|row| near.is_some_and(|near| row.name == near))
        {
            stubs.push(&missing.remove(at).stub);
        }
    }
    if !missing.is_empty() {
        faults.add(&item.self_ty, missing_handlers(&handlers, &missing));
        stubs.extend(missing.iter().map(|row| &row.stub));
    }
    item.items = kept;
    let error = faults.into_error().map(|error| error.to_compile_error());
    let item = with_stubs(&item, &stubs);
    Ok(quote!(#item #error))
}

fn with_stubs(item: &ItemImpl, stubs: &[&TokenStream]) -> TokenStream {
    if stubs.is_empty() {
        return item.to_token_stream();
    }
    // The impl's own braces come last in its tokens; the stubs go in before their end.
    let mut tokens: Vec<TokenTree> = item.to_token_stream().into_iter().collect();
    if let Some(TokenTree::Group(body)) = tokens.pop() {
        let inner = body.stream();
        let stubs = stubs.iter().map(|stub| {
            quote! {
                #[allow(unused_variables, reason = "it stands in for a handler with a fault")]
                #stub { ::core::unreachable!() }
            }
        });
        let mut whole = Group::new(body.delimiter(), quote!(#inner #(#stubs)*));
        whole.set_span(body.span());
        tokens.push(TokenTree::Group(whole));
    }
    tokens.into_iter().collect()
}

fn check_handler(method: &ImplItemFn, row: &Row, faults: &mut Faults) {
    let Row {
        name,
        kind,
        place,
        signature,
        count,
        ..
    } = row;
    let told = format!("`{name}` is the {kind} at {place}\nwrite: {signature}");
    let mut marks = method.attrs.iter().filter(|attr| is_route_mark(attr));
    match (marks.next(), marks.next()) {
        (None, _) => {
            let name = &method.sig.ident;
            faults.add(
                name,
                format!("`{name}` lacks its mark: write #[riff_route] above it"),
            );
        }
        (Some(_), Some(second)) => faults.add(second, "one #[riff_route] is enough"),
        (Some(mark), None) => check_mark(mark, faults),
    }
    if let Some(word) = &method.sig.asyncness {
        faults.add(
            word,
            format!(
                "a handler decides and does no I/O, so it is not async: remove the word\n{told}"
            ),
        );
    }
    let mut inputs = method.sig.inputs.iter();
    match inputs.next() {
        Some(FnArg::Receiver(receiver)) => {
            let shared = receiver.to_token_stream().to_string().replace(' ', "") == "&self";
            if !shared {
                faults.add(
                    receiver,
                    format!(
                        "a handler reads and decides, `apply` changes: it takes `&self`\n{told}"
                    ),
                );
            }
        }
        Some(FnArg::Typed(first)) => {
            faults.add(first, format!("a handler takes `&self` first\n{told}"));
        }
        None => {
            faults.add(
                &method.sig.ident,
                format!("a handler takes `&self`, `cx` and what the route carries\n{told}"),
            );
            return;
        }
    }
    // `&self` and `cx` stand before what the route carries.
    let (given, wanted) = (method.sig.inputs.len(), count + 2);
    if given != wanted {
        faults.add(
            &method.sig.ident,
            format!("`{name}` has {wanted} parameters with `&self`, here are {given}\n{told}"),
        );
    }
}

fn unknown_handler(handlers: &Ident, name: &Ident, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("`{handlers}` has no route `{name}`: did you mean `{near}`?"),
        None => format!(
            "`{handlers}` has no route `{name}`\nadd it to link.toml and to the #[riff_link] \
             trait, or move this function into another impl"
        ),
    }
}

fn missing_handlers(handlers: &Ident, missing: &[&Row]) -> String {
    let mut text = match missing {
        [one] => format!("the {} `{}` has no handler", one.kind, one.name),
        many => format!("{} routes of `{handlers}` have no handler", many.len()),
    };
    for Row {
        name,
        kind,
        place,
        signature,
        ..
    } in missing
    {
        let _ = write!(
            text,
            "\n`{name}`, the {kind} at {place}; add:\n    #[riff_route]\n    {signature} {{ … }}"
        );
    }
    text
}

/// The input of the hidden macro.
struct Call {
    /// Whether the link had no fault of its own.
    whole: bool,
    handlers: Ident,
    rows: Vec<Row>,
    item: ItemImpl,
}

/// A route, as its table names it.
struct Row {
    name: Ident,
    kind: String,
    place: String,
    signature: String,
    /// How many parameters there are behind `&self` and `cx`.
    count: usize,
    /// A signature whose types can be named from any crate.
    stub: TokenStream,
}

impl Parse for Call {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let whole: Ident = input.parse()?;
        let handlers = input.parse()?;
        let table;
        braced!(table in input);
        let mut rows = Vec::new();
        while !table.is_empty() {
            rows.push(table.parse()?);
        }
        let item;
        braced!(item in input);
        Ok(Self {
            whole: whole == "whole",
            handlers,
            rows,
            item: item.parse()?,
        })
    }
}

impl Parse for Row {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let row;
        bracketed!(row in input);
        let name = row.parse()?;
        let kind: LitStr = row.parse()?;
        let place: LitStr = row.parse()?;
        let signature: LitStr = row.parse()?;
        let count: LitInt = row.parse()?;
        let stub;
        braced!(stub in row);
        Ok(Self {
            name,
            kind: kind.value(),
            place: place.value(),
            signature: signature.value(),
            count: count.base10_parse()?,
            stub: stub.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impl_without_a_trait_is_told_so_and_kept() {
        let out = hand_over(quote!(impl Board { fn who(&self) {} })).to_string();
        assert!(out.contains("impl Board"), "{out}");
        assert!(out.contains("compile_error"), "{out}");
    }
}
