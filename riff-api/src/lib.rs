//! The wire of riff: its types, and the one trait that declares its routes.
//!
//! The kind, path and budget of each route stand in `link.toml`. `generated/expanded/riff.rs`
//! shows what is made of the two.

mod names;
mod wire;

use riff_link::{After, Page, riff_link, riff_route};

pub use self::{
    names::{InvalidName, ItemId, Thread},
    wire::{
        Ack, Acked, Alive, Asks, Changed, Claim, Claimed, Event, Message, Post, Posted, Present,
        Release, Released, ThreadInfo, Threads, ThreadsReply, Who, WhoReply,
    },
};

/// The routes of riff.
#[riff_link("link.toml")]
pub trait Riff {
    /// Who is here now, and what they do.
    #[riff_route]
    fn who(query: Who) -> WhoReply;

    /// The threads that have a message.
    #[riff_route]
    fn threads(query: Threads) -> ThreadsReply;

    /// The messages of a thread after a cursor, at most 200.
    #[riff_route]
    fn history(thread: Thread, query: After) -> Page<Message>;

    /// The changes of the board after a cursor, at most 200.
    #[riff_route]
    fn changes(query: After) -> Page<Changed>;

    /// Posts a message to a thread.
    #[riff_route]
    fn post(thread: Thread, body: Post) -> Posted;

    /// Claims an item for the caller.
    #[riff_route]
    fn claim(item: ItemId, body: Claim) -> Claimed;

    /// Releases an item that the caller holds.
    #[riff_route]
    fn release(item: ItemId, body: Release) -> Released;

    /// Says how far the caller has read a thread.
    #[riff_route]
    fn ack(thread: Thread, body: Ack) -> Acked;

    /// Says that the caller is here, and what they do.
    #[riff_route]
    fn alive(body: Alive) -> Asks;

    /// Each new message of a thread.
    #[riff_route]
    fn tail(thread: Thread) -> Message;

    /// Each change of the board: posts, claims, releases, acknowledgements.
    #[riff_route]
    fn watch() -> Changed;
}
