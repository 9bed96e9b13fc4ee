//! Work on many items, on all cores if the feature `parallel` is on.
//!
//! An item is not divided further: a thread that waits for a part of its item would run another item meanwhile, with the locks and on
//! the stack of the first.

#[cfg(feature = "parallel")]
std::thread_local! {
    /// Whether this thread works on an item.
    static WITHIN_ITEM: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether [`map`] uses several cores.
pub fn uses_several_cores() -> bool {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads() > 1;
    #[cfg(not(feature = "parallel"))]
    return false;
}

/// Applies a function to every item. The results have the order of the items.
#[cfg(feature = "parallel")]
pub fn map<T: Sync, R: Send>(items: &[T], function: impl Fn(&T) -> R + Sync) -> Vec<R> {
    use rayon::prelude::*;
    if items.len() < 2 || WITHIN_ITEM.get() {
        return items.iter().map(&function).collect();
    }
    let work = |item: &T| {
        WITHIN_ITEM.set(true);
        let result = function(item);
        WITHIN_ITEM.set(false);
        result
    };
    items.par_iter().map(work).collect()
}

/// Applies a function to every item. The results have the order of the items.
#[cfg(not(feature = "parallel"))]
pub fn map<T: Sync, R: Send>(items: &[T], function: impl Fn(&T) -> R + Sync) -> Vec<R> {
    items.iter().map(&function).collect()
}
