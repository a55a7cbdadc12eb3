//! Texts by chance: whatever a file holds, there is a spec or a report, and each place lies in it.
//!
//! A failure prints its text, the shortest that fails.

use link_spec::{Place, Report, Segment, Spec, frame, parse};
use proptest::prelude::*;

const WHOLE: &str = include_str!("good/whole.toml");

/// Pieces that a file is made of, so that a text by chance gets past the parser.
const PIECES: &[&str] = &[
    "[link]",
    "[limits]",
    "[budgets]",
    "[routes]",
    "[routes.who]",
    "[routes.tail]",
    "[[routes]]",
    "[routes.who.x]",
    "name",
    "line",
    "rule",
    "kind",
    "path",
    "budget",
    "outbox",
    "cursor",
    "catch_up",
    "within",
    "tries",
    "connect",
    "call_keep_most",
    "who",
    "link",
    "routes",
    " = ",
    ".",
    "\n",
    "\n",
    "\n",
    ", ",
    "{ ",
    " }",
    "[",
    "]",
    "\"",
    "'",
    "\"\"\"",
    "# ",
    "\"riff\"",
    "\"1.0\"",
    "\"60s\"",
    "\"0s\"",
    "\"1.5s\"",
    "\"period\"",
    "\"query\"",
    "\"stream\"",
    "\"GET /v1/who\"",
    "\"GET /v1/{a}/{a}\"",
    "\"GET /{ü}?\"",
    "\"\\u00fc\"",
    "\"who\"",
    "true",
    "1979-05-27",
    "0x10",
    "-1",
    "1e5",
    "ü",
    "\u{1f980}",
    "\u{feff}",
    "\r",
    "\t",
    "\0",
];

fn holds(text: &str) -> Result<(), TestCaseError> {
    match parse(text, "link.toml") {
        Ok(spec) => places_of(&spec).try_for_each(|place| inside(text, place)),
        Err(report) => told(text, &report),
    }
}

fn places_of(spec: &Spec) -> impl Iterator<Item = Place> {
    let routes = spec.routes.iter().flat_map(|route| {
        let params = route
            .path
            .segments
            .iter()
            .filter_map(|segment| match segment {
                Segment::Param(name) => Some(name.place),
                Segment::Literal(_) => None,
            });
        [route.place, route.name.place, route.path.place]
            .into_iter()
            .chain(params)
    });
    [spec.link.name.place, spec.link.line.place]
        .into_iter()
        .chain(routes)
}

fn told(text: &str, report: &Report) -> Result<(), TestCaseError> {
    prop_assert!(!report.problems().is_empty(), "refused without a reason");
    for problem in report.problems() {
        inside(text, problem.place)?;
        prop_assert!(!frame(report.source(), problem.place, "here").is_empty());
        prop_assert!(!problem.message.contains('\n'), "{}", problem.message);
        prop_assert!(
            problem
                .help
                .as_ref()
                .is_none_or(|help| !help.contains('\n'))
        );
    }
    prop_assert!(!report.to_string().is_empty());
    Ok(())
}

fn inside(text: &str, place: Place) -> Result<(), TestCaseError> {
    prop_assert!(place.start <= place.end, "{place:?}");
    prop_assert!(text.get(place.start..place.end).is_some(), "{place:?}");
    Ok(())
}

/// Replaces a stretch of the right file.
fn mutated(start: usize, length: usize, piece: &str) -> String {
    let letters: Vec<char> = WHOLE.chars().collect();
    let start = start % letters.len();
    let end = (start + length).min(letters.len());
    let before = letters.iter().take(start);
    let behind = letters.iter().skip(end);
    let mut text: String = before.collect();
    text.push_str(piece);
    text.extend(behind);
    text
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        holds(&text)?;
    }

    #[test]
    fn any_pieces_of_a_file_are_read_or_refused(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60),
    ) {
        holds(&pieces.concat())?;
    }

    #[test]
    fn a_right_file_with_a_piece_replaced_is_read_or_refused(
        start in 0_usize..10_000,
        length in 0_usize..30,
        piece in proptest::sample::select(PIECES),
    ) {
        holds(&mutated(start, length, piece))?;
    }

    #[test]
    fn a_right_file_that_ends_early_is_read_or_refused(end in 0..WHOLE.len()) {
        if let Some(text) = WHOLE.get(..end) {
            holds(text)?;
        }
    }
}

/// Lines may come in any order inside a table, and lines may be lost.
#[test]
fn a_right_file_without_one_of_its_lines_is_read_or_refused() {
    let lines: Vec<&str> = WHOLE.lines().collect();
    for lost in 0..lines.len() {
        let text: Vec<&str> = lines
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != lost)
            .map(|(_, line)| *line)
            .collect();
        let text = text.join("\n");
        if let Err(failure) = holds(&text) {
            panic!("without line {}: {failure}", lost + 1);
        }
    }
}
