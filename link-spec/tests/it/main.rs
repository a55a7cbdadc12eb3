//! The file link.toml as its users meet it: through the public doors of this crate only.

mod golden;
mod random;
mod right;
