//! `riff-server checkpoint`: makes the next start faster, where no server runs.

use std::path::PathBuf;

use clap::Args;
use riff_link::{
    Position,
    server::{Engine, FileJournal, JournalError},
};

use super::{
    place,
    serve::say::{self, Format},
    stop::Stop,
};
use crate::{board::Board, output};

#[derive(Debug, Args)]
pub(super) struct Checkpoint {
    /// The directory of the server.
    #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
    dir: PathBuf,
}

/// Makes a checkpoint where no server runs, and prints its position.
pub(super) fn checkpoint(Checkpoint { dir }: &Checkpoint) -> Result<(), Stop> {
    say::begin(Format::Text);
    place::there(dir)?;
    let journal = FileJournal::open(dir).map_err(|error| match error {
        JournalError::Locked { holder, .. } => Stop::Failed(format!(
            "a server runs on {} ({holder}): send it SIGUSR1, then it makes a checkpoint and says \
             its position on stderr",
            dir.display()
        )),
        other => Stop::of(&other),
    })?;
    // Of the threads that a runtime has, one is enough for this.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime does not start: {error}"))?;
    let position = runtime.block_on(async {
        let engine = Engine::open(journal, Board::default()).map_err(|error| Stop::of(&error))?;
        let position = engine
            .checkpoint()
            .await
            .map_err(|error| Stop::of(&error))?;
        engine.close().await.map_err(|error| Stop::of(&error))?;
        Ok::<Position, Stop>(position)
    })?;
    Ok(output::data(position)?)
}
