//! The closed list of the reasons for which a server says no by itself, and their statuses.
//!
//! The no of a handler has a code of the application's own and is not listed here.

use std::fmt;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $status:literal, $title:literal;)+) => {
        /// Why a server says no without asking a handler.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The code as it stands in a problem's `code`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The HTTP status that it is sent with.
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)+ }
            }

            /// What it means, for a person: a problem's `title`.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }
        }
    };
}

codes! {
    /// The server starts, stops, or has failed.
    Unavailable = "unavailable", 503, "The server takes no calls now";
    /// A command is not written yet, the body did not arrive, or the server has too much to do.
    Busy = "busy", 503, "The server is busy";
    /// No token, or one that the server does not know.
    Unauthenticated = "unauthenticated", 401, "The caller is not known";
    /// The client speaks another line of the wire.
    OtherBuild = "other_build", 412, "Client and server do not speak the same line";
    /// The request cannot be read: a header, the path, the query or the body.
    BadRequest = "bad_request", 400, "The request cannot be read";
    /// The body is larger than the server takes.
    TooLarge = "too_large", 413, "The body is too large";
    /// No route has this path.
    NoRoute = "no_route", 404, "There is no such route";
    /// The path is known, its method is another.
    OtherMethod = "other_method", 405, "The route has another method";
    /// The call ID was used for another command.
    CallReused = "call_reused", 422, "The call ID belongs to another command";
    /// The command ran, and its reply is no longer kept.
    ReplyForgotten = "reply_forgotten", 410, "The command ran, and its reply is no longer kept";
    /// The call ID is not known, and so old that the server may have forgotten it: it may have
    /// run, and is not run now.
    CallForgotten = "call_forgotten", 410, "The command may have run, and is not run again";
    /// The client has seen a log that this server does not hold: it was restored, or is another
    /// one. The call ID is not known here, and is not run now.
    RolledBack = "rolled_back", 410, "The server's log is not the one that the client has seen";
    /// Its caller gave the call up before it arrived: it never ran, and never will.
    CallCancelled = "call_cancelled", 410, "The call was cancelled before it ran";
    /// The call belongs to another caller than the credentials do: nothing was looked up.
    OtherCaller = "other_caller", 403, "The call belongs to another caller";
    /// The caller sends more requests than the server lets one caller send.
    TooFast = "too_fast", 429, "The caller sends too many requests";
    /// The caller has as many idempotency keys as the server keeps for one caller.
    TooManyKeys = "too_many_keys", 429, "The caller has too many idempotency keys";
    /// A handler or the engine failed; what is wrong stands in the server's log.
    Failed = "failed", 500, "The server failed";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_name_of_its_own_and_a_status_of_a_no() {
        for (n, code) in Code::ALL.iter().enumerate() {
            assert!((400..600).contains(&code.status()), "{code}");
            assert!(
                code.as_str()
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b == b'_'),
                "{code}"
            );
            assert!(
                Code::ALL[..n]
                    .iter()
                    .all(|other| other.as_str() != code.as_str()),
                "{code}"
            );
        }
    }
}
