//! Summary of a snapshot for the terminal.

use std::fmt::Write as _;
use std::path::Path;

use super::super::form::Color;
use super::super::terminal;
use super::query::CollectedNamespaces;
use super::snapshot::{KindResult, Snapshot, State};

/// A list of the written files, and how to use them.
pub(super) fn text(snapshot: &Snapshot, folder: &Path, namespaces: &CollectedNamespaces) -> String {
    let mut out = String::new();
    let objects: u64 = snapshot.kinds.iter().map(|kind| kind.objects).sum();
    let logs = snapshot.logs.iter().filter(|log| !log.file.is_empty()).count();
    let folder = folder.display();
    // A `String` takes every text.
    let _ =
        writeln!(out, "wrote {} and {} to {folder}", counted(objects, "object"), counted(logs as u64, "log"));
    for kind in snapshot.kinds.iter().filter(|kind| kind.objects > 0) {
        let _ = writeln!(out, "  {:<24} {:>8}", kind.kind, kind.objects);
    }
    let _ = writeln!(out, "no objects of: {}", absent(snapshot));
    let redacted = snapshot.redacted;
    let _ = writeln!(
        out,
        "redacted: {}, {}, {}, {}, {}, {}",
        counted(redacted.environment, "environment value"),
        counted(redacted.commands, "command"),
        counted(redacted.annotations, "annotation"),
        counted(redacted.user_data, "secret in user data"),
        counted(redacted.volumes, "volume attribute"),
        counted(redacted.verdicts, "verdict of another policy"),
    );
    if snapshot.is_unread() {
        if !snapshot.missing().is_empty() {
            let _ = writeln!(out, "next: {}, for a role with the missing rights", print_rbac(namespaces));
        }
        return out;
    }
    let is_complete = ["NodePool", "EC2NodeClass"]
        .map(|name| snapshot.kinds.iter().any(|kind| kind.kind == name && kind.state == State::Read));
    let flag = if is_complete == [true, true] { "--complete " } else { "" };
    let _ = writeln!(
        out,
        "next: karpwarden diagnose {folder}, karpwarden check {flag}{folder}, karpwarden disruption {folder}"
    );
    out
}

/// Prints what could not be read, and which rights are missing.
pub(super) fn warn(snapshot: &Snapshot, namespaces: &CollectedNamespaces, color: Color) {
    for kind in snapshot.kinds.iter().filter(|kind| kind.state.is_error()) {
        terminal::error(color, &format!("{} not read{}: {}", kind.resource, part(kind), kind.reason));
    }
    for log in snapshot.logs.iter().filter(|log| log.state.is_error()) {
        let message = format!("log of {}/{} not read: {}", log.namespace, log.pod, log.reason);
        terminal::error(color, &message);
    }
    let missing = snapshot.missing();
    if !missing.is_empty() {
        let rights = missing.join(", ");
        let message =
            format!("missing rights: {rights}; `{}` prints a role that has them", print_rbac(namespaces));
        terminal::note(color, &message);
    }
    let has_pods = snapshot.kinds.iter().any(|kind| kind.kind == "Pod" && kind.state == State::Read);
    if snapshot.logs.is_empty() && has_pods {
        let message = "no pod runs Karpenter's controller, so there are no logs; EKS Auto Mode runs it outside the cluster";
        terminal::note(color, message);
    }
}

/// The command that prints a role with the rights of this collection.
fn print_rbac(namespaces: &CollectedNamespaces) -> String {
    let mut command = "karpwarden collect --print-rbac".to_owned();
    for (flag, name) in [("namespace", &namespaces.only), ("karpenter-namespace", &namespaces.controller)] {
        if let Some(name) = name {
            let _ = write!(command, " --{flag} {name}");
        }
    }
    command
}

fn part(kind: &KindResult) -> &'static str {
    if kind.objects > 0 { " completely" } else { "" }
}

fn absent(snapshot: &Snapshot) -> String {
    let kinds = snapshot.kinds.iter().filter(|kind| kind.objects == 0 && !kind.state.is_error());
    let names: Vec<&str> = kinds.map(|kind| kind.kind).collect();
    if names.is_empty() { "no kind".to_owned() } else { names.join(", ") }
}

fn counted(number: u64, noun: &str) -> String {
    match (number, noun.split_once(' ')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(("secret", rest))) => format!("{number} secrets {rest}"),
        (_, Some(("verdict", _))) => format!("{number} verdicts of other policies"),
        _ => format!("{number} {noun}s"),
    }
}
