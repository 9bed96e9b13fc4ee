use proptest::prelude::*;

use super::*;

fn error(text: &str) -> (String, &str) {
    let error = TomlDocument::parse(text).unwrap_err();
    (error.message, error.span.text(text))
}

#[test]
fn parses_values_with_their_spans() {
    let text = r#"a = 'x'
b = "y\tz"
c = 0x1f
d = 1.5
e = 1979-05-27T07:32:00Z
f = [1, [true]]
g = {h.i = 1}
"j k".l = """
m"""
"#;
    let document = TomlDocument::parse(text).unwrap();
    let at = |path: &[&str]| document.get(path).unwrap();
    assert_eq!(at(&["a"]).as_string().unwrap().span_of(&(0..1)).text(text), "x");
    assert_eq!(at(&["b"]).as_string().unwrap().value, "y\tz");
    assert_eq!(at(&["c"]).as_integer(), Some(31));
    assert_eq!(at(&["d"]).span().text(text), "1.5");
    assert_eq!(at(&["e"]).span().text(text), "1979-05-27T07:32:00Z");
    assert_eq!(at(&["f"]).span().text(text), "[1, [true]]");
    assert_eq!(at(&["g", "h", "i"]).span().text(text), "1");
    assert_eq!(at(&["j k"]).key_span().text(text), "\"j k\"");
    assert_eq!(at(&["j k", "l"]).as_string().unwrap().value, "m");
}

#[test]
fn lists_entries_in_the_order_of_the_text() {
    let document = TomlDocument::parse("[z]\nb = 1\na = 2\n[y]\n[[x]]\nd = 1\n[[x]]\nc = 2\n").unwrap();
    let keys = |entry: TomlEntry<'_>| {
        entry.children().iter().map(|child| child.key().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(document.root()), ["z", "y", "x"]);
    assert_eq!(keys(document.get(&["z"]).unwrap()), ["b", "a"]);
    let tables = document.get(&["x"]).unwrap();
    assert!(tables.is_array() && document.get(&["y"]).unwrap().is_empty());
    assert_eq!(tables.children().into_iter().flat_map(keys).collect::<Vec<_>>(), ["d", "c"]);
}

#[test]
fn accepts_tables_in_any_order() {
    for valid in [
        "[a.b.c]\n[a]\n[a.b]\n",
        "[[a]]\nb = 1\n[a.c]\n[[a]]\nb = 1\n[a.c]\n",
        "a.b = 1\na.c = 2\n",
        "[a]\nb.c = 1\n[a.b.d]\n",
        "",
        "# only this",
    ] {
        assert!(TomlDocument::parse(valid).is_ok(), "{valid:?}");
    }
}

#[test]
fn reports_the_second_definition_of_a_key() {
    for (invalid, key) in [
        ("a = 1\na = 2", "a"),
        ("[a]\n[a]", "a"),
        ("[a]\nb = 1\n[a.b]", "b"),
        ("a.b = 1\n[a]", "a"),
        ("a = {}\n[a.b]", "a"),
        ("a = []\n[[a]]", "a"),
        ("[[a]]\n[a]", "a"),
        ("[a]\n[[a]]", "a"),
        ("[a.b.c]\n[a]\nb.c.d = 1", "c"),
        ("a = {b = 1, b = 2}", "b"),
        ("a = {b = 1}\na.c = 2", "a"),
        ("a = 1\na.c = 2", "a"),
    ] {
        assert_eq!(error(invalid), (format!("`{key}` is defined twice"), key), "{invalid:?}");
    }
    assert_eq!(error("a = 1\n\"a\" = 2"), ("`a` is defined twice".to_owned(), "\"a\""));
}

#[test]
fn rejects_text_that_is_not_toml() {
    for invalid in [
        "a",
        "a =",
        "a = b",
        "[a",
        "a = 'x",
        "a = 1 b = 2",
        "a = 99999999999999999999",
        "#!/bin/sh\necho x",
        "a = \"\\q\"",
        "a = [1, 2",
        "MIME-Version: 1.0",
        "apiVersion: v1",
        "a = tru",
        "a = 01",
        "= 1",
        "a = 1979-13-01",
    ] {
        assert!(TomlDocument::parse(invalid).is_err(), "{invalid:?}");
    }
}

#[test]
fn reports_the_error_with_its_span_and_what_is_missing() {
    let cases = [
        ("[settings]\nx = yes", "string values must be quoted", "yes"),
        ("[settings\nx = 1", "unclosed table, expected `]`", ""),
        ("max-pods 58", "key with no value, expected `=`", ""),
        ("a = [1, 2", "unclosed array, expected `]`", ""),
        ("a = 10.100.0.10", "invalid float", ".0.10"),
        ("a = 2024-02-30 # no", "invalid date", "2024-02-30"),
        ("a = 9223372036854775808", "the integer does not fit into 64 bits", "9223372036854775808"),
        ("a = 1 b = 2", "unexpected key or value", ""),
    ];
    for (text, message, place) in cases {
        assert_eq!(error(text), (message.to_owned(), place), "{text:?}");
    }
}

#[test]
fn reports_a_syntax_error_before_an_error_in_a_value() {
    assert_eq!(error("a = yes\nb = no").1, "yes");
    assert_eq!(error("a = yes\nb = [\n").0, "unclosed array, expected `]`");
}

