//! The registry of rules, and the macro that declares a rule.

use std::collections::BTreeSet;

use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use objects::object::Object;

use crate::classification::Family;
use crate::{Reviews, Rule, RuleNames, Runs, Subject};

/// The rules of a program. Settings, suppressions and the driver find rules only here.
#[derive(Clone, Copy, Debug)]
pub struct Registry {
    /// The rules that the program runs, in the order in which they are listed.
    pub rules: &'static [&'static Rule],
    /// The rules about suppressions.
    pub suppressions: SuppressionRules,
    /// The rule that reports a kind or version that a release does not serve. Where a release does not serve an object, its other
    /// findings matter less.
    pub unserved: &'static Rule,
    /// The rules that the program leaves out. Settings and suppressions may name them, so that one file serves every program.
    pub left_out: &'static [RuleNames],
    /// The names of the symptoms that settings may name in addition to rules.
    pub symptoms: fn() -> Vec<&'static str>,
    /// Functions that compute the largest indexes. A check on several cores calls them at the same time, before the rules run.
    pub large_indexes: &'static [fn(&Inventory<'_>)],
}

/// The rules about suppressions. The driver makes their findings, because only it knows which suppressions were used.
#[derive(Clone, Copy, Debug)]
pub struct SuppressionRules {
    /// A suppression names a rule that does not exist.
    pub unknown_rule: &'static Rule,
    /// A suppression suppresses nothing.
    pub unused: &'static Rule,
    /// A suppression gives no reason.
    pub without_reason: &'static Rule,
}

impl SuppressionRules {
    /// Whether one of these rules has a name. No suppression covers their findings.
    pub fn report(self, name: &str) -> bool {
        [self.unknown_rule, self.unused, self.without_reason].into_iter().any(|rule| rule.name == name)
    }
}

impl Registry {
    /// The same registry with the names of symptoms.
    #[must_use]
    pub const fn with_symptoms(self, symptoms: fn() -> Vec<&'static str>) -> Self {
        Self { symptoms, ..self }
    }

    /// All rules in the order in which they are listed.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> + Clone + use<> {
        self.rules.iter().copied()
    }

    /// The names of all rules, also of rules that the program leaves out.
    pub fn names(&self) -> impl Iterator<Item = RuleNames> + Clone + use<> {
        self.rules().map(Rule::names).chain(self.left_out.iter().copied())
    }

    /// The names of the families, then the names of the families that exist no longer, which settings may still contain.
    pub fn families(&self) -> Vec<&'static str> {
        let mut families: Vec<_> = Family::ALL.into_iter().map(Family::name).collect();
        let former: BTreeSet<_> = self.names().flat_map(|rule| rule.formerly).copied().collect();
        let ended: Vec<_> = former.into_iter().filter(|name| !families.contains(name)).collect();
        families.extend(ended);
        families
    }

    /// The rules that read an object, in the same order.
    pub fn rules_on(&self, object: Object<'_>) -> Vec<&'static Rule> {
        self.rules_on_subject(Subject::of(object))
    }

    /// The rules that read the objects with these properties, in the same order.
    pub fn rules_on_subject(&self, subject: Subject<'_>) -> Vec<&'static Rule> {
        self.rules().filter(|rule| subject.concerns(rule)).collect()
    }

    /// The kinds that the rules look up in a cluster, in the order of the rules. Each kind has the fields that all rules together
    /// read, in alphabetical order, so that the fields depend on no object and on no settings.
    pub fn looked_up(&self) -> Vec<(Kind, Vec<&'static str>)> {
        let mut kinds: Vec<(Kind, Vec<&'static str>)> = Vec::new();
        for (kind, fields) in self.rules().flat_map(Rule::in_cluster) {
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, known)) => known.extend(fields),
                None => kinds.push((kind, fields.to_vec())),
            }
        }
        for (_, fields) in &mut kinds {
            fields.sort_unstable();
            fields.dedup();
        }
        kinds
    }

    /// Whether a rule reports a kind or version that a release does not serve.
    pub fn reports_unserved(&self, rule: &Rule) -> bool {
        rule.name == self.unserved.name
    }

    /// The rule with a name.
    pub fn find(&self, name: &str) -> Option<&'static Rule> {
        self.rules().find(|rule| rule.name == name)
    }
}

