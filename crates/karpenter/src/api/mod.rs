//! The schemas of Karpenter's objects, as the API server enforces them, by release.
//!
//! One table describes all releases. A constraint holds in all releases that have its field, unless it has `since` or
//! `until`. Source: the custom resource definitions at each tag of aws/karpenter-provider-aws, v1.0.0 to v1.14.1, in
//! pkg/apis/crds: `karpenter.sh_nodepools.yaml`,
//! `karpenter.sh_nodeclaims.yaml`, `karpenter.sh_nodeoverlays.yaml` (since 1.7) and
//! `karpenter.k8s.aws_ec2nodeclasses.yaml`.

pub mod comparison;
mod ec2nodeclass;
mod kubelet_configuration;
pub mod meaning;
mod metadata;
mod node;
mod nodeclaim;
mod nodeoverlay;
mod nodepool;
pub mod outline;
pub mod pattern;
pub mod relations;
mod schema;
pub mod served;
pub mod stored;

pub use kubelet_configuration::{
    BOOTSTRAP_FIELDS, KUBELET_CONFIGURATION, OWN_KUBELET_FIELD, content, is_kubelet_field,
};
pub use metadata::METADATA;
pub use relations::kubelet::{RESERVABLE, SIGNALS};
pub use relations::selector_terms::ALIAS_FAMILIES;
pub use schema::{Constraint, EnumValue, FieldSchema, KindSchema, Limit, Schema, SchemaType};

/// The schemas of all kinds.
pub const KIND_SCHEMAS: [&KindSchema; 4] =
    [&nodepool::NODE_POOL, &nodeclaim::NODE_CLAIM, &ec2nodeclass::EC2_NODE_CLASS, &nodeoverlay::NODE_OVERLAY];

/// The schema of a kind in a version.
pub fn kind_schema(group: &str, version: &str, kind: &str) -> Option<&'static KindSchema> {
    KIND_SCHEMAS.into_iter().find(|schema| schema.kind.is(group, version, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn for_each_object(schema: &'static Schema, see: &mut impl FnMut(&'static [FieldSchema])) {
        match schema.shape {
            SchemaType::Object(fields) => {
                see(fields);
                for field in fields {
                    for_each_object(&field.schema, see);
                }
            }
            SchemaType::Map(inner) | SchemaType::List(inner) => for_each_object(inner, see),
            _ => {}
        }
    }

    #[test]
    fn release_has_one_schema_per_field() {
        for root in KIND_SCHEMAS {
            for_each_object(&root.spec.schema, &mut |fields| {
                for (index, field) in fields.iter().enumerate() {
                    assert!(!field.releases.is_empty());
                    let later = fields.iter().skip(index + 1).filter(|other| other.name == field.name);
                    later.for_each(|other| assert!(!other.releases.meets(field.releases), "{}", field.name));
                }
            });
        }
    }
}
