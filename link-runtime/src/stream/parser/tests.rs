//! The cases of the standard, in every chunking.

use proptest::prelude::*;

use super::*;

fn event(name: &str, data: &str) -> Item {
    Item::Event(Event {
        name: name.into(),
        data: data.into(),
    })
}

fn message(data: &str) -> Item {
    event("", data)
}

fn comment(text: &str) -> Item {
    Item::Comment(text.into())
}

fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Item> {
    let (mut parser, mut items) = (Parser::new(), VecDeque::new());
    for piece in pieces {
        parser.push(piece, &mut items).unwrap();
    }
    items.into()
}

/// Whole, then byte by byte, then torn once at each place: always the same.
fn read(text: impl AsRef<[u8]>) -> Vec<Item> {
    let text = text.as_ref();
    let whole = parse([text]);
    assert_eq!(parse(text.chunks(1)), whole, "byte by byte: {text:?}");
    for at in 0..=text.len() {
        assert_eq!(
            parse([&text[..at], &text[at..]]),
            whole,
            "torn at {at}: {text:?}"
        );
    }
    whole
}

#[test]
fn the_examples_of_the_standard() {
    let stocks = "data: YHOO\ndata: +2\ndata: 10\n\n";
    assert_eq!(read(stocks), [message("YHOO\n+2\n10")]);

    let ids = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n\
               data:  third event\n\n";
    assert_eq!(
        read(ids),
        [
            comment("test stream"),
            message("first event"),
            message("second event"),
            message(" third event"),
        ]
    );

    assert_eq!(
        read("data\n\ndata\ndata\n\ndata:"),
        [message(""), message("\n")]
    );
    assert_eq!(
        read("data:test\n\ndata: test\n\n"),
        [message("test"), message("test")]
    );
    let named = "event: add\ndata: 1\n\nevent: remove\ndata: 2\n\ndata: 3\n\n";
    assert_eq!(
        read(named),
        [event("add", "1"), event("remove", "2"), message("3")]
    );
}

#[test]
fn a_line_ends_with_cr_lf_or_both() {
    for end in ["\n", "\r", "\r\n"] {
        let text = format!("data: a{end}data: b{end}{end}: c{end}data: d{end}{end}");
        assert_eq!(
            read(text),
            [message("a\nb"), comment("c"), message("d")],
            "{end:?}"
        );
    }
    assert_eq!(
        read("data: a\r\n\ndata: b\n\r\ndata: c\r\r"),
        [message("a"), message("b"), message("c")]
    );
}

#[test]
fn cr_alone_ends_an_event_without_waiting_for_a_line_feed() {
    assert_eq!(parse([&b"data: a\r\r"[..]]), [message("a")]);
    assert_eq!(
        parse([&b"data: a\r"[..], b"\n", b"\r", b"\n"]),
        [message("a")]
    );
}

#[test]
fn one_byte_order_mark_is_stripped_at_the_start_only() {
    assert_eq!(read("\u{feff}data: a\n\n"), [message("a")]);
    assert_eq!(
        parse([&b"\xef"[..], b"\xbb", b"\xbf", b"data: a\n\n"]),
        [message("a")]
    );
    assert_eq!(read("\u{feff}\u{feff}data: a\n\n"), []);
    assert_eq!(read("\n\u{feff}data: a\n\n"), []);
    assert_eq!(read("\u{feff}\ndata: a\n\n"), [message("a")]);
    assert_eq!(read(b"\xef\xbbdata: a\n\n"), []);
}

#[test]
fn an_event_without_data_is_none_and_loses_its_name() {
    assert_eq!(read("event: a\n\ndata: b\n\n"), [message("b")]);
    assert_eq!(read("id: 7\n\ndata: b\n\n"), [message("b")]);
}

#[test]
fn an_event_without_a_blank_line_after_it_is_none() {
    assert_eq!(read("data: a\n\ndata: b\n"), [message("a")]);
    assert_eq!(read("data: a\n\ndata: b"), [message("a")]);
}

#[test]
fn an_id_is_read_over_and_kept_nowhere() {
    let text = "id: 1\ndata: a\n\ndata: b\n\nid: 2\0\ndata: c\n\nid\ndata: d\n\n";
    assert_eq!(read(text), ["a", "b", "c", "d"].map(message));
    let long = format!(
        "id: {}\n{}",
        "x".repeat(64 << 10),
        "data: a\n\n".repeat(1_000)
    );
    let items = parse([long.as_bytes()]);
    assert_eq!(items.len(), 1_000);
    // With the ID in each of them it would be 64 MB.
    assert!(format!("{items:?}").len() < 1 << 20);
}

