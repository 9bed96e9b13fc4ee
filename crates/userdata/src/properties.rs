//! Properties of every text: no parser panics, and every span lies in the text on character boundaries.

use manifest::source::Span;
use proptest::prelude::*;

use crate::format::{UserDataFormat, tag};
use crate::kubelet::KubeletFlags;
use crate::mime::Archive;
use crate::powershell::parameters;
use crate::registration::{Join, Registration};
use crate::shell::Script;
use crate::toml::TomlDocument;
use crate::word::SourceWord;

/// Generates text from pieces that the parsers look for, and arbitrary text.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        " ",
        "\n",
        "\r\n",
        "\t",
        "'",
        "\"",
        "\\",
        "$",
        "$(",
        ")",
        "(",
        "`",
        "{",
        "}",
        "${",
        "$'",
        "#",
        ";",
        "&&",
        "|",
        "&",
        "<",
        ">",
        "<<",
        "<<-",
        "EOF",
        "=",
        "=(",
        ":",
        ",",
        "[",
        "]",
        "[[",
        "--",
        "é",
        "漢",
        "\u{1f600}",
        "a",
        "b.c",
        "1",
        "0x",
        "1979-01-01",
        "if ",
        "case ",
        " in ",
        "esac",
        "/etc/eks/bootstrap.sh ",
        "--kubelet-extra-args ",
        "--register-with-taints",
        "registerWithTaints",
        "key",
        "effect",
        "karpenter.sh/unregistered:NoExecute",
        "sudo ",
        "bash -c ",
        "MIME-Version: 1.0\n",
        "Content-Type: multipart/mixed; boundary=\"B\"\n",
        "\n--B",
        "--B--\n",
        "Content-Type: text/x-shellscript\n\n#!/bin/sh\n",
        "Content-Type: application/node.eks.aws\n\n",
        "[settings.kubernetes.node-taints]\n",
        "-KubeletExtraArgs ",
        "<powershell>",
        "apiVersion: node.eks.aws/v1alpha1\n",
        "#!/bin/bash\n",
        "\"\"\"",
        "'''",
        "- ",
    ]);
    prop_oneof![prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat()), any::<String>(),]
}

fn check(text: &str, span: Span) {
    assert!(text.get(span.start..span.end).is_some(), "{span:?} in {text:?}");
}

fn check_word(text: &str, word: &SourceWord) {
    check(text, word.span);
    word.expansions().for_each(|span| check(text, span));
    let mut ends: Vec<usize> = word.value.char_indices().map(|(at, _)| at).collect();
    ends.push(word.value.len());
    for from in &ends {
        for to in ends.iter().filter(|to| *to >= from) {
            check(text, word.span_of(&(*from..*to)));
        }
    }
}

fn check_script(text: &str, within: Span) {
    let script = Script::parse(text, within);
    for command in &script.commands {
        check(text, command.span);
        let targets = command.redirections.iter().map(|to| &to.target);
        for word in command.words.iter().chain(&command.assignments).chain(targets) {
            check_word(text, word);
            for part in word.split() {
                check_word(text, &part);
            }
            for flag in KubeletFlags::parse(word).flags {
                check(text, flag.span);
                check(text, flag.name.span);
                flag.value.iter().for_each(|value| check(text, value.text.span));
            }
        }
        let _ = command.invocation();
    }
    script.heredocs.iter().for_each(|heredoc| check(text, heredoc.body));
    script.problems.iter().for_each(|problem| check(text, problem.span));
}

fn check_archive(text: &str) {
    let archive = Archive::parse(text);
    archive.problems.iter().for_each(|problem| check(text, problem.span));
    archive.boundary.iter().for_each(|boundary| check(text, boundary.span));
    for part in &archive.parts {
        check(text, part.delimiter);
        check(text, part.body);
        check_script(text, part.body);
        for header in &part.headers {
            check(text, header.name.span);
            check_word(text, &header.value);
        }
    }
}

fn check_registration(text: &str) {
    let found = Registration::parse(text);
    for taint in &found.taints {
        check(text, taint.taint.span);
        check(text, taint.taint.key.span);
        check(text, taint.taint.effect.span);
    }
    found.unresolved.iter().for_each(|unknown| check(text, unknown.span));
    found.node_configs.iter().for_each(|span| check(text, *span));
    for join in &found.joins {
        match join {
            Join::Bootstrap(call) => {
                check(text, call.program);
                call.breaks_drop_in().iter().for_each(|span| check(text, *span));
            }
            Join::Nodeadm(span)
            | Join::Kubelet(span)
            | Join::NodeConfig(span)
            | Join::Bottlerocket(span)
            | Join::Windows(span) => check(text, *span),
        }
    }
}

fn check_toml(text: &str) {
    match TomlDocument::parse(text) {
        Err(error) => check(text, error.span),
        Ok(document) => {
            let mut entries = vec![document.root()];
            while let Some(entry) = entries.pop() {
                check(text, entry.span());
                check(text, entry.key_span());
                entry.as_string().iter().for_each(|word| check_word(text, word));
                entries.extend(entry.children());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parsers_return_spans_inside_any_text(text in text()) {
        let _ = UserDataFormat::of(&text);
        if let Some(span) = tag(&text) {
            check(&text, span);
        }
        check_script(&text, Span::whole(&text));
        check_archive(&text);
        check_registration(&text);
        check_toml(&text);
        for parameter in parameters(&text, Span::whole(&text), "KubeletExtraArgs") {
            check_word(&text, &parameter.value);
        }
    }

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
