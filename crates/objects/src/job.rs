//! Fields of Jobs, also within CronJobs.

use manifest::tree::Node;

use crate::object::Object;

/// View of the specification of a Job.
#[derive(Clone, Copy, Debug)]
pub struct JobSpec<'d>(Node<'d>);

impl<'d> JobSpec<'d> {
    /// The specification of a Job, or of the Jobs that a CronJob makes.
    pub fn of(object: Object<'d>) -> Option<Self> {
        match (object.group(), object.kind()) {
            ("batch", "Job") => object.spec().map(Self),
            ("batch", "CronJob") => object.at(&["spec", "jobTemplate", "spec"]).map(Self),
            _ => None,
        }
    }

    /// `activeDeadlineSeconds`.
    pub fn active_deadline_seconds(self) -> Option<Node<'d>> {
        self.0.get("activeDeadlineSeconds")
    }

    /// `backoffLimit`.
    pub fn backoff_limit(self) -> Option<Node<'d>> {
        self.0.get("backoffLimit")
    }

    /// `podFailurePolicy`.
    pub fn pod_failure_policy(self) -> Option<Node<'d>> {
        self.0.get("podFailurePolicy")
    }
}
