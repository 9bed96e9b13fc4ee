//! Functions that convert a value to a type.
//!
//! Reference: hashicorp/terraform `internal/lang/funcs/conversion.go`.

use super::{Answer, Call, Kind};
use crate::convert::convert;
use crate::types::Type;
use crate::value::{EvaluatedValue, Knowledge};

fn to(call: &Call<'_>, of: &Type) -> Answer {
    Ok(convert(call.argument(0)?, of)?.at(call.place))
}

pub(super) fn tostring(call: &Call<'_>) -> Answer {
    to(call, &Type::String)
}

pub(super) fn tonumber(call: &Call<'_>) -> Answer {
    to(call, &Type::Number)
}

pub(super) fn tobool(call: &Call<'_>) -> Answer {
    to(call, &Type::Bool)
}

pub(super) fn tolist(call: &Call<'_>) -> Answer {
    to(call, &Kind::List.of())
}

pub(super) fn tomap(call: &Call<'_>) -> Answer {
    to(call, &Kind::Map.of())
}

/// A set with elements that are not known has an unknown number of elements.
pub(super) fn toset(call: &Call<'_>) -> Answer {
    let value = call.argument(0)?;
    let converted = convert(value, &Kind::Set.of())?;
    if value.as_unknown().is_none() && value.knowledge() > Knowledge::Known {
        return call.unknown(converted.type_of());
    }
    Ok(converted.at(call.place))
}

/// `sensitive`: Terraform does not show the value, and neither does a report.
pub(super) fn sensitive(call: &Call<'_>) -> Answer {
    let is_compared = call.evaluation.session.input.names_show_contents();
    Ok(call.argument(0)?.hidden(is_compared).at(call.place))
}

/// `nonsensitive` does not change a value.
pub(super) fn same(call: &Call<'_>) -> Answer {
    let value: EvaluatedValue = call.argument(0)?.clone();
    Ok(value.at(call.place))
}
