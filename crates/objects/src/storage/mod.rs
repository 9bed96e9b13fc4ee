//! Storage classes, volumes, and the claims on them.

mod claim;
mod claim_index;
mod class;
mod provisioner;
mod volume;

pub use claim::{ClaimForm, VolumeClaim, claims_in};
pub use claim_index::ClaimIndex;
pub use class::{Binding, StorageClass, ZONE_KEYS};
pub use provisioner::{Reach, reach};
pub use volume::PersistentVolume;
