//! Arguments of `/etc/eks/bootstrap.sh`, which joins an Amazon Linux 2 node to its cluster.
//!
//! Source: awslabs/amazon-eks-ami templates/al2/runtime/bootstrap.sh at v20260304, the last release that contains the
//! script. Its loop compares each word with the option names, uses the next word as the value, and collects all other
//! words. The first of them is the cluster name; the script ignores the rest. The value of an option may therefore look
//! like another option, and `--option=value` is not an option.

use manifest::source::Span;

use crate::kubelet::KubeletFlags;
use crate::shell::Invocation;
use crate::word::SourceWord;

/// Options; the next word is the value.
pub const OPTIONS: [&str; 19] = [
    "--use-max-pods",
    "--b64-cluster-ca",
    "--apiserver-endpoint",
    "--kubelet-extra-args",
    "--enable-docker-bridge",
    "--aws-api-retry-attempts",
    "--docker-config-json",
    "--containerd-config-file",
    "--pause-container-account",
    "--pause-container-version",
    "--dns-cluster-ip",
    "--container-runtime",
    "--ip-family",
    "--service-ipv4-cidr",
    "--service-ipv6-cidr",
    "--enable-local-outpost",
    "--cluster-id",
    "--mount-bpf-fs",
    "--local-disks",
];

/// Call of bootstrap.sh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bootstrap {
    /// Span of the program.
    pub program: Span,
    /// First word that is neither an option nor a value. The script uses it as the cluster name.
    pub cluster_name: Option<SourceWord>,
    /// Options with their values, in order. The last of a repeated option wins.
    pub options: Vec<BootstrapOption>,
    /// Words that the script ignores silently, and a cluster name that looks like an option.
    pub ignored: Vec<IgnoredWord>,
    /// Option that is the last word. The script exits there with `$2: unbound variable`.
    pub without_value: Option<SourceWord>,
    /// Span of `-h` or `--help`. The script prints its usage and fails.
    pub help: Option<Span>,
    /// Whether an expansion may add options: `bootstrap.sh demo $ARGS`.
    pub dynamic: bool,
}

/// Option that bootstrap.sh recognises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootstrapOption {
    /// Name from [`OPTIONS`].
    pub name: &'static str,
    /// Span of the option, without the value.
    pub span: Span,
    /// Value: the next word.
    pub value: SourceWord,
}

/// Word that bootstrap.sh ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredWord {
    /// The word.
    pub word: SourceWord,
    /// Option that the word resembles: `--kubelet-extra-args` for `--kubelet-extra-args=…`.
    pub resembles: Option<&'static str>,
    /// Whether the script uses the word as the cluster name.
    pub as_cluster_name: bool,
}

/// Option that a word resembles: `--option=value`, `--option value` in one word, `-option` or `--Option_x`.
fn resembled(word: &str) -> Option<&'static str> {
    let name = word.trim_start_matches('-');
    let name = name
        .split_once(['=', ' ', '\t'])
        .map_or(name, |(name, _)| name)
        .to_ascii_lowercase()
        .replace('_', "-");
    let matches = |option: &&&str| option.get(2..) == Some(name.as_str());
    word.starts_with('-').then(|| OPTIONS.iter().find(matches).copied())?
}

impl Bootstrap {
    /// Parses a call; `None` if the program is not bootstrap.sh.
    pub fn parse(invocation: &Invocation<'_>) -> Option<Self> {
        let is_bootstrap = invocation.name() == "bootstrap.sh" && !invocation.program.is_dynamic_name();
        is_bootstrap.then(|| Self::of(invocation))
    }

    /// Parses a call of a program that is known to be bootstrap.sh, such as a variable with its path.
    pub fn of(invocation: &Invocation<'_>) -> Self {
        Self { program: invocation.program.span, ..Self::default() }.with_arguments(invocation.arguments)
    }

