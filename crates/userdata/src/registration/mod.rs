//! Every place where user data says which taints a node registers with, and every place where it might.
//!
//! A node registers with the taints of `--register-with-taints` and of `registerWithTaints`. Both reach the
//! kubelet on many ways: as arguments of bootstrap.sh, in a configuration that the script writes, in a
//! NodeConfig, in Bottlerocket's settings, as an argument of Start-EKSBootstrap.ps1. What only the booting
//! node knows is listed as [`Unknown`]: where there is one, nobody can say that a taint is missing.

mod script;
#[cfg(test)]
mod tests;

use super::kind::Kind;
use super::kubelet::KubeletFlags;
use super::kubelet_config::{ConfiguredTaints, configured_taints, mentioned_flags};
use super::mime::Archive;
use super::powershell::parameters;
use super::taint_list::Taint;
use super::toml::{TomlDocument, TomlEntry};
use super::word::Word;
use manifest::source::Span;

use super::Placed;
use crate::bootstrap::Bootstrap;

/// What a text says of registration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// Every taint that was found.
    pub taints: Vec<FoundTaint>,
    /// Everything that may add one and cannot be read here.
    pub unknown: Vec<Unknown>,
    /// What joins the node to a cluster.
    pub joins: Vec<Join>,
    /// The texts of `NodeConfigs`, for a reader of YAML.
    pub node_configs: Vec<Span>,
}

/// A taint and the way on which it reaches the kubelet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTaint {
    /// The taint.
    pub taint: Taint,
    /// Its way.
    pub place: Place,
}

/// On which way a taint reaches the kubelet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `--register-with-taints` among the arguments of bootstrap.sh, Start-EKSBootstrap.ps1 or the kubelet.
    Flag,
    /// A configuration that the script writes: a here-document, a jq program.
    Config,
    /// A NodeConfig.
    NodeConfig,
    /// `settings.kubernetes.node-taints`.
    BottlerocketSettings,
    /// Somewhere in a command or an assignment; whether it is used is not known.
    Mention,
}

/// Something that only the node can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Why it is unknown.
    pub reason: Reason,
    /// Where it stands.
    pub span: Span,
}

/// Why something is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The kubelet's arguments come from a variable or a command.
    Expansion,
    /// The name of the program does.
    DynamicProgram,
    /// A script that is fetched and run.
    Download,
    /// `source file`.
    Sourced,
    /// `eval`, `bash -c`: a script inside an argument.
    InlineScript,
    /// A script or a configuration tool on the image, which may do anything.
    OtherProgram,
    /// A configuration file that is not in this text.
    ConfigFile,
    /// cloud-config that runs commands or writes files.
    CloudConfig,
    /// A list of taints in a shape that is not read here.
    UnreadList,
    /// Encoded text.
    Encoded,
    /// Text that does not parse, so that nobody knows what is in it.
    Unparsed,
}

/// Something that joins the node to a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Join {
    /// bootstrap.sh, of Amazon Linux 2.
    Bootstrap(Box<Bootstrap>),
    /// `nodeadm`, called by a script.
    Nodeadm(Span),
    /// The kubelet itself, called by a script.
    Kubelet(Span),
    /// A NodeConfig that nodeadm reads.
    NodeConfig(Span),
    /// Bottlerocket's `settings.kubernetes`.
    Bottlerocket(Span),
    /// Start-EKSBootstrap.ps1, by its `-EKSClusterName`.
    Windows(Span),
}

/// Reads the taints of one NodeConfig, spans counting from the start of what it is given.
///
/// [`node_config::taints`](super::node_config::taints) is the one that reads YAML; [`plain_node_config`] is what stands
/// here without a parser.
pub type NodeConfigReader = dyn Fn(&str) -> ConfiguredTaints;

/// The taints of a NodeConfig by a scan of its text: `registerWithTaints` and `--register-with-taints`, where
/// plain.
pub fn plain_node_config(body: &str) -> ConfiguredTaints {
    let mut found = configured_taints(body);
    let flags = mentioned_flags(body);
    found.taints.extend(flags.taints);
    found.unread = found.unread.or(flags.unread);
    found
}

impl Registration {
    /// Reads user data of any kind, `NodeConfigs` by [`plain_node_config`].
    pub fn read(text: &str) -> Self {
        Self::read_with(text, &plain_node_config)
    }

    /// Reads user data of any kind, `NodeConfigs` by the given reader.
    pub fn read_with(text: &str, node_config: &NodeConfigReader) -> Self {
        let mut reader = Reader { text, node_config, found: Self::default() };
        let whole = Span::whole(text);
        match Kind::of(text) {
            Kind::Empty | Kind::Comments => {}
            Kind::Mime => reader.archive(),
            Kind::CloudConfig => reader.cloud_config(whole),
            Kind::CloudInit => reader.unknown(Reason::Download, whole.first_line(text)),
            Kind::Tagged => reader.powershell(whole),
            Kind::Toml => reader.settings(),
            Kind::NodeConfig => reader.node_config(whole),
            Kind::Base64 | Kind::Base64Gzip => reader.unknown(Reason::Encoded, whole),
            Kind::Unmarked if text.contains("EKSBootstrap") => reader.powershell(whole),
            Kind::Script | Kind::Unmarked => reader.script(whole),
        }
        reader.found
    }

