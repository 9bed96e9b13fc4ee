use super::*;

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
