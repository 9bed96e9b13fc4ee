//! Family `access`: installation of the controller, and the access that the controller and its nodes have.

family! {
    access_entry_missing_or_wrong_type in "kubernetes",
    aws_auth_node_role in "kubernetes",
    controller_fragile in "kubernetes",
    conversion_webhook_leftover in "kubernetes",
    iam_missing_actions in "files",
    interruption_queue_unset in "kubernetes",
    nodeclaim_handwritten,
}
