//! Registration in user data of every format.

use manifest::source::Span;

use super::collector::Collector;
use super::model::{Join, Registration, TaintSource, UnresolvedReason};
use crate::format::UserDataFormat;
use crate::kubelet::KubeletFlags;
use crate::kubelet_config::search_taints;
use crate::parts::ParsedParts;
use crate::powershell::parameters;
use crate::taint_list::SpannedTaint;
use crate::toml::{TomlDocument, TomlEntry};
use crate::word::{SourceWord, SpannedText};

impl Registration {
    /// Parses user data of any format.
    pub fn parse(text: &str) -> Self {
        Self::of_parts(text, &ParsedParts::default())
    }

    /// Parses user data of any format, and keeps its parts.
    pub(crate) fn of_parts(text: &str, parts: &ParsedParts) -> Self {
        let mut collector = Collector { text, parts, found: Self::default() };
        let whole = Span::whole(text);
        match UserDataFormat::detect(text) {
            UserDataFormat::Empty | UserDataFormat::Comments => {}
            UserDataFormat::Mime => collector.archive(),
            UserDataFormat::CloudConfig => collector.cloud_config(whole),
            UserDataFormat::CloudInit => {
                collector.unresolved(UnresolvedReason::Download, whole.first_line(text));
            }
            UserDataFormat::Tagged => collector.powershell(whole),
            UserDataFormat::Toml => collector.settings(),
            UserDataFormat::NodeConfig => collector.node_config(whole),
            UserDataFormat::Base64 | UserDataFormat::Base64Gzip => {
                collector.unresolved(UnresolvedReason::Encoded, whole);
            }
            UserDataFormat::Unmarked if text.contains("EKSBootstrap") => collector.powershell(whole),
            UserDataFormat::Script | UserDataFormat::Unmarked => collector.script(whole),
        }
        collector.found
    }
}

impl Collector<'_> {
    /// Adds the parts of a MIME archive.
    fn archive(&mut self) {
        let archive = self.parts.archive(self.text);
        if archive.is_rejected() {
            let problem = archive.problems.iter().find(|problem| problem.kind.is_rejected());
            self.unresolved(
                UnresolvedReason::Unparsed,
                problem.map_or(Span::whole(self.text), |problem| problem.span),
            );
        }
        for part in &archive.parts {
            if let Some(encoding) = part.encoding() {
                self.unresolved(UnresolvedReason::Encoded, encoding.value.span);
                continue;
            }
            match part.media_type() {
                "application/node.eks.aws" => self.node_config(part.body),
                "text/cloud-config"
                | "text/jinja2"
                | "text/cloud-config-archive"
                | "text/cloud-config-jsonp" => {
                    self.cloud_config(part.body);
                }
                script if script.starts_with("text/x-shellscript") || script == "text/cloud-boothook" => {
                    self.script(part.body);
                }
                "text/x-include-url" | "text/x-include-once-url" | "text/part-handler" => {
                    self.unresolved(UnresolvedReason::Download, part.delimiter);
                }
                // cloud-init detects the type of such a part from its content.
                "" | "text/plain" if part.body.text(self.text).starts_with("#!") => self.script(part.body),
                _ => {}
            }
        }
    }

    /// Searches a cloud-config for taints and for directives that run or write something.
    fn cloud_config(&mut self, body: Span) {
        let content = body.text(self.text);
        let found = search_taints(content);
        self.configured(found, TaintSource::Mention, &|span| span.shifted(body.start));
        for directive in ["runcmd:", "bootcmd:", "write_files:"] {
            if let Some(at) = content.find(directive) {
                let start = body.start + at;
                self.unresolved(UnresolvedReason::CloudConfig, Span::new(start, start + directive.len()));
            }
        }
    }

    /// Adds the calls of Start-EKSBootstrap.ps1.
    fn powershell(&mut self, within: Span) {
        let names = parameters(self.text, within, "EKSClusterName");
        let content = within.text(self.text);
        for parameter in &names {
            self.join(Join::Windows(parameter.name));
        }
        if let (Some(at), true) = (content.find("EKSBootstrap"), names.is_empty()) {
            let start = within.start + at;
            self.unresolved(UnresolvedReason::DynamicProgram, Span::new(start, start + "EKSBootstrap".len()));
        }
        for parameter in parameters(self.text, within, "KubeletExtraArgs") {
            self.flags(&KubeletFlags::parse(&parameter.value), parameter.value.span);
        }
    }

    /// Adds the settings of Bottlerocket.
    fn settings(&mut self) {
        let document = match TomlDocument::parse(self.text) {
            Ok(document) => document,
            Err(error) => return self.unresolved(UnresolvedReason::Unparsed, error.span),
        };
        if let Some(kubernetes) = document.get(&["settings", "kubernetes"]) {
            self.join(Join::Bottlerocket(kubernetes.span()));
        }
        let taints = document.get(&["settings", "kubernetes", "node-taints"]);
        for entry in taints.map(TomlEntry::children).unwrap_or_default() {
            if let Some(word) = entry.as_string() {
                self.setting(entry, &word);
            } else if entry.is_array() {
                for word in entry.children().into_iter().filter_map(TomlEntry::as_string) {
                    self.setting(entry, &word);
                }
            } else {
                self.unresolved(UnresolvedReason::UnreadList, entry.span());
            }
        }
    }

    /// Adds a taint of Bottlerocket's settings, `"key" = "value:Effect"` (bottlerocket-os/bottlerocket-settings-sdk,
    /// `KubernetesTaintValue`).
    fn setting(&mut self, entry: TomlEntry<'_>, word: &SourceWord) {
        let key = SpannedText { value: entry.key().to_owned(), span: entry.key_span() };
        let length = word.value.len();
        let colon = word.value.find(':').unwrap_or(length);
        let value = (colon > 0).then(|| word.part(&(0..colon)));
        let effect = word.part(&((colon + 1).min(length)..length));
        let span = key.span.to(word.span);
        let taint = SpannedTaint { key, value, effect, span };
        self.taint(taint, TaintSource::BottlerocketSettings);
    }
}
