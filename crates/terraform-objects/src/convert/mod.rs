//! Conversion of blocks: which types of resources have objects, and what each makes of its attributes.
//!
//! A converter gets an instance of a block with its evaluated attributes, and returns drafts of documents. To add one, write a function in
//! a file of this folder, and add a line to [`CONVERTERS`].

mod addon;
mod carried;
mod directives;
mod eks_cluster;
mod events;
mod files;
mod iam;
mod kubernetes;
mod manifests;
mod module;
mod network;
mod parameters;
mod release;
mod stack;

use std::collections::BTreeMap;

use terraform::{
    AbsentResource, EvaluatedAttribute, EvaluatedBlock, EvaluatedConfiguration, EvaluatedText,
    EvaluatedValue, TextPlace, Unknown, decode_yaml, is_configuration,
};

use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// A converter: the documents of an instance of a resource.
type Convert = fn(&ResourceInstance<'_>) -> Vec<DocumentDraft>;

/// The types of resources with objects.
const CONVERTERS: [(&str, Convert); 16] = [
    ("aws_cloudwatch_event_rule", events::aws_cloudwatch_event_rule),
    ("aws_ec2_tag", network::aws_ec2_tag),
    ("aws_eks_access_entry", stack::aws_eks_access_entry),
    ("aws_eks_addon", addon::aws_eks_addon),
    ("aws_eks_cluster", eks_cluster::aws_eks_cluster),
    ("aws_eks_pod_identity_association", stack::aws_eks_pod_identity_association),
    ("aws_iam_policy", iam::aws_iam_policy),
    ("aws_iam_instance_profile", stack::aws_iam_instance_profile),
    ("aws_iam_role_policy", iam::aws_iam_role_policy),
    ("aws_security_group", network::aws_security_group),
    ("aws_sqs_queue", stack::aws_sqs_queue),
    ("aws_subnet", network::aws_subnet),
    ("helm_release", release::helm_release),
    ("k8s_manifest", manifests::k8s_manifest),
    ("kubectl_manifest", manifests::kubectl_manifest),
    ("kubernetes_manifest", manifests::kubernetes_manifest),
];

/// The types of resources that matter only beside others: a configuration that has nothing else with objects is evaluated only if the
/// input has NodePools or EC2NodeClasses.
const BESIDE_OTHERS: [&str; 7] = [
    "aws_cloudwatch_event_rule",
    "aws_ec2_tag",
    "aws_eks_addon",
    "aws_eks_cluster",
    "aws_iam_instance_profile",
    "aws_security_group",
    "aws_subnet",
];

pub(crate) use files::read as read_files;

/// Placeholder of a value that Terraform does not show.
const SENSITIVE: &str = "${sensitive}";

/// The kinds of objects whose nodes depend on the resources of [`BESIDE_OTHERS`].
const DEPENDENT: [&str; 2] = ["NodePool", "EC2NodeClass"];

/// The kinds whose objects a comparison shows.
const COMPARED: [&str; 3] = ["NodePool", "EC2NodeClass", "NodeOverlay"];

/// The modules whose clusters, subnets and security groups have converters.
const MODULES_BESIDE_OTHERS: [&str; 2] = [network::VPC, network::EKS];

/// Whether a text may have a NodePool or an EC2NodeClass.
pub(crate) fn may_depend(text: &str) -> bool {
    DEPENDENT.iter().any(|kind| text.contains(kind))
}

/// Whether a text mentions a resource that has a converter, or a module that creates what Karpenter needs. `is_beside_others` says whether
/// the input has NodePools or EC2NodeClasses.
pub(crate) fn is_mentioned(text: &str, is_beside_others: bool) -> bool {
    if is_beside_others && MODULES_BESIDE_OTHERS.iter().any(|source| text.contains(source)) {
        return true;
    }
    let is_left_out = |word: &str| !is_beside_others && BESIDE_OTHERS.contains(&word);
    let mut words = text.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
    words.any(|word| {
        let makes_objects = word.contains('_') && is_converted(word) && !is_left_out(word);
        makes_objects || matches!(word, "karpenter" | "enable_karpenter")
    })
}

/// Whether a type of resources has objects.
fn is_converted(kind: &str) -> bool {
    kubernetes::is_kind(kind) || converter(kind).is_some()
}

/// The drafts of each resource of a configuration, in the order of the blocks, without the documents of resources that a plan knows.
pub(crate) fn drafts(
    configuration: &EvaluatedConfiguration,
    is_compared: bool,
    is_planned: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (&EvaluatedBlock, Vec<DocumentDraft>)> {
    by_block(configuration, is_compared).map(move |(block, drafts)| {
        if is_planned(&block.address) {
            (block, drafts.into_iter().filter_map(DocumentDraft::replaced).collect())
        } else {
            (block, drafts)
        }
    })
}

/// The drafts of each resource of a plan, at the address of the resource.
pub(crate) fn planned(
    plan: &EvaluatedConfiguration,
    is_compared: bool,
) -> impl Iterator<Item = (&EvaluatedBlock, Vec<DocumentDraft>)> {
    by_block(plan, is_compared).map(|(block, drafts)| {
        let hidden = release::hidden_objects(block).filter(|_| drafts.is_empty());
        let drafts = drafts.into_iter().chain(hidden);
        (block, drafts.map(|draft| draft.at(block.place)).collect())
    })
}

/// The drafts of each resource of a configuration.
fn by_block(
    configuration: &EvaluatedConfiguration,
    is_compared: bool,
) -> impl Iterator<Item = (&EvaluatedBlock, Vec<DocumentDraft>)> {
    let all = configuration.blocks.iter();
    let by_address: BTreeMap<&str, &EvaluatedBlock> =
        all.clone().map(|block| (block.address.as_str(), block)).collect();
    all.map(move |block| {
        (block, documents(&ResourceInstance { block, configuration, by_address: &by_address, is_compared }))
    })
}

/// The documents of a resource.
fn documents(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let block = resource.block;
    match (block.kind.as_str(), block.labels.first()) {
        ("module", _) => module::documents(resource),
        ("resource", Some(kind)) => match converter(kind) {
            Some(convert) => convert(resource),
            None if kubernetes::is_kind(kind) => kubernetes::object(kind, resource).into_iter().collect(),
            None => unconverted(kind, resource),
        },
        _ => Vec::new(),
    }
}

/// Drafts that say that objects are not read, because their resource only writes or sends a text, as `local_file` does. The objects of a
/// here-document and of a file are read where they are written.
fn unconverted(kind: &str, resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let has_object = |attribute: &&EvaluatedAttribute| {
        let object = text_of(&attribute.value).and_then(encoded_object);
        let kind = object.and_then(|object| object.get("kind")).and_then(EvaluatedValue::as_str);
        kind.is_some_and(|kind| DEPENDENT.contains(&kind))
    };
    let draft = |attribute: &EvaluatedAttribute| {
        let (address, name) = (&resource.block.address, &attribute.name);
        let reason =
            format!("`{address}`, not checked: `{kind}` applies no object, and `{name}` is only text");
        DocumentDraft::Unknown(attribute.value.place, reason)
    };
    let attributes = resource.block.body.attributes.iter().filter(|_| !resource.is_compared);
    attributes.filter(has_object).map(draft).collect()
}

/// The resources that would make an object of Kubernetes, a release or a policy of Karpenter, and make none.
pub(crate) fn absent(configuration: &EvaluatedConfiguration) -> Vec<DocumentDraft> {
    // Most policies are about other software.
    let is_policy = |kind: &str| matches!(kind, "aws_iam_policy" | "aws_iam_role_policy");
    let is_said = |resource: &AbsentResource| match resource.labels.as_slice() {
        [kind, ..] if is_policy(kind) => configuration.texts.slice(resource.whole).contains("karpenter"),
        [kind, ..] => !kind.starts_with("aws_") && is_converted(kind),
        [] => false,
    };
    let draft = |resource: &AbsentResource| {
        let reason = format!("`{}` makes no object: {}", resource.labels.join("."), resource.reason);
        DocumentDraft::Absent { whole: resource.whole, at: resource.place, reason }
    };
    configuration.absent.iter().filter(|resource| is_said(resource)).map(draft).collect()
}

fn converter(kind: &str) -> Option<Convert> {
    CONVERTERS.iter().find(|(name, _)| *name == kind).map(|(_, convert)| *convert)
}

/// An instance of a resource, and the configuration around it.
pub(crate) struct ResourceInstance<'v> {
    block: &'v EvaluatedBlock,
    configuration: &'v EvaluatedConfiguration,
    by_address: &'v BTreeMap<&'v str, &'v EvaluatedBlock>,
    /// Whether the documents are compared with the ones of another side, for which all tags of a network count.
    is_compared: bool,
}

impl<'v> ResourceInstance<'v> {
    /// An attribute that is neither missing nor `null`.
    fn named(&self, name: &str) -> Option<&'v EvaluatedAttribute> {
        let mut attributes = self.block.body.attributes.iter();
        attributes.find(|attribute| attribute.name == name && !attribute.value.is_null())
    }

    /// The value of an attribute that is neither missing nor `null`.
    fn attribute(&self, name: &str) -> Option<&'v EvaluatedValue> {
        Some(&self.named(name)?.value)
    }

    /// An attribute as a member of a document.
    fn member(&self, name: &str) -> Option<DraftMember> {
        let EvaluatedAttribute { name, key, value } = self.named(name)?;
        Some(DraftMember::new(name, *key, DraftPart::Value(value.clone())))
    }

    /// Another block of the same module, such as `data.kubectl_file_documents.all`.
    fn beside(&self, address: &str) -> Option<&'v EvaluatedBlock> {
        self.by_address.get(format!("{}{address}", self.block.module).as_str()).copied()
    }

    /// A draft that says why a value is not known.
    fn unknown(&self, name: &str, value: &EvaluatedValue) -> DocumentDraft {
        let address = &self.block.address;
        let reason = if let Some(failure) = value.failure() {
            let at = self.position(failure.place);
            format!("`{address}`, not checked: `{name}` is not evaluated{at}: {}", failure.message)
        } else {
            let text = value.as_text().or(value.as_unknown().map(|unknown| &unknown.text));
            let inner = text.and_then(|text| text_of(text.encoded()?));
            let cause = inner.or(text).map_or("", EvaluatedText::as_str);
            if cause == SENSITIVE {
                format!("`{address}`, not checked: `{name}` is sensitive")
            } else {
                format!("`{address}`, not checked: `{name}` is known only after Terraform applies `{cause}`")
            }
        };
        DocumentDraft::Unknown(value.place, reason)
    }

    /// The file and the line of a place, as a part of a sentence. A comparison has none: the lines before it may be others.
    fn position(&self, place: TextPlace) -> String {
        let source = self.configuration.texts.get(place.text).filter(|_| !self.is_compared);
        let Some(source) = source else { return String::new() };
        format!(" ({}:{})", source.name(), source.position(place.span().start).line)
    }

    /// The documents in a string.
    fn documents_in(&self, name: &str, value: &EvaluatedValue) -> Vec<DocumentDraft> {
        let text = match (value.as_text(), value.as_unknown()) {
            (Some(text), _) => text,
            (None, Some(unknown)) if !unknown.text.is_placeholder() => &unknown.text,
            _ => return self.unknown_documents(name, value),
        };
        if !text.directives().is_empty() {
            return directives::documents(self, name, text, value.place);
        }
        match encoded_object(text) {
            Some(encoded) if has_known_kind(encoded) => {
                vec![DocumentDraft::Document(DraftPart::Value(encoded.clone()))]
            }
            _ if text.encoded().is_some() => self.unknown_documents(name, value),
            _ => vec![DocumentDraft::Text(text.clone(), value.place)],
        }
    }

    /// The drafts of a value that is not known, with the texts that it is made of.
    fn unknown_documents(&self, name: &str, value: &EvaluatedValue) -> Vec<DocumentDraft> {
        let sources = value.as_unknown().map(Unknown::sources).unwrap_or_default();
        let sources = sources.iter().map(|text| DocumentDraft::Source(*text));
        [self.unknown_of_texts(name, value)].into_iter().chain(sources).collect()
    }

    /// The draft of a value that is not known, with the kinds in the files that it is made of.
    fn unknown_of_texts(&self, name: &str, value: &EvaluatedValue) -> DocumentDraft {
        let sources = value.as_unknown().map(Unknown::sources).unwrap_or_default();
        let read = sources.iter().filter_map(|text| self.configuration.texts.get(*text));
        let texts = read.filter(|source| !is_configuration(source.name())).map(|source| source.text());
        self.named_kinds(self.unknown(name, value), texts)
    }

    /// A draft that says which kinds the texts of an unknown document name, for a comparison.
    fn named_kinds<'t>(&self, draft: DocumentDraft, texts: impl Iterator<Item = &'t str>) -> DocumentDraft {
        let DocumentDraft::Unknown(at, reason) = draft else { return draft };
        let texts: Vec<&str> = texts.filter(|_| self.is_compared).collect();
        let is_named = |kind: &&&str| texts.iter().any(|text| text.contains(**kind));
        let named: Vec<&str> = COMPARED.iter().filter(is_named).copied().collect();
        let further =
            if named.is_empty() { String::new() } else { format!(", with {}", named.join(" and ")) };
        DocumentDraft::Unknown(at, format!("{reason}{further}"))
    }

    /// The document that a value is.
    fn document_of(&self, name: &str, value: &'v EvaluatedValue) -> DocumentDraft {
        let object = value.as_unknown().and_then(Unknown::object).unwrap_or(value);
        if object.members().is_some() && has_known_kind(object) {
            DocumentDraft::Document(DraftPart::Value(object.clone()))
        } else {
            self.unknown_of_texts(name, value)
        }
    }
}

