//! The fixes that the policy applies to an object.
//!
//! A fix must survive the next apply of the unfixed manifest, such as by Flux. So the policy changes no field that is immutable once
//! the object exists, and no field that a manager of server-side apply owns.

use std::fmt::Write as _;

use karpwarden::manifest::tree::Node;
use karpwarden::objects::location::PlaceOrder;
use karpwarden::objects::object::Object;
use karpwarden::rule::finding::Finding;
use karpwarden::rule::fix::Fix;

/// The fixes to apply, and what is done about each finding with a safe fix.
#[derive(Debug, Default)]
pub(crate) struct Mutation<'f, 'd> {
    /// The findings whose fixes apply.
    pub(crate) fixed: Vec<&'f Finding<'d>>,
    /// One note for each of these fixes.
    pub(crate) applied: Vec<String>,
    /// The fixes that another owner of the field prevents.
    pub(crate) refused: Vec<RefusedFix>,
}

/// A fix that another owner of the field prevents.
#[derive(Debug)]
pub(crate) struct RefusedFix {
    /// Rule and path of the finding.
    what: String,
    /// The field manager.
    owner: String,
}

/// Says in the help of each finding which field manager prevents its fix. A separate note would be a second message about the
/// finding.
pub(crate) fn explain(refused: &[RefusedFix], findings: &mut [Finding<'_>], object: Object<'_>) {
    for finding in findings {
        let what = what(finding, object);
        let Some(RefusedFix { owner, .. }) = refused.iter().find(|fix| fix.what == what) else { continue };
        if !finding.help.is_empty() {
            finding.help.push_str("; ");
        }
        let _ = write!(
            finding.help,
            "not fixed here: the field manager `{owner}` applies this field, so fix it in its source"
        );
    }
}

/// Rule and path of a finding.
fn what(finding: &Finding<'_>, object: Object<'_>) -> String {
    format!("{} at {}", finding.rule.name, finding.place.path(object.root()))
}

/// Chooses the fixes of an object. `on_update` are the findings that the object would have if it existed: the API
/// server accepts their fixes again and again.
pub(crate) fn choose<'f, 'd>(
    findings: &'f [Finding<'d>],
    on_update: &[Finding<'_>],
    object: Object<'_>,
) -> Mutation<'f, 'd> {
    // Both lists are sorted.
    let mut repeated = on_update.iter().filter(|finding| safe(finding).is_some()).peekable();
    let mut mutation = Mutation::default();
    for finding in findings {
        while repeated.next_if(|other| order(other) < order(finding)).is_some() {}
        let is_repeatable = repeated.peek().is_some_and(|other| order(other) == order(finding));
        let Some(fix) = safe(finding).filter(|_| is_repeatable) else { continue };
        let what = what(finding, object);
        if let Some(owner) = fix.changes.iter().find_map(|change| owner(object, change.node())) {
            mutation.refused.push(RefusedFix { what, owner: owner.to_owned() });
        } else {
            mutation.applied.push(format!("fixed: {what}: {}, because {}", fix.title, finding.message));
            mutation.fixed.push(finding);
        }
    }
    mutation
}

/// The number of findings with a safe fix.
pub(crate) fn count(findings: &[Finding<'_>]) -> usize {
    findings.iter().filter(|finding| safe(finding).is_some()).count()
}

fn safe<'f, 'd>(finding: &'f Finding<'d>) -> Option<&'f Fix<'d>> {
    finding.fix.as_ref().filter(|fix| fix.safe)
}

/// The order of findings.
fn order(finding: &Finding<'_>) -> (PlaceOrder, &'static str) {
    (finding.place.order(), finding.rule.name)
}

/// The field manager that applies a node with server-side apply. If a webhook changes a field, the API server makes the field's
/// new value the property of the manager of the request, with the operation `Update`, so the next apply of the old value ends in a
/// conflict: kubernetes.io/docs/reference/using-api/server-side-apply (field management, conflicts).
fn owner<'d>(object: Object<'d>, node: Node<'d>) -> Option<&'d str> {
    let path = path(node, object.root());
    let managers = object.root().items_at(&["metadata", "managedFields"]);
    let mut applying = managers.filter(|manager| manager.str_at(&["operation"]) == Some("Apply"));
    let owner = applying.find(|manager| manager.get("fieldsV1").is_some_and(|fields| owns(fields, &path)))?;
    Some(owner.str_at(&["manager"]).unwrap_or_default())
}

/// The keys from the root to a node; `None` for an item of a list.
fn path<'d>(node: Node<'d>, root: Node<'d>) -> Vec<Option<&'d str>> {
    let nodes = core::iter::successors(Some(node), |node| node.parent()).take_while(|node| *node != root);
    let mut path: Vec<_> = nodes
        .map(|node| if node.parent().is_some_and(Node::is_sequence) { None } else { Some(node.key()) })
        .collect();
    path.reverse();
    path
}

/// Whether a set of fields has a path: `f:key` is a member of an object, and `k:`, `v:` and `i:` are items of a list
/// (sigs.k8s.io/structured-merge-diff fieldpath/serialize-pe.go). A set without members below a field owns all of it.
fn owns(fields: Node<'_>, path: &[Option<&str>]) -> bool {
    let Some((step, rest)) = path.split_first() else { return true };
    if fields.is_empty() {
        return true;
    }
    match step {
        Some(key) => fields.get(&format!("f:{key}")).is_some_and(|below| owns(below, rest)),
        // The item does not matter: an owner of any item writes the list.
        None => {
            fields.members().any(|(key, below)| !key.starts_with("f:") && key != "." && owns(below, rest))
        }
    }
}
