//! Each fault, as a raw client sees it: through a real socket, in front of a tiny server.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test may stop at what it did not expect"
)]

mod client;
mod faults;
mod origins;
mod sabotage;
mod upstream;
