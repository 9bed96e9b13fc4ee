//! Relaxation of preferences, one step at a time.
//!
//! Source: pkg/controllers/provisioning/scheduling/preferences.go of kubernetes-sigs/karpenter at v1.14.1.

use super::shape::PodShape;
use crate::demand::PREFER_NO_SCHEDULE;

/// Returns the shape without its next preference; `None` if nothing is left to relax.
pub(crate) fn relax<'d>(shape: &PodShape<'d>, tolerates: bool) -> Option<PodShape<'d>> {
    let mut relaxed = shape.clone();
    let changed = drop_required_term(&mut relaxed)
        || drop_heaviest(&mut relaxed.affinity.preferred)
        || drop_heaviest(&mut relaxed.anti_affinity.preferred)
        || drop_heaviest(&mut relaxed.demand.preferred_terms)
        || drop_spread(&mut relaxed)
        || (tolerates && tolerate(&mut relaxed));
    changed.then_some(relaxed)
}

/// The terms are alternatives, and the last term stays.
fn drop_required_term(shape: &mut PodShape<'_>) -> bool {
    let can = shape.demand.required_terms.len() > 1;
    if can {
        shape.demand.required_terms.remove(0);
    }
    can
}

fn drop_heaviest<T>(terms: &mut Vec<(i64, T)>) -> bool {
    terms.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let can = !terms.is_empty();
    if can {
        terms.remove(0);
    }
    can
}

fn drop_spread(shape: &mut PodShape<'_>) -> bool {
    let first = shape.spreads.iter().position(|spread| spread.is_preference);
    if let Some(index) = first {
        shape.spreads.swap_remove(index);
    }
    first.is_some()
}

fn tolerate(shape: &mut PodShape<'_>) -> bool {
    let can = !shape.demand.tolerations.contains(&PREFER_NO_SCHEDULE);
    if can {
        shape.demand.tolerations.push(PREFER_NO_SCHEDULE);
    }
    can
}
