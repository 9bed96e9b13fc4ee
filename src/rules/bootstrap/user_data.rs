//! View of the user data of an EC2NodeClass that the rules of this family share.

use lint::finding::{Draft, Place};
use manifest::edit::Change;
use karpenter::release::{Interval, Releases};
use manifest::source::Span as Bytes;
use manifest::tree::{Node, Style};
use objects::object::Object;
use lint::rule::Rule;
use userdata::Span;
use userdata::bootstrap::Bootstrap;
use userdata::kind::{Family, Kind};
use userdata::mime::{Archive, Part};
use userdata::node_config::{self, Yaml};
use userdata::registration::Registration;
use userdata::shell::{Command, Script};
use userdata::word::Word;

/// Path of bootstrap.sh on the EKS images.
const BOOTSTRAP: &str = "/etc/eks/bootstrap.sh";

/// Key of the taint that Karpenter expects on a node that has just joined (kubernetes-sigs/karpenter
/// pkg/apis/v1/taints.go `UnregisteredTaintKey`).
pub(super) const TAINT_KEY: &str = "karpenter.sh/unregistered";

/// Effect of that taint. Karpenter does not compare the value.
pub(super) const TAINT_EFFECT: &str = "NoExecute";

/// Releases that never register a node without the taint: those with core 1.0.0-1.0.5, 1.1.0-1.1.1 and 1.2.0
/// (kubernetes-sigs/karpenter pkg/controllers/nodeclaim/lifecycle/registration.go; go.mod of the provider's tags).
/// Later releases log an error and register the node.
pub(super) const TAINT_REQUIRED: Releases =
    Releases::union(&[Interval::patches(0, 0, 8), Interval::patches(1, 0, 3), Interval::patches(2, 0, 1)]);

/// User data of an EC2NodeClass and the AMI family it is for.
#[derive(Clone, Copy)]
pub(super) struct UserData<'d> {
    /// Node at `spec.userData`.
    pub(super) node: Node<'d>,
    /// Value of `spec.userData`.
    pub(super) text: &'d str,
    /// AMI family of the image.
    pub(super) family: Family,
}

impl<'d> UserData<'d> {
    /// Returns the user data of an EC2NodeClass, unless it is blank or the AMI family is unknown.
    pub(super) fn of(object: Object<'d>) -> Option<Self> {
        let node = object.at(&["spec", "userData"])?;
        let text = node.as_str().filter(|text| !text.trim().is_empty())?;
        Some(Self { node, text, family: family(object)? })
    }

    /// Creates a finding about a part of the user data.
    #[inline(never)]
    pub(super) fn draft(&self, rule: &'static Rule, span: Span, message: impl Into<String>) -> Draft<'d> {
        Draft::new(rule, self.place(span), message)
    }

    /// Location of a part of the user data.
    pub(super) fn place(&self, span: Span) -> Place<'d> {
        Place::within(self.node, Bytes::new(span.start, span.end))
    }

    /// Span of the first line that is not blank, without surrounding whitespace.
    pub(super) fn first_line(&self) -> Span {
        let line = Span::whole(self.text).first_line(self.text);
        Span::new(line.start, line.start + line.text(self.text).trim_end().len())
    }

