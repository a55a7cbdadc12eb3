//! The rule for paths that a server answers by itself, apart from the rules of paths among routes
//! because it holds a path against a list that no file changes.

use crate::{
    draft::Draft,
    model::{Path, Segment},
    report::Problems,
    rule_id::RuleId,
};

/// A path that a server has for itself.
struct Own {
    path: &'static str,
    /// Whether what is below it belongs to it.
    below: bool,
    /// What is there.
    what: &'static str,
    /// A path for a route that says something like it.
    instead: &'static str,
}

const OWN: [Own; 5] = [
    Own {
        path: "/v1/calls",
        below: true,
        what: "what became of a call",
        instead: "/v1/phone_calls",
    },
    Own {
        path: "/healthz",
        below: false,
        what: "whether it lives",
        instead: "/v1/health",
    },
    Own {
        path: "/readyz",
        below: false,
        what: "whether it takes calls",
        instead: "/v1/ready",
    },
    Own {
        path: "/metrics",
        below: false,
        what: "its metrics",
        instead: "/v1/metrics",
    },
    Own {
        path: "/openapi.json",
        below: false,
        what: "the description of its routes",
        instead: "/v1/openapi.json",
    },
];

impl Own {
    /// Whether every request that fits the path is the server's own.
    fn has(&self, path: &Path) -> bool {
        let own: Vec<&str> = self.path.split('/').skip(1).collect();
        let together = own.iter().zip(&path.segments);
        let length = if self.below {
            path.segments.len() >= own.len()
        } else {
            path.segments.len() == own.len()
        };
        length
            && together
                .into_iter()
                .all(|(own, segment)| matches!(segment, Segment::Literal(word) if word == own))
    }
}

pub(super) fn no_path_is_the_servers_own(draft: &Draft<'_>, problems: &mut Problems) {
    for route in &draft.routes {
        let Some(path) = route.path.given() else {
            continue;
        };
        let Some(own) = OWN.iter().find(|own| own.has(path)) else {
            continue;
        };
        let message = if path.text == own.path {
            format!("a server has `{}` for itself", own.path)
        } else {
            format!(
                "a server has `{}` and what is below it for itself",
                own.path
            )
        };
        let help = format!(
            "there it tells {}: write another path, such as `{}`",
            own.what, own.instead
        );
        problems.add_with_help(RuleId::ReservedPath, path.place, message, help);
    }
}
