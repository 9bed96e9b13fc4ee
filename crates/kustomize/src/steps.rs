//! The budget of the builds: no kustomization, however small, makes a build grow without bound.

use std::borrow::Cow;

use crate::value::{BuiltValue, Member};

/// Steps that an object or a value in memory counts as.
const STEPS_PER_VALUE: usize = 64;

/// Steps that a folder, a path or a part of a document counts as.
const STEPS_PER_VISIT: usize = 16;

/// The build would take more steps than the limits allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the objects of the builds are too large")]
pub(crate) struct TooLarge;

/// Steps that are left, in all builds.
#[derive(Debug)]
pub(crate) struct Steps {
    all: usize,
    left: usize,
}

impl Steps {
    pub(crate) fn new(all: usize) -> Self {
        Self { all, left: all }
    }

    /// Takes the steps of one build: at most one of `parts` equal parts of all steps.
    pub(crate) fn share(&mut self, parts: usize) -> Self {
        let share = (self.all / parts).min(self.left);
        self.left -= share;
        Self::new(share)
    }

    /// Puts back what is left of a share.
    pub(crate) fn put_back(&mut self, share: &Self) {
        self.left += share.left;
    }

    /// Spends steps.
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), TooLarge> {
        self.left = self.left.checked_sub(steps).ok_or(TooLarge)?;
        Ok(())
    }

    /// Spends the steps of visits to folders, paths or parts of documents.
    pub(crate) fn spend_on_visits(&mut self, visits: usize) -> Result<(), TooLarge> {
        self.spend(visits.saturating_mul(STEPS_PER_VISIT))
    }

    /// Spends the steps of values that stay in memory.
    pub(crate) fn spend_on_values(&mut self, values: usize) -> Result<(), TooLarge> {
        self.spend(values.saturating_mul(STEPS_PER_VALUE))
    }

    /// Copies a value. A copy of a copy doubles an object, so each copied value counts.
    pub(crate) fn copy<'d>(&mut self, value: &BuiltValue<'d>) -> Result<BuiltValue<'d>, TooLarge> {
        if let BuiltValue::Written(node) = value {
            self.spend(1)?;
            return Ok(BuiltValue::Written(*node));
        }
        self.spend_on_values(1)?;
        Ok(match value {
            BuiltValue::Written(node) => BuiltValue::Written(*node),
            BuiltValue::Computed(text, node) => {
                self.spend(text.len())?;
                BuiltValue::Computed(text.clone(), *node)
            }
            BuiltValue::Mapping(node, members) => {
                let copy = |member: &Member<'d>| {
                    let key: Cow<'d, str> = member.key.clone();
                    Ok(Member { key, value: self.copy(&member.value)? })
                };
                BuiltValue::Mapping(*node, members.iter().map(copy).collect::<Result<_, TooLarge>>()?)
            }
            BuiltValue::Sequence(node, items) => {
                let items = items.iter().map(|item| self.copy(item));
                BuiltValue::Sequence(*node, items.collect::<Result<_, TooLarge>>()?)
            }
        })
    }
}
