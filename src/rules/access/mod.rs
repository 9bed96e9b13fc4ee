//! Family `access`: installation of the controller, and the access that the controller and its nodes have.

family! {
    conversion_webhook_leftover in "kubernetes",
    interruption_queue_unset in "kubernetes",
    nodeclaim_handwritten,
}
