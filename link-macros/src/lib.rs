//! The doors of the macros: `#[riff_link]`, `#[riff_route]` and `#[riff_handlers]`.
//!
//! They are thin. What is read, checked and made lives in `link-spec`, so that the macros and the
//! command line always agree.
//!
//! | module | what |
//! |---|---|
//! | `find` | where link.toml is |
//! | `link` | from the attribute to the code |

mod find;
mod link;

use proc_macro::TokenStream;

/// Makes the client and the server of a link from `link.toml` and the trait that it stands on.
///
/// ```text
/// #[riff_link("link.toml")]
/// pub trait Riff {
///     /// Claims an item for the caller.
///     #[riff_route]
///     fn claim(item: ItemId, body: Claim) -> Claimed;
/// }
/// ```
///
/// makes, in the same module:
///
/// | item | what |
/// |---|---|
/// | `Riff` | the trait as it was written, sealed: it is the documentation of the wire |
/// | `RIFF` | the static table of names, limits and routes |
/// | `RiffApi` | the typed client: `fn claim(&self, item: &ItemId, body: &Claim) -> CommandCall<Claimed>` |
/// | `RiffCalls` | the same methods as a trait, for generic code |
/// | `RiffHandlers` | what the server's author implements: `fn claim(&self, cx: &Cx<'_>, item: ItemId, body: Claim) -> Result<Accepted<Self::Change, Claimed>, Refusal>` |
/// | `RiffServer` | makes the server from an engine and the handlers |
///
/// A method has the parameters of the path in its order, then `query` (GET) or `body` (any other
/// method), then the reply; for a stream the type of its events. The kind of the route stands in
/// link.toml only.
///
/// # Arguments
///
/// The path of link.toml. A relative one is looked for in the folder of the source file and in
/// each folder above it, then in those of `CARGO_MANIFEST_DIR`; before both in `LINK_TOML`, where
/// that is set: to a folder, or to a file with this name. `crate = path` names the facade when it is renamed.
///
/// # Errors
///
/// All faults of link.toml and of the trait come in one run. A fault of the trait stands on its
/// token and shows the line of link.toml; a fault of link.toml stands on the argument.
#[proc_macro_attribute]
pub fn riff_link(args: TokenStream, item: TokenStream) -> TokenStream {
    link::riff_link(args.into(), item.into()).into()
}

/// Marks a method as a route: in a `#[riff_link]` trait and in a `#[riff_handlers]` impl.
///
/// It takes no arguments, since kind, path and budget stand in link.toml. The two outer attributes
/// hold that each route has the mark; by itself it changes nothing.
#[proc_macro_attribute]
pub fn riff_route(_args: TokenStream, item: TokenStream) -> TokenStream {
    // Arguments are told by the outer attribute, on the argument and with the line of link.toml.
    item
}

/// Checks the impl of a link's handlers, and says which handler is missing.
///
/// ```text
/// #[riff_handlers]
/// impl RiffHandlers for Board {
///     #[riff_route]
///     fn claim(&self, cx: &Cx<'_>, item: ItemId, body: Claim)
///         -> Result<Accepted<Change, Claimed>, Refusal> { … }
/// }
/// ```
///
/// It stays an impl of the trait, and compiles without the attribute too, then with rustc's own
/// errors. With it a missing handler is one error at the type, with the signature to write and the
/// line of link.toml.
#[proc_macro_attribute]
pub fn riff_handlers(args: TokenStream, item: TokenStream) -> TokenStream {
    link::riff_handlers(args.into(), item.into()).into()
}

/// What the hidden macro of a handlers' trait comes back to. Not for people.
#[doc(hidden)]
#[proc_macro]
pub fn __handlers(input: TokenStream) -> TokenStream {
    link_spec::check_handlers(input.into())
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
