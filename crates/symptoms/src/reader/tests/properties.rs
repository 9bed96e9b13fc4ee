//! Pieces of any size give the same entries as the whole.

use proptest::prelude::*;

use super::{LINE, read_pieces};
use crate::entry::LogFileId;
use crate::reader::FileReader;
use manifest::limits::Limits;
use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;

/// Texts of pieces that the reader knows, and any other pieces.
fn mixed() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&'static str> = vec![
        LINE,
        "\n",
        "\r\n",
        "{",
        "}",
        "[",
        "\"",
        "apiVersion: v1",
        "kind: A",
        "---",
        "- ",
        "{\n",
        "\n}\n",
        "  ",
        "é😀",
        "{\"apiVersion\":\"v1\",\"kind\":\"A\"}",
        "Name:         x",
        "Events:",
        "LAST SEEN   TYPE   REASON   OBJECT   MESSAGE",
        "5m  Warning  A  pod/b  c",
        "30s (x5 over 10m)  Warning  A  pod/b  c",
        "NAME   TYPE   ZONE   NODE   READY   AGE",
        "a-1    b      c             True    3d4h",
        "Conditions:",
        "  Type   Status",
        "  A      True",
        "panic: x",
        "goroutine 1",
        "\u{1b}[31m",
        "\0",
        "2026-04-23T18:04:56Z ",
        "2026-04-23T18:04:56Z stdout P ",
        "2026-04-23T18:04:56Z stderr F ",
        "I0423 1 a.go:1] b",
        "{\"log\":\"{",
        "a: b",
        "\u{feff}",
    ];
    let piece = prop_oneof![
        4 => proptest::sample::select(pieces).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn pieces_of_any_size_tell_the_same_as_the_whole(bytes in mixed(), size in 1_usize..50, name in "(-|a\\.yaml|a\\.json)") {
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        prop_assert_eq!(read_pieces(&name, &pieces), read_pieces(&name, &[&bytes]));
    }

    #[test]
    fn a_document_is_found_where_it_would_be_in_a_file_of_its_own_lines(lines in 0_usize..5, text in "[ -~é😀]{0,30}") {
        let before = format!("x{text}\n").repeat(lines);
        let document = "apiVersion: v1\nkind: A\nmetadata:\n  name: é😀\n  labels: {a: b}\n";
        let all = format!("{before}{document}");
        let mut reader = FileReader::new("-", LogFileId::default(), Limits::DEFAULT);
        reader.feed(all.as_bytes(), &mut |_| {});
        let found = reader.finish(&mut |_| {}).file.unwrap();
        let alone = File::read("-", document, READ_OPTIONS);
        let (Document::Read(found_tree), Document::Read(tree)) = (&found.documents[0], &alone.documents[0]) else {
            panic!("not read")
        };
        let (there, here) = (
            found.source.position(found_tree.root().at_path(&["metadata", "labels", "a"]).unwrap().span().start),
            alone.source.position(tree.root().at_path(&["metadata", "labels", "a"]).unwrap().span().start),
        );
        prop_assert_eq!(there.line, here.line + lines);
        prop_assert_eq!(there.column, here.column);
        prop_assert_eq!(there.offset, here.offset + before.encode_utf16().count());
    }
}
