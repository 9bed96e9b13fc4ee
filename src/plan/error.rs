//! Errors of a plan.

use crate::simulate::ChoiceError;

/// Error of a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A choice of the user cannot be used.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// Two objects of the files for one cluster have the same kind and name.
    #[error("`{one}` and `{other}` both have {kind}/{name}: name the files of the cluster of the snapshot")]
    SameName {
        /// The kind.
        kind: String,
        /// The name.
        name: String,
        /// The first file, or the first root module or call of a module of Terraform.
        one: String,
        /// The second one.
        other: String,
    },
    /// An object of the files has another namespace than the one in which the user applies them.
    #[error(
        "{kind}/{name} has the namespace `{own}`, so kubectl refuses it with `-n {named}`: leave out the flag, or name `{own}`"
    )]
    OtherNamespace {
        /// The kind.
        kind: String,
        /// The name.
        name: String,
        /// The namespace of the object.
        own: String,
        /// The namespace that the user names.
        named: String,
    },
}
