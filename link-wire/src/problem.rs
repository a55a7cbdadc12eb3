//! The JSON of every no: problem details by RFC 9457, with a code.

use serde::{Deserialize, Serialize};

use crate::Code;

/// A problem, as its JSON stands in the body of a reply.
///
/// ```json
/// {"type":"about:blank","title":"Conflict","status":409,"detail":"held by ben","code":"held"}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A URI of the kind of problem; `about:blank` when the status says it (RFC 9457, 4.2.1).
    #[serde(rename = "type", default = "blank")]
    pub kind: String,
    /// What the kind of problem is, for a person.
    #[serde(default)]
    pub title: String,
    /// The status of the reply.
    pub status: u16,
    /// What is wrong this time, for a person.
    #[serde(default)]
    pub detail: String,
    /// What is wrong, for a program: a [`Code`], or a code of the application.
    pub code: String,
}

impl Problem {
    /// The media type of a problem's JSON.
    pub const MEDIA_TYPE: &'static str = "application/problem+json";

    /// A no of the server itself.
    pub fn of(code: Code, detail: impl Into<String>) -> Self {
        Self {
            kind: blank(),
            title: code.title().into(),
            status: code.status(),
            detail: detail.into(),
            code: code.as_str().into(),
        }
    }
}

fn blank() -> String {
    "about:blank".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_of_another_maker_needs_a_status_and_a_code_only() {
        let read: Problem = serde_json::from_str(r#"{"status":409,"code":"held"}"#).unwrap();
        assert_eq!(
            (read.kind.as_str(), read.detail.as_str()),
            ("about:blank", "")
        );
    }

    #[test]
    fn the_json_is_that_of_rfc_9457() {
        let json = serde_json::to_value(Problem::of(Code::NoRoute, "GET /x")).unwrap();
        assert_eq!(json["type"], "about:blank");
        assert_eq!(json["status"], 404);
        assert_eq!(json["code"], "no_route");
        assert_eq!(json["detail"], "GET /x");
    }
}
