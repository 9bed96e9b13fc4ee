//! The reader is held to granit-parser, which is held to the YAML test suite: the same events at the same bytes, or a
//! refusal by both.
//!
//! Known differences, none of which is between a text that is read and one that is refused:
//!
//! - A control character is the mistake that is told, and at its own place. granit-parser puts some at the start of the
//!   scalar they stand in, or tells first of what it lacks behind them.
//! - An escape that is none is told at its backslash, not at the quotes before it; a `%` without a name at the `%`.
//! - Where a document is refused, the comments behind the document before it are not compared: which of the two they belong
//!   to is of no consequence.

mod corners;

use std::fs;
use std::path::Path;

use granit_parser::{ErrorKind, Options, Parser, ScalarStyle, StructureStyle};
use proptest::prelude::*;
use proptest::sample::select;

use super::super::tree::Style;
use super::events::{Event, Reader};
use super::names::{DIRECTIVE, Tag};
use super::scalars;
use corners::{CORNERS, PIECES};

/// An event as both can tell it, with the bytes it covers.
#[derive(Debug, PartialEq)]
enum Told {
    Scalar(String, Style, Tag, usize, (usize, usize)),
    Start(bool, bool, usize, (usize, usize)),
    End((usize, usize)),
    Alias(usize, (usize, usize)),
    Document(Vec<(usize, usize)>),
}

/// The events of a text, and where and why it ends before its end: nothing where it is too deep.
type Reading = (Vec<Told>, Option<(usize, Option<String>)>);

fn ours(text: &str, depth: usize) -> Reading {
    let mut reader = Reader::new(text, depth);
    let mut told = Vec::new();
    loop {
        let (event, place) = match reader.next() {
            Ok(Some(found)) => found,
            Ok(None) => return (told, None),
            Err(fault) => return (told, Some((fault.at, fault.why.map(str::to_owned)))),
        };
        let span = (place.start, place.end);
        told.push(match event {
            Event::Scalar { text, style, tag, anchor } => {
                Told::Scalar(reader.text(text).to_owned(), style, tag, anchor, span)
            }
            Event::Start { is_mapping, in_brackets, anchor } => {
                Told::Start(is_mapping, in_brackets, anchor, span)
            }
            Event::End => Told::End(span),
            Event::Alias(anchor) => Told::Alias(anchor, span),
            Event::DocumentEnd => {
                let comments = reader.comments_before(place.start);
                Told::Document(comments.map(|span| (span.start, span.end)).collect())
            }
        });
    }
}

fn theirs(text: &str, depth: usize) -> Reading {
    let mut options = Options::default();
    options.flow_nesting_limit = depth;
    // The tree bounds blocks, which the reader meets one at a time.
    options.block_nesting_limit = usize::MAX;
    options.max_buffered_comment_events = usize::MAX;
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut told = Vec::new();
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
                return (told, Some((at, (!too_deep).then(|| error.info()))));
            }
        };
        told.push(match event {
            granit_parser::Event::Scalar(text, style, anchor, tag) => {
                // What is left out is told as `~` without a place.
                let left_out = span.0 == span.1 && style == ScalarStyle::Plain;
                let text = if left_out { String::new() } else { text.into_owned() };
                let tag = tag.as_ref().map_or(Tag::None, |tag| match tag.core_suffix() {
                    Some("str") => Tag::String,
                    Some(_) => Tag::Core,
                    None => Tag::Other,
                });
                let style = match style {
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                    ScalarStyle::Plain => Style::Plain,
                };
                Told::Scalar(text, style, tag, anchor, span)
            }
            granit_parser::Event::MappingStart(style, anchor, _) => {
                Told::Start(true, style == StructureStyle::Flow, anchor, span)
            }
            granit_parser::Event::SequenceStart(style, anchor, _) => {
                Told::Start(false, style == StructureStyle::Flow, anchor, span)
            }
            granit_parser::Event::MappingEnd | granit_parser::Event::SequenceEnd => Told::End(span),
            granit_parser::Event::Alias(anchor) => Told::Alias(anchor, span),
            granit_parser::Event::Comment(..) => {
                comments.push(span);
                continue;
            }
            granit_parser::Event::DocumentEnd => Told::Document(std::mem::take(&mut comments)),
            _ => continue,
        });
    }
    (told, None)
}

fn is_control(char: char) -> bool {
    (char.is_control() && !"\t\n\r\u{85}".contains(char)) || matches!(char, '\u{fffe}' | '\u{ffff}')
}

