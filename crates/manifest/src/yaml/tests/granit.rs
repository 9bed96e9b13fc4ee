//! Comparison with granit-parser: the same events with the same spans, or a refusal by both at the same byte.
//!
//! Known differences. None is between a text that one parser accepts and the other refuses:
//!
//! - At a control character, our error is about that character and at its byte. granit-parser places some of these errors at
//!   the start of the surrounding scalar, or reports first what is missing after the character.
//! - Our error for an invalid escape is at its backslash, not at the opening quote; for a `%` without a name at the `%`.
//! - In a refused text, the comments after the last complete document are not compared: the two parsers assign them to
//!   different documents.

use std::fs;
use std::path::Path;

use granit_parser::{ErrorKind, Options, Parser, ScalarStyle, StructureStyle};
use proptest::prelude::*;
use proptest::sample::select;

use super::corners::{CORNERS, PIECES};
use crate::tree::Style;
use crate::yaml::events::{EventParser, YamlEvent};
use crate::yaml::messages::{CODE, DIRECTIVE, ESCAPE};
use crate::yaml::token::Tag;

/// An event of either parser, with its bytes.
#[derive(Debug, PartialEq)]
enum CommonEvent {
    Scalar(String, Style, Tag, usize, (usize, usize)),
    Start(bool, bool, usize, (usize, usize)),
    End((usize, usize)),
    Alias(usize, (usize, usize)),
    Document(Vec<(usize, usize)>),
}

/// The events of a text, and the byte and message of an error. The message is `None` if the text is nested too deep.
type Outcome = (Vec<CommonEvent>, Option<(usize, Option<String>)>);

fn ours(text: &str, depth: usize) -> Outcome {
    let mut parser = EventParser::new(text, depth);
    let mut events = Vec::new();
    loop {
        let (event, place) = match parser.next() {
            Ok(Some(found)) => found,
            Ok(None) => return (events, None),
            Err(fault) => return (events, Some((fault.at, fault.why.map(str::to_owned)))),
        };
        let span = (place.start, place.end);
        events.push(match event {
            YamlEvent::Scalar { text, style, tag, anchor } => {
                CommonEvent::Scalar(parser.text(text).to_owned(), style, tag, anchor, span)
            }
            YamlEvent::Start { is_mapping, in_brackets, anchor } => {
                CommonEvent::Start(is_mapping, in_brackets, anchor, span)
            }
            YamlEvent::End => CommonEvent::End(span),
            YamlEvent::Alias(anchor) => CommonEvent::Alias(anchor, span),
            YamlEvent::DocumentEnd => {
                let comments = core::iter::from_fn(|| parser.take_comment_before(place.start));
                CommonEvent::Document(comments.map(|span| (span.start, span.end)).collect())
            }
        });
    }
}

fn theirs(text: &str, depth: usize) -> Outcome {
    let mut options = Options::default();
    options.flow_nesting_limit = depth;
    // The loader bounds the nesting of blocks.
    options.block_nesting_limit = usize::MAX;
    options.max_buffered_comment_events = usize::MAX;
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut events = Vec::new();
    let mut comments = Vec::new();
    while let Some(event) = parser.next_event() {
        let (event, span) = match event {
            Ok((event, marks)) => {
                let range = marks.byte_range().unwrap_or_default();
                (event, (range.start, range.end))
            }
            Err(error) => {
                let too_deep = matches!(error.kind(), ErrorKind::RecursionLimitExceeded);
                let at = error.marker().byte_offset().unwrap_or_default();
                return (events, Some((at, (!too_deep).then(|| error.info()))));
            }
        };
        events.push(match event {
            granit_parser::Event::Scalar(text, style, anchor, tag) => {
                // granit-parser gives an absent value the text `~`.
                let absent = span.0 == span.1 && style == ScalarStyle::Plain;
                let text = if absent { String::new() } else { text.into_owned() };
                let tag = tag.as_ref().map_or(Tag::None, |tag| match tag.core_suffix() {
                    Some("str") => Tag::String,
                    Some("merge") => Tag::Merge,
                    Some("map" | "seq") | None => Tag::Other,
                    Some(_) => Tag::Core,
                });
                let style = match style {
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                    ScalarStyle::Plain => Style::Plain,
                };
                CommonEvent::Scalar(text, style, tag, anchor, span)
            }
            granit_parser::Event::MappingStart(style, anchor, _) => {
                CommonEvent::Start(true, style == StructureStyle::Flow, anchor, span)
            }
            granit_parser::Event::SequenceStart(style, anchor, _) => {
                CommonEvent::Start(false, style == StructureStyle::Flow, anchor, span)
            }
            granit_parser::Event::MappingEnd | granit_parser::Event::SequenceEnd => CommonEvent::End(span),
            granit_parser::Event::Alias(anchor) => CommonEvent::Alias(anchor, span),
            granit_parser::Event::Comment(..) => {
                comments.push(span);
                continue;
            }
            granit_parser::Event::DocumentEnd => CommonEvent::Document(std::mem::take(&mut comments)),
            _ => continue,
        });
    }
    (events, None)
}

