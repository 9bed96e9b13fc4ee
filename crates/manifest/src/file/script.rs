//! Here-documents of shell scripts and Terraform files, which often contain manifests.
//!
//! A here-document ends at a line with its delimiter alone. The lines of a script in a block scalar, or in a code block of a list in
//! Markdown, have an indentation that is no part of the script.

use std::collections::BTreeSet;

use crate::source::Span;

/// A here-document of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DocumentHeredoc {
    /// The lines between the opening line and the delimiter.
    pub(super) body: Span,
    /// Use of the body by the command of the opening line.
    pub(super) usage: Usage,
    /// Whether the program that runs the script replaces `$X` in the body.
    pub(super) expands: bool,
    /// Whether the script hands the body to a client of the cluster, at once or in a file.
    pub(super) is_applied: bool,
    /// Whether the shell removes the tabs at the start of the lines, as after `<<-`.
    pub(super) strips_tabs: bool,
}

/// Use of a here-document by its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    /// Not known.
    Unknown,
    /// The command expects YAML or JSON, such as `kubectl apply -f -` or `cat > pool.yaml`.
    Document,
    /// The command deletes the objects, such as `kubectl delete -f -`.
    Deletion,
}

/// Language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptLanguage {
    /// A POSIX shell.
    Shell,
    /// HCL, in which the closing delimiter may be indented.
    ///
    /// Source: "Heredoc Strings" in the documentation of the Terraform language.
    Terraform,
}

/// Whether the first line of a text names a shell.
pub(super) fn has_shell(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("#!").is_some_and(|program| {
        let mut words = program.split(['/', ' ', '\t']);
        words.any(|word| ["sh", "bash", "dash", "ksh", "zsh", "ash"].contains(&word.trim_end()))
    })
}

/// The here-documents of a text that are closed. Each line of the text has an indentation of some bytes.
pub(super) fn heredocs(text: &str, indent: usize, language: ScriptLanguage) -> Vec<DocumentHeredoc> {
    let mut found = Vec::new();
    if !text.contains("<<") {
        return found;
    }
    let mut files = FileUses::default();
    let mut written: Vec<Option<&str>> = Vec::new();
    let mut open: Option<(Opening<'_>, usize)> = None;
    let (mut at, mut command) = (0, 0);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        match open {
            // A shell joins a line that ends with a backslash with the next line.
            None if language == ScriptLanguage::Shell && is_continued(line) => {}
            None => {
                let command = text.get(core::mem::replace(&mut command, at)..at).unwrap_or_default();
                open = opening(command, language).map(|opening| (opening, at));
                if open.is_none() && language == ScriptLanguage::Shell {
                    files.add(command);
                }
            }
            Some((opening, body)) if opening.is_closed_by(without_indent(line, indent), language) => {
                written.push(opening.file);
                found.push(DocumentHeredoc {
                    body: Span::new(body, start),
                    usage: opening.usage,
                    expands: opening.expands,
                    is_applied: opening.is_applied,
                    strips_tabs: opening.strips_tabs && language == ScriptLanguage::Shell,
                });
                open = None;
                command = at;
            }
            Some(_) => {}
        }
    }
    for (heredoc, file) in found.iter_mut().zip(written) {
        if heredoc.usage == Usage::Document && file.is_some_and(|file| files.only_deletes(file)) {
            heredoc.usage = Usage::Deletion;
        }
        heredoc.is_applied |= file.is_some_and(|file| files.applied.contains(file_name(file)));
    }
    found
}

/// A line without the indentation of its script.
fn without_indent(line: &str, indent: usize) -> &str {
    let spaces = line.bytes().take(indent).take_while(|byte| *byte == b' ').count();
    line.get(spaces..).unwrap_or_default()
}

/// The names in the commands of a script, by their use. The name of a folder means all files in it.
#[derive(Default)]
struct FileUses<'t> {
    deleted: BTreeSet<&'t str>,
    used: BTreeSet<&'t str>,
    /// The names in commands of clients.
    applied: BTreeSet<&'t str>,
}

