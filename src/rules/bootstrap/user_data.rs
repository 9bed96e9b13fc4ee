//! View of the user data of an EC2NodeClass that the rules of this family share.

use std::collections::BTreeMap;
use std::rc::Rc;

use karpenter::release::{Interval, Releases};
use manifest::edit::Change;
use manifest::source::Span;
use manifest::tree::{Node, Style};
use objects::node_class::Ec2NodeClass;
use objects::node_config::CloudConfig;
use objects::object::{Object, Operation};
use rule::Rule;
use rule::context::Context;
use rule::finding::{Finding, Place};
use userdata::bootstrap::Bootstrap;
use userdata::format::UserDataFormat;
use userdata::image_family::ImageFamily;
use userdata::mime::{Archive, MimePart};
use userdata::node_config::Yaml;
use userdata::registration::Registration;
use userdata::shell::{Script, ShellCommand};
use userdata::word::SourceWord;
use values::placeholder::Placeholder;

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

/// Maximum number of bytes that EC2 accepts before encoding (aws/karpenter-provider-aws
/// pkg/providers/amifamily/resolver.go at v1.14.1; EC2 `RunInstances`: "limited to 16 KB, in raw form, before it is
/// base64-encoded").
pub(super) const MAX_BYTES: usize = 16_384;

/// Maximum number of bytes that the rules read. Karpenter removes some text, such as comments in Bottlerocket's settings, so that
/// EC2 may accept somewhat more than its limit. No node ever runs a text of this size, and to parse one takes long.
const MAX_READ: usize = 4 * MAX_BYTES;

/// User data of an EC2NodeClass and the AMI family it is for.
#[derive(Clone, Copy)]
pub(super) struct UserData<'d> {
    /// Node at `spec.userData`.
    pub(super) node: Node<'d>,
    /// Value of `spec.userData`.
    pub(super) text: &'d str,
    /// AMI family of the image.
    pub(super) family: ImageFamily,
}

impl<'d> UserData<'d> {
    /// Returns the user data of an EC2NodeClass, unless it is blank, a template engine inserts all of it, the AMI family is
    /// unknown, or it is much larger than EC2 accepts.
    pub(super) fn of(object: Object<'d>) -> Option<Self> {
        Self::of_any_size(object).filter(|data| data.text.len() <= MAX_READ)
    }

    /// Returns the user data like [`Self::of`], but also if it is too large to read.
    pub(super) fn of_any_size(object: Object<'d>) -> Option<Self> {
        let class = Ec2NodeClass::of(object)?;
        let node = class.user_data()?;
        let text = node.as_str().filter(|text| !text.trim().is_empty())?;
        if object.operation() == Operation::Apply && Placeholder::is_whole(text.trim()) {
            return None;
        }
        Some(Self { node, text, family: family(class)? })
    }

    /// Creates a finding about a part of the user data.
    pub(super) fn finding(&self, rule: &'static Rule, span: Span, message: impl Into<String>) -> Finding<'d> {
        Finding::new(rule, self.place(span), message)
    }

    /// Location of a part of the user data.
    pub(super) fn place(&self, span: Span) -> Place<'d> {
        Place::within(self.node, span)
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
        Change::Replace(self.node, span, text.into())
    }

