//! The effect of a change of the field at a place of a text, for editors.

use karpenter::api::{Schema, SchemaType};
use karpenter::kind::Kind;
use manifest::File;
use manifest::source::Span;
use manifest::tree::Node;
use objects::location::{Place, path_of};
use objects::object::Object;

use crate::effect::{FIELD_EFFECTS, FieldEffect};

/// The kinds that have rows in the table of effects.
const KINDS: [Kind; 3] = [Kind::NODE_POOL, Kind::NODE_CLASS, Kind::NODE_OVERLAY];

const SPEC: &str = "spec";

/// A field in a text, with the effect of changing it.
#[derive(Clone, Debug)]
pub struct HoveredField {
    /// The path of the field.
    pub path: String,
    /// The effect, of the field itself or of one around it.
    pub effect: &'static FieldEffect,
    /// The bytes of the key of the field, or of the item of a list.
    pub span: Span,
}

impl HoveredField {
    /// The effect in Markdown.
    pub fn markdown(&self) -> String {
        let FieldEffect { effect, sentence, .. } = self.effect;
        format!("**A change of `{}` {}**\n\n{sentence}\n", self.shown_path(), effect.words())
    }

    /// The path of the row of the table, or of the field where the row is for all fields that have none.
    pub fn shown_path(&self) -> &str {
        if self.effect.path == SPEC { &self.path } else { self.effect.path }
    }

    /// The field at a byte of a file: the innermost one whose key or value is there. `None` outside of the fields that Karpenter knows,
    /// and at a field such as `spec` whose parts have different effects.
    pub fn at(file: &File, byte: usize) -> Option<Self> {
        let trees = file.trees();
        trees.flat_map(Object::all).find_map(|object| in_object(object, byte))
    }
}

fn in_object(object: Object<'_>, byte: usize) -> Option<HoveredField> {
    let kind = KINDS.into_iter().find(|kind| object.is(*kind))?;
    let mut schema = &object.table()?.spec.schema;
    let mut node = object.at(&[SPEC]).filter(|spec| holds(*spec, byte))?;
    // The end of a block scalar is the start of the next key.
    while let Some(child) = node.children().filter(|child| holds(*child, byte)).last() {
        schema = schema_of(schema, child)?;
        node = child;
    }
    let path = path_of(node, object.root());
    let effect = FieldEffect::of(kind, &path)?;
    let is_below = |row: &&FieldEffect| {
        row.kind == kind && row.path.strip_prefix(&path).is_some_and(|rest| rest.starts_with('.'))
    };
    let span = Place::key(node).span();
    (!FIELD_EFFECTS.iter().any(|row| is_below(&row))).then_some(HoveredField { path, effect, span })
}

/// Whether the key or the value of a node is at a byte. The values of a merged mapping are elsewhere.
fn holds(node: Node<'_>, byte: usize) -> bool {
    let is_at = |span: Span| span.start <= byte && byte <= span.end && span != Span::default();
    !node.is_merged() && (is_at(node.key_span()) || is_at(node.span()))
}

