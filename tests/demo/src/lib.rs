//! What other tests of a real server share with the demo: its directory and its process.

pub mod world;
