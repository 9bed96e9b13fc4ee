//! The prompts: instructions for the assistant with the facts of a release.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use karpenter::api::{FieldSchema, KIND_SCHEMAS, Limit, OWN_KUBELET_FIELD, Schema, SchemaType, content};
use karpenter::known_values::{KnownValues, of_label};
use karpenter::labels::{CAPACITY_TYPE, LabelField, all_well_known, is_usable};
use karpenter::release::{NearestRelease, Release};
use thiserror::Error;

use crate::example::{PoolChoices, manifest};

/// The prompt for a new NodePool.
pub const WRITE_NODEPOOL: &str = "write-nodepool";

/// Maximum number of characters of an argument.
const MAX_ARGUMENT: usize = 4_000;

const WORKLOAD: &str = "workload";
const ARCHITECTURE: &str = "architecture";
const CAPACITY: &str = "capacityType";
const RELEASE: &str = "release";

/// Label of the architecture.
const ARCH: &str = "kubernetes.io/arch";

/// The capacity types that a new NodePool may have. Reserved capacity needs a capacity reservation in the EC2NodeClass.
const CAPACITY_TYPES: [&str; 2] = ["spot", "on-demand"];

/// A prompt in a list.
#[derive(Clone, Copy, Debug)]
pub struct PromptEntry {
    /// The name.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The purpose in a sentence.
    pub description: &'static str,
    /// The arguments: name, description, and whether the argument is required.
    pub arguments: &'static [(&'static str, &'static str, bool)],
}

/// The prompts.
pub const PROMPTS: [PromptEntry; 1] = [PromptEntry {
    name: WRITE_NODEPOOL,
    title: "Write a NodePool for …",
    description: "Writes a NodePool and its EC2NodeClass for a workload, and checks them until no error is left",
    arguments: &[
        (
            WORKLOAD,
            "What runs on the nodes, such as: a stateless web service with bursts, or training jobs with one GPU",
            true,
        ),
        (ARCHITECTURE, "amd64, arm64, or both with a comma; default: amd64", false),
        (CAPACITY, "spot, on-demand, or both with a comma; default: both", false),
        (RELEASE, "Karpenter release of the cluster, such as 1.8; default: the newest known one", false),
    ],
}];

/// Error of a prompt or its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PromptError {
    /// There is no such prompt.
    #[error("there is no prompt `{0}`; `prompts/list` names them")]
    Unknown(String),
    /// The prompt has no such argument.
    #[error(
        "the prompt has no argument `{0}`; it has `workload`, `architecture`, `capacityType` and `release`"
    )]
    UnknownArgument(String),
    /// An argument is missing or empty.
    #[error("`{0}` is missing: say what runs on the nodes")]
    Missing(&'static str),
    /// An argument has a value that cannot be used.
    #[error("`{name}`: {reason}")]
    Invalid {
        /// The argument.
        name: &'static str,
        /// The reason and the remedy.
        reason: String,
    },
}

/// The text of a prompt.
pub fn prompt(name: &str, arguments: &BTreeMap<String, String>) -> Result<String, PromptError> {
    if name != WRITE_NODEPOOL {
        return Err(PromptError::Unknown(name.chars().take(200).collect()));
    }
    let known = PROMPTS.iter().flat_map(|prompt| prompt.arguments).map(|(name, ..)| *name);
    if let Some(other) = arguments.keys().find(|name| !known.clone().any(|one| one == name.as_str())) {
        return Err(PromptError::UnknownArgument(other.chars().take(200).collect()));
    }
    let argument = |name| arguments.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
    for (name, ..) in PROMPTS.iter().flat_map(|prompt| prompt.arguments) {
        if argument(*name).is_some_and(|text| text.chars().count() > MAX_ARGUMENT) {
            let reason = format!("longer than {MAX_ARGUMENT} characters; describe it in a few sentences");
            return Err(PromptError::Invalid { name, reason });
        }
    }
    let workload = argument(WORKLOAD).ok_or(PromptError::Missing(WORKLOAD))?;
    let (release, remark) = release(argument(RELEASE))?;
    let choices = PoolChoices {
        architectures: values(ARCHITECTURE, ARCH, argument(ARCHITECTURE).unwrap_or("amd64"), |_| true)?,
        capacity_types: values(
            CAPACITY,
            CAPACITY_TYPE,
            argument(CAPACITY).unwrap_or("spot, on-demand"),
            |value| CAPACITY_TYPES.contains(&value),
        )?,
    };
    Ok(write_nodepool(workload, release, remark.as_deref(), &choices))
}

