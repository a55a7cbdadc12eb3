//! The golden expansion compiles against the real facade, and says what the macros say.

#![allow(
    missing_docs,
    unused,
    unreachable_pub,
    clippy::pedantic,
    reason = "it is what the macros made, printed"
)]

mod golden {
    use riff_api::*;
    use riff_link::{After, Page, riff_route};

    include!("../../../../generated/expanded/riff.rs");
}

/// The two tables differ in their build stamp only, which is that of the crate.
#[test]
fn the_golden_expansion_has_the_routes_of_the_macros() {
    let (golden, made) = (&golden::RIFF, &riff_api::RIFF);
    assert_eq!(golden.routes, made.routes);
    assert_eq!(golden.limits, made.limits);
    assert_eq!(golden.headers, made.headers);
}
