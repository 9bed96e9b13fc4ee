//! Work on many items, on all cores if the feature `parallel` is on.
//!
//! A thread that waits for its part may run an item of an outer call meanwhile. So nothing may be parsed while a lock is held or a
//! `OnceLock` is being filled.

/// Applies a function to every item. The results have the order of the items.
#[cfg(feature = "parallel")]
pub fn map<T: Sync, R: Send>(items: &[T], function: impl Fn(&T) -> R + Sync) -> Vec<R> {
    use rayon::prelude::*;
    items.par_iter().map(&function).collect()
}

/// Applies a function to every item. The results have the order of the items.
#[cfg(not(feature = "parallel"))]
pub fn map<T: Sync, R: Send>(items: &[T], function: impl Fn(&T) -> R + Sync) -> Vec<R> {
    items.iter().map(&function).collect()
}
