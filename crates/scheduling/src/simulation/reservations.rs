//! Instances left in capacity reservations.
//!
//! Source: pkg/controllers/provisioning/scheduling/reservationmanager.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::{BTreeMap, BTreeSet};

use super::behaviour::SchedulerBehaviour;
use super::settings::SimulationSettings;

/// Instances left in capacity reservations, and the nodes that hold one.
#[derive(Debug)]
pub(crate) struct Reservations<'d> {
    left: BTreeMap<&'d str, u32>,
    held: BTreeSet<(&'d str, &'d str)>,
    settings: &'d SimulationSettings,
}

impl<'d> Reservations<'d> {
    /// Reservations that no node of this round holds. `taken` has the instances of the nodes of earlier rounds.
    pub(crate) fn after(settings: &'d SimulationSettings, taken: &BTreeMap<&'d str, u32>) -> Self {
        let mut all = Self { left: BTreeMap::new(), held: BTreeSet::new(), settings };
        for (id, count) in taken {
            let left = all.left(id);
            if left < u32::MAX {
                all.left.insert(id, left.saturating_sub(*count));
            }
        }
        all
    }

    fn left(&self, reservation: &str) -> u32 {
        let known = self.left.get(reservation).copied();
        known.or(self.settings.reservation_capacity.get(reservation).copied()).unwrap_or(u32::MAX)
    }

    /// Whether a node holds the reservation or can have an instance of it.
    pub(crate) fn can_reserve(&self, host: &'d str, reservation: &'d str) -> bool {
        self.held.contains(&(host, reservation)) || self.left(reservation) > 0
    }

    /// Reserves an instance for a node. A node that holds the reservation keeps it. In the releases in which every pod takes an
    /// instance, the controller panics when a node takes one more than is left; here none is left then.
    pub(crate) fn reserve(&mut self, host: &'d str, reservation: &'d str) {
        let takes_again = SchedulerBehaviour::PODS_TAKE_RESERVATIONS.holds_in(self.settings.release);
        if self.held.insert((host, reservation)) || takes_again {
            self.left.insert(reservation, self.left(reservation).saturating_sub(1));
        }
    }

    /// Releases the instance of a node.
    pub(crate) fn release(&mut self, host: &'d str, reservation: &'d str) {
        if self.held.remove(&(host, reservation)) {
            self.left.insert(reservation, self.left(reservation).saturating_add(1));
        }
    }
}
