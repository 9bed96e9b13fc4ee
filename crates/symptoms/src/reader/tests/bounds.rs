//! Binary files, encodings, and input beyond a bound.

use super::{ENTRIES, LINE, entries_of, read_pieces, read_within};
use crate::reader::LineCounts;
use manifest::limits::Limits;

#[test]
fn reports_binary_files() {
    let (text, counts) = read_pieces("a.png", &[b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\nabc\n"]);
    assert_eq!((text.as_str(), counts.entries), ("binary\n", 0));
    let zeros = [vec![0; 2000], format!("{LINE}\n{LINE}\n").into_bytes()].concat();
    let (text, counts) = read_pieces("-", &[&zeros]);
    assert_eq!((text.lines().count(), counts.binary), (1, 1), "{text}");
    let latin = [b"caf\xe9 ".to_vec(), LINE.as_bytes().to_vec()].concat();
    let (text, counts) = read_pieces("-", &[&latin]);
    assert_eq!((text.as_str(), counts.not_utf8), (ENTRIES, 1));
}

#[test]
fn reads_utf16_with_and_without_byte_order_mark() {
    let text = format!("{LINE}\r\napiVersion: v1\r\nkind: 😀\r\n");
    let units: Vec<u16> = text.encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let expected = entries_of(&text);
    for bytes in
        [little.clone(), big.clone(), [vec![0xff, 0xfe], little].concat(), [vec![0xfe, 0xff], big].concat()]
    {
        assert_eq!(read_pieces("-", &[&bytes]).0, expected);
    }
}

#[test]
fn skips_and_counts_a_line_of_fifty_megabytes() {
    let long = format!(
        r#"{{"level":"INFO","message":"{}"}}
{LINE}
apiVersion: v1
kind: A
"#,
        "x".repeat(50 << 20)
    );
    let pieces: Vec<&[u8]> = long.as_bytes().chunks(1 << 18).collect();
    let (text, counts) = read_pieces("-", &pieces);
    assert_eq!(
        counts,
        LineCounts { lines: 4, entries: 1, too_long: 1, documents: 1, ..LineCounts::default() }
    );
    let offset = long.find("apiVersion").unwrap();
    assert_eq!(
        text,
        format!(
            "{}document at 3, offset {offset}: {{\"apiVersion\":\"v1\",\"kind\":\"A\"}}\n",
            ENTRIES.replace("1:", "2:")
        )
    );
}

/// An API server stores objects of up to 1.5 MiB.
#[test]
fn reads_an_object_on_a_long_line_whatever_its_first_key_is() {
    let data = "x".repeat(3 << 19);
    let objects = [
        format!(r#"{{"data":{{"a":"{data}"}},"apiVersion":"v1","kind":"ConfigMap"}}"#),
        format!(r#"{{"apiVersion":"v1","data":{{"a":"{data}"}},"kind":"ConfigMap"}}"#),
        format!(r#"{{"message":"{data}","reason":"a"}}"#),
    ];
    let text = objects.join("\n");
    let pieces: Vec<&[u8]> = text.as_bytes().chunks(1 << 18).collect();
    let (_, counts) = read_pieces("-", &pieces);
    assert_eq!(counts, LineCounts { lines: 3, documents: 2, too_long: 1, ..LineCounts::default() });
}

#[test]
fn counts_documents_beyond_the_bound() {
    let limits = Limits { file_bytes: 600, ..Limits::DEFAULT };
    let text = format!(
        r"{LINE}
apiVersion: v1
kind: A
{LINE}
{LINE}
apiVersion: v1
kind: B
"
    );
    let (text, counts) = read_within("-", &[text.as_bytes()], limits);
    assert_eq!((counts.documents, counts.beyond, counts.entries), (1, 2, 3), "{text}");
}
