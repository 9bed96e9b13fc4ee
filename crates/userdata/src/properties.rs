//! Properties of any words and bodies: the parsers give them back. `tests/properties` has the properties of any text.

use manifest::source::Span;
use proptest::prelude::*;

use crate::mime::Archive;
use crate::shell::Script;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parses_quoted_words_back(words in prop::collection::vec("[^']{0,12}", 1..6)) {
        let line = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let line = format!("x {line}");
        let script = Script::parse(&line, Span::whole(&line));
        let values: Vec<_> = script.commands[0].words.iter().skip(1).map(|word| word.value.clone()).collect();
        prop_assert_eq!(values, words);
    }

    #[test]
    fn parses_bodies_of_an_archive_back(bodies in prop::collection::vec("#![a-z \n]{0,30}", 0..5)) {
        let mut text = "Content-Type: multipart/mixed; boundary=\"//\"\n\n".to_owned();
        for body in &bodies {
            text.extend(["--//\nContent-Type: text/x-shellscript\n\n", body, "\n"]);
        }
        text += "--//--\n";
        let archive = Archive::parse(&text);
        let read: Vec<_> = archive.parts.iter().map(|part| part.body.text(&text).to_owned()).collect();
        prop_assert_eq!(read, bodies);
        prop_assert!(archive.problems.is_empty());
    }
}
