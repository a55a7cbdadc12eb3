//! What the macros say to each mistake: one mistake a file, named for it, beside a small
//! link.toml and the words that are expected.
//!
//! `TRYBUILD=overwrite cargo test -p ui` writes the expected words anew; read them then.

/// What must compile. Apart from the mistakes, which trybuild builds together only without these.
#[test]
fn a_whole_link_compiles() {
    trybuild::TestCases::new().pass("cases/pass/*.rs");
}

#[test]
fn each_mistake_of_link_toml_is_told_with_its_line() {
    trybuild::TestCases::new().compile_fail("cases/spec/*.rs");
}

#[test]
fn each_mistake_of_the_trait_is_told_on_its_token() {
    trybuild::TestCases::new().compile_fail("cases/link/*.rs");
}

#[test]
fn each_mistake_of_the_handlers_is_told_on_its_token() {
    trybuild::TestCases::new().compile_fail("cases/handlers/*.rs");
}

/// Mistakes that only rustc can see. Its words may change with the toolchain, which is pinned.
#[test]
fn what_only_rustc_sees_stands_on_the_users_type() {
    trybuild::TestCases::new().compile_fail("cases/rustc/*.rs");
}
