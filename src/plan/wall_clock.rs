//! The clock of the reader.

use std::sync::Arc;

use values::calendar::Minute;
use values::timestamp::Timestamp;

/// A clock on a wall, for the times in sentences.
#[derive(Clone)]
pub struct WallClock {
    /// The name of the time zone.
    pub name: String,
    /// The minute that the clock shows at a time.
    pub minute: Arc<dyn Fn(Timestamp) -> Minute + Send + Sync>,
}

impl WallClock {
    /// The clock of UTC.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), minute: Arc::new(Timestamp::minute) }
    }
}

impl core::fmt::Debug for WallClock {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(&self.name)
    }
}
