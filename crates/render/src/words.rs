//! Wordings that several outputs share.

use rule::finding::CaughtBy;

/// The component that would otherwise report the problem, and when.
pub fn caught_by(who: CaughtBy) -> &'static str {
    match who {
        CaughtBy::ApiServer => "the API server; refused on apply",
        CaughtBy::Controller => "the controller; accepted, then fails at run time",
        CaughtBy::Nobody => "nothing; accepted silently",
    }
}
