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
        "NAME   STATUS   ROLES   AGE   VERSION",
        "a-1    NotReady <none>  3d    v1.33.1",
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

/// Objects as `kubectl get -o json` prints them.
const OBJECTS: [&str; 3] = [
    r#"{"action":"Scheduling","apiVersion":"v1","count":3,"eventTime":"2026-11-25T22:00:00.000000Z","firstTimestamp":null,"involvedObject":{"apiVersion":"v1","kind":"Pod","name":"web-1","namespace":"shop"},"kind":"Event","lastTimestamp":null,"message":"Failed to schedule pod, label \"team\" does not have known values","metadata":{"name":"web-1.x","namespace":"shop"},"reason":"FailedScheduling","reportingComponent":"karpenter","source":{"component":"karpenter"},"type":"Warning"}"#,
    r#"{"allowVolumeExpansion":true,"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"fast"},"provisioner":"ebs.csi.aws.com","volumeBindingMode":"Immediate"}"#,
    r#"{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"labels":{"a":"b"},"name":"web-1"},"spec":{"expireAfter":"720h"},"status":{"conditions":[{"lastTransitionTime":"2026-11-25T22:00:00Z","message":"","reason":"Launched","status":"True","type":"Launched"}],"nodeName":"node-1"}}"#,
];

/// A value with the members of each object in the order of a number.
fn permuted(value: &serde_json::Value, order: u64) -> String {
    match value {
        serde_json::Value::Object(members) => {
            let rank = |key: &str| {
                key.bytes().fold(order, |rank, byte| (rank ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
            };
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| rank(key));
            let members = members
                .iter()
                .map(|(key, value)| format!("{}:{}", serde_json::json!(key), permuted(value, order)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        serde_json::Value::Array(items) => {
            let items = items.iter().map(|item| permuted(item, order));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

proptest! {
    #[test]
    fn objects_tell_the_same_in_any_order_of_their_keys(
        order in any::<u64>(),
        object in proptest::sample::select(OBJECTS.as_slice()),
        name in "(-|a\\.yaml|a\\.json|a\\.jsonl|a\\.log)",
    ) {
        let value: serde_json::Value = serde_json::from_str(object).unwrap();
        let read = |text: &str| {
            let (told, counts) = read_pieces(&name, &[format!("{LINE}\n{text}\n{LINE}\n").as_bytes()]);
            let entries: Vec<String> =
                told.lines().filter(|line| !line.starts_with("document ")).map(str::to_owned).collect();
            (entries, counts)
        };
        let (expected, found) = (read(object), read(&permuted(&value, order)));
        prop_assert_eq!(expected.1.documents, 1);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn pieces_of_any_size_tell_the_same_as_the_whole(bytes in mixed(), size in 1_usize..50, name in "(-|a\\.yaml|a\\.json)") {
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        prop_assert_eq!(read_pieces(&name, &pieces), read_pieces(&name, &[&bytes]));
    }

    #[test]
    fn a_document_is_found_where_it_would_be_in_a_file_of_its_own_lines(lines in 0_usize..5, text in "[ -~é😀]{0,30}") {
        // A line with a key would be a part of the document.
        prop_assume!(!text.starts_with(':'));
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
