//! Family `access`: installation of the controller, and the access that the controller and its nodes have.

pub(crate) mod access_entry_missing_or_wrong_type;
pub(crate) mod aws_auth_node_role;
pub(crate) mod controller_fragile;
pub(crate) mod conversion_webhook_leftover;
pub(crate) mod iam_missing_actions;
pub(crate) mod interruption_queue_unset;
pub(crate) mod nodeclaim_handwritten;
