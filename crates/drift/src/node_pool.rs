//! The hashed part of a NodePool: its template without the requirements. The same in every release of v1.
//!
//! Source: kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go and pkg/apis/v1/duration.go, v1.0.6 to v1.14.1;
//! k8s.io/api core/v1 Taint.

use crate::go::{GoStruct, GoType, plain, pointer};

pub(crate) const TEMPLATE: GoStruct = GoStruct {
    name: "NodeClaimTemplate",
    fields: &[
        plain("metadata", "ObjectMeta", GoType::Struct(&METADATA)),
        plain("spec", "Spec", GoType::Struct(&SPEC)),
    ],
};

const METADATA: GoStruct = GoStruct {
    name: "ObjectMeta",
    fields: &[
        pointer("labels", "Labels", GoType::Map(&GoType::Text)),
        pointer("annotations", "Annotations", GoType::Map(&GoType::Text)),
    ],
};

const SPEC: GoStruct = GoStruct {
    name: "NodeClaimTemplateSpec",
    fields: &[
        pointer("taints", "Taints", TAINTS),
        pointer("startupTaints", "StartupTaints", TAINTS),
        pointer("nodeClassRef", "NodeClassRef", GoType::Struct(&NODE_CLASS_REF)),
        pointer("terminationGracePeriod", "TerminationGracePeriod", GoType::Duration),
        plain("expireAfter", "ExpireAfter", GoType::NillableDuration),
    ],
};

const TAINTS: GoType = GoType::List(&GoType::Struct(&TAINT));

const TAINT: GoStruct = GoStruct {
    name: "Taint",
    fields: &[
        plain("key", "Key", GoType::Text),
        plain("value", "Value", GoType::Text),
        plain("effect", "Effect", GoType::Text),
        pointer("timeAdded", "TimeAdded", GoType::Time),
    ],
};

const NODE_CLASS_REF: GoStruct = GoStruct {
    name: "NodeClassReference",
    fields: &[
        plain("kind", "Kind", GoType::Text),
        plain("name", "Name", GoType::Text),
        plain("group", "Group", GoType::Text),
    ],
};
