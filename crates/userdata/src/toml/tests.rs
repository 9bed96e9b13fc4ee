use super::*;
use proptest::prelude::*;

fn error(text: &str) -> (String, &str) {
    let error = Document::read(text).unwrap_err();
    (error.message, error.span.text(text))
}

#[test]
fn values_and_their_places() {
    let text = "a = 'x'\nb = \"y\\tz\"\nc = 0x1f\nd = 1.5\ne = 1979-05-27T07:32:00Z\nf = [1, [true]]\ng = {h.i = 1}\n\"j k\".l = \"\"\"\nm\"\"\"\n";
    let document = Document::read(text).unwrap();
    let at = |path: &[&str]| document.get(path).unwrap();
    assert_eq!(at(&["a"]).as_string().unwrap().place(&(0..1)).text(text), "x");
    assert_eq!(at(&["b"]).as_string().unwrap().value, "y\tz");
    assert_eq!(at(&["c"]).value(), &Value::Integer(31));
    assert_eq!((at(&["d"]).value(), at(&["e"]).value()), (&Value::Float, &Value::DateTime));
    assert_eq!(at(&["f"]).span().text(text), "[1, [true]]");
    assert_eq!(at(&["g", "h", "i"]).span().text(text), "1");
    assert_eq!(at(&["j k", "l"]).as_string().unwrap().value, "m");
}

#[test]
fn tables_may_be_opened_in_any_order_and_once() {
    for valid in [
        "[a.b.c]\n[a]\n[a.b]\n",
        "[[a]]\nb = 1\n[a.c]\n[[a]]\nb = 1\n[a.c]\n",
        "a.b = 1\na.c = 2\n",
        "[a]\nb.c = 1\n[a.b.d]\n",
        "",
        "# only this",
    ] {
        assert!(Document::read(valid).is_ok(), "{valid:?}");
    }
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
    ] {
        assert_eq!(error(invalid), (format!("`{key}` is defined twice"), key), "{invalid:?}");
    }
}

#[test]
fn what_is_no_toml_is_refused_where_it_goes_wrong() {
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
        assert!(Document::read(invalid).is_err(), "{invalid:?}");
    }
    let deep = ["a = ".to_owned(), "[".repeat(100), "]".repeat(100)].concat();
    assert!(Document::read(&deep).is_err());
    assert_eq!(error("[settings]\nx = yes").1, "yes");
}

#[test]
fn a_place_in_a_string_is_exact_where_no_escape_stands_in_it() {
    let text = "a = \"\"\"\"x\"\"\"\"\nb = \"\"\"\\\n  x y\"\"\"\nc = 'x\\y'\nd = \"x\\\\y\"\n";
    let document = Document::read(text).unwrap();
    let places = document.root().unwrap().children().map(|entry| {
        let word = entry.as_string().unwrap();
        (word.value.as_str(), word.place(&(0..word.value.len())).text(text))
    });
    let expected = [("\"x\"", "\"x\""), ("x y", "x y"), ("x\\y", "x\\y"), ("x\\y", "\"x\\\\y\"")];
    assert_eq!(places.collect::<Vec<_>>(), expected);
}

#[test]
fn what_parses_and_means_nothing_is_told_only_where_all_parses() {
    assert_eq!(error("a = yes\nb = no"), ("string values must be quoted".to_owned(), "yes"));
    assert_eq!(error("a = yes\nb = [\n").0, "unclosed array");
    assert_eq!(error("a = 1\na = 0x\nb = 2024-02-30").1, "a");
    assert_eq!(error("a = 2024-02-30 # no"), ("no such date or time".to_owned(), "2024-02-30"));
    assert_eq!(error("a = 10.100.0.10"), ("invalid float".to_owned(), ".0.10"));
}

fn one(of: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    prop::sample::select(of.to_vec()).prop_map(str::to_owned)
}

fn some(of: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    prop::collection::vec(prop::sample::select(of.to_vec()), 0..7).prop_map(|pieces| pieces.concat())
}

/// Mostly what is right, seldom what is wrong.
fn seldom(
    right: impl Strategy<Value = String> + 'static,
    wrong: impl Strategy<Value = String> + 'static,
) -> impl Strategy<Value = String> {
    prop_oneof![12 => right, 1 => wrong]
}

fn key() -> impl Strategy<Value = String> {
    let key = seldom(
        one(&["a", "b", "c", "1", "-", "_x", "a", "b", "'a'", "\"b\"", "\"\\u0061\"", "'x.y'", "''"]),
        one(&["", "é", "\"\\q\"", "\"\"\"a\"\"\"", "a b", "'a"]),
    );
    (prop::collection::vec(key, 1..4), one(&[".", ".", " . ", ".\t"])).prop_map(|(keys, dot)| keys.join(&dot))
}

fn unquoted() -> impl Strategy<Value = String> {
    let valid = one(&[
        "0",
        "-1",
        "+17",
        "1_000",
        "0xDEAD_beef",
        "0o17",
        "0b101",
        "9223372036854775807",
        "-9223372036854775808",
        "1.5",
        "-0.0",
        "1e5",
        "6.02E+23",
        "1_0.0_1e-1_0",
        "-inf",
        "nan",
        "true",
        "false",
        "1979-05-27",
        "07:32",
        "1979-05-27T07:32:00Z",
        "1979-05-27 07:32:00.5-07:00",
        "2000-02-29",
    ]);
    let parts = [
        "0",
        "1",
        "9",
        "_",
        "-",
        "+",
        ".",
        "e",
        "E",
        "x",
        "o",
        "b",
        "d",
        "f",
        "a",
        ":",
        "T",
        "Z",
        " ",
        "\t",
        "19",
        "31",
        "2000-02-",
        "1979-05-27",
        "07:32",
        ":00",
        "true",
        "inf",
        "nan",
        "99999999999",
        "s",
        "'",
    ];
    prop_oneof![valid, some(&parts)]
}