/// Why two readings of a text differ, if they do.
fn difference(text: &str, depth: usize) -> Option<String> {
    let (mut our_events, our_fault) = ours(text, depth);
    let (mut their_events, their_fault) = theirs(text, depth);
    let told = format!("{text:?}: {our_events:?} {our_fault:?}, not {their_events:?} {their_fault:?}");
    let alike = match (our_fault, their_fault) {
        (None, None) => our_events == their_events,
        (Some(_), Some(_)) if text.contains(is_control) => true,
        (Some((at, why)), Some((their_at, their_why))) => {
            for events in [&mut our_events, &mut their_events] {
                if let Some(Told::Document(comments)) =
                    events.iter_mut().rev().find(|event| matches!(event, Told::Document(_)))
                {
                    comments.clear();
                }
            }
            let elsewhere = [scalars::ESCAPE, scalars::CODE, DIRECTIVE];
            let place = at == their_at || why.as_deref().is_some_and(|why| elsewhere.contains(&why));
            our_events == their_events && place && why.is_some() == their_why.is_some()
        }
        _ => false,
    };
    (!alike).then_some(told)
}

/// A text, and the same with other line breaks and a byte order mark.
fn hold(text: &str) {
    let forms =
        [text.to_owned(), text.replace('\n', "\r\n"), text.replace('\n', "\r"), format!("\u{feff}{text}")];
    for form in forms {
        for depth in [129, 2] {
            assert_eq!(difference(&form, depth), None);
        }
    }
}

/// The texts below a folder: files of YAML, and what stands in code blocks.
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["docs", "examples", "tests/cli"] {
        texts(&root.join(folder), &mut all);
    }
    all.retain(|text| text.len() < 100_000);
    assert!(all.len() > 100, "{}", all.len());
    all
}

#[test]
fn a_document_that_a_control_character_cuts_off_does_not_end() {
    for text in ["{}\n-\u{1}", "a: 1\n---\u{1}", "'a'\n...\u{1}", "--- a\n---\u{7f}\n"] {
        let (told, fault) = ours(text, 8);
        assert_eq!(fault.map(|(at, _)| at), text.find(is_control), "{text:?}");
        assert!(!told.iter().any(|event| matches!(event, Told::Document(_))), "{text:?}: {told:?}");
    }
}

#[test]
fn every_manifest_here_reads_alike() {
    for text in corpus() {
        hold(&text);
        // Where a line is missing.
        for (at, _) in text.match_indices('\n').step_by(7) {
            let (before, after) = text.split_at(at);
            let shorter = format!("{before}{}", after.get(1..).unwrap_or_default());
            assert_eq!(difference(&shorter, 129), None);
            assert_eq!(difference(before, 129), None);
        }
    }
}

#[test]
fn the_corners_of_the_syntax_read_alike() {
    for text in CORNERS {
        hold(text);
        hold(&format!("{text}\n"));
        hold(&format!("a:\n  b:\n    {}\n  c: d\n", text.replace('\n', "\n    ")));
        hold(&format!("- {text}\n- x"));
        hold(&format!("- - {}\n", text.replace('\n', "\n    ")));
        hold(&format!("[ {text} ]"));
        hold(&format!("? {}\n: x", text.replace('\n', "\n  ")));
        hold(&format!("--- # one\n{text}\n...\n# two\n---\n{text}"));
    }
}

#[test]
fn keys_are_bounded_in_length() {
    for length in 1018..1030 {
        for (open, close) in [("", ": b"), ("\"", "\": b"), ("{", ": b}"), ("[a, ", ": b]"), ("[[", "]: b]")]
        {
            for char in ["a", "é", "日"] {
                hold(&format!("{open}{}{close}", char.repeat(length)));
            }
        }
    }
}

#[test]
fn depth_ends_reading_at_the_bracket_that_is_too_much() {
    for depth in [0, 1, 129] {
        for text in ["[".repeat(2000), "{a: ".repeat(400), "- [".repeat(9), "{\"a\":[".repeat(300)] {
            assert_eq!(difference(&text, depth), None);
        }
    }
}

/// Lines of blocks: an indentation, what opens collections, a value, a comment and a line break.
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
    fn pieces_read_alike(pieces in prop::collection::vec(select(PIECES), 0..24), depth in select(&[129, 2][..])) {
        prop_assert_eq!(difference(&pieces.concat(), depth), None);
    }

    #[test]
    fn lines_read_alike(lines in prop::collection::vec(line(), 0..12)) {
        prop_assert_eq!(difference(&lines.concat(), 129), None);
    }

    #[test]
    fn damaged_corners_read_alike(
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