fn is_control(char: char) -> bool {
    (char.is_control() && !"\t\n\r\u{85}".contains(char)) || matches!(char, '\u{fffe}' | '\u{ffff}')
}

/// The difference between the two parsers, if there is one.
fn difference(text: &str, depth: usize) -> Option<String> {
    let (mut our_events, our_fault) = ours(text, depth);
    let (mut their_events, their_fault) = theirs(text, depth);
    let message = format!("{text:?}: {our_events:?} {our_fault:?}, not {their_events:?} {their_fault:?}");
    let alike = match (our_fault, their_fault) {
        (None, None) => our_events == their_events,
        (Some(_), Some(_)) if text.contains(is_control) => true,
        (Some((at, why)), Some((their_at, their_why))) => {
            for events in [&mut our_events, &mut their_events] {
                if let Some(CommonEvent::Document(comments)) =
                    events.iter_mut().rev().find(|event| matches!(event, CommonEvent::Document(_)))
                {
                    comments.clear();
                }
            }
            let elsewhere = [ESCAPE, CODE, DIRECTIVE];
            let same_byte = at == their_at || why.as_deref().is_some_and(|why| elsewhere.contains(&why));
            our_events == their_events && same_byte && why.is_some() == their_why.is_some()
        }
        _ => false,
    };
    (!alike).then_some(message)
}

/// Compares the parsers on a text, with each kind of line break and with a byte order mark.
fn assert_same(text: &str) {
    let forms =
        [text.to_owned(), text.replace('\n', "\r\n"), text.replace('\n', "\r"), format!("\u{feff}{text}")];
    for form in forms {
        for depth in [129, 2] {
            assert_eq!(difference(&form, depth), None);
        }
    }
}

/// The texts in a folder: YAML files, and the code blocks of Markdown files.
fn texts(folder: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.is_dir() {
            texts(&path, into);
        } else if let "yaml" | "yml" | "json" | "md" = extension {
            let text = fs::read_to_string(&path).unwrap();
            if extension == "md" {
                let blocks = text.split("```").skip(1).step_by(2);
                into.extend(blocks.filter_map(|block| Some(block.split_once('\n')?.1.to_owned())));
            } else {
                into.push(text);
            }
        }
    }
}

fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for folder in ["docs", "examples", "tests/cli"] {
        texts(&root.join(folder), &mut all);
    }
    all.retain(|text| text.len() < 100_000);
    assert!(all.len() > 100, "{}", all.len());
    all
}

#[test]
fn ends_no_document_before_control_character() {
    for text in ["{}\n-\u{1}", "a: 1\n---\u{1}", "'a'\n...\u{1}", "--- a\n---\u{7f}\n"] {
        let (events, fault) = ours(text, 8);
        assert_eq!(fault.map(|(at, _)| at), text.find(is_control), "{text:?}");
        assert!(
            !events.iter().any(|event| matches!(event, CommonEvent::Document(_))),
            "{text:?}: {events:?}"
        );
    }
}

