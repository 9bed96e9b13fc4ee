//! Places in texts that people type.

use super::*;

/// The path, the spot and the word at `^` in a text; `+` is a new entry below the path.
fn at(marked: &str) -> Option<String> {
    let byte = marked.find('^').unwrap();
    let text = marked.replacen('^', "", 1);
    let outline = Outline::at(&text, byte);
    let place = outline.place(&text, byte)?;
    let mut path = String::new();
    for step in outline.path(&text, place.nearest(), None) {
        match step {
            EntryStep::Key(key) if path.is_empty() => path += key,
            EntryStep::Key(key) => path.extend([".", key]),
            EntryStep::Item(index) => path.extend(["[", &index.to_string(), "]"]),
        }
    }
    Some(format!("{path} {:?} {}", place.spot, place.word.text(&text)).trim().to_owned())
}

#[track_caller]
fn assert_at(marked: &str, expected: &str) {
    assert_eq!(at(marked).as_deref(), Some(expected), "{marked}");
}

#[test]
fn finds_keys_and_values_of_a_block() {
    assert_at("spec:\n  tem^plate:\n    a: 1\n", "spec.template Key template");
    assert_at("spec:\n  role: no^des # x\n", "spec.role Value nodes");
    assert_at("spec:\n  role: ^\n", "spec.role Value");
    assert_at("spec:\n  role:^\n", "spec.role Value");
    assert_at("spec:\n  role: \"no^des\"\n", "spec.role Value nodes");
    assert_at("spec:\n  \"ro^le\": a\n", "spec.role Key role");
    assert_at("- a\n- b^\n", "[1] Value b");
    assert_at("a:\n- b: 1\n  c: ^\n- d\n", "a[0].c Value");
    assert_at("a: &x ^b\n", "a Value b");
    assert_eq!(at("role: nodes ^\n"), None);
}

#[test]
fn a_place_at_a_key_or_a_value_is_within_it() {
    for marked in ["weight ^: 1\n", "\"weight\"^: 1\n", "^\"weight\": 1\n", "{\"a\" ^: 1}", "{^\"a\": 1}"] {
        assert_eq!(at(marked), None, "{marked}");
    }
}

#[test]
fn visits_only_the_entries_below_an_entry() {
    let item = "- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n";
    let text = format!("kind: List\nitems:\n{}", item.repeat(500));
    let outline = Outline::at(&text, 0);
    let items = outline.member(&text, None, "items").unwrap();
    let visited = |id| {
        outline.visits.set(0);
        outline.scalar(&text, Some(id), "kind");
        outline.path(&text, Some(id), None);
        outline.visits.get()
    };
    let ids: Vec<_> = outline.children(Some(items)).map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 500);
    let most = ids.iter().map(|id| visited(*id)).max();
    assert!(most < Some(12), "{most:?}: as many for each of 500 items");
}

#[test]
fn finds_new_entries_by_their_column() {
    assert_at("spec:\n  ^\n", "spec New");
    assert_at("spec:\n  ^", "spec New");
    assert_at("spec:\n  template:\n    a: 1\n  ^\n  weight: 1\n", "spec New");
    assert_at("spec:\n  template:\n    a: 1\n    ^\n  weight: 1\n", "spec.template New");
    assert_at("spec:\n  list:\n  - a: 1\n    ^\n", "spec.list[0] New");
    assert_at("spec:\n  list:\n  - a: 1\n  ^\n", "spec New");
    assert_at("spec:\n  list:\n    - a: 1\n    ^\n", "spec.list New");
    assert_at("spec:\n  list:\n    - ^\n", "spec.list[0] Value");
    assert_at("^", "New");
    assert_at("a: 1\n---\nb: 1\n^\n", "New");
}

#[test]
fn reads_words_without_a_colon_and_what_follows_them() {
    assert_at("spec:\n  tem^\n  weight: 1\n", "spec.tem Key tem");
    assert_at("spec:\n  list:\n    - ke^\n    - key: b\n", "spec.list[0] Value ke");
    assert_at("spec:\n  list:\n    - key: a\n      op^\n    - key: b\n", "spec.list[0].op Key op");
    assert_at("spec:\n  half\n  role: a^\n", "spec.role Value a");
    assert_at("spec:\n  role: \"no^\n  tags: 1\n", "spec.role Value no");
    assert_at("spec:\n  role: \"no\n  ta^gs: 1\n", "spec.tags Key tags");
}

