//! The other objects of the cluster, looked up through the host.

use karpwarden::ADMISSION;
use karpwarden::engine::request::RequestCluster;
use karpwarden::karpenter::kind::Kind;
use karpwarden::objects::object::Object;
use karpwarden::objects::pod::Pod;
use karpwarden::rule::Rule;
use karpwarden::rule::settings::Settings;

use crate::host::{Host, api_version, list};
use crate::list::List;

/// Maximum number of labels and terms by which an object selects nodes, if it is compared with other objects. To compare a
/// NodePool with tens of thousands of labels takes longer than a request may take.
const MAX_NODE_SELECTORS: usize = 1_000;

/// The host's answers about other objects.
#[derive(Debug, Default)]
pub struct Answers {
    by_kind: Vec<(Kind, Result<String, String>)>,
    /// Whether a kind that the rules want was not looked up, because the settings do not allow it.
    is_restricted: bool,
}

impl Answers {
    /// Looks up the kinds that the enabled ones of the object's rules want, if the settings allow it.
    pub fn fetch(object: Object<'_>, rules: &[&Rule], settings: &Settings, host: &dyn Host) -> Self {
        let mut answers = Self::default();
        let wants = |rule: &Rule| {
            rule.in_cluster().next().is_some() && settings.enables(rule) && (rule.looks_up)(object)
        };
        let wanting: Vec<&Rule> = rules.iter().copied().filter(|rule| wants(rule)).collect();
        if wanting.is_empty() {
            return answers;
        }
        let is_comparable = node_selectors(object) <= MAX_NODE_SELECTORS;
        // The host keeps one watch for each set of fields, so each kind has one set, whichever rules want the kind.
        for (kind, fields) in ADMISSION.looked_up() {
            if !wanting.iter().any(|rule| rule.in_cluster().any(|(wanted, _)| wanted == kind)) {
                continue;
            }
            if !settings.look_ups.include(kind) {
                answers.is_restricted = true;
                continue;
            }
            let bytes = if is_comparable {
                list(host, kind, &fields)
            } else {
                Err(format!("the object selects nodes by more than {MAX_NODE_SELECTORS} labels"))
            };
            let text = bytes
                .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "the answer is not UTF-8".to_owned()));
            answers.by_kind.push((kind, text));
        }
        answers
    }
}

/// The number of labels and terms by which the pods of an object select nodes.
fn node_selectors(object: Object<'_>) -> usize {
    let of_pod = |pod: Pod<'_>| {
        let spec = pod.spec();
        let required = spec.required_terms().map(|term| 1 + term.match_expressions().items().count());
        spec.node_selector().count() + required.sum::<usize>() + spec.preferred_terms().count()
    };
    Pod::all(object).into_iter().map(of_pod).sum()
}

/// The lists that the host returned, as far as an object needs them.
#[derive(Debug, Default)]
pub struct Lists {
    read: Vec<List>,
    /// Whether every kind that the rules want was looked up. What was not looked up may exist.
    is_complete: bool,
    /// One warning for each kind that could not be looked up.
    pub warnings: Vec<String>,
}

impl Lists {
    /// Parses the host's answers for an object.
    pub fn parse(answers: &Answers, object: Object<'_>) -> Self {
        let mut lists = Self { is_complete: !answers.is_restricted, ..Self::default() };
        for (kind, answer) in &answers.by_kind {
            let text = answer.as_ref().map_err(Clone::clone);
            match text.and_then(|text| List::parse(*kind, text, object)) {
                Ok(list) => lists.read.push(list),
                Err(reason) => {
                    lists.is_complete = false;
                    lists.warnings.push(format!(
                        "{} {} objects could not be looked up, so nothing was compared with them: {reason}",
                        api_version(*kind),
                        kind.name,
                    ));
                }
            }
        }
        lists
    }

    /// The cluster, with the reviewed object in place of its stored state.
    pub(crate) fn cluster<'d>(&'d self, reviewed: Object<'d>, settings: &Settings) -> RequestCluster<'d> {
        RequestCluster {
            objects: with_reviewed(reviewed, self.read.iter().flat_map(List::objects)),
            omitted_pools: self.read.iter().map(List::omitted_pools).sum(),
            listed: self.read.iter().map(List::kind).collect(),
            is_complete: settings.complete_inventory && self.is_complete,
        }
    }
}

fn with_reviewed<'d>(reviewed: Object<'d>, listed: impl Iterator<Item = Object<'d>>) -> Vec<Object<'d>> {
    let same = |object: &Object<'_>| {
        object.kind() == reviewed.kind()
            && object.group() == reviewed.group()
            && object.namespace() == reviewed.namespace()
            && object.name() == reviewed.name()
    };
    core::iter::once(reviewed).chain(listed.filter(|object| !same(object))).collect()
}