    fn with_arguments(mut self, arguments: &[SourceWord]) -> Self {
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if matches!(word.value.as_str(), "-h" | "--help") {
                self.help.get_or_insert(word.span);
                continue;
            }
            if let Some(name) = OPTIONS.iter().find(|option| **option == word.value) {
                match words.next() {
                    Some(value) => {
                        self.options.push(BootstrapOption { name, span: word.span, value: value.clone() });
                    }
                    None => self.without_value = Some(word.clone()),
                }
                continue;
            }
            let resembles = resembled(&word.value);
            // The first `$NAME` is assumed to be the cluster name. A second one, an array, or a single argument may
            // contain options.
            let as_cluster_name = self.cluster_name.is_none();
            let only = arguments.len() == 1 && !word.quoted;
            self.dynamic |=
                word.is_dynamic() && resembles.is_none() && (!as_cluster_name || only || word.is_list());
            if as_cluster_name {
                self.cluster_name = Some(word.clone());
            }
            if !as_cluster_name || resembles.is_some() {
                self.ignored.push(IgnoredWord { word: word.clone(), resembles, as_cluster_name });
            }
        }
        self
    }

    /// Last option with this name, which wins.
    pub fn option(&self, name: &str) -> Option<&BootstrapOption> {
        self.options.iter().rev().find(|option| option.name == name)
    }

    /// Options that a later option of the same name replaces, each with the option that wins.
    pub fn replaced(&self) -> impl Iterator<Item = (&BootstrapOption, &BootstrapOption)> {
        self.options.iter().filter_map(|option| {
            let last = self.option(option.name)?;
            (last.span != option.span).then_some((option, last))
        })
    }

    /// Value of `--kubelet-extra-args`.
    pub fn kubelet_extra_args(&self) -> Option<&SourceWord> {
        self.option("--kubelet-extra-args").map(|option| &option.value)
    }

    /// Flags of the kubelet in `--kubelet-extra-args`.
    pub fn kubelet_flags(&self) -> KubeletFlags {
        self.kubelet_extra_args().map(KubeletFlags::parse).unwrap_or_default()
    }

    /// Span of the first single quote in the value of `--kubelet-extra-args`. The script writes the value to a systemd
    /// drop-in as `Environment='KUBELET_EXTRA_ARGS=…'`, where a single quote ends the value early.
    pub fn breaks_drop_in(&self) -> Option<Span> {
        let word = self.kubelet_extra_args()?;
        let at = word
            .value
            .char_indices()
            .find(|(at, found)| *found == '\'' && !word.is_dynamic_in(&(*at..at + 1)));
        at.map(|(at, _)| word.span_of(&(at..at + 1)))
    }

    /// `--apiserver-endpoint` without `--b64-cluster-ca`, or the reverse. The script ignores it and calls the EKS API
    /// instead.
    pub fn lone_endpoint(&self) -> Option<&BootstrapOption> {
        match (self.option("--apiserver-endpoint"), self.option("--b64-cluster-ca")) {
            (Some(lone), None) | (None, Some(lone)) => Some(lone),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::Script;

    fn call(text: &str) -> Bootstrap {
        let script = Script::parse(text, Span::whole(text));
        Bootstrap::parse(&script.commands[0].invocation().unwrap()).unwrap()
    }

    #[test]
    fn uses_the_next_word_as_value_even_if_it_is_an_option() {
        let call = call("bootstrap.sh --b64-cluster-ca --apiserver-endpoint demo");
        assert_eq!(call.options[0].value.value, "--apiserver-endpoint");
        assert_eq!(call.cluster_name.as_ref().unwrap().value, "demo");
        assert_eq!(call.lone_endpoint().unwrap().name, "--b64-cluster-ca");
    }

    #[test]
    fn ignores_other_words_and_names_the_option_they_resemble() {
        let call = call(
            "bootstrap.sh demo extra --use-max-pods=false -kubelet-extra-args x --dns_cluster_ip y --nope",
        );
        let ignored: Vec<_> =
            call.ignored.iter().map(|ignored| (ignored.word.value.as_str(), ignored.resembles)).collect();
        let expected = [
            ("extra", None),
            ("--use-max-pods=false", Some("--use-max-pods")),
            ("-kubelet-extra-args", Some("--kubelet-extra-args")),
            ("x", None),
            ("--dns_cluster_ip", Some("--dns-cluster-ip")),
            ("y", None),
            ("--nope", None),
        ];
        assert_eq!(ignored, expected);
    }

    #[test]
    fn last_option_wins_and_option_at_the_end_has_no_value() {
        let text = "sudo /etc/eks/bootstrap.sh demo --kubelet-extra-args --v=1 --kubelet-extra-args '--v=2' --ip-family";
        let call = call(text);
        assert_eq!(call.kubelet_extra_args().unwrap().span.text(text), "'--v=2'");
        assert_eq!(call.replaced().count(), 1);
        assert_eq!(call.without_value.unwrap().value, "--ip-family");
    }

    #[test]
    fn finds_single_quote_that_breaks_the_drop_in() {
        let text = r#"bootstrap.sh demo --kubelet-extra-args "--node-labels='a=b'""#;
        assert_eq!(call(text).breaks_drop_in().map(|span| span.start), text.find('\''));
        assert_eq!(call("bootstrap.sh demo --kubelet-extra-args '--a='b' --c'").breaks_drop_in(), None);
    }

    #[test]
    fn ignores_other_programs() {
        let text = "echo bootstrap.sh";
        let script = Script::parse(text, Span::whole(text));
        assert_eq!(Bootstrap::parse(&script.commands[0].invocation().unwrap()), None);
    }
}
