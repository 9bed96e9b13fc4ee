//! Flags of the kubelet that decide how a node registers.
//!
//! The kubelet parses flags with spf13/pflag: `--flag=value` and `--flag value` are equivalent
//! (kubernetes/kubernetes cmd/kubelet/app/options/options.go). A repeated list flag adds to the list; for any other flag
//! the last value wins.

use manifest::source::Span;

use crate::taint_list::{SpannedTaint, parse_taints};
use crate::word::SourceWord;
use crate::word::SpannedText;

/// Flags of one kubelet, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubeletFlags {
    /// Words that start with `--`, or with `-` and a letter.
    pub flags: Vec<Flag>,
    /// Words that belong to no flag. The kubelet exits with an error if there are any.
    pub stray: Vec<SourceWord>,
    /// Whether an expansion may add whole flags: `$EXTRA --v=2`.
    pub dynamic: bool,
}

/// Flag with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Name without dashes: `max-pods`.
    pub name: SpannedText,
    /// Value; `None` for a flag without a value.
    pub value: Option<FlagValue>,
    /// Span of the flag and its value.
    pub span: Span,
}

/// Value of a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagValue {
    /// Value that the kubelet receives, with expansions as written.
    pub text: SpannedText,
    /// Whether a part of the value is an expansion.
    pub dynamic: bool,
    word: SourceWord,
    start: usize,
}

impl KubeletFlags {
    /// Parses one argument that contains all flags, as in `--kubelet-extra-args '…'`.
    pub fn parse(argument: &SourceWord) -> Self {
        Self::from_words(argument.split())
    }

    /// Parses flags that are separate words, as on the command line of the kubelet.
    pub fn from_words(words: Vec<SourceWord>) -> Self {
        let mut flags = Self::default();
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let dashes = word.value.bytes().take_while(|byte| *byte == b'-').count().min(2);
            if dashes == 0 || word.value.len() == dashes {
                flags.dynamic |= word.is_dynamic();
                flags.stray.push(word);
                continue;
            }
            let equals = word.value.find('=');
            let name_range = dashes..equals.unwrap_or(word.value.len());
            flags.dynamic |= word.is_dynamic_in(&name_range);
            let name = word.part(&name_range);
            let mut span = word.span;
            let value = match equals {
                Some(equals) => Some(FlagValue::new(word, equals + 1)),
                None => words.next_if(|next| !next.value.starts_with('-')).map(|next| {
                    span.end = next.span.end;
                    FlagValue::new(next, 0)
                }),
            };
            flags.flags.push(Flag { name, value, span });
        }
        flags
    }

    /// All occurrences of a flag.
    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f Flag> {
        self.flags.iter().filter(move |flag| flag.name.value == name)
    }

    /// Last occurrence of a flag, which wins.
    pub fn last(&self, name: &str) -> Option<&Flag> {
        self.flags.iter().rev().find(|flag| flag.name.value == name)
    }

    /// Value of `--max-pods`.
    pub fn max_pods(&self) -> Option<&FlagValue> {
        self.last("max-pods")?.value.as_ref()
    }

    /// Keys and values of every `--node-labels`.
    pub fn node_labels(&self) -> Vec<(SpannedText, Option<SpannedText>)> {
        let values = self.all("node-labels").filter_map(|flag| flag.value.as_ref());
        values.flat_map(FlagValue::list).map(|item| (item.key, item.value)).collect()
    }

    /// Taints of every `--register-with-taints`.
    pub fn taints(&self) -> Vec<SpannedTaint> {
        let mut taints = Vec::new();
        for flag in self.all("register-with-taints") {
            if let Some(value) = &flag.value {
                taints.append(&mut value.taints());
            }
        }
        taints
    }

    /// Whether an expansion could contain a `--register-with-taints`.
    pub fn may_hide_taints(&self) -> bool {
        let mut values = self.all("register-with-taints").filter_map(|flag| flag.value.as_ref());
        self.dynamic || values.any(|value| value.dynamic) || self.flags.iter().any(Flag::may_hide)
    }
}

impl Flag {
    /// Whether the value may add further flags, as an unquoted expansion does: `--v $MORE`. An expansion in quotes is
    /// assumed to be a value.
    fn may_hide(&self) -> bool {
        self.value.as_ref().is_some_and(|value| value.dynamic && !value.word.quoted && value.start == 0)
    }
}

/// Item of a list of labels.
struct Item {
    key: SpannedText,
    value: Option<SpannedText>,
}

impl FlagValue {
    fn new(word: SourceWord, start: usize) -> Self {
        let range = start..word.value.len();
        Self { text: word.part(&range), dynamic: word.is_dynamic_in(&range), start, word }
    }

    /// Items of `key=value,key=value`.
    fn list(&self) -> Vec<Item> {
        let mut at = self.start;
        let mut items = Vec::new();
        for part in self.text.value.split(',') {
            let key = part.find('=').unwrap_or(part.len());
            let value = (part.len() > key).then(|| self.word.part(&(at + key + 1..at + part.len())));
            if !part.is_empty() {
                items.push(Item { key: self.word.part(&(at..at + key)), value });
            }
            at += part.len() + 1;
        }
        items
    }

    fn taints(&self) -> Vec<SpannedTaint> {
        parse_taints(&self.text.value, &|range| {
            self.word.span_of(&(self.start + range.start..self.start + range.end))
        })
    }
}