#[test]
fn emits_same_events_for_manifests_of_repository() {
    for text in corpus() {
        assert_same(&text);
        // The same text without one line, and up to that line.
        for (at, _) in text.match_indices('\n').step_by(7) {
            let (before, after) = text.split_at(at);
            let shorter = format!("{before}{}", after.get(1..).unwrap_or_default());
            assert_eq!(difference(&shorter, 129), None);
            assert_eq!(difference(before, 129), None);
        }
    }
}

#[test]
fn emits_same_events_for_every_construct() {
    for text in CORNERS {
        assert_same(text);
        assert_same(&format!("{text}\n"));
        assert_same(&format!("a:\n  b:\n    {}\n  c: d\n", text.replace('\n', "\n    ")));
        assert_same(&format!("- {text}\n- x"));
        assert_same(&format!("- - {}\n", text.replace('\n', "\n    ")));
        assert_same(&format!("[ {text} ]"));
        assert_same(&format!("? {}\n: x", text.replace('\n', "\n  ")));
        assert_same(&format!("--- # one\n{text}\n...\n# two\n---\n{text}"));
    }
}

#[test]
fn bounds_length_of_keys() {
    for length in 1018..1030 {
        for (open, close) in [("", ": b"), ("\"", "\": b"), ("{", ": b}"), ("[a, ", ": b]"), ("[[", "]: b]")]
        {
            for char in ["a", "é", "日"] {
                assert_same(&format!("{open}{}{close}", char.repeat(length)));
            }
        }
    }
}

#[test]
fn stops_at_bracket_beyond_depth() {
    for depth in [0, 1, 129] {
        for text in ["[".repeat(2000), "{a: ".repeat(400), "- [".repeat(9), "{\"a\":[".repeat(300)] {
            assert_eq!(difference(&text, depth), None);
        }
    }
}

/// One line: indentation, the start of a collection, a key, a value, a comment and a line break.
fn line() -> impl Strategy<Value = String> {
    let opens = select(&["", "", "", "- ", "- - ", "-\n", "? ", ": ", "-\t", "&a ", "!!str "][..]);
    let keys =
        select(&["", "", "a: ", "é: ", "\"b\": ", "'c d' : ", "a:\n", "{a: b}: ", "*a : ", "a:\t"][..]);
    let values = select(
        &[
            "",
            "a",
            "word word",
            "'it''s'",
            "\"a\\tb\\",
            "\"open",
            "close\"",
            "|",
            ">-",
            "|2+",
            "[a, b: c]",
            "[a,",
            "b]",
            "{a: [é], \"b\":c}",
            "{a:",
            "}",
            "*a",
            "&a",
            "!x y",
            "- ",
            "---",
            "...",
            "x: y",
            "# c",
            "\ttab",
        ][..],
    );
    let ends = select(&["\n", "\n", "\n", " # c\n", "\n\n", "\r\n", " \n", "\t# c\n", "\n\t\n", ""][..]);
    (0..7_usize, opens, keys, values, ends)
        .prop_map(|(indent, open, key, value, end)| format!("{}{open}{key}{value}{end}", " ".repeat(indent)))
}

fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at % (text.len() + 1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn emits_same_events_for_random_pieces(pieces in prop::collection::vec(select(PIECES), 0..24), depth in select(&[129, 2][..])) {
        prop_assert_eq!(difference(&pieces.concat(), depth), None);
    }

    #[test]
    fn emits_same_events_for_random_lines(lines in prop::collection::vec(line(), 0..12)) {
        prop_assert_eq!(difference(&lines.concat(), 129), None);
    }

    #[test]
    fn emits_same_events_for_damaged_constructs(
        text in select(CORNERS),
        other in select(CORNERS),
        piece in select(PIECES),
        at in any::<usize>(),
        cut in any::<usize>(),
        len in 0..4_usize,
    ) {
        let mut text = format!("{text}\n{other}\n");
        text.insert_str(floor(&text, at), piece);
        let start = floor(&text, cut);
        text.replace_range(start..floor(&text, start.max(text.floor_char_boundary(start + len))), "");
        prop_assert_eq!(difference(&text, 129), None);
    }
}