impl<'t> FileUses<'t> {
    /// Adds the names in a command that starts no here-document.
    fn add(&mut self, command: &'t str) {
        if command.trim_start().starts_with('#') {
            return;
        }
        for pipeline in pipelines(command) {
            let is_deletion = is_deletion(pipeline);
            let names = if is_deletion { &mut self.deleted } else { &mut self.used };
            let files = || words(pipeline).map(file_name).filter(|name| !name.is_empty());
            if words(pipeline).find(|word| !word.is_empty()) != Some("rm") {
                names.extend(files());
            }
            if !is_deletion && has_client(pipeline) {
                self.applied.extend(files());
            }
        }
    }

    /// Whether the commands delete the objects in a file, and do nothing else with it.
    fn only_deletes(&self, file: &str) -> bool {
        let file = file_name(file);
        let is_used = |name: &str| self.used.contains(name);
        let mut folders = file.match_indices('/').filter_map(|(end, _)| file.get(..end));
        self.deleted.contains(file) && !is_used(file) && !is_used(".") && !folders.any(is_used)
    }
}

/// A name of a file or a folder, without the marks that do not change its meaning.
fn file_name(word: &str) -> &str {
    let word = word.strip_prefix("-f").or_else(|| word.strip_prefix("--filename")).unwrap_or(word);
    let word = word.trim_start_matches('=').trim_end_matches('/');
    word.strip_prefix("./").unwrap_or(word)
}

/// The name of the file that a command writes, such as `cat > pool.yaml` or `tee pool.yaml`.
fn written_file<'t>(before: &'t str, after: &'t str) -> Option<&'t str> {
    let redirected = |part: &'t str| {
        let targets = part.split('>').skip(1).filter_map(|rest| words(rest).find(|word| !word.is_empty()));
        targets.into_iter().find(|name| !name.starts_with("/dev/"))
    };
    let mut of_tee = words(before).skip_while(|word| *word != "tee").skip(1);
    redirected(after)
        .or_else(|| redirected(before))
        .or_else(|| of_tee.find(|word| !word.is_empty() && !word.starts_with('-')))
}

/// The pipelines of a command.
fn pipelines(command: &str) -> impl Iterator<Item = &str> {
    command.split([';', '&']).flat_map(|part| part.split("||"))
}

/// The words of a pipeline, some of them empty.
fn words(pipeline: &str) -> impl Iterator<Item = &str> {
    pipeline.split([' ', '\t', '\r', '\n', '|', '(', ')', '"', '\''])
}

/// Whether the next line continues the command of a line. A comment ends with its line.
fn is_continued(line: &str) -> bool {
    line.trim_end_matches(['\r', '\n']).ends_with('\\') && !line.trim_start().starts_with('#')
}

/// Whether a command deletes the objects that it reads, such as `kubectl delete -f -` or `kubectl --context a delete -f -`.
fn deletes(command: &str) -> bool {
    pipelines(command).find(|pipeline| pipeline.contains("<<")).is_some_and(is_deletion)
}

/// Whether kubectl deletes objects in a pipeline.
fn is_deletion(pipeline: &str) -> bool {
    let mut of_kubectl = false;
    for word in words(pipeline) {
        match word {
            word if is_kubectl(word) => of_kubectl = true,
            "delete" if of_kubectl => return true,
            "apply" | "create" | "replace" => of_kubectl = false,
            _ => {}
        }
    }
    false
}

/// Whether a word is a name of kubectl.
fn is_kubectl(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    matches!(name, "kubectl" | "oc" | "k" | "k3s" | "microk8s.kubectl" | "$KUBECTL" | "${KUBECTL}")
}

/// Whether a command runs kubectl or eksctl.
fn has_client(command: &str) -> bool {
    words(command).any(|word| is_kubectl(word) || word == "eksctl")
}

/// A line that starts a here-document.
#[derive(Clone, Copy)]
struct Opening<'t> {
    delimiter: &'t str,
    strips_tabs: bool,
    usage: Usage,
    expands: bool,
    is_applied: bool,
    /// The file that the command writes.
    file: Option<&'t str>,
}

impl Opening<'_> {
    fn is_closed_by(self, line: &str, language: ScriptLanguage) -> bool {
        let line = line.trim_end_matches(['\r', '\n']);
        match language {
            ScriptLanguage::Terraform => line.trim() == self.delimiter,
            ScriptLanguage::Shell if self.strips_tabs => line.trim_start_matches('\t') == self.delimiter,
            ScriptLanguage::Shell => line == self.delimiter,
        }
    }
}

