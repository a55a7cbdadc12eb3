//! The file link.toml as its users meet it: through the public doors of this crate only.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper that cannot read its file has failed its test"
)]

mod golden;
mod random;
mod right;