/// A rule and its doc comment, each line with its leading space.
pub type Documented = (&'static Rule, &'static str);

/// The part of all rules that a program includes. The linker drops the other rules from the program, because its registry does
/// not refer to them.
#[derive(Clone, Copy, Debug)]
pub enum RegistryPart {
    /// Every rule.
    Everything,
    /// The rules that can run in an admission request.
    InAdmission,
    /// The rules that can run on files that hold only Karpenter's own objects, without reviews of them.
    OnKarpenterFiles,
}

impl RegistryPart {
    const fn includes(self, rule: &Rule) -> bool {
        match self {
            Self::Everything => true,
            Self::InAdmission => matches!(rule.runs, Runs::InAdmission),
            Self::OnKarpenterFiles => {
                matches!(rule.runs, Runs::InAdmission | Runs::OnKarpenterFiles)
                    && matches!(rule.reviews, Reviews::Objects)
                    && rule.reads_karpenter()
            }
        }
    }

    /// The number of rules in this part.
    pub const fn count(self, mut all: &[Documented]) -> usize {
        let mut count = 0;
        while let [(rule, _), others @ ..] = all {
            count += self.includes(rule) as usize;
            all = others;
        }
        count
    }

    /// The rules in this part, and the names of the others. `INCLUDED` and `OTHERS` are their numbers.
    pub const fn split<const INCLUDED: usize, const OTHERS: usize>(
        self,
        mut all: &[Documented],
    ) -> ([&'static Rule; INCLUDED], [RuleNames; OTHERS]) {
        let (mut rules, mut names) = ([&Rule::DEFAULTS; INCLUDED], [Rule::DEFAULTS.names(); OTHERS]);
        let (mut rules_left, mut names_left) = (rules.as_mut_slice(), names.as_mut_slice());
        while let [(rule, _), others @ ..] = all {
            if self.includes(rule) {
                if let [place, left @ ..] = rules_left {
                    *place = rule;
                    rules_left = left;
                }
            } else if let [place, left @ ..] = names_left {
                *place = rule.names();
                names_left = left;
            }
            all = others;
        }
        (rules, names)
    }
}

/// Declares a rule: `RULE`, and its doc comment as text. Its file gives the name, the folder the family.
#[macro_export]
macro_rules! rule {
    ($(#[doc = $doc:literal])* RULE { $($fields:tt)* }) => {
        $(#[doc = $doc])*
        pub(crate) static RULE: $crate::Rule = {
            const FILE: &[u8] = $crate::module_path::file(module_path!());
            const NAME: [u8; FILE.len()] = $crate::module_path::kebab(FILE);
            const FAMILY: Option<$crate::classification::Family> = $crate::module_path::family(module_path!());
            $crate::Rule {
                name: $crate::module_path::text(&NAME),
                family: FAMILY.expect("a rule is a file in the folder of its family"),
                $($fields)*
                ..$crate::Rule::DEFAULTS
            }
        };

        /// The doc comment, each line with its leading space.
        pub(crate) const DOC: &str = concat!($($doc, "\n"),*);
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LookUp;

    #[test]
    fn looks_up_each_kind_once_with_the_fields_of_all_rules() {
        static TAINTS: Rule = Rule {
            inventory: &[LookUp::InCluster(Kind::NODE_POOL, &["taints", "labels"])],
            ..Rule::DEFAULTS
        };
        static LABELS: Rule = Rule {
            inventory: &[
                LookUp::InFiles(Kind::NODE_OVERLAY),
                LookUp::InCluster(Kind::STORAGE_CLASS, &["provisioner"]),
                LookUp::InCluster(Kind::NODE_POOL, &["labels", "limits"]),
            ],
            ..Rule::DEFAULTS
        };
        static RULES: [&Rule; 2] = [&TAINTS, &LABELS];
        let registry = Registry {
            rules: &RULES,
            suppressions: SuppressionRules {
                unknown_rule: &TAINTS,
                unused: &TAINTS,
                without_reason: &TAINTS,
            },
            unserved: &TAINTS,
            left_out: &[],
            symptoms: Vec::new,
            large_indexes: &[],
        };
        let pools = (Kind::NODE_POOL, vec!["labels", "limits", "taints"]);
        assert_eq!(registry.looked_up(), [pools, (Kind::STORAGE_CLASS, vec!["provisioner"])]);
    }
}
