//! Recognised entries → history, by the identities of their messages.

use super::History;
use super::life::DeletionCause;
use super::record::Record;
use crate::entry::{EntryOrigin, LogLevel};
use crate::recognise::Recognised;
use crate::vocabulary::MessageId;

impl History {
    /// Adds what an entry says.
    pub fn observe(&mut self, recognised: Recognised<'_, '_>) {
        let entry = recognised.entry;
        if let Some(time) = entry.time {
            self.span.take(time);
        }
        if entry.origin == EntryOrigin::Log {
            self.has_log = true;
            self.has_debug |= entry.level == LogLevel::Debug;
        }
        if matches!(entry.origin, EntryOrigin::Event | EntryOrigin::Condition)
            && entry.object.kind == "NodeClaim"
        {
            // The NodeClaim exists, whatever its event or condition says.
            self.lives.update(&entry.object.name, |_| {});
            self.row_of_nodeclaim(entry);
        }
        if entry.origin == EntryOrigin::Condition && entry.object.kind == "Node" {
            self.row_of_node(entry);
        }
        self.unmet.observe(recognised);
        for id in recognised.ids() {
            self.observe_message(id, recognised);
        }
    }

    fn observe_message(&mut self, id: MessageId, recognised: Recognised<'_, '_>) {
        let entry = recognised.entry;
        match id {
            // Only the tally and the stories need these.
            MessageId::KarpenterVersion
            | MessageId::PodBound
            | MessageId::NodeTainted
            | MessageId::NodeDeleted
            | MessageId::ReplacementAwaited
            | MessageId::PodEvicted
            | MessageId::DrainLimited
            | MessageId::ConsolidationConsidered
            | MessageId::Blocked(_) => {}
            MessageId::LeaseAcquired => self.lease_acquired(entry),
            MessageId::LaunchTemplatesHydrated => self.launch_templates_hydrated(entry),
            MessageId::NodePoolNotReady => self.nodepool_not_ready(entry),
            MessageId::NodePoolUnhealthy => self.nodepool_unhealthy(entry),
            MessageId::NodeClassUndecided => self.nodeclass_undecided(entry),

            MessageId::PodsFound => self.pods_found(entry),
            MessageId::PodIgnored => self.pod_ignored(entry),
            MessageId::PodNotScheduled => self.pod_not_scheduled(entry),
            MessageId::PodNominated => self.pod_nominated(entry),
            MessageId::VolumeInOtherZone => self.waits_for_volume(entry, true),
            MessageId::VolumeUnbound => self.waits_for_volume(entry, false),
            MessageId::NodeClaimsComputed => self.nodeclaims_computed(entry),
            MessageId::PodsFitUnreadyNodes => self.pods_fit_unready_nodes(entry),

            MessageId::NodeClaimCreated => self.nodeclaim_created(entry),
            MessageId::NodeClaimNotCreated => self.nodeclaim_not_created(entry),
            MessageId::LabelRestricted => self.label_restricted(recognised),
            MessageId::NodeClaimLaunched => self.nodeclaim_launched(entry),
            MessageId::LaunchFailed => {
                self.with_nodeclaim(entry, |life, entry| Record::keep_first(&mut life.launch_failed, entry));
            }
            MessageId::NodeNotFound => {
                self.with_nodeclaim(entry, |life, entry| Record::keep_first(&mut life.node_not_found, entry));
            }
            MessageId::RegistrationTaintRequired => self.registration_taint_missing(entry, true),
            MessageId::RegistrationTaintMissing => self.registration_taint_missing(entry, false),
            MessageId::NodeClaimTimedOut => self.nodeclaim_timed_out(entry),
            MessageId::NodeClaimRegistered => {
                self.with_nodeclaim(entry, |life, entry| Record::keep_first(&mut life.registered, entry));
            }
            MessageId::NodeClaimInitialized => {
                self.with_nodeclaim(entry, |life, entry| Record::keep_first(&mut life.initialised, entry));
            }
            MessageId::NodeClaimDrifted => self.nodeclaim_drifted(entry),
            MessageId::NodesDisrupted => self.nodes_disrupted(entry),
            MessageId::NodesDisruptedInMessage => self.nodes_disrupted_in_message(entry),
            MessageId::NodeClaimDisrupted => self.nodeclaim_disrupted(entry),
            // Node repair also deletes nodes that otherwise drain normally.
            MessageId::NodeClaimExpired | MessageId::NodeUnhealthy => {
                self.with_nodeclaim(entry, |life, entry| life.remove(DeletionCause::Ended, entry));
            }
            MessageId::Interrupted => self.interrupted(entry),
            MessageId::InterruptionAnnounced => {
                self.with_nodeclaim(entry, |life, entry| life.remove(DeletionCause::Interrupted, entry));
            }
            // The event `InstanceTerminating` also comes for instances that this controller ends; this one does not.
            MessageId::TerminatingOnInterruption | MessageId::InstanceGone => {
                self.with_nodeclaim(entry, |life, entry| Record::keep_first(&mut life.lost, entry));
            }
            MessageId::InstanceCollected => self.instance_collected(entry, false),
            MessageId::NodeCollected => self.instance_collected(entry, true),
            MessageId::NodeClaimDeleted => {
                self.with_nodeclaim(entry, |life, entry| Record::keep_first(&mut life.deleted, entry));
            }
        }
    }
}