/// The here-document that a line starts, if the line is not a comment.
fn opening(line: &str, language: ScriptLanguage) -> Option<Opening<'_>> {
    /// Text of commands that read or write a manifest.
    const DOCUMENTS: [&str; 6] = ["-f -", "-f-", "/dev/stdin", ".yaml", ".yml", ".json"];
    if line.trim_start().starts_with('#') {
        return None;
    }
    let (before, after) = line.split_once("<<")?;
    // `<<<` is a here-string.
    if after.starts_with('<') {
        return None;
    }
    let rest = after.strip_prefix('-').unwrap_or(after);
    let word = rest.trim_start_matches([' ', '\t']);
    let is_quoted = word.starts_with(['\'', '"', '\\']);
    let word = word.trim_start_matches(['\'', '"', '\\']);
    let length = word.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let delimiter =
        word.get(..length).filter(|word| word.starts_with(|first: char| !first.is_ascii_digit()))?;
    let is_terraform = language == ScriptLanguage::Terraform;
    let is_document = [before, after].iter().any(|part| DOCUMENTS.iter().any(|mark| part.contains(mark)));
    let usage = if !is_terraform && deletes(line) {
        Usage::Deletion
    } else if is_document {
        Usage::Document
    } else {
        Usage::Unknown
    };
    Some(Opening {
        delimiter,
        strips_tabs: rest.len() < after.len(),
        usage,
        expands: is_terraform || !is_quoted,
        is_applied: has_client(line),
        file: written_file(before, after).filter(|_| !is_terraform),
    })
}

#[cfg(test)]
mod tests {
    use super::{ScriptLanguage, Usage, deletes, heredocs};

    #[test]
    fn tells_files_that_are_only_deleted_from_files_with_another_use() {
        let usage = |opening: &str, commands: &str| {
            let text = format!("{opening}\na: b\nEOF\n{commands}\n");
            heredocs(&text, 0, ScriptLanguage::Shell).first().map(|heredoc| heredoc.usage)
        };
        for (opening, commands) in [
            ("cat > /tmp/x.yaml <<EOF", "kubectl delete -f /tmp/x.yaml"),
            ("cat <<EOF > /tmp/x.yaml", "kubectl delete -f /tmp/x.yaml --wait && rm /tmp/x.yaml"),
            ("cat <<'EOF' >x.yaml", "kubectl --context a delete --filename=./x.yaml || true"),
            ("tee \"$OLD.yaml\" <<EOF", "kubectl delete -f \"$OLD.yaml\"\nkubectl apply -f other.yaml"),
        ] {
            assert_eq!(usage(opening, commands), Some(Usage::Deletion), "{opening}; {commands}");
        }
        for commands in [
            "",
            "kubectl apply -f /tmp/x.yaml",
            "kubectl apply -f /tmp/x.yaml; kubectl delete -f /tmp/x.yaml",
            "envsubst < /tmp/x.yaml | kubectl apply -f -\nkubectl delete -f /tmp/x.yaml",
            "kubectl apply -f /tmp/\nkubectl delete -f /tmp/x.yaml",
            "# kubectl delete -f /tmp/x.yaml",
            "kubectl delete -f /tmp/y.yaml",
        ] {
            assert_eq!(usage("cat > /tmp/x.yaml <<EOF", commands), Some(Usage::Document), "{commands}");
        }
    }

    #[test]
    fn tells_commands_that_delete_from_commands_that_apply() {
        for command in [
            "kubectl delete -f - <<EOF",
            "cat <<EOF | kubectl delete -f -",
            "cat << 'EOF' | kubectl --context prod delete --ignore-not-found -f - || true",
            "oc delete -f - <<EOF",
            "sudo /usr/local/bin/kubectl delete -f- <<EOF && echo done",
            "$KUBECTL delete -f - <<-EOF",
            "kubectl apply -f a.yaml; kubectl delete -f - <<EOF",
            "kubectl \\\n  delete -f - <<EOF",
        ] {
            assert!(deletes(command), "{command}");
        }
        for command in [
            "kubectl apply -f - <<EOF",
            "cat <<EOF | kubectl apply -f -",
            "kubectl delete ns a; kubectl apply -f - <<EOF",
            "kubectl apply -f - <<EOF || kubectl delete ns a",
            "kubectl apply -n delete -f - <<EOF",
            "cat <<EOF > delete.yaml",
            "aws iam delete <<EOF",
        ] {
            assert!(!deletes(command), "{command}");
        }
    }
}