    /// Location for a finding about the whole user data: its key.
    pub(super) fn whole(&self) -> Place<'d> {
        Place::key(self.node)
    }

    /// Edit that replaces a part of the user data.
    pub(super) fn replace(&self, span: Span, text: impl Into<String>) -> Change<'d> {
        Change::Replace(self.node, Bytes::new(span.start, span.end), text.into())
    }

    /// Edit that removes a part of the user data. In a block scalar the edit keeps the indentation after the last
    /// removed line break, because the line that moves up needs it.
    pub(super) fn remove(&self, span: Span) -> Change<'d> {
        if !matches!(self.node.style(), Style::Literal | Style::Folded) {
            return self.replace(span, "");
        }
        let source = self.node.tree().source();
        let written = self.node.span_within(Bytes::new(span.start, span.end));
        let after_break = |text: &str| text.rfind('\n').map_or(text.len(), |at| text.len() - at - 1);
        let indent = after_break(source.slice(written));
        let column = after_break(source.slice(Bytes::new(0, written.start)));
        let breaks = source.slice(written).contains('\n');
        let kept = if breaks { indent.saturating_sub(column) } else { 0 };
        self.replace(span, " ".repeat(kept))
    }

    /// Parses how the user data joins the cluster and which taints it registers.
    pub(super) fn registration(&self) -> Registration {
        Registration::read_with(self.text, &node_config::taints)
    }

    /// Parses every part of the user data that a shell runs.
    pub(super) fn scripts(&self) -> Vec<Script> {
        let spans = match Kind::of(self.text) {
            Kind::Mime => self.bodies(&|part| self.is_shell(part)),
            Kind::Unmarked if self.family == Family::Windows || self.text.contains("EKSBootstrap") => {
                Vec::new()
            }
            Kind::Script | Kind::Unmarked => vec![Span::whole(self.text)],
            _ => Vec::new(),
        };
        spans.into_iter().map(|span| Script::read(self.text, span)).collect()
    }

    /// Bodies of the MIME parts for which `wanted` returns true.
    fn bodies(&self, wanted: &dyn Fn(&Part) -> bool) -> Vec<Span> {
        let mut bodies = Vec::new();
        for part in Archive::read(self.text).parts {
            if wanted(&part) {
                bodies.push(part.body);
            }
        }
        bodies
    }

    /// Bodies of the MIME parts of a media type that have no `Content-Transfer-Encoding`.
    fn plain_bodies(&self, media_type: &str) -> Vec<Span> {
        self.bodies(&|part| {
            part.media_type() == media_type && part.header("Content-Transfer-Encoding").is_none()
        })
    }

    /// Whether a call of bootstrap.sh runs the script of the EKS images. A program of the same name at another path
    /// is the user's own.
    pub(super) fn is_eks(&self, call: &Bootstrap) -> bool {
        let program = call.program.text(self.text).trim_matches(['"', '\'']);
        program == BOOTSTRAP || (program.starts_with('$') && !program.contains('/'))
    }

    /// Commands that cloud-init runs for a cloud-config, each as a script: the items of `bootcmd` and `runcmd` that
    /// appear verbatim in the user data.
    pub(super) fn cloud_commands(&self) -> Vec<CloudCommand> {
        let spans = match Kind::of(self.text) {
            Kind::CloudConfig if self.family == Family::Custom => vec![Span::whole(self.text)],
            Kind::Mime => self.plain_bodies("text/cloud-config"),
            _ => Vec::new(),
        };
        let mut commands = Vec::new();
        for span in spans {
            let yaml = Yaml::read(span.text(self.text));
            for root in yaml.roots() {
                for list in [root.get("bootcmd"), root.get("runcmd")].into_iter().flatten() {
                    for item in list.items() {
                        commands.extend(self.cloud_command(item, span.start));
                    }
                }
            }
        }
        commands
    }

    /// Parses an item of `runcmd`: a string is a line of a script, a list is a command with each word in single
    /// quotes (canonical/cloud-init cloudinit/util.py `shellify`).
    fn cloud_command(&self, item: Node<'_>, base: usize) -> Option<CloudCommand> {
        if !item.is_sequence() {
            // An edit could insert a single quote, which would end a single-quoted scalar.
            item.as_str().filter(|_| item.style() != Style::SingleQuoted)?;
            return Some(CloudCommand {
                script: Script::read(self.text, verbatim(item, base)?),
                is_list: false,
            });
        }
        let mut words = Vec::new();
        for node in item.items() {
            let raw = verbatim(node, base)?;
            let at = node.span();
            words.push(Word::literal(raw.text(self.text), raw, Span::new(base + at.start, base + at.end)));
        }
        let span = words.first()?.span.to(words.last()?.span);
        let commands = vec![Command { span, words, ..Command::default() }];
        Some(CloudCommand { script: Script { commands, ..Script::default() }, is_list: true })
    }

    /// Spans of every NodeConfig that nodeadm reads from the user data itself, but not of one that a script writes to
    /// a file.
    pub(super) fn node_configs(&self) -> Vec<Span> {
        match Kind::of(self.text) {
            Kind::NodeConfig => vec![Span::whole(self.text)],
            Kind::Mime => self.plain_bodies("application/node.eks.aws"),
            _ => Vec::new(),
        }
    }

    fn is_shell(&self, part: &Part) -> bool {
        let media_type = part.media_type();
        let unnamed = matches!(media_type, "" | "text/plain");
        let shell = media_type.starts_with("text/x-shellscript")
            || media_type == "text/cloud-boothook"
            || (unnamed && part.body.text(self.text).starts_with("#!"));
        shell && part.encoding().is_none()
    }
}