/// Whether the kind of an object is known, if it has one. The two objects of a condition may have different ones.
fn has_known_kind(object: &EvaluatedValue) -> bool {
    ["apiVersion", "kind"].iter().all(|key| object.get(key).is_none_or(|value| value.as_unknown().is_none()))
}

/// The text of a value with the placeholders of what is not known.
fn text_of(value: &EvaluatedValue) -> Option<&EvaluatedText> {
    value.as_text().or(value.as_unknown().map(|unknown| &unknown.text))
}

/// The object that `yamlencode` or `jsonencode` writes, with placeholders.
fn encoded_object(text: &EvaluatedText) -> Option<&EvaluatedValue> {
    let encoded = text.encoded()?;
    let object = encoded.as_unknown().and_then(Unknown::object).unwrap_or(encoded);
    object.members().is_some().then_some(object)
}

/// The object that `jsonencode` writes, or that is in a here-document, a file or a template.
fn read_object(value: &EvaluatedValue) -> Option<EvaluatedValue> {
    let text = text_of(value)?;
    let object = encoded_object(text).cloned().or_else(|| decode_yaml(text, value.place))?;
    object.members().is_some().then_some(object)
}

/// The draft of a text that a document is composed of.
fn used_text(value: &EvaluatedValue) -> Option<DocumentDraft> {
    let text = text_of(value).filter(|text| text.encoded().is_none())?;
    Some(DocumentDraft::Used(text.clone(), value.place))
}
