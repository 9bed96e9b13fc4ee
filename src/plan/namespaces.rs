//! The namespace of the objects in files that name none, as kubectl sets it.
//!
//! Source: `SetNamespace` and `RequireNamespace` in pkg/resource/visitor.go of kubernetes/cli-runtime at v0.33.0.

use std::collections::{BTreeMap, BTreeSet};

use cluster::input_object::InputObject;
use manifest::tree::{Assembly, NewValue, Tree, Value};
use objects::object::{Form, Object, Operation};
use objects::pod_disruption_budget::PodDisruptionBudget;

use super::PlanError;
use super::applied::is_applied;

/// Namespace in which files are applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyNamespace {
    /// The name.
    pub name: String,
    /// Whether the user named the namespace. Otherwise it is the namespace of the context, and an object of the files without a namespace is
    /// rather the object of the cluster that alone has its kind and name: the tool that applies the files may set another namespace.
    pub is_named: bool,
}

/// Namespaces in which a cluster has objects of a kind and name; empty for an object without a namespace.
type Places<'d> = BTreeMap<(&'d str, &'d str), BTreeSet<&'d str>>;

impl ApplyNamespace {
    /// For each object of the files, the object with this namespace, or `None` if the object stays as it is.
    pub(super) fn placed(
        &self,
        files: &[InputObject<'_>],
        cluster: &[Object<'_>],
    ) -> Result<Vec<Option<Tree>>, PlanError> {
        let mut places: Places<'_> =
            files.iter().map(|input| ((input.object.kind(), input.object.name()), BTreeSet::new())).collect();
        for object in cluster {
            if let Some(known) = places.get_mut(&(object.kind(), object.name())) {
                known.insert(object.namespace());
            }
        }
        files.iter().map(|input| self.placed_object(input.object, &places)).collect()
    }

    fn placed_object(&self, object: Object<'_>, places: &Places<'_>) -> Result<Option<Tree>, PlanError> {
        // Nodes and what decides about them have no namespace, and a review has the object of a cluster.
        if object.form() != Form::Api || is_applied(object) || object.operation() != Operation::Apply {
            return Ok(None);
        }
        let Some(known) = places.get(&(object.kind(), object.name())) else { return Ok(None) };
        let own = object.namespace();
        if !own.is_empty() {
            let is_used = known.contains(own) || PodDisruptionBudget::of(object).is_some();
            if self.is_named && own != self.name && is_used {
                return Err(PlanError::OtherNamespace {
                    kind: object.kind().to_owned(),
                    name: object.name().to_owned(),
                    own: own.to_owned(),
                    named: self.name.clone(),
                });
            }
            return Ok(None);
        }
        let is_elsewhere = known.len() == 1 && !known.contains(self.name.as_str());
        if known.contains("") || (!self.is_named && is_elsewhere) {
            return Ok(None);
        }
        Ok(with_namespace(object, &self.name))
    }
}

/// A copy of an object with a namespace. Everything keeps its place in the text.
fn with_namespace(object: Object<'_>, namespace: &str) -> Option<Tree> {
    let root = object.root();
    let mut assembly = Assembly::new(root, usize::MAX);
    let id = assembly.add(None, None, NewValue::Same, root, root.is_derived())?;
    for (key, member) in root.members() {
        if key != "metadata" || !member.is_mapping() {
            assembly.copy(Some(id), Some(key), member)?;
            continue;
        }
        let metadata = assembly.add(Some(id), Some(key), NewValue::Same, member, member.is_derived())?;
        for (key, field) in member.members().filter(|(key, _)| *key != "namespace") {
            assembly.copy(Some(metadata), Some(key), field)?;
        }
        let value = NewValue::Of(Value::String(namespace));
        assembly.add(Some(metadata), Some("namespace"), value, member, true)?;
        assembly.complete(metadata);
    }
    assembly.complete(id);
    Some(assembly.finish())
}

/// The objects of the files, with the placed ones instead of those they are copies of.
pub(super) fn with_placed<'d>(files: &[InputObject<'d>], placed: &'d [Option<Tree>]) -> Vec<InputObject<'d>> {
    let object = |tree: &'d Tree| Object::all(tree).into_iter().next();
    let with = |(input, tree): (&InputObject<'d>, &'d Option<Tree>)| InputObject {
        object: tree.as_ref().and_then(object).unwrap_or(input.object),
        ..*input
    };
    files.iter().zip(placed).map(with).collect()
}
