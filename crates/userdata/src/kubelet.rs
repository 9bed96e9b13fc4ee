//! The kubelet's command line, as far as it decides how a node registers.
//!
//! The kubelet reads flags as spf13/pflag does: `--flag=value` and `--flag value` are the same
//! (kubernetes/kubernetes cmd/kubelet/app/options/options.go). A repeated list flag adds to the list, any
//! other is decided by its last mention.

use super::taint_list::{Taint, parse_taints};
use super::word::Word;
use manifest::source::Span;

use super::Placed;

/// The flags of one kubelet, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubeletFlags {
    /// What starts with `--`, or with `-` and a letter.
    pub flags: Vec<Flag>,
    /// Words that belong to no flag; the kubelet refuses to start with them.
    pub stray: Vec<Word>,
    /// Whether an expansion stands where whole flags could come from: `$EXTRA --v=2`.
    pub dynamic: bool,
}

/// One flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Without dashes and value: `max-pods`.
    pub name: Placed,
    /// Its value; `None` for a flag that stands alone.
    pub value: Option<FlagValue>,
    /// The whole flag with its value.
    pub span: Span,
}

/// A flag's value, and whether only the node knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagValue {
    /// As the kubelet gets it, expansions as written.
    pub text: Placed,
    /// Whether a part of it is an expansion.
    pub dynamic: bool,
    word: Word,
    start: usize,
}

impl KubeletFlags {
    /// Reads one argument that holds all the flags, as `--kubelet-extra-args '…'` does.
    pub fn read(argument: &Word) -> Self {
        Self::from_words(argument.split())
    }

    /// Reads flags that are words of their own, as on the kubelet's own command line.
    pub fn from_words(words: Vec<Word>) -> Self {
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

    /// All mentions of a flag.
    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f Flag> {
        self.flags.iter().filter(move |flag| flag.name.value == name)
    }

    /// The mention that decides.
    pub fn last(&self, name: &str) -> Option<&Flag> {
        self.flags.iter().rev().find(|flag| flag.name.value == name)
    }

    /// `--max-pods`, as the kubelet gets it.
    pub fn max_pods(&self) -> Option<&FlagValue> {
        self.last("max-pods")?.value.as_ref()
    }

    /// The labels of every `--node-labels`: key and value.
    pub fn node_labels(&self) -> Vec<(Placed, Option<Placed>)> {
        let values = self.all("node-labels").filter_map(|flag| flag.value.as_ref());
        values.flat_map(FlagValue::list).map(|item| (item.key, item.value)).collect()
    }

    /// The taints of every `--register-with-taints`.
    pub fn taints(&self) -> Vec<Taint> {
        let mut taints = Vec::new();
        for flag in self.all("register-with-taints") {
            if let Some(value) = &flag.value {
                taints.append(&mut value.taints());
            }
        }
        taints
    }

    /// Whether something that only the node knows could hold a `--register-with-taints`.
    pub fn may_hide_taints(&self) -> bool {
        let mut values = self.all("register-with-taints").filter_map(|flag| flag.value.as_ref());
        self.dynamic || values.any(|value| value.dynamic) || self.flags.iter().any(Flag::may_hide)
    }
}

impl Flag {
    /// An expansion that ends a flag may bring further flags along: `--v=2$MORE`. One inside quotes of its
    /// own is taken for a value.
    fn may_hide(&self) -> bool {
        self.value.as_ref().is_some_and(|value| value.dynamic && !value.word.quoted && value.start == 0)
    }
}

struct Item {
    key: Placed,
    value: Option<Placed>,
}

impl FlagValue {
    fn new(word: Word, start: usize) -> Self {
        let range = start..word.value.len();
        Self { text: word.part(&range), dynamic: word.is_dynamic_in(&range), start, word }
    }

    /// `key=value,key=value`
    fn list(&self) -> Vec<Item> {
        let mut at = self.start;
        let mut items = Vec::new();
        for part in self.text.value.split(',') {
            let key = part.split('=').next().unwrap_or("").len();
            let value = (part.len() > key).then(|| self.word.part(&(at + key + 1..at + part.len())));
            if !part.is_empty() {
                items.push(Item { key: self.word.part(&(at..at + key)), value });
            }
            at += part.len() + 1;
        }
        items
    }

    fn taints(&self) -> Vec<Taint> {
        parse_taints(&self.text.value, &|range| {
            self.word.place(&(self.start + range.start..self.start + range.end))
        })
    }
}