/// The schema of a member or an item; `None` if Karpenter has no such field.
fn schema_of(schema: &'static Schema, child: Node<'_>) -> Option<&'static Schema> {
    match schema.shape {
        SchemaType::Object(fields) => Some(&fields.iter().find(|field| field.name == child.key())?.schema),
        SchemaType::Map(values) | SchemaType::List(values) => Some(values),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use objects::embedded::READ_OPTIONS;

    /// The path and the effect at the place of `^` in a text, and the text of the span.
    fn at(text: &str) -> Option<(String, &'static str, String)> {
        let byte = text.find('^').unwrap();
        let text = text.replacen('^', "", 1);
        let file = File::read("a.yaml", text.as_str(), READ_OPTIONS);
        let found = HoveredField::at(&file, byte)?;
        let marked = text.get(found.span.start..found.span.end).unwrap().to_owned();
        Some((found.path, found.effect.path, marked))
    }

    fn pool(spec: &str) -> String {
        format!("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n{spec}")
    }

    fn class(spec: &str) -> String {
        pool(spec).replace("karpenter.sh/v1", "karpenter.k8s.aws/v1").replace("NodePool", "EC2NodeClass")
    }

    #[expect(clippy::unnecessary_wraps, reason = "an answer of `at`, to compare")]
    fn found(path: &str, row: &'static str, marked: &str) -> Option<(String, &'static str, String)> {
        Some((path.to_owned(), row, marked.to_owned()))
    }

    #[test]
    fn finds_the_innermost_field_at_its_key_and_at_its_value() {
        const LABELS: &str = "spec.template.metadata.labels";
        let labels = "  template:\n    metadata:\n      labels:\n        team: web\n";
        let team = found("spec.template.metadata.labels.team", LABELS, "team");
        for marked in ["^team", "te^am", "team^", "^web", "w^eb"] {
            let plain = marked.replace('^', "");
            assert_eq!(at(&pool(&labels.replace(&plain, marked))), team, "{marked}");
        }
        assert_eq!(at(&pool(&labels.replace("labels", "la^bels"))), found(LABELS, LABELS, "labels"));
        let flow = "  template: {spec: {taints: [{key: a, effect: NoSc^hedule}]}}\n";
        let taint = found("spec.template.spec.taints[0].effect", "spec.template.spec.taints", "effect");
        assert_eq!(at(&pool(flow)), taint);
        // The second document.
        assert_eq!(at(&format!("{}---\n{}", pool("  weight: 1\n"), pool(flow))), taint);
    }

    #[test]
    fn a_field_of_a_node_class_is_part_of_the_hash_unless_the_table_says_otherwise() {
        assert_eq!(at(&class("  role: no^des\n")), found("spec.role", "spec", "role"));
        let script = "  userData: |\n    #!/bin/sh\n    ec^ho\n";
        assert_eq!(at(&class(script)), found("spec.userData", "spec", "userData"));
        let terms = found("spec.amiSelectorTerms[0].alias", "spec.amiSelectorTerms", "alias");
        assert_eq!(at(&class("  amiSelectorTerms: [{alias: al2023@l^atest}]\n")), terms);
    }

    #[test]
    fn finds_nothing_where_parts_differ_or_karpenter_knows_no_field() {
        for text in [
            pool("  weight: 1\n").replace("spec:", "sp^ec:"),
            class("  role: a\n").replace("spec:", "sp^ec:"),
            pool("  temp^late: {}\n"),
            pool("  weight: 1\n").replace("name: a", "name: ^a"),
            pool("  unkn^own: 1\n"),
            class("  unkn^own: 1\n"),
            class("  kubelet: {unkn^own: 1}\n"),
            pool("  wei^ght: 1\n").replace("karpenter.sh/v1", "karpenter.sh/v1beta1"),
            pool("  wei^ght: 1\n").replace("NodePool", "NodeClaim"),
            "apiVersion: apps/v1\nkind: Deployment\nspec: {repli^cas: 1}\n".to_owned(),
        ] {
            assert_eq!(at(&text), None, "{text}");
        }
    }

    #[test]
    fn a_key_after_a_block_scalar_is_itself() {
        let text = class("  userData: |\n    x\n  ^role: node\n");
        assert_eq!(at(&text), found("spec.role", "spec", "role"));
    }

    #[test]
    fn a_merged_value_belongs_to_its_own_object() {
        let text = format!(
            "{}---\n{}",
            pool("  limits: &all {cpu: 1}\n  weight: 1\n"),
            pool("  limits:\n    <<: {me^mory: 1}\n")
        );
        assert_eq!(at(&text), found("spec.limits", "spec.limits", "limits"));
    }

    #[test]
    fn names_the_field_of_the_table_or_the_field_of_a_node_class() {
        let markdown = |text: &str| {
            let byte = text.find('^').unwrap();
            let file = File::read("a.yaml", text.replacen('^', "", 1), READ_OPTIONS);
            HoveredField::at(&file, byte).unwrap().markdown()
        };
        assert_eq!(
            markdown(&pool("  limits: {c^pu: 1}\n")),
            "**A change of `spec.limits` acts at once; no node drifts**\n\nKarpenter launches no node beyond the new limits, and removes none because of them\n"
        );
        assert_eq!(
            markdown(&class("  tags: {a: ^b}\n")),
            "**A change of `spec.tags.a` replaces every node**\n\npart of the hash: changing it replaces every node of the NodePools that use this EC2NodeClass\n"
        );
    }
}