#[test]
fn finds_places_in_brackets_also_without_their_end() {
    assert_at("a: {b: 1, c^: 2}\n", "a.c Key c");
    assert_at("a: {b: 1, c: ^}\n", "a.c Value");
    assert_at("a: {b: 1, ^}\n", "a New");
    assert_at("a: {^}\n", "a New");
    assert_at("a: [b, c^]\n", "a[1] Value c");
    assert_at("a: [b, ^]\nd: 1\n", "a New");
    assert_at("a: [b, ^\nd: 1\n", "a New");
    assert_at("a: [b, c^\nd: 1\n", "a[1] Value c");
    assert_at("a: [b,\nd: 1^\n", "d Value 1");
    assert_at("- {key: a, op^\n- {key: b}\n", "[0].op Key op");
    assert_at("a: [{key: x, values: [y^]}]\n", "a[0].values[0] Value y");
    assert_at("a: [{key: x, values: [y]}, {k^}]\n", "a[1].k Key k");
    assert_at("a: [{key: x}, {key: ^}]\n", "a[1].key Value");
    assert_at("a: {\n  b: 1,\n  ^\n}\nc: 2\n", "a New");
    assert_at("{{ if x }}\na:\n  b^: {{ x }}\n", "a.b Key b");
}

#[test]
fn reads_json_with_a_comma_missing() {
    let json = "{\n  \"kind\": \"NodePool\",\n  \"spec\": {\n    \"weight\": 1\n    \"te^\": {\"a\": [1, 2]}\n  }\n}\n";
    assert_at(json, "spec.te Key te");
    assert_at("{\"spec\": {\"a\": \n \"b\": ^1}}", "spec.b Value 1");
    assert_at("{\"spec\": {\"\": 1, \"^\"}}", "spec. Key");
    assert_at("{\"spec\": [\"a\", \"^", "spec[1] Value");
}

#[test]
fn scripts_and_comments_are_no_structure() {
    assert_eq!(at("a: |\n  b: ^c\nd: 1\n"), None);
    assert_at("a: |\n  b: c\nd: ^1\n", "d Value 1");
    assert_at("list:\n- a: |\n    x: y\n  b^: 1\n", "list[0].b Key b");
    assert_at("a: 1 # karp^warden\n", "Comment # karpwarden");
    assert_at("# karp^\na: 1\n", "Comment # karp");
    assert_at("a: 'x # y^'\n", "a Value x # y");
}

#[test]
fn finds_the_object_around_a_place() {
    let list = "kind: List\napiVersion: v1\nitems:\n- apiVersion: karpenter.sh/v1\n  kind: NodePool\n  spec:\n    weight: 1\n";
    let outline = Outline::at(list, 0);
    let place = outline.place(list, list.find("weight").unwrap()).unwrap();
    let object = place.object();
    assert_eq!((object.api_version, object.kind), ("karpenter.sh/v1", "NodePool"));
    let path = outline.path(list, place.nearest(), object.root);
    assert_eq!(path, [EntryStep::Key("spec"), EntryStep::Key("weight")]);
}

#[test]
fn takes_every_prefix_and_every_place_of_a_text() {
    let text =
        "# x\na: {b: [c, \"d\" , {e: 'f'}], ü: |\n - x: y\n}\n- [\n--- # y\n k: >-\n  a\n'q\": : ,]}: -\n";
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        let part = text.get(..end).unwrap();
        for at in (0..=end).filter(|at| part.is_char_boundary(*at)) {
            let outline = Outline::at(part, at);
            if let Some(place) = outline.place(part, at) {
                assert!(place.word.start <= place.word.end && place.word.end <= part.len());
                outline.path(part, place.nearest(), place.object().root);
            }
        }
    }
}