#[test]
fn finds_string_contents_without_escapes() {
    let text = "a = \"\"\"\"x\"\"\"\"\nb = \"\"\"\\\n  x y\"\"\"\nc = 'x\\y'\nd = \"x\\\\y\"\ne = ''\nf = '''\nx'''\n";
    let document = TomlDocument::parse(text).unwrap();
    let found: Vec<_> = document
        .root()
        .children()
        .into_iter()
        .map(|entry| {
            let word = entry.as_string().unwrap();
            let place = word.span_of(&(0..word.value.len())).text(text);
            (word.value, place)
        })
        .collect();
    let expected =
        [("\"x\"", "\"x\""), ("x y", "x y"), ("x\\y", "x\\y"), ("x\\y", "\"x\\\\y\""), ("", ""), ("x", "x")];
    assert_eq!(found, expected.map(|(value, place)| (value.to_owned(), place)));
}

#[test]
fn bounds_the_nesting() {
    for (depth, parses) in [(1, true), (60, true), (200, false), (100_000, false)] {
        for (open, inner, close) in [("[", "", "]"), ("{a=", "1", "}"), ("{a.b.c=", "1", "}")] {
            let text = ["a = ", &open.repeat(depth), inner, &close.repeat(depth)].concat();
            let expected = parses && (depth == 1 || !open.contains('.'));
            assert_eq!(TomlDocument::parse(&text).is_ok(), expected, "{depth} {open}");
        }
    }
    let long_keys = format!("{{{}=", "a.".repeat(70) + "a").repeat(70);
    let text = ["a = ", &long_keys, "1", &"}".repeat(70)].concat();
    assert_eq!(error(&text).0, "tables and arrays are nested more than 128 levels deep");
    assert!(TomlDocument::parse(&format!("{}a = 1", "a.".repeat(100_000))).is_err());
}

#[test]
fn distinguishes_many_keys_in_one_table() {
    let lines: Vec<_> = (0..20_000).map(|key| format!("k{key} = {{}}\n")).collect();
    let mut text = lines.concat();
    assert_eq!(TomlDocument::parse(&text).unwrap().root().children().len(), 20_000);
    text += "k0 = 1";
    assert_eq!(error(&text), ("`k0` is defined twice".to_owned(), "k0"));
}

/// Generates values, some of them invalid.
fn value() -> impl Strategy<Value = String> {
    let scalars = [
        "1",
        "0xDEAD_beef",
        "-1.5e3",
        "true",
        "inf",
        "1979-05-27T07:32:00Z",
        "07:32:00",
        "'a b'",
        "'é\\'",
        "\"x\\n\\u00e9\"",
        "\"\"\"\nx\\\n  y\"\"\"",
        "'''\r\nx\ny'''",
        "''",
        "\"\\\\\\\\\"",
        "yes",
        "01",
        "\"\\q\"",
        "'a",
        "9223372036854775808",
    ];
    prop::sample::select(scalars.to_vec()).prop_map(str::to_owned).prop_recursive(4, 16, 4, |value| {
        prop_oneof![
            prop::collection::vec(value.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" ,\n"))),
            prop::collection::vec((key(), value), 0..4).prop_map(|pairs| {
                let pairs: Vec<_> = pairs.into_iter().map(|(key, value)| format!("{key}= {value}")).collect();
                format!("{{{}}}", pairs.join(", "))
            }),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    let keys = ["a", "b", "-1", "'a'", "\"\\u0061\"", "'x.y'", "''", "é", "a b"];
    prop::collection::vec(prop::sample::select(keys.to_vec()), 1..4).prop_map(|keys| keys.join(" ."))
}

/// Generates documents with a piece cut out of some of them.
fn document() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => (key(), value()).prop_map(|(key, value)| format!("{key} = {value} # é")),
        1 => key().prop_map(|key| format!("[{key}]")),
        1 => key().prop_map(|key| format!("[[{key}]]\r")),
    ];
    let whole = prop::collection::vec(line, 0..7).prop_map(|lines| lines.join("\n"));
    (whole, any::<prop::sample::Index>(), 0_usize..4).prop_map(|(text, at, length)| {
        let at = text.floor_char_boundary(at.index(text.len() + 1));
        let end = text.ceil_char_boundary((at + length).min(text.len()));
        [text.get(..at).unwrap(), text.get(end..).unwrap()].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spans_contain_the_keys_and_values_of_the_entries(text in document()) {
        match TomlDocument::parse(&text) {
            Err(error) => prop_assert!(text.get(error.span.start..error.span.end).is_some()),
            Ok(document) => {
                let mut entries = document.root().children();
                while let Some(entry) = entries.pop() {
                    entries.extend(entry.children());
                    if entry.key.is_some() {
                        let line = format!("{} = 1", entry.key_span().text(&text));
                        let again = TomlDocument::parse(&line).unwrap();
                        prop_assert_eq!(again.root().children()[0].key(), entry.key());
                    }
                    if let Some(word) = entry.as_string() {
                        let line = format!("k = {}", entry.span().text(&text));
                        let again = TomlDocument::parse(&line).unwrap();
                        prop_assert_eq!(again.get(&["k"]).unwrap().as_string().unwrap().value, word.value);
                    }
                }
            }
        }
    }
}
