//! The resources: pages of rules, schemas of the answers, and instance types.

use karpenter::instance_types::{self, InstanceType, PRICED_REGION, TypeLabel, types_of_family};
use serde_json::{Map, Value, json};
use thiserror::Error;
use values::spelling::did_you_mean_name;

use crate::tool::SCHEMAS;

/// Number of resources in a page of their list.
pub const PAGE: usize = 100;

/// Number of names that a completion offers.
pub const MAX_COMPLETIONS: usize = 100;

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";
const SCHEMA: &str = "application/schema+json";

const RULES: &str = "karpwarden://rules";
const TYPES: &str = "karpwarden://instance-types";
const SCHEMA_FOLDER: &str = "karpwarden://schemas";

/// The address of the template for pages of rules.
pub const RULE_TEMPLATE: &str = "karpwarden://rules/{name}";
/// The address of the template for instance types.
pub const TYPE_TEMPLATE: &str = "karpwarden://instance-types/{name}";

/// The documentation of the rules, which this crate does not know.
pub trait RulePages {
    /// The names of rules and symptoms, each with its severity and the problem in one line.
    fn entries(&self) -> Vec<RuleLine>;

    /// The page of a rule or symptom, as Markdown.
    fn page(&self, name: &str) -> Option<String>;
}

/// A rule or symptom in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLine {
    /// The name.
    pub name: &'static str,
    /// The severity.
    pub severity: &'static str,
    /// The problem in one line.
    pub summary: &'static str,
}

/// A resource or a template of resources in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceEntry {
    /// The address, or the template of addresses.
    pub uri: String,
    /// The name.
    pub name: String,
    /// The content in one line.
    pub description: String,
    /// The media type.
    pub media_type: &'static str,
}

/// Content of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceText {
    /// The media type.
    pub media_type: &'static str,
    /// The text.
    pub text: String,
}

/// Error of an address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResourceError {
    /// The address leads to nothing.
    #[error("there is no resource `{uri}`{hint}; `resources/list` and `resources/templates/list` name them")]
    NotFound {
        /// The address.
        uri: String,
        /// The name that is probably meant.
        hint: String,
    },
    /// The cursor of a list is not one of this server.
    #[error("the cursor `{0}` is not from this server; list the resources without a cursor")]
    Cursor(String),
}

/// A page of the list of resources, and the cursor of the next page.
pub fn resources(
    rules: &dyn RulePages,
    cursor: Option<&str>,
) -> Result<(Vec<ResourceEntry>, Option<String>), ResourceError> {
    let start = cursor.map_or(Ok(0), |text| text.parse().map_err(|_| ResourceError::Cursor(short(text))))?;
    let all = all(rules);
    if start > all.len() {
        return Err(ResourceError::Cursor(start.to_string()));
    }
    let next = start + PAGE;
    let cursor = (next < all.len()).then(|| next.to_string());
    Ok((all.into_iter().skip(start).take(PAGE).collect(), cursor))
}

fn all(rules: &dyn RulePages) -> Vec<ResourceEntry> {
    let entry = |uri: String, name: &str, description: String, media_type| ResourceEntry {
        uri,
        name: name.to_owned(),
        description,
        media_type,
    };
    let families = "Families of instance types with their processors and sizes";
    let mut all = vec![
        entry(RULES.to_owned(), "rules", "Every rule and symptom in one line".to_owned(), MARKDOWN),
        entry(TYPES.to_owned(), "instance-types", families.to_owned(), JSON),
    ];
    all.extend(SCHEMAS.iter().map(|(name, _)| {
        let description = format!("JSON Schema of the key `answer` of a {name}, with descriptions");
        entry(format!("{SCHEMA_FOLDER}/{name}"), name, description, SCHEMA)
    }));
    all.extend(rules.entries().into_iter().map(|rule| {
        let description = format!("{}: {}", rule.severity, rule.summary);
        entry(format!("{RULES}/{}", rule.name), rule.name, description, MARKDOWN)
    }));
    all
}