/// Command of a cloud-config.
pub(super) struct CloudCommand {
    /// The command as a script.
    pub(super) script: Script,
    /// Whether the command is a list of words. No shell interprets quotes or spaces in a list.
    pub(super) is_list: bool,
}

/// Span of a cloud-config scalar in the user data, if it appears there verbatim. The YAML starts at `base`.
fn verbatim(node: Node<'_>, base: usize) -> Option<Span> {
    let at = node.span();
    let quote = match node.style() {
        Style::Plain if node.spelling().contains('\n') => return None,
        Style::Plain | Style::Literal => 0,
        Style::DoubleQuoted | Style::SingleQuoted
            if node.as_str().is_some_and(|text| text.len() + 2 == at.end - at.start) =>
        {
            1
        }
        _ => return None,
    };
    Some(Span::new(base + at.start + quote, base + at.end.checked_sub(quote)?))
}

/// Calls of bootstrap.sh in a script, by name or through a variable that contains the path, as in `$B meadow`.
pub(super) fn calls(script: &Script) -> Vec<(&Command, Bootstrap)> {
    let mut calls = Vec::new();
    for command in &script.commands {
        let Some(invocation) = command.invocation() else { continue };
        let variable = invocation.program.value.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
        let call = match variable {
            Some(name) if !name.is_empty() && holds_bootstrap(script, name) => {
                Some(Bootstrap::of(&invocation))
            }
            _ => Bootstrap::read(&invocation),
        };
        calls.extend(call.map(|call| (command, call)));
    }
    calls
}

/// Whether a variable is set, and only ever to the path of bootstrap.sh.
fn holds_bootstrap(script: &Script, name: &str) -> bool {
    let mut is_set = false;
    for command in &script.commands {
        for word in command.assignments.iter().chain(&command.words) {
            if let Some(value) = word.value.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
                if value != BOOTSTRAP {
                    return false;
                }
                is_set = true;
            }
        }
    }
    is_set
}

/// AMI family of an EC2NodeClass: `spec.amiFamily`, or the family of the alias if `amiFamily` is omitted
/// (aws/karpenter-provider-aws pkg/apis/v1/ec2nodeclass.go `AMIFamily`).
pub(super) fn family(object: Object<'_>) -> Option<Family> {
    if let Some(name) = object.str_at(&["spec", "amiFamily"]) {
        return family_by_name(name);
    }
    let terms = object.at(&["spec", "amiSelectorTerms"])?;
    let alias = terms.items().find_map(|term| term.str_at(&["alias"]))?;
    family_by_name(alias.split('@').next()?).filter(|family| *family != Family::Custom)
}

fn family_by_name(name: &str) -> Option<Family> {
    const NAMES: [(&str, Family); 7] = [
        ("AL2", Family::Al2),
        ("AL2023", Family::Al2023),
        ("Bottlerocket", Family::Bottlerocket),
        ("Windows2019", Family::Windows),
        ("Windows2022", Family::Windows),
        ("Windows2025", Family::Windows),
        ("Custom", Family::Custom),
    ];
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, family)| *family)
}