fn string() -> impl Strategy<Value = String> {
    let plain = ["a", "b", " ", "é", "漢", "#", "=", "]", "\t", "x:NoSchedule"];
    let escapes =
        ["\\n", "\\\"", "\\\\", "\\u00e9", "\\x41", "\\U0001f600", "\\e", "\\b", "\\f", "\\r", "\\t"];
    let lines = ["\n", "\r\n", "\"", "'", "\"\"", "''", "\\\n  ", "\\ \r\n\t\n"];
    let wrong = [
        "\\q",
        "\\u12",
        "\\ud800",
        "\\x4",
        "\\U00110000",
        "\\ x",
        "\r",
        "\0",
        "\u{7f}",
        "\\",
        "'''",
        "\"\"\"",
    ];
    let body =
        move |more: &[&'static str]| seldom(some(&[&plain, more].concat()), some(&[&wrong, more].concat()));
    let between = |quote: &'static str| move |body: String| [quote, &body, quote].concat();
    prop_oneof![
        body(&[]).prop_map(between("'")),
        body(&escapes).prop_map(between("\"")),
        body(&lines).prop_map(between("'''")),
        body(&[&escapes[..], &lines[..]].concat()).prop_map(between("\"\"\"")),
    ]
}

fn space() -> impl Strategy<Value = String> {
    seldom(one(&["", "", " ", "\t", "\n", "\r\n", " # é\n"]), one(&["\r", "#\0\n", ",", "#"]))
}

fn value() -> impl Strategy<Value = String> {
    let between = |open: &'static str, close: &'static str| {
        move |(items, comma): (Vec<String>, bool)| {
            [open, &items.join(","), if comma { "," } else { "" }, close].concat()
        }
    };
    prop_oneof![unquoted(), string()].prop_recursive(3, 16, 4, move |value| {
        let item = (space(), value.clone(), space()).prop_map(|(a, b, c)| [a, b, c].concat());
        let pair = (space(), key(), space(), space(), value, space())
            .prop_map(|(a, b, c, d, e, f)| [a, b, c, "=".to_owned(), d, e, f].concat());
        prop_oneof![
            (prop::collection::vec(item, 0..4), any::<bool>()).prop_map(between("[", "]")),
            (prop::collection::vec(pair, 0..4), any::<bool>()).prop_map(between("{", "}")),
        ]
    })
}

fn document() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => (key(), value()).prop_map(|(key, value)| [&key, " = ", &value].concat()),
        1 => key().prop_map(|key| ["[", &key, "]"].concat()),
        1 => key().prop_map(|key| ["[[", &key, "]]"].concat()),
        1 => one(&["", "# é", "\u{feff}", "[ a ]", "a=1#"]),
    ];
    let end = one(&["\n", "\n", "\r\n", " \n", "\t# x\n", ""]);
    prop::collection::vec((line, end), 0..7)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + &end).collect())
}

/// A document with a stretch of it gone and something in its place.
fn mutated() -> impl Strategy<Value = String> {
    let pieces = one(&[
        "", "=", ",", "[", "]", "{", "}", ".", "'", "\"", "\\", "#", "\r", "\n", " ", "a", "0", "\0", "é",
        "\"\"\"", "'''", "= [", "= {",
    ]);
    (document(), any::<prop::sample::Index>(), 0_usize..4, pieces).prop_map(|(text, at, length, piece)| {
        let at = text.floor_char_boundary(at.index(text.len() + 1));
        let end = text.ceil_char_boundary((at + length).min(text.len()));
        [text.get(..at).unwrap(), &piece, text.get(end..).unwrap()].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_is_read_or_refused_as_by_toml_parser(text in prop_oneof![document(), mutated()]) {
        match (reference::read(&text), Document::read(&text)) {
            (Ok(theirs), Ok(ours)) => prop_assert_eq!(reference::rows(&ours), theirs),
            (Err(_), Err(error)) => prop_assert!(text.get(error.span.start..error.span.end).is_some()),
            (theirs, ours) => prop_assert!(false, "{:?} and {:?}", theirs, ours.map(|_| ())),
        }
    }
}

#[test]
fn nesting_ends_where_the_reference_ends_it() {
    for depth in [1, 63, 64, 65, 1000] {
        for (open, inner, close) in [("[", "", "]"), ("{a=", "1", "}")] {
            let text = ["a = ", &open.repeat(depth), inner, &close.repeat(depth)].concat();
            assert_eq!(Document::read(&text).is_ok(), depth <= 64, "{depth}");
            assert_eq!(reference::read(&text).is_ok(), depth <= 64, "{depth}");
        }
    }
}

#[test]
fn many_keys_in_one_table_are_told_apart() {
    let mut text = String::new();
    for key in 0..20_000 {
        text.extend(["k", &key.to_string(), " = {}\n"]);
    }
    assert!(Document::read(&text).is_ok());
    let again = [text.as_str(), "k0 = 1"].concat();
    assert_eq!(error(&again), ("`k0` is defined twice".to_owned(), "k0"));
}
