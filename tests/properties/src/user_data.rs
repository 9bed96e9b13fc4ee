//! User data: every span of every parser lies in the text, on character boundaries.

use karpwarden::manifest::source::Span;
use karpwarden::userdata::format::{UserDataFormat, tag};
use karpwarden::userdata::kubelet::KubeletFlags;
use karpwarden::userdata::mime::Archive;
use karpwarden::userdata::powershell::parameters;
use karpwarden::userdata::registration::{Join, Registration};
use karpwarden::userdata::shell::Script;
use karpwarden::userdata::toml::TomlDocument;
use karpwarden::userdata::word::SourceWord;
use serde_json::json;

use crate::cost::InputCost;
use crate::manifests::assert_check;

/// Start of a line that names the type of the following part.
const PART: &str = "== ";

/// Boundary of the archive that parts are put into.
const BOUNDARY: &str = "==";

/// Puts the parts of a text into a MIME archive, and checks it as the user data of each AMI family. The archive has the parts again, and
/// they share the bounds.
pub fn assert_parts(text: &str) {
    let mut parts: Vec<(&str, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match (line.strip_prefix(PART), parts.last_mut()) {
            (Some(media_type), _) => parts.push((media_type.trim(), String::new())),
            (None, Some((_, body))) => body.push_str(line),
            (None, None) => parts.push(("text/x-shellscript", line.to_owned())),
        }
    }
    let part =
        |(media_type, body): &(&str, String)| format!("--{BOUNDARY}\nContent-Type: {media_type}\n\n{body}\n");
    let head = format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"{BOUNDARY}\"\n\n");
    let archive = format!("{head}{}--{BOUNDARY}--\n", parts.iter().map(part).collect::<String>());
    assert_user_data(&archive);
    let parsed = Archive::parse(&archive);
    if !text.contains('\r') && !text.contains("--") && parsed.problems.is_empty() {
        let bodies: Vec<&str> = parsed.parts.iter().map(|part| part.body.text(&archive)).collect();
        assert_eq!(bodies, parts.iter().map(|(_, body)| body.as_str()).collect::<Vec<_>>());
    }
    for family in ["AL2", "AL2023", "Custom", "Bottlerocket"] {
        let class = json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "a"},
            "spec": {"amiFamily": family, "role": "a", "userData": archive}});
        assert_check(&format!("#== class.json\n{class}"));
    }
}

/// Parses user data in every format.
pub fn assert_user_data(text: &str) {
    InputCost::of_user_data(text).assert_is_bounded();
    let _ = UserDataFormat::detect(text);
    if let Some(span) = tag(text) {
        check(text, span);
    }
    check_script(text, Span::whole(text));
    check_archive(text);
    check_registration(text);
    check_toml(text);
    for parameter in parameters(text, Span::whole(text), "KubeletExtraArgs") {
        check_word(text, &parameter.value);
    }
}

fn check(text: &str, span: Span) {
    assert!(text.get(span.start..span.end).is_some(), "{span:?} in {text:?}");
}

fn check_word(text: &str, word: &SourceWord) {
    check(text, word.span);
    word.expansions().for_each(|span| check(text, span));
    let whole = word.value.len();
    for (at, char) in word.value.char_indices() {
        for range in [0..at, at..at + char.len_utf8(), at..whole] {
            check(text, word.span_of(&range));
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