    /// Whether something unknown could add a taint.
    pub fn is_dynamic(&self) -> bool {
        !self.unknown.is_empty()
    }

    /// The taints with this key and effect that the kubelet certainly gets.
    pub fn registered<'r>(&'r self, key: &'r str, effect: &'r str) -> impl Iterator<Item = &'r FoundTaint> {
        self.taints
            .iter()
            .filter(move |found| found.place != Place::Mention && found.taint.matches(key, effect))
    }

    /// The calls of bootstrap.sh.
    pub fn bootstraps(&self) -> impl Iterator<Item = &Bootstrap> {
        self.joins
            .iter()
            .filter_map(|join| if let Join::Bootstrap(call) = join { Some(call.as_ref()) } else { None })
    }
}

struct Reader<'t> {
    text: &'t str,
    node_config: &'t NodeConfigReader,
    found: Registration,
}

impl Reader<'_> {
    fn unknown(&mut self, reason: Reason, span: Span) {
        self.found.unknown.push(Unknown { reason, span });
    }

    fn taint(&mut self, taint: Taint, place: Place) {
        self.found.taints.push(FoundTaint { taint, place });
    }

    fn join(&mut self, join: Join) {
        self.found.joins.push(join);
    }

    /// Takes over what a scan found in a part of the text.
    fn scanned(&mut self, found: ConfiguredTaints, place: Place, to_text: &dyn Fn(Span) -> Span) {
        for taint in found.taints {
            self.taint(taint.moved(to_text), place);
        }
        if let Some(span) = found.unread {
            self.unknown(Reason::UnreadList, to_text(span));
        }
    }

    fn flags(&mut self, flags: &KubeletFlags, whole: Span) {
        for taint in flags.taints() {
            self.taint(taint, Place::Flag);
        }
        if flags.may_hide_taints() {
            self.unknown(Reason::Expansion, whole);
        }
    }

    fn node_config(&mut self, body: Span) {
        self.found.node_configs.push(body);
        self.join(Join::NodeConfig(body.first_line(self.text)));
        let found = (self.node_config)(body.text(self.text));
        self.scanned(found, Place::NodeConfig, &|span| span.shifted(body.start));
    }

    fn archive(&mut self) {
        let archive = Archive::read(self.text);
        if archive.is_refused() {
            let problem = archive.problems.iter().find(|problem| problem.kind.is_refused());
            self.unknown(Reason::Unparsed, problem.map_or(Span::whole(self.text), |problem| problem.span));
        }
        for part in &archive.parts {
            if let Some(encoding) = part.encoding() {
                self.unknown(Reason::Encoded, encoding.value.span);
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
                    self.unknown(Reason::Download, part.delimiter);
                }
                // cloud-init looks into a part that says nothing of itself.
                "" | "text/plain" if part.body.text(self.text).starts_with("#!") => self.script(part.body),
                _ => {}
            }
        }
    }

    fn cloud_config(&mut self, body: Span) {
        let content = body.text(self.text);
        let found = plain_node_config(content);
        self.scanned(found, Place::Mention, &|span| span.shifted(body.start));
        for directive in ["runcmd:", "bootcmd:", "write_files:"] {
            if let Some(at) = content.find(directive) {
                let start = body.start + at;
                self.unknown(Reason::CloudConfig, Span::new(start, start + directive.len()));
            }
        }
    }

    fn powershell(&mut self, within: Span) {
        let names = parameters(self.text, within, "EKSClusterName");
        let content = within.text(self.text);
        for parameter in &names {
            self.join(Join::Windows(parameter.name));
        }
        if let (Some(at), true) = (content.find("EKSBootstrap"), names.is_empty()) {
            let start = within.start + at;
            self.unknown(Reason::DynamicProgram, Span::new(start, start + "EKSBootstrap".len()));
        }
        for parameter in parameters(self.text, within, "KubeletExtraArgs") {
            self.flags(&KubeletFlags::read(&parameter.value), parameter.value.span);
        }
    }

    fn settings(&mut self) {
        let document = match TomlDocument::parse(self.text) {
            Ok(document) => document,
            Err(error) => return self.unknown(Reason::Unparsed, error.span),
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
                self.unknown(Reason::UnreadList, entry.span());
            }
        }
    }

    /// `"key" = "value:Effect"`, the value of a taint in Bottlerocket's settings
    /// (bottlerocket-os/bottlerocket-settings-sdk, `KubernetesTaintValue`).
    fn setting(&mut self, entry: TomlEntry<'_>, word: &Word) {
        let key = Placed { value: entry.key().to_owned(), span: entry.key_span() };
        let length = word.value.len();
        let colon = word.value.find(':').unwrap_or(length);
        let value = (colon > 0).then(|| word.part(&(0..colon)));
        let effect = word.part(&((colon + 1).min(length)..length));
        let span = key.span.to(word.span);
        let taint = Taint { key, value, effect, span };
        self.taint(taint, Place::BottlerocketSettings);
    }
}
