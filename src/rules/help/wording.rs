//! The wordings in which helps ask for a change, as changes.

/// A change of the document with a finding that a help asks for, beyond a value to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Instruction<'h> {
    /// Writes a value, or a member of the object around the finding, `key: value`.
    Write(&'h str),
    /// Writes several members of the object around the finding, `key: value`.
    WriteAll(Vec<&'h str>),
    /// Removes the member or item that the finding is at.
    Remove,
    /// Removes the requirement that has the finding.
    RemoveRequirement,
    /// Removes the only member of this name.
    RemoveNamed(&'h str),
    /// Adds a toleration to the pod.
    Tolerate(&'h str),
    /// Adds an item to the list of this name, or to the list that has the finding.
    Add { item: &'h str, list: Option<&'h str>, without: Vec<&'h str> },
    /// Adds a word to the quoted value of an option of a script.
    Insert { word: &'h str, option: &'h str },
    /// Adds a limit to a container.
    Limit(&'h str),
    /// Adds a condition to the statement of an IAM policy.
    Condition(&'h str),
    /// Moves actions of an IAM policy to a statement with a condition.
    Scope { actions: Vec<&'h str>, condition: &'h str },
    /// Adds a value to the values of a requirement.
    Allow(&'h str),
    /// Requires a label: the key, the operator, and the values.
    Require(&'h str, &'h str, &'h str),
    /// Requires that a label has a value, in place of the requirement that has the finding.
    RequireInstead(&'h str, &'h str),
    /// Moves the member that the finding is at to another path of the object, or of the object of a kind.
    Move { path: &'h str, kind: Option<&'h str> },
    /// Adds a member with the value that the finding is at.
    Copy(&'h str),
    /// Writes a text instead of another one.
    Rename { from: &'h str, to: &'h str },
    /// Replaces the only value of the object with the finding.
    Replace(&'h str),
    /// Removes the object with the finding.
    RemoveObject,
    /// Sets a value of Karpenter's chart, or the value of an environment variable of a container.
    Set { name: &'h str, value: &'h str },
    /// Sets a feature gate of the controller by its environment variable, `Gate=true`.
    SetGate(&'h str),
    /// Adds a block device mapping with the `ebs` of the mapping around the finding, or only with its size, and writes values in that
    /// mapping.
    AddMapping { device: &'h str, whole: bool, write: Vec<&'h str> },
    /// Allows an action in an IAM policy; for a service, in the trust policy of a role.
    Permit { action: &'h str, service: Option<&'h str> },
    /// Adds an annotation to the pod.
    Annotate(&'h str),
}

/// Names for the place of a finding in helps that ask to remove it.
const PLACES: [&str; 13] = [
    "it",
    "the line",
    "the key",
    "the flag",
    "the item",
    "the second item",
    "the tag",
    "the annotation",
    "the field",
    "the option",
    "the selector",
    "the zone",
    "this expression",
];

/// The texts after each occurrence of some words that does not begin within a word.
fn after<'h>(help: &'h str, words: &'static str) -> impl Iterator<Item = &'h str> {
    help.match_indices(words).filter_map(|(at, words)| {
        let before = help.get(..at)?;
        let is_start = !before.ends_with(|last: char| last.is_ascii_alphanumeric());
        // `then` makes the change a second step.
        help.get(at + words.len()..).filter(|_| is_start && !before.ends_with("then "))
    })
}

/// The text in back-ticks that follows, and the text after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('`')?.split_once('`')
}

/// The members that follow, `key: value`, if they are one change: ``write `a: b`, `c: d` and `e: f` ``.
fn members(text: &str) -> Option<Vec<&str>> {
    let (member, mut rest) = quoted(text)?;
    let mut members = vec![member];
    loop {
        let (is_last, next) = match (rest.strip_prefix(" and "), rest.strip_prefix(", ")) {
            (Some(next), _) => (true, next),
            (_, next) => (false, next?),
        };
        let (member, text) = quoted(next)?;
        members.push(member);
        if is_last {
            return members.iter().all(|member| member.contains(": ")).then_some(members);
        }
        rest = text;
    }
}

/// The values that a help names: `X` in ``write `X` ``, and in ``use `X` `` and ``set `X` `` if it is a key with a value.
pub(super) fn values(help: &str) -> Vec<String> {
    let mut values = Vec::new();
    for verb in ["write ", "use ", "set "] {
        let is_named = |text: &str| verb == "write " || text.contains(": ");
        for text in after(help, verb) {
            let Some((mut value, mut rest)) = quoted(text).filter(|_| members(text).is_none()) else {
                continue;
            };
            // Lines of a form are no value; the others are instructions.
            let others = [" lines", " with the same value", " to the annotations", " instead of `"];
            if others.iter().any(|other| rest.starts_with(other)) {
                continue;
            }
            if let Some((example, _)) = rest.strip_prefix(", such as ").and_then(quoted) {
                values.push(format!("{value}: {example}"));
                continue;
            }
            values.extend(is_named(value).then(|| value.to_owned()));
            while let Some(next) = [" or ", ", or ", ", "].iter().find_map(|or| rest.strip_prefix(or)) {
                // ``write `a: b`, `c: d` and `e` `` is one change.
                let Some(alternative) = quoted(next).filter(|(_, rest)| !rest.starts_with(" and ")) else {
                    break;
                };
                (value, rest) = alternative;
                values.extend(is_named(value).then(|| value.to_owned()));
            }
        }
    }
    let types = after(help, "write the type ").filter_map(quoted).map(|(value, _)| format!("type: {value}"));
    values.extend(types);
    for words in ["did you mean ", "in quotes: ", "write the value, or "] {
        values.extend(after(help, words).filter_map(quoted).map(|(value, _)| value.to_owned()));
    }
    // ``write a date such as `2026-01-31T12:00:00Z` ``
    let asks = |clause: &&str| clause.trim_start().starts_with("write ") || clause.starts_with("use a ");
    for clause in help.split(';').filter(asks) {
        let (before, text) = clause.split_once("such as ").unwrap_or_default();
        let Some((value, rest)) = quoted(text).filter(|_| !before.ends_with("`, ")) else { continue };
        values.push(value.to_owned());
        let or = [" or ", ", or "].iter().find_map(|or| rest.strip_prefix(or));
        values.extend(or.and_then(quoted).map(|(value, _)| value.to_owned()));
    }
    // A mark such as `--` is a part of a text.
    values.retain(|value| value.contains(|char: char| char.is_alphanumeric()));
    for words in ["write ", "write at most ", "write a number of at least ", "request at most "] {
        // ``write 2 if pods need it`` is a decision.
        let number = |text: &str| {
            let (number, rest) = text.split_at(text.find([' ', ',', ';']).unwrap_or(text.len()));
            (!rest.starts_with(" if ")).then(|| number.to_owned())
        };
        let numbers =
            after(help, words).filter(|text| text.starts_with(|first: char| first.is_ascii_digit()));
        values.extend(numbers.filter_map(number));
    }
    values
}

/// The other changes that a help asks for.
pub(super) fn instructions(help: &str) -> Vec<Instruction<'_>> {
    let mut found: Vec<_> = after(help, "write ").filter_map(members).map(Instruction::WriteAll).collect();
    for text in after(help, "the toleration ") {
        let Some((item, rest)) = quoted(text) else { continue };
        found.push(Instruction::Tolerate(item));
        let other = rest.split_once(" or ").and_then(|(_, text)| quoted(text));
        found.extend(
            other.filter(|(item, _)| item.starts_with('{')).map(|(item, _)| Instruction::Tolerate(item)),
        );
    }
    for text in after(help, "add ") {
        let Some((item, rest)) = quoted(text) else { continue };
        if let Some((option, _)) = rest.strip_prefix(" to the value of ").and_then(quoted) {
            found.push(Instruction::Insert { word: item, option });
            continue;
        }
        let list = rest.strip_prefix(" to ").and_then(quoted).map(|(list, _)| list);
        let removed = help.split_once("remove the ").and_then(|(_, rest)| rest.split_once(" here and add"));
        let without = removed.map_or_else(Vec::new, |(names, _)| names.split(" and ").collect());
        if list.is_some() || item.starts_with('{') {
            found.push(Instruction::Add { item, list, without });
        }
    }
    let one = |words: &'static str| after(help, words).filter_map(quoted);
    for (name, rest) in one("set ") {
        // ``set `settings.reservedENIs` of Karpenter's chart to `"1"` ``
        let value = rest.strip_prefix(" of ").and_then(|rest| rest.split_once(" to "));
        let value = value.and_then(|(_, value)| quoted(value));
        found.extend(value.map(|(value, _)| Instruction::Set { name, value }));
    }
    let gates = one("set ").filter(|(_, rest)| rest.starts_with(" in `FEATURE_GATES`"));
    let gates = gates.chain(one("set the feature gate "));
    found.extend(gates.map(|(gate, _)| Instruction::SetGate(gate)));
    for (device, rest) in one("add a mapping for ") {
        let whole = rest.starts_with(" with this `ebs`");
        let written = rest.split_once("write ").map_or("", |(_, text)| text);
        let write = members(written).or_else(|| quoted(written).map(|(value, _)| vec![value]));
        found.extend(write.map(|write| Instruction::AddMapping { device, whole, write }));
    }
    found.extend(one("did you mean ").map(|(value, _)| Instruction::Replace(value)));
    found.extend(one("turn on ").map(|(name, _)| Instruction::Set { name, value: "true" }));
    found.extend(
        one("allow the controller ").map(|(action, _)| Instruction::Permit { action, service: None }),
    );
    for (service, rest) in one("let the service ") {
        let action = rest.strip_prefix(" call ").and_then(quoted);
        found.extend(action.map(|(action, _)| Instruction::Permit { action, service: Some(service) }));
    }
    let annotations = one("write ").filter(|(_, rest)| rest.starts_with(" to the annotations of the pod"));
    found.extend(annotations.map(|(annotation, _)| Instruction::Annotate(annotation)));
    found.extend(one("add the limit ").map(|(limit, _)| Instruction::Limit(limit)));
    found.extend(one("add the condition ").map(|(condition, _)| Instruction::Condition(condition)));
    for text in after(help, "allow ") {
        let Some((names, rest)) = text.split_once(" only in a statement with the condition ") else {
            continue;
        };
        let actions: Vec<_> = names.split(" and ").map(|name| name.trim_matches('`')).collect();
        found.extend(quoted(rest).map(|(condition, _)| Instruction::Scope { actions, condition }));
    }
    let allowed = one("allow ").filter(|(_, rest)| rest.starts_with(" as well"));
    found.extend(allowed.map(|(value, _)| Instruction::Allow(value)));
    for (path, rest) in one("move it to ").filter(|(path, _)| path.contains('.')) {
        let kind = rest.strip_prefix(" of the ").filter(|kind| kind.starts_with(char::is_uppercase));
        let kind = kind.and_then(|kind| kind.split(|next: char| !next.is_ascii_alphanumeric()).next());
        found.push(Instruction::Move { path, kind });
    }
    let copied = one("write ").filter(|(_, rest)| rest.starts_with(" with the same value"));
    found.extend(copied.map(|(name, _)| Instruction::Copy(name)));
    for (to, rest) in one("write ") {
        let from = rest.strip_prefix(" instead of ").and_then(quoted);
        found.extend(from.map(|(from, _)| Instruction::Rename { from, to }));
    }
    for words in ["require ", "require that ", "use node affinity for "] {
        for (key, rest) in one(words) {
            if rest.starts_with(" does not exist") || rest.starts_with(" with `DoesNotExist`") {
                found.push(Instruction::Require(key, "DoesNotExist", "[]"));
            } else if let Some((value, rest)) = rest.strip_prefix(" to be ").and_then(quoted) {
                found.push(if rest.starts_with(" instead") {
                    Instruction::RequireInstead(key, value)
                } else {
                    Instruction::Require(key, "In", value)
                });
            } else if let Some((operator, rest)) = rest.strip_prefix(' ').and_then(quoted)
                && let Some((values, _)) = rest.strip_prefix(' ').and_then(quoted)
            {
                found.push(Instruction::Require(key, operator, values));
            }
        }
    }
    found.extend(removals(help));
    found
}

/// The removals that a help asks for.
fn removals(help: &str) -> Vec<Instruction<'_>> {
    let mut found = Vec::new();
    let is_at = |text: &str, place: &str| {
        let rest = text.strip_prefix(place);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
    };
    // `remove the schedule and duration here and add …` is one change.
    let removes = after(help, "remove ").any(|text| PLACES.iter().any(|place| is_at(text, place)));
    found.extend(removes.then_some(Instruction::Remove));
    let removes = after(help, "remove ").any(|text| is_at(text, "the requirement"));
    found.extend(removes.then_some(Instruction::RemoveRequirement));
    found.extend(after(help, "remove ").filter_map(quoted).map(|(name, _)| Instruction::RemoveNamed(name)));
    let is_kind = |text: &str| {
        text.starts_with("the object")
            || text.strip_prefix("the ").is_some_and(|kind| kind.starts_with(char::is_uppercase))
    };
    let removes = after(help, "remove ").any(is_kind);
    found.extend(removes.then_some(Instruction::RemoveObject));
    found
}

#[test]
fn reads_the_wordings_of_helps() {
    use Instruction::{
        Add, AddMapping, Allow, Annotate, Condition, Copy, Insert, Limit, Move, Permit, Remove, RemoveNamed,
        RemoveObject, RemoveRequirement, Rename, Replace, Require, RequireInstead, Scope, Set, SetGate,
        Tolerate, WriteAll,
    };
    let add = |item, list, without: &[&'static str]| Add { item, list, without: without.to_vec() };
    for (help, expected) in [
        (
            "add the toleration `{a: b}`, so that it runs, or `{c: d}`",
            vec![Tolerate("{a: b}"), Tolerate("{c: d}")],
        ),
        ("add `{a: b}` to `startupTaints`; the nodes drift", vec![add("{a: b}", Some("startupTaints"), &[])]),
        (
            "remove the schedule and duration here and add `{nodes: \"0\"}`",
            vec![add("{nodes: \"0\"}", None, &["schedule", "duration"])],
        ),
        ("add `ebs` with a `volumeSize`", vec![]),
        ("add `--a=b` to the value of `--c`", vec![Insert { word: "--a=b", option: "--c" }]),
        ("add the limit `gpu: 1` to the container, or remove the selector", vec![Limit("gpu: 1"), Remove]),
        ("add the condition `A: {b: c}`", vec![Condition("A: {b: c}")]),
        (
            "allow `a:B` and `a:C` only in a statement with the condition `A: {b: c}`, with a name",
            vec![Scope { actions: vec!["a:B", "a:C"], condition: "A: {b: c}" }],
        ),
        ("select another, or allow `on-demand` as well", vec![Allow("on-demand")]),
        ("move it to `spec.a.b`", vec![Move { path: "spec.a.b", kind: None }]),
        ("move it to `spec.a` of the NodePool", vec![Move { path: "spec.a", kind: Some("NodePool") }]),
        ("write `a/b` with the same value", vec![Copy("a/b")]),
        ("write `a` instead of `b`: it", vec![Rename { from: "b", to: "a" }]),
        ("list them, or require `a` to be `b` instead", vec![RequireInstead("a", "b")]),
        ("list values, or remove the requirement", vec![RemoveRequirement]),
        ("require `a` `In` `[b]`, or more", vec![Require("a", "In", "[b]")]),
        ("require that `a` does not exist", vec![Require("a", "DoesNotExist", "[]")]),
        ("move its settings, then remove the annotation", vec![]),
        ("remove the items", vec![]),
        ("remove `a`, or lower it", vec![RemoveNamed("a")]),
        ("require `a` to be `b`", vec![Require("a", "In", "b")]),
        ("set `a.b` of the chart to `\"1\"`", vec![Set { name: "a.b", value: "\"1\"" }]),
        ("turn on `a.b`, or remove the NodeOverlay", vec![Set { name: "a.b", value: "true" }, RemoveObject]),
        ("allow the controller `sqs:A`", vec![Permit { action: "sqs:A", service: None }]),
        ("let the service `a` call `b`", vec![Permit { action: "b", service: Some("a") }]),
        ("write `a/b: c` to the annotations of the pod", vec![Annotate("a/b: c")]),
        ("set `a=b` in `C`, or remove the object", vec![RemoveObject]),
        ("set `A=true` in `FEATURE_GATES`, or remove the object", vec![SetGate("A=true"), RemoveObject]),
        ("select them, or set the feature gate `A=false`; if", vec![SetGate("A=false")]),
        (
            "add a mapping for `/b` with this size, and write `4Gi` here",
            vec![AddMapping { device: "/b", whole: false, write: vec!["4Gi"] }],
        ),
        (
            "add a mapping for `/b` with this `ebs`, and write `a: 1` and `b: 2` in this one",
            vec![
                WriteAll(vec!["a: 1", "b: 2"]),
                AddMapping { device: "/b", whole: true, write: vec!["a: 1", "b: 2"] },
            ],
        ),
        ("did you mean `a`?", vec![Replace("a")]),
        ("write `a: b`, `c: d` and `e: f` here", vec![WriteAll(vec!["a: b", "c: d", "e: f"])]),
    ] {
        assert_eq!(instructions(help), expected, "{help}");
    }
    for (help, expected) in [
        ("write `a = b` lines", &[][..]),
        ("write `1G` or `1Gi`", &["1G", "1Gi"][..]),
        ("write `duration`, such as `8h`: the time", &["duration: 8h"]),
        ("set `a`, or set `expireAfter: Never`", &["expireAfter: Never"]),
        ("did you mean `debug`?", &["debug"]),
        ("for 64 GiB write 65536; `Gt`", &["65536"]),
        ("write a value such as `5%` or `100Mi`, or remove the line", &["5%", "100Mi"]),
        ("write how long it lives, such as `336h`, or `Never`", &["336h", "Never"]),
        ("request at most 15890m cpu, or allow more", &["15890m"]),
        ("write a number of at least 1", &["1"]),
        ("write 2 if pods need it", &[]),
        ("write `a: b`, `c: d` and the `e` of it", &["a: b"]),
        ("write `a: b` and `c: d`; for another, write `e: f`", &["e: f"]),
        ("write the value, or `${var.a}` if Terraform renders it", &["${var.a}"]),
    ] {
        assert_eq!(values(help), expected, "{help}");
    }
}