    /// Edit that removes a part of the user data.
    pub(super) fn remove(&self, span: Span) -> Change<'d> {
        self.replace(span, "")
    }

    /// Parses how the user data joins the cluster and which taints it registers.
    pub(super) fn registration<'c>(&self, context: &'c Context<'_, 'd>) -> &'c Registration {
        context.user_data().registration(self.text)
    }

    /// Parses the user data as a MIME archive.
    pub(super) fn archive<'c>(&self, context: &'c Context<'_, 'd>) -> &'c Archive {
        context.user_data().archive(self.text)
    }

    /// Parses a part of the user data as YAML.
    pub(super) fn yaml(&self, context: &Context<'_, 'd>, part: Span) -> Rc<Yaml> {
        context.user_data().yaml(self.text, part)
    }

    /// Parses every part of the user data that a shell runs.
    pub(super) fn scripts<'c>(&self, context: &'c Context<'_, 'd>) -> &'c [Rc<Script>] {
        context.user_data().scripts(|| self.parse_scripts(context))
    }

    fn parse_scripts(&self, context: &Context<'_, 'd>) -> Vec<Rc<Script>> {
        let spans = match UserDataFormat::detect(self.text) {
            UserDataFormat::Mime => self.bodies(context, &|part| self.is_shell(part)),
            UserDataFormat::Unmarked
                if self.family == ImageFamily::Windows || self.text.contains("EKSBootstrap") =>
            {
                Vec::new()
            }
            UserDataFormat::Script | UserDataFormat::Unmarked => vec![Span::whole(self.text)],
            _ => Vec::new(),
        };
        spans.into_iter().map(|span| context.user_data().script(self.text, span)).collect()
    }

    /// Bodies of the MIME parts for which `wanted` returns true.
    fn bodies(&self, context: &Context<'_, 'd>, wanted: &dyn Fn(&MimePart) -> bool) -> Vec<Span> {
        self.archive(context).parts.iter().filter(|part| wanted(part)).map(|part| part.body).collect()
    }

    /// Bodies of the MIME parts of a media type that have no `Content-Transfer-Encoding`.
    fn plain_bodies(&self, context: &Context<'_, 'd>, media_type: &str) -> Vec<Span> {
        self.bodies(context, &|part| {
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
    pub(super) fn cloud_commands(&self, context: &Context<'_, 'd>) -> Vec<CloudCommand> {
        let spans = match UserDataFormat::detect(self.text) {
            UserDataFormat::CloudConfig if self.family == ImageFamily::Custom => vec![Span::whole(self.text)],
            UserDataFormat::Mime => self.plain_bodies(context, "text/cloud-config"),
            _ => Vec::new(),
        };
        let mut commands = Vec::new();
        for span in spans {
            let yaml = self.yaml(context, span);
            for root in yaml.roots() {
                for item in CloudConfig::new(root).commands() {
                    commands.extend(self.cloud_command(item, span.start));
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
                script: Script::parse(self.text, verbatim(item, base)?),
                is_list: false,
            });
        }
        let mut words = Vec::new();
        for node in item.items() {
            let raw = verbatim(node, base)?;
            let at = node.span();
            words.push(SourceWord::literal(raw.text(self.text), raw, at.shifted(base)));
        }
        let span = words.first()?.span.to(words.last()?.span);
        let commands = vec![ShellCommand { span, words, ..ShellCommand::default() }];
        Some(CloudCommand { script: Script { commands, ..Script::default() }, is_list: true })
    }

    /// Spans of every NodeConfig that nodeadm reads from the user data itself, but not of one that a script writes to
    /// a file.
    pub(super) fn node_configs(&self, context: &Context<'_, 'd>) -> Vec<Span> {
        match UserDataFormat::detect(self.text) {
            UserDataFormat::NodeConfig => vec![Span::whole(self.text)],
            UserDataFormat::Mime => self.plain_bodies(context, "application/node.eks.aws"),
            _ => Vec::new(),
        }
    }

    fn is_shell(&self, part: &MimePart) -> bool {
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
pub(super) fn calls(script: &Script) -> Vec<(&ShellCommand, Bootstrap)> {
    let variables = variables(script);
    let mut calls = Vec::new();
    for command in &script.commands {
        let Some(invocation) = command.invocation() else { continue };
        let variable = invocation.program.value.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
        let call = match variable {
            Some(name) if !name.is_empty() && variables.get(name) == Some(&true) => {
                Some(Bootstrap::of(&invocation))
            }
            _ => Bootstrap::parse(&invocation),
        };
        calls.extend(call.map(|call| (command, call)));
    }
    calls
}

/// Variables that a script sets, each with whether it is only ever set to the path of bootstrap.sh.
fn variables(script: &Script) -> BTreeMap<&str, bool> {
    let mut variables = BTreeMap::new();
    for command in &script.commands {
        for word in command.assignments.iter().chain(&command.words) {
            if let Some((name, value)) = word.value.split_once('=') {
                *variables.entry(name).or_insert(true) &= value == BOOTSTRAP;
            }
        }
    }
    variables
}

/// AMI family of an EC2NodeClass: `spec.amiFamily`, or the family of the alias if `amiFamily` is omitted
/// (aws/karpenter-provider-aws pkg/apis/v1/ec2nodeclass.go `AMIFamily`).
pub(super) fn family(class: Ec2NodeClass<'_>) -> Option<ImageFamily> {
    if let Some(name) = class.ami_family().and_then(Node::as_str) {
        return family_by_name(name);
    }
    let alias = class.ami_aliases().find_map(Node::as_str)?;
    family_by_name(alias.split('@').next()?).filter(|family| *family != ImageFamily::Custom)
}

fn family_by_name(name: &str) -> Option<ImageFamily> {
    const NAMES: [(&str, ImageFamily); 7] = [
        ("AL2", ImageFamily::Al2),
        ("AL2023", ImageFamily::Al2023),
        ("Bottlerocket", ImageFamily::Bottlerocket),
        ("Windows2019", ImageFamily::Windows),
        ("Windows2022", ImageFamily::Windows),
        ("Windows2025", ImageFamily::Windows),
        ("Custom", ImageFamily::Custom),
    ];
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, family)| *family)
}
