//! Instants.
//!
//! Reference: `timeAdd` in hashicorp/terraform `internal/lang/funcs/datetime.go`.

use values::duration::Duration;
use values::timestamp::Timestamp;

use super::{Answer, Call};
use crate::types::Type;

/// `timeadd`, of an instant in UTC. Terraform writes no fraction of a second.
pub(super) fn timeadd(call: &Call<'_>) -> Answer {
    let (start, duration) = (call.str(0)?, call.str(1)?);
    let duration =
        Duration::parse(duration).map_err(|error| format!("The duration is not valid: {error}."))?;
    let Some(time) = Timestamp::parse(start).filter(|_| start.ends_with('Z')) else {
        return call.unknown(Type::String);
    };
    let later = time.plus(duration);
    call.string(Timestamp::from_seconds(later.seconds()).to_string())
}