/// The templates of resources.
pub fn templates() -> [ResourceEntry; 2] {
    let entry = |uri: &str, name: &str, description: &str, media_type| ResourceEntry {
        uri: uri.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        media_type,
    };
    [
        entry(RULE_TEMPLATE, "rule", "Documentation of a rule or symptom", MARKDOWN),
        entry(
            TYPE_TEMPLATE,
            "instance-type",
            "An instance type such as m7g.large, or a family such as m7g",
            JSON,
        ),
    ]
}

/// The content of a resource.
pub fn read(rules: &dyn RulePages, uri: &str) -> Result<ResourceText, ResourceError> {
    let json = |value: Value| Some(ResourceText { media_type: JSON, text: value.to_string() });
    let (folder, name) = uri.rsplit_once('/').unwrap_or_default();
    let found = match (uri, folder) {
        (RULES, _) => Some(ResourceText { media_type: MARKDOWN, text: index(rules) }),
        (TYPES, _) => json(families()),
        (_, RULES) => rules.page(name).map(|text| ResourceText { media_type: MARKDOWN, text }),
        (_, SCHEMA_FOLDER) => SCHEMAS
            .iter()
            .find(|(schema, _)| *schema == name)
            .map(|(_, text)| ResourceText { media_type: SCHEMA, text: (*text).to_owned() }),
        (_, TYPES) => instance_type(name).or_else(|| family(name)).and_then(json),
        _ => None,
    };
    found.ok_or_else(|| {
        let candidates: Vec<&str> = match folder {
            RULES => rules.entries().iter().map(|rule| rule.name).collect(),
            SCHEMA_FOLDER => SCHEMAS.iter().map(|(name, _)| *name).collect(),
            TYPES => instance_types::all().iter().map(InstanceType::name).collect(),
            _ => Vec::new(),
        };
        let hint = did_you_mean_name(name, candidates.iter().copied());
        ResourceError::NotFound { uri: short(uri), hint }
    })
}

/// The names that complete the start of a name in the address of a template.
pub fn completions(rules: &dyn RulePages, template: &str, start: &str) -> Vec<String> {
    let names: Vec<String> = match template {
        RULE_TEMPLATE => rules.entries().iter().map(|rule| rule.name.to_owned()).collect(),
        TYPE_TEMPLATE => {
            let types = instance_types::all().iter().map(|kind| kind.name().to_owned());
            family_names().into_iter().map(str::to_owned).chain(types).collect()
        }
        _ => Vec::new(),
    };
    names.into_iter().filter(|name| name.starts_with(start)).take(MAX_COMPLETIONS).collect()
}

/// Every rule in one line.
fn index(rules: &dyn RulePages) -> String {
    let line = |rule: &RuleLine| format!("- `{}` ({}): {}\n", rule.name, rule.severity, rule.summary);
    format!("# Rules and symptoms\n\n{}", rules.entries().iter().map(line).collect::<String>())
}

/// The families, by name.
fn family_names() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        instance_types::all().iter().filter_map(|kind| Some(kind.name().split_once('.')?.0)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn families() -> Value {
    let one = |name: &'static str| {
        let types = types_of_family(name);
        let sizes: Vec<&str> = types.iter().filter_map(|kind| Some(kind.name().split_once('.')?.1)).collect();
        json!({"family": name, "arch": types.first().map(arch), "sizes": sizes})
    };
    json!({"families": family_names().into_iter().map(one).collect::<Vec<_>>()})
}

fn arch(kind: &InstanceType) -> &'static str {
    if kind.is_arm() { "arm64" } else { "amd64" }
}

fn family(name: &str) -> Option<Value> {
    let types: Vec<Value> = types_of_family(name).iter().map(summary).collect();
    (!types.is_empty()).then(|| json!({"family": name, "pricesOf": PRICED_REGION, "types": types}))
}

fn summary(kind: &InstanceType) -> Value {
    json!({
        "name": kind.name(),
        "arch": arch(kind),
        "cpu": kind.cpu(),
        "memoryMiB": kind.memory(),
        "onDemandPricePerHour": price(kind.name()),
    })
}

