//! A command that runs until it is stopped, and a server of another build: it waits until somebody
//! puts the new `riff` in the place of this one, and goes on as that.

use std::ffi::OsString;

use riff_link::client::{Program, Refused};

use super::end::End;
use crate::output;

/// Whether the server refuses this program, and no caller or request.
pub(super) fn is_for_another_build(refused: &Refused) -> bool {
    refused.code == riff_link::Code::OtherBuild.as_str()
}

/// Waits for another file of the program, and runs it with these arguments. Returns only when that
/// cannot be.
pub(super) async fn wait(
    program: Option<Program>,
    refused: Refused,
    args: impl IntoIterator<Item = OsString>,
) -> End {
    let Some(program) = program else {
        return refused.into();
    };
    let program = program.args(args);
    output::talk(format_args!(
        "refused: {}\nwaiting for another riff at {}",
        output::plain(&refused.to_string()),
        program.path().display()
    ));
    program.replaced().await;
    let error = program.run();
    End::Failure(format!(
        "{} does not run: {error}",
        program.path().display()
    ))
}
