//! The one place that prints.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "all other files print through this one"
)]

/// What was asked for.
pub(crate) fn out(text: &str) {
    println!("{text}");
}

/// What goes on.
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}
