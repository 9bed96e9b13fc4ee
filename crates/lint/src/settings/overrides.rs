//! Settings for some of the files.

use std::borrow::Cow;

use super::keys::OVERRIDDEN;
use super::{Level, Problem, Reader, Selector, Settings, Target};
use manifest::tree::Node;

/// What is different for some files. Patterns are the door's to resolve: the engine knows files by their names alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Override {
    /// The patterns.
    pub paths: Vec<String>,
    /// The files that fit, by the names under which they are reported, in their order.
    pub files: Vec<String>,
    /// Their releases of Karpenter.
    pub karpenter: Option<Target>,
    /// Their minor of Kubernetes 1.x.
    pub kubernetes_minor: Option<u8>,
    /// Their cluster's name.
    pub cluster_name: Option<String>,
    /// Their levels; they come after those of all files.
    pub levels: Vec<(Selector, Level)>,
}

impl Settings {
    /// The settings for a file: those of every override that it fits, the last one first.
    pub fn of_file(&self, file: &str) -> Cow<'_, Self> {
        let mut settings = Cow::Borrowed(self);
        for one in self
            .overrides
            .iter()
            .filter(|one| one.files.binary_search_by(|one| one.as_str().cmp(file)).is_ok())
        {
            let changed = settings.to_mut();
            changed.karpenter = one.karpenter.unwrap_or(changed.karpenter);
            changed.kubernetes_minor = one.kubernetes_minor.or(changed.kubernetes_minor);
            if one.cluster_name.is_some() {
                changed.cluster_name.clone_from(&one.cluster_name);
            }
            changed.levels.extend(one.levels.iter().copied());
        }
        settings
    }

    /// What is said that only means something on the command line.
    pub fn of_terminal_only(&self, root: Node<'_>) -> Vec<Problem> {
        let said = [("exclude", self.exclude.is_empty()), ("overrides", self.overrides.is_empty())];
        let said = said.into_iter().filter(|(_, is_empty)| !is_empty);
        said.map(|(key, _)| Problem {
            path: key.to_owned(),
            message: "is for the command line only; a policy has rules and selectors instead".to_owned(),
            span: root.get(key).map_or_else(|| root.span(), Node::key_span),
        })
        .collect()
    }
}

impl<'d> Reader<'_, 'd> {
    /// A list of texts.
    pub(super) fn texts(&mut self, node: Node<'d>) -> Vec<String> {
        if !node.is_sequence() {
            self.problem(node, "must be a list");
        }
        node.items().filter_map(|item| self.text(item).map(str::to_owned)).collect()
    }

    pub(super) fn overrides(&mut self, node: Node<'d>) -> Vec<Override> {
        if !node.is_sequence() {
            self.problem(node, "must be a list of objects, each with paths and settings");
        }
        node.items().map(|item| self.one_override(item)).collect()
    }

    fn one_override(&mut self, node: Node<'d>) -> Override {
        let mut one = Override::default();
        if node.get("paths").is_none() {
            self.problem(node, "`paths` is missing");
        }
        for (key, value) in node.members() {
            match key {
                "paths" => one.paths = self.texts(value),
                "karpenterVersion" => one.karpenter = self.target(value),
                "kubernetesVersion" => one.kubernetes_minor = self.kubernetes(value),
                "clusterName" => one.cluster_name = self.text(value).map(str::to_owned),
                "rules" => one.levels = self.levels(value),
                _ => {
                    let [a, b, c, d] = OVERRIDDEN;
                    self.unknown(value, &["paths", a, b, c, d]);
                }
            }
        }
        one
    }
}