/// The values that complete an argument of a prompt.
pub fn completions(name: &str, argument: &str, start: &str) -> Vec<String> {
    let values: Vec<String> = match (name, argument) {
        (WRITE_NODEPOOL, ARCHITECTURE) => of_label(ARCH)
            .into_iter()
            .flat_map(|known| known.values)
            .map(|value| (*value).to_owned())
            .collect(),
        (WRITE_NODEPOOL, CAPACITY) => CAPACITY_TYPES.map(str::to_owned).to_vec(),
        (WRITE_NODEPOOL, RELEASE) => Release::minors().rev().map(Release::name_of_minor).collect(),
        _ => Vec::new(),
    };
    values.into_iter().filter(|value| value.starts_with(start)).collect()
}

fn release(text: Option<&str>) -> Result<(Release, Option<String>), PromptError> {
    let Some(text) = text else { return Ok((Release::NEWEST, None)) };
    let nearest = NearestRelease::parse(text)
        .map_err(|error| PromptError::Invalid { name: RELEASE, reason: error.to_string() })?;
    Ok((nearest.release(), nearest.note().map(|note| format!("{text} is not known; {note}"))))
}

/// The values of a label that an argument names, separated by commas.
fn values(
    name: &'static str,
    label: &str,
    text: &str,
    is_usable: impl Fn(&str) -> bool,
) -> Result<Vec<&'static str>, PromptError> {
    let usable = |known: &'static KnownValues| known.values.iter().copied().filter(|value| is_usable(value));
    let known = of_label(label).into_iter();
    let mut found = Vec::new();
    for word in text.split(',') {
        let meant = known.clone().find_map(|known| known.meant(word)).filter(|value| is_usable(value));
        let Some(value) = meant else {
            let all: Vec<String> = known.flat_map(usable).map(|value| format!("`{value}`")).collect();
            let word: String = word.trim().chars().take(200).collect();
            let reason = format!("`{word}` is none of {}", all.join(", "));
            return Err(PromptError::Invalid { name, reason });
        };
        if !found.contains(&value) {
            found.push(value);
        }
    }
    Ok(found)
}

fn write_nodepool(workload: &str, release: Release, remark: Option<&str>, choices: &PoolChoices) -> String {
    let mut text = format!(
        "Write a NodePool and its EC2NodeClass of Karpenter {release} on AWS for this workload:\n\n{workload}\n\n"
    );
    if let Some(remark) = remark {
        let _ = writeln!(text, "{remark}\n");
    }
    let version = release.name_of_patch();
    let _ = write!(
        text,
        "Do this:\n\n\
         1. Start from the example below, which `check` accepts. Change only what the workload needs, and use only fields and labels of the \
         lists below.\n\
         2. Call the tool `check` with the manifest as `text` and `karpenterVersion: \"{version}\"`. Correct every error, and every warning \
         that applies; call `explain` with the rule if a finding is not clear. Repeat until `answer.summary.errors` is 0.\n\
         3. If the manifests of the workload are known, call `simulate` with them and the NodePool as `text`, and see that every pod has a \
         node.\n\
         4. Show the manifest, the result of the last `check`, and the placeholders that the user has to replace: `${{CLUSTER_NAME}}`, and \
         `${{ALIAS_VERSION}}`, the version of an image that exists for the Kubernetes version of the cluster, such as `v20250807`. Do not guess \
         it: without the image, the EC2NodeClass is not ready. With `latest`, each new image replaces nodes.\n\n\
         Example:\n\n```yaml\n{}```\n",
        manifest(choices)
    );
    for schema in
        KIND_SCHEMAS.into_iter().filter(|schema| matches!(schema.kind.name, "NodePool" | "EC2NodeClass"))
    {
        let _ = writeln!(text, "\nFields of {} in {release}:\n", schema.kind.name);
        describe(&schema.spec, "", release, &mut text);
    }
    let _ = writeln!(text, "\nWell-known labels for requirements in {release}:\n");
    for label in all_well_known().filter(|label| is_usable(LabelField::PoolRequirement, label, release)) {
        let values =
            of_label(label).map(|known| format!(": {}", known.listed_in(release))).unwrap_or_default();
        let _ = writeln!(text, "- `{label}`{values}");
    }
    text
}

/// Writes a line for a field and for each field in it.
fn describe(field: &'static FieldSchema, holder: &str, release: Release, text: &mut String) {
    if !field.releases.contains(release) || field.name == OWN_KUBELET_FIELD {
        return;
    }
    let schema = content(field);
    let path = if holder.is_empty() { field.name.to_owned() } else { format!("{holder}.{}", field.name) };
    let _ = write!(text, "- `{path}`: {}", schema.shape.name());
    if field.required {
        text.push_str(", required");
    }
    describe_limits(innermost(schema), release, text);
    let default = field.default.filter(|(_, releases)| releases.contains(release));
    if let Some((value, _)) = default.filter(|(value, _)| value.is_scalar()) {
        let _ = write!(text, ", default `{value}`");
    }
    text.push('\n');
    describe_inside(schema, &path, release, text);
}