/// An instance type with the labels by which NodePools and pods select it.
fn instance_type(name: &str) -> Option<Value> {
    let kind = instance_types::all().iter().find(|kind| kind.name() == name)?;
    let labels = TypeLabel::all().filter_map(|label| Some((label.key.to_owned(), label.value(kind)?.into())));
    let resources = kind.extended_resources().map(|(name, count)| (name.to_owned(), count.into()));
    let Value::Object(mut fields) = summary(kind) else { return None };
    fields.insert("pricesOf".to_owned(), PRICED_REGION.into());
    fields.insert("labels".to_owned(), Value::Object(labels.collect::<Map<_, _>>()));
    fields.insert("extendedResources".to_owned(), Value::Object(resources.collect::<Map<_, _>>()));
    Some(Value::Object(fields))
}

/// The on-demand price in USD; `None` where the type is not sold in the region.
fn price(name: &str) -> Option<f64> {
    instance_types::prices().find(|(priced, _)| *priced == name).map(|(_, price)| price)
}

fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TwoRules;

    impl RulePages for TwoRules {
        fn entries(&self) -> Vec<RuleLine> {
            ["first-rule", "second-rule"]
                .map(|name| RuleLine { name, severity: "error", summary: "a problem" })
                .to_vec()
        }

        fn page(&self, name: &str) -> Option<String> {
            self.entries().iter().find(|rule| rule.name == name).map(|rule| format!("# {}\n", rule.name))
        }
    }

    #[test]
    fn every_listed_resource_can_be_read() {
        let (listed, next) = resources(&TwoRules, None).unwrap();
        assert_eq!((listed.len(), next), (8, None));
        for entry in listed {
            let read = read(&TwoRules, &entry.uri).unwrap();
            assert_eq!(read.media_type, entry.media_type, "{}", entry.uri);
            assert!(read.text.len() > 5 && read.text.len() < 64 << 10, "{}: {}", entry.uri, read.text.len());
        }
        assert!(resources(&TwoRules, Some("x")).is_err() && resources(&TwoRules, Some("9")).is_err());
    }

    #[test]
    fn describes_an_instance_type_and_a_family() {
        let json = |uri: &str| serde_json::from_str::<Value>(&read(&TwoRules, uri).unwrap().text).unwrap();
        let kind = json("karpwarden://instance-types/m7g.large");
        assert_eq!(
            (&kind["cpu"], &kind["memoryMiB"], &kind["arch"]),
            (&json!(2), &json!(8192), &json!("arm64"))
        );
        assert_eq!(kind["labels"]["karpenter.k8s.aws/instance-category"], "m");
        assert!(kind["onDemandPricePerHour"].as_f64().unwrap() > 0.0);
        let family = json("karpwarden://instance-types/m7g");
        assert!(family["types"].as_array().unwrap().iter().any(|one| one["name"] == "m7g.large"));
    }

    #[test]
    fn suggests_the_nearest_name() {
        let error = |uri: &str| read(&TwoRules, uri).unwrap_err().to_string();
        assert!(error("karpwarden://rules/first-rul").contains("`first-rule`"));
        assert!(error("karpwarden://schemas/reports").contains("`report`"));
        for uri in
            ["", "file:///etc/passwd", "karpwarden://rules/../schemas/report", "karpwarden://instance-types/"]
        {
            assert!(error(uri).starts_with("there is no resource"), "{uri}");
        }
    }

    #[test]
    fn completes_names() {
        assert_eq!(completions(&TwoRules, RULE_TEMPLATE, "fi"), ["first-rule"]);
        let types = completions(&TwoRules, TYPE_TEMPLATE, "m7g");
        assert_eq!(types.first().map(String::as_str), Some("m7g"));
        assert!(types.iter().any(|name| name == "m7g.large"));
        assert_eq!(completions(&TwoRules, "other", ""), Vec::<String>::new());
    }
}
