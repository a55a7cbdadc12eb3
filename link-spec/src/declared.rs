//! The trait under `#[riff_link]`: what its methods declare, and what is wrong with it by itself.
//!
//! What is wrong between the trait and link.toml is told by `fitted`.

use syn::{
    Attribute, FnArg, Ident, ItemTrait, Pat, ReturnType, TraitItem, TraitItemFn, Type, Visibility,
    spanned::Spanned as _,
};

use crate::faults::Faults;

/// A trait, read.
pub(crate) struct Declared<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) vis: &'a Visibility,
    /// The methods without a fault of their own, in their order.
    pub(crate) methods: Vec<Method<'a>>,
    /// The methods with a fault, as far as they could be read, so that no other error follows from
    /// it.
    pub(crate) faulty: Vec<Method<'a>>,
}

/// A method: path parameters, then the query or the body, then the reply.
#[derive(Clone)]
pub(crate) struct Method<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) docs: Vec<&'a Attribute>,
    pub(crate) params: Vec<Param<'a>>,
    /// The type behind the arrow; none stands for `()`.
    pub(crate) reply: Option<&'a Type>,
}

/// A parameter of a method.
#[derive(Clone)]
pub(crate) struct Param<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) ty: &'a Type,
}

impl<'a> Declared<'a> {
    /// Reads the trait and adds what is wrong with it.
    pub(crate) fn read(item: &'a ItemTrait, faults: &mut Faults) -> Self {
        check_head(item, faults);
        let mut declared = Self {
            name: &item.ident,
            vis: &item.vis,
            methods: Vec::new(),
            faulty: Vec::new(),
        };
        for member in &item.items {
            let TraitItem::Fn(method) = member else {
                faults.add(
                    member,
                    "a #[riff_link] trait has methods only: one for each route",
                );
                continue;
            };
            let mut own = Faults::default();
            let read = Method::read(method, &mut own);
            let name = &method.sig.ident;
            if declared.mentions(&name.to_string()) {
                own.add(
                    name,
                    format!("`{name}` is declared twice; a route has one method"),
                );
            }
            match own.into_error() {
                Some(error) => {
                    faults.push(error);
                    declared.faulty.push(read);
                }
                None => declared.methods.push(read),
            }
        }
        declared
    }

    /// Whether a method has this name, with or without a fault.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let mut all = self.methods.iter().chain(&self.faulty);
        all.any(|method| method.name == name)
    }
}

fn check_head(item: &ItemTrait, faults: &mut Faults) {
    if let Some(unsafety) = &item.unsafety {
        faults.add(
            unsafety,
            "a #[riff_link] trait is not unsafe; remove the word",
        );
    }
    if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
        faults.add(
            &item.generics,
            "a #[riff_link] trait has no generics: it declares a wire",
        );
    }
    if !item.supertraits.is_empty() {
        faults.add(
            &item.supertraits,
            "a #[riff_link] trait has no supertraits: nobody implements it, \
             the client and the server are made of it",
        );
    }
}

impl<'a> Method<'a> {
    fn read(item: &'a TraitItemFn, faults: &mut Faults) -> Self {
        check_attributes(item, faults);
        check_signature(item, faults);
        let params = item
            .sig
            .inputs
            .iter()
            .filter_map(|input| param(input, faults))
            .collect();
        let reply = match &item.sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => {
                check_type(ty, "a reply", faults);
                Some(&**ty)
            }
        };
        Self {
            name: &item.sig.ident,
            docs: item
                .attrs
                .iter()
                .filter(|attr| attr.path().is_ident("doc"))
                .collect(),
            params,
            reply,
        }
    }
}

fn check_attributes(item: &TraitItemFn, faults: &mut Faults) {
    for attr in &item.attrs {
        if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
            faults.add(
                attr,
                "a route is there or not for both sides: no `cfg` on a method of a #[riff_link] \
                 trait",
            );
        }
    }
    let mut marks = item.attrs.iter().filter(|attr| is_route_mark(attr));
    match (marks.next(), marks.next()) {
        (None, _) => {
            let name = &item.sig.ident;
            faults.add(
                name,
                format!("`{name}` lacks its mark: write #[riff_route] above it"),
            );
        }
        (Some(_), Some(second)) => faults.add(second, "one #[riff_route] is enough"),
        (Some(mark), None) => check_mark(mark, faults),
    }
}

/// Whether an attribute is `#[riff_route]`, by whatever path.
pub(crate) fn is_route_mark(attr: &Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|last| last.ident == "riff_route")
}

/// Adds a fault when the mark has arguments.
pub(crate) fn check_mark(mark: &Attribute, faults: &mut Faults) {
    if mark.meta.require_path_only().is_err() {
        faults.add(
            mark,
            "#[riff_route] takes nothing: kind, path and budget of a route stand in link.toml",
        );
    }
}

fn check_signature(item: &TraitItemFn, faults: &mut Faults) {
    let sig = &item.sig;
    if let Some(word) = &sig.asyncness {
        faults.add(
            word,
            "a method of a #[riff_link] trait declares a wire: remove `async`",
        );
    }
    if let Some(word) = &sig.constness {
        faults.add(
            word,
            "a method of a #[riff_link] trait declares a wire: remove `const`",
        );
    }
    if let Some(abi) = &sig.abi {
        faults.add(
            abi,
            "a method of a #[riff_link] trait declares a wire: remove `extern`",
        );
    }
    if !sig.generics.params.is_empty() || sig.generics.where_clause.is_some() {
        faults.add(
            &sig.generics,
            "a route has no generics: what goes over the wire has one type",
        );
    }
    if let Some(variadic) = &sig.variadic {
        faults.add(variadic, "a route has a fixed number of parameters");
    }
    if let Some(body) = &item.default {
        let span = body.brace_token.span.open();
        faults.push(syn::Error::new(
            span,
            "a method of a #[riff_link] trait has no body: end it with `;`. \
             What it does stands in the impl under #[riff_handlers]",
        ));
    }
}

fn param<'a>(input: &'a FnArg, faults: &mut Faults) -> Option<Param<'a>> {
    let typed = match input {
        FnArg::Receiver(receiver) => {
            faults.add(
                receiver,
                "a method of a #[riff_link] trait has no `self`: it declares what goes over the \
                 wire",
            );
            return None;
        }
        FnArg::Typed(typed) => typed,
    };
    for attr in &typed.attrs {
        faults.add(
            attr,
            "a parameter of a route has no attributes: it is one for both sides",
        );
    }
    check_type(&typed.ty, "a parameter", faults);
    let Pat::Ident(pattern) = &*typed.pat else {
        faults.add(&typed.pat, "a parameter of a route has a plain name");
        return None;
    };
    if pattern.by_ref.is_some() || pattern.mutability.is_some() || pattern.subpat.is_some() {
        faults.add(pattern, "a parameter of a route has a plain name");
    }
    Some(Param {
        name: &pattern.ident,
        ty: &typed.ty,
    })
}

fn check_type(ty: &Type, what: &str, faults: &mut Faults) {
    match ty {
        Type::Reference(reference) => {
            let owned = &reference.elem;
            let owned = quote::quote!(#owned);
            faults.push(syn::Error::new(
                reference.span(),
                format!(
                    "{what} is declared as the value that goes over the wire: write `{owned}`, \
                     not a reference"
                ),
            ));
        }
        Type::ImplTrait(_) | Type::TraitObject(_) | Type::Infer(_) => {
            faults.add(
                ty,
                format!("{what} is a type that serde can write and read, by its name"),
            );
        }
        _ => {}
    }
}