#[test]
fn retry_is_digits_and_bounded() {
    for (value, millis) in [
        ("0", Some(0)),
        ("1500", Some(1_500)),
        ("0010", Some(10)),
        ("99999999999999999999999", Some(60_000)),
        ("3600000", Some(60_000)),
        ("", None),
        ("abc", None),
        ("-1", None),
        ("+1", None),
        ("1.5", None),
        (" 5", None),
        ("5 ", None),
        ("\u{665}", None),
    ] {
        let expected: Vec<_> = millis
            .map(Duration::from_millis)
            .map(Item::Retry)
            .into_iter()
            .collect();
        assert_eq!(read(format!("retry: {value}\n")), expected, "{value:?}");
    }
}

#[test]
fn fields_are_exact_and_unknown_ones_are_ignored() {
    let text = "Data: a\ndata : b\n data: c\ndatas: d\nwhatever\ndata:e:f\n\n";
    assert_eq!(read(text), [message("e:f")]);
    assert_eq!(read("data:\n\n"), [message("")]);
    assert_eq!(read("data: \n\n"), [message("")]);
    assert_eq!(read("data:\ta\n\n"), [message("\ta")]);
    assert_eq!(read("data:  a\n\n"), [message(" a")]);
}

#[test]
fn comments_are_told_and_change_nothing() {
    let text = ":\n: ready 12\ndata: a\n::x\ndata: b\n\n";
    assert_eq!(
        read(text),
        [
            comment(""),
            comment("ready 12"),
            comment(":x"),
            message("a\nb")
        ]
    );
}

#[test]
fn bytes_that_are_no_utf_8_are_replaced_line_by_line() {
    assert_eq!(read(b"data: a\xffb\n\n"), [message("a\u{fffd}b")]);
    assert_eq!(
        read(b"data: \xe2\x82\ndata: \xac\n\n"),
        [message("\u{fffd}\n\u{fffd}")]
    );
    assert_eq!(
        read("data: \u{20ac}\u{1f600}\n\n"),
        [message("\u{20ac}\u{1f600}")]
    );
}

#[test]
fn nothing_gives_nothing() {
    assert_eq!(read(""), []);
    assert_eq!(read("\n\n\r\r\n"), []);
}

#[test]
fn a_gibibyte_without_a_newline_ends_at_the_cap() {
    let (mut parser, mut items) = (Parser::new(), VecDeque::new());
    let piece = vec![b'x'; 64 << 10];
    let pushed = (0..(1 << 30) / piece.len())
        .position(|_| parser.push(&piece, &mut items).is_err())
        .expect("an error");
    assert_eq!(pushed, MOST / piece.len());
    assert!(parser.line.capacity() <= 2 * MOST);
    assert_eq!(parser.push(&piece, &mut items), Err(TooLong::Line));
}

#[test]
fn an_event_of_one_line_may_be_as_large_as_the_cap() {
    let (mut parser, mut items) = (Parser::new(), VecDeque::new());
    let data = "x".repeat(MOST - "data: ".len());
    for piece in format!("data: {data}\n\n").as_bytes().chunks(64 << 10) {
        parser.push(piece, &mut items).unwrap();
    }
    assert!(items == [message(&data)]);
    assert_eq!(MOST, 4_194_304, "the documentation of streams says it");
}

#[test]
fn data_lines_without_a_blank_one_end_at_the_cap() {
    let (mut parser, mut items) = (Parser::new(), VecDeque::new());
    let piece = format!("data: {}\n", "x".repeat(1017)).repeat(64);
    let pushed = (0..(1 << 30) / piece.len())
        .position(|_| parser.push(piece.as_bytes(), &mut items).is_err())
        .expect("an error");
    assert!(pushed * piece.len() <= MOST + 2 * piece.len(), "{pushed}");
    assert!(parser.data.capacity() <= 2 * MOST);
    assert!(items.is_empty());
}

#[test]
fn what_stands_before_a_line_that_is_too_long_is_given() {
    let (mut parser, mut items) = (Parser::new(), VecDeque::new());
    let mut text = b"data: a\n\n".to_vec();
    text.extend(vec![b'x'; MOST + 1]);
    assert_eq!(parser.push(&text, &mut items), Err(TooLong::Line));
    assert_eq!(Vec::from(items), [message("a")]);
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(vec![
        "data",
        "data:",
        "data: ",
        "id:",
        "id: 7",
        "event: e",
        "retry: 9",
        ":",
        ": ready 3",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\r\r",
        "\u{feff}",
        "\0",
        " ",
        "x",
        "\u{e4}",
        "\u{1f600}",
    ]);
    let bytes = prop_oneof![
        9 => token.prop_map(|token| token.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(bytes, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn every_chunking_of_a_text_gives_the_same_items(
        text in text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let whole = parse([&text[..]]);
        prop_assert_eq!(parse(text.chunks(1)), whole.clone());
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        prop_assert_eq!(parse(cuts.windows(2).map(|cut| &text[cut[0]..cut[1]])), whole);
    }
}
