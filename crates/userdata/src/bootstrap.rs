//! `/etc/eks/bootstrap.sh`, which joins an Amazon Linux 2 node to its cluster: what it makes of its
//! arguments.
//!
//! Source: awslabs/amazon-eks-ami templates/al2/runtime/bootstrap.sh at v20260304, the last release that has
//! it. Its loop compares each word with the option names, takes the next word as the value, and collects
//! everything else; the first of those is the cluster's name and nobody looks at the others. An option's
//! value may therefore look like anything, another option included, and `--option=value` is no option.

use manifest::source::Span;
use super::kubelet::KubeletFlags;
use super::shell::Invocation;
use super::word::Word;

/// The options, each of which takes the next word.
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

/// A call of bootstrap.sh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bootstrap {
    /// The word that is the program.
    pub program: Span,
    /// The first word that is neither option nor value: what the script takes for the cluster's name.
    pub cluster_name: Option<Word>,
    /// Options with their values, in order; of a repeated one the last counts.
    pub options: Vec<BootstrapOption>,
    /// Words that the script drops without a word, the misspelt cluster name among them.
    pub ignored: Vec<IgnoredWord>,
    /// The option that is the last word: the script stops there, `$2: unbound variable`.
    pub without_value: Option<Word>,
    /// `-h` or `--help`: the script prints its usage and fails.
    pub help: Option<Span>,
    /// Whether an expansion stands where options could come from: `bootstrap.sh demo $ARGS`.
    pub dynamic: bool,
}

/// An option that bootstrap.sh recognises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootstrapOption {
    /// One of [`OPTIONS`].
    pub name: &'static str,
    /// Where the option stands.
    pub span: Span,
    /// The next word.
    pub value: Word,
}

/// A word without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredWord {
    /// The word.
    pub word: Word,
    /// The option that it looks like: `--kubelet-extra-args` for `--kubelet-extra-args=…`.
    pub resembles: Option<&'static str>,
    /// Whether it even became the cluster's name.
    pub as_cluster_name: bool,
}

/// The option that `--option=value`, `--option value` in one word, `-option` or `--Option_x` was meant to be.
fn resembled(word: &str) -> Option<&'static str> {
    let name = word.trim_start_matches('-');
    let name = name.split(['=', ' ', '\t']).next().unwrap_or("").to_ascii_lowercase().replace('_', "-");
    let matches = |option: &&&str| option.get(2..) == Some(name.as_str());
    word.starts_with('-').then(|| OPTIONS.iter().find(matches).copied())?
}

impl Bootstrap {
    /// Reads the call; `None` where the program is another.
    pub fn read(invocation: &Invocation<'_>) -> Option<Self> {
        let is_it = invocation.name() == "bootstrap.sh" && !invocation.program.is_dynamic_name();
        is_it.then(|| Self::of(invocation))
    }

    /// Reads the call of a program that is known to be bootstrap.sh, whatever it is called by.
    pub fn of(invocation: &Invocation<'_>) -> Self {
        Self { program: invocation.program.span, ..Self::default() }.with_arguments(invocation.arguments)
    }

    fn with_arguments(mut self, arguments: &[Word]) -> Self {
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
            // `$NAME` is taken for a name where it is the first; a second one, an array, or one that stands
            // alone may just as well be options.
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

    /// The option that counts.
    pub fn option(&self, name: &str) -> Option<&BootstrapOption> {
        self.options.iter().rev().find(|option| option.name == name)
    }

    /// Options that a later one of the same name replaces, each with the one that counts.
    pub fn replaced(&self) -> impl Iterator<Item = (&BootstrapOption, &BootstrapOption)> {
        self.options.iter().filter_map(|option| {
            let last = self.option(option.name)?;
            (last.span != option.span).then_some((option, last))
        })
    }

    /// The word after the last `--kubelet-extra-args`.
    pub fn kubelet_extra_args(&self) -> Option<&Word> {
        self.option("--kubelet-extra-args").map(|option| &option.value)
    }

    /// The kubelet's flags in it.
    pub fn kubelet_flags(&self) -> KubeletFlags {
        self.kubelet_extra_args().map(KubeletFlags::read).unwrap_or_default()
    }

    /// The single quotes inside the kubelet's arguments. The script writes them to a systemd drop-in as
    /// `Environment='KUBELET_EXTRA_ARGS=…'`, which a single quote ends early.
    pub fn breaks_drop_in(&self) -> Option<Span> {
        let word = self.kubelet_extra_args()?;
        let at = word
            .value
            .char_indices()
            .find(|(at, found)| *found == '\'' && !word.is_dynamic_in(&(*at..at + 1)));
        at.map(|(at, _)| word.place(&(at..at + 1)))
    }

    /// The one of `--apiserver-endpoint` and `--b64-cluster-ca` that stands without the other, and so does
    /// not count: the script asks the EKS API instead.
    pub fn lone_endpoint(&self) -> Option<&BootstrapOption> {
        match (self.option("--apiserver-endpoint"), self.option("--b64-cluster-ca")) {
            (Some(lone), None) | (None, Some(lone)) => Some(lone),
            _ => None,
        }
    }
}

impl Word {
    /// Whether the last path segment, the program's name, is only known on the node.
    pub fn is_dynamic_name(&self) -> bool {
        self.is_dynamic_in(&(self.value.len() - self.basename().len()..self.value.len()))
    }

    /// Whether it is written to turn into several words: an array or all arguments.
    pub fn is_list(&self) -> bool {
        self.is_dynamic() && ["[@]", "[*]", "$@", "$*"].iter().any(|list| self.value.contains(list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::Script;

    fn call(text: &str) -> Bootstrap {
        let script = Script::read(text, Span::whole(text));
        Bootstrap::read(&script.commands[0].invocation().unwrap()).unwrap()
    }

    #[test]
    fn an_option_takes_the_next_word_whatever_it_is() {
        let call = call("bootstrap.sh --b64-cluster-ca --apiserver-endpoint demo");
        assert_eq!(call.options[0].value.value, "--apiserver-endpoint");
        assert_eq!(call.cluster_name.as_ref().unwrap().value, "demo");
        assert_eq!(call.lone_endpoint().unwrap().name, "--b64-cluster-ca");
    }

    #[test]
    fn other_words_are_dropped_and_known_by_what_they_resemble() {
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
    fn the_last_of_two_counts_and_an_option_at_the_end_has_no_value() {
        let text = "sudo /etc/eks/bootstrap.sh demo --kubelet-extra-args --v=1 --kubelet-extra-args '--v=2' --ip-family";
        let call = call(text);
        assert_eq!(call.kubelet_extra_args().unwrap().span.text(text), "'--v=2'");
        assert_eq!(call.replaced().count(), 1);
        assert_eq!(call.without_value.unwrap().value, "--ip-family");
    }

    #[test]
    fn a_single_quote_inside_the_value_breaks_the_drop_in() {
        let text = r#"bootstrap.sh demo --kubelet-extra-args "--node-labels='a=b'""#;
        assert_eq!(call(text).breaks_drop_in().map(|span| span.start), text.find('\''));
        assert_eq!(call("bootstrap.sh demo --kubelet-extra-args '--a='b' --c'").breaks_drop_in(), None);
    }

    #[test]
    fn another_program_is_no_call() {
        let text = "echo bootstrap.sh";
        let script = Script::read(text, Span::whole(text));
        assert_eq!(Bootstrap::read(&script.commands[0].invocation().unwrap()), None);
    }
}