/// The schema of the items of a list, of the items in them, and so on.
fn innermost(schema: &'static Schema) -> &'static Schema {
    if let SchemaType::List(items) = schema.shape { innermost(items) } else { schema }
}

fn describe_inside(schema: &'static Schema, path: &str, release: Release, text: &mut String) {
    match schema.shape {
        SchemaType::Object(fields) => fields.iter().for_each(|field| describe(field, path, release, text)),
        SchemaType::List(items) => describe_inside(items, &format!("{path}[]"), release, text),
        SchemaType::Map(values) => describe_inside(values, &format!("{path}{{}}"), release, text),
        _ => {}
    }
}

fn describe_limits(schema: &'static Schema, release: Release, text: &mut String) {
    for constraint in schema.constraints.iter().filter(|one| one.releases.contains(release)) {
        if let Limit::OneOf(_) | Limit::Minimum(_) | Limit::Maximum(_) | Limit::MaxItems(_) = constraint.limit
        {
            text.push_str(", ");
            text.push_str(&constraint.limit.described(release));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(arguments: &[(&str, &str)]) -> Result<String, String> {
        let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        prompt(WRITE_NODEPOOL, &arguments.collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn has_the_facts_of_the_release() {
        let old = text(&[("workload", "web"), ("release", "1.0")]).unwrap();
        let new = text(&[("workload", "web"), ("release", "1.8.3")]).unwrap();
        let replicas = "- `spec.replicas`: a whole number, at least 0\n";
        assert!(!old.contains(replicas) && new.contains(replicas));
        let flex = "- `karpenter.k8s.aws/instance-capability-flex`\n";
        assert!(!old.contains(flex) && new.contains(flex));
        assert!(!new.contains("- `karpenter.sh/nodepool`"), "a NodePool cannot require it");
        assert!(new.contains("karpenterVersion: \"1.8.3\""));
        let example = new.split("```").nth(1).unwrap();
        assert!(
            example.contains("- alias: al2023@${ALIAS_VERSION}\n"),
            "no image is known to exist: {example}"
        );
        assert!(new.contains("- `karpenter.sh/capacity-type`: `spot`, `on-demand`, `reserved`\n"));
        assert!(
            new.contains(
                "- `spec.disruption.consolidationPolicy`: a string, one of `WhenEmpty`, `WhenEmptyOrUnderutilized`, default `WhenEmptyOrUnderutilized`\n"
            ),
            "{new}"
        );
        assert!(new.len() < 24 << 10, "{}", new.len());
        assert!(new.contains("- `spec.kubelet.maxPods`: ") && !new.contains("topologyManagerPolicy"));
        let newest = text(&[("workload", "web"), ("release", "1.15")]).unwrap();
        assert!(newest.contains("- `spec.kubelet.topologyManagerPolicy`: a string\n"), "of the controller");
        assert!(!newest.contains("registerWithTaints"), "Karpenter sets it");
        assert!(old.contains("- `karpenter.sh/capacity-type`: `spot`, `on-demand`\n"));
    }

    #[test]
    fn takes_the_choices_in_any_spelling() {
        let written =
            text(&[("workload", "web"), ("architecture", "graviton, x86_64"), ("capacityType", "Spot")])
                .unwrap();
        assert!(written.contains("values: [\"arm64\", \"amd64\"]") && written.contains("values: [\"spot\"]"));
    }

    #[test]
    fn names_the_argument_that_cannot_be_used() {
        for (arguments, error) in [
            (&[][..], "`workload` is missing: say what runs on the nodes"),
            (&[("workload", " ")], "`workload` is missing: say what runs on the nodes"),
            (
                &[("workload", "a"), ("architecture", "mips")],
                "`architecture`: `mips` is none of `amd64`, `arm64`",
            ),
            (
                &[("workload", "a"), ("capacityType", "reserved")],
                "`capacityType`: `reserved` is none of `spot`, `on-demand`",
            ),
            (
                &[("work", "a")],
                "the prompt has no argument `work`; it has `workload`, `architecture`, `capacityType` and `release`",
            ),
        ] {
            assert_eq!(text(arguments).unwrap_err(), error);
        }
        assert!(text(&[("workload", "a"), ("release", "0.37")]).unwrap_err().starts_with("`release`: "));
        assert!(
            text(&[("workload", &"a".repeat(5_000))]).unwrap_err().starts_with("`workload`: longer than")
        );
        assert!(prompt("other", &BTreeMap::new()).is_err());
    }

    #[test]
    fn completes_arguments() {
        assert_eq!(completions(WRITE_NODEPOOL, "architecture", "ar"), ["arm64"]);
        assert_eq!(
            completions(WRITE_NODEPOOL, "release", "1.1").len(),
            Release::minors().filter(|one| one.name_of_minor().starts_with("1.1")).count()
        );
        assert_eq!(completions("other", "release", ""), Vec::<String>::new());
    }
}
