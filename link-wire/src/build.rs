//! The build stamp: which wire a program speaks, and with which others it fits.

use std::fmt;

/// Who a program is, as it says in the build header of each request and reply.
///
/// On the wire: line, version, commit and time, one space between them, `-` for what is not
/// known, as in `1.0 0.4.2 9fceb02 2026-11-30T12:00:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Build<'a> {
    /// The wire line, `MAJOR.MINOR`, from `line` in link.toml.
    pub line: &'a str,
    /// The version of the crate that declares the link.
    pub version: &'a str,
    /// The commit that it was built from, where the build said one.
    pub commit: Option<&'a str>,
    /// When it was built, where the build said it.
    pub time: Option<&'a str>,
}

/// Whether a client's build may talk to a server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The lines are the same, or the client is one minor line behind.
    Fits,
    /// The client must be replaced by a newer one.
    ClientOld,
    /// The server must be replaced by a newer one.
    ServerOld,
    /// One of the two lines is not `MAJOR.MINOR`.
    Unreadable,
}

impl<'a> Build<'a> {
    /// Reads a build header. Fields after the line may be missing; more than four are ignored,
    /// so that a later build can add some.
    pub fn parse(header: &'a str) -> Option<Self> {
        let mut fields = header.split_ascii_whitespace();
        let line = fields.next()?;
        parse_line(line)?;
        let mut known = || fields.next().filter(|&field| field != "-");
        Some(Self {
            line,
            version: known().unwrap_or("-"),
            commit: known(),
            time: known(),
        })
    }

    /// Whether a client of this build may talk to a server of that one.
    ///
    /// The lines must be the same, or the client exactly one minor line behind: a server is
    /// replaced first.
    pub fn fits_server(&self, server: &Build<'_>) -> Fit {
        let (Some(client), Some(server)) = (parse_line(self.line), parse_line(server.line)) else {
            return Fit::Unreadable;
        };
        if client == server || (client.0 == server.0 && client.1.checked_add(1) == Some(server.1)) {
            Fit::Fits
        } else if client < server {
            Fit::ClientOld
        } else {
            Fit::ServerOld
        }
    }
}

impl fmt::Display for Build<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            version,
            commit,
            time,
        } = self;
        write!(
            f,
            "{line} {version} {} {}",
            commit.unwrap_or("-"),
            time.unwrap_or("-")
        )
    }
}

fn parse_line(line: &str) -> Option<(u32, u32)> {
    let (major, minor) = line.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(major) || !digits(minor) {
        return None;
    }
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Build<'_> {
        Build {
            line,
            version: "0.1.0",
            commit: None,
            time: None,
        }
    }

    #[test]
    fn a_header_reads_back() {
        let build = Build {
            line: "1.0",
            version: "0.4.2",
            commit: Some("9fceb02"),
            time: None,
        };
        assert_eq!(build.to_string(), "1.0 0.4.2 9fceb02 -");
        assert_eq!(Build::parse(&build.to_string()), Some(build));
        assert_eq!(Build::parse("1.0").map(|b| b.version), Some("-"));
        assert_eq!(
            Build::parse("1.0 2 3 4 5 6").and_then(|b| b.time),
            Some("4")
        );
    }

    #[test]
    fn what_is_no_line_is_no_build() {
        for text in ["", "1", "one.two", "1.", "+1.0", "1.0.0", "nginx"] {
            assert_eq!(Build::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_client_may_be_one_line_behind() {
        for (client, server, fit) in [
            ("1.0", "1.0", Fit::Fits),
            ("1.0", "1.1", Fit::Fits),
            ("1.0", "1.2", Fit::ClientOld),
            ("1.1", "1.0", Fit::ServerOld),
            ("1.9", "2.0", Fit::ClientOld),
            ("2.0", "1.9", Fit::ServerOld),
            ("x", "1.0", Fit::Unreadable),
        ] {
            assert_eq!(
                of(client).fits_server(&of(server)),
                fit,
                "{client} to {server}"
            );
        }
    }
}
