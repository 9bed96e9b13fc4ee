//! Tables and instants.
//!
//! Reference: zclconf/go-cty `cty/function/stdlib/csv.go`, which reads with `encoding/csv` of Go, and `timeAdd` in
//! hashicorp/terraform `internal/lang/funcs/datetime.go`.

use std::sync::Arc;

use values::duration::Duration;
use values::timestamp::Timestamp;

use super::{Answer, Call};
use crate::convert::list_of;
use crate::types::Type;
use crate::value::{EvaluatedMember, EvaluatedValue};

/// `csvdecode`: a list of objects, whose keys are in the first line.
pub(super) fn csvdecode(call: &Call<'_>) -> Answer {
    let text = call.str(0)?;
    call.spend_text(text.len().saturating_mul(4))?;
    let mut rows = records(text)?.into_iter();
    let headers = rows.next().ok_or("The table has no header.")?;
    let is_twice = |(index, name): &(usize, &String)| headers.iter().take(*index).any(|other| other == *name);
    if let Some((_, name)) = headers.iter().enumerate().find(is_twice) {
        return Err(format!("Two columns have the name \"{name}\"."));
    }
    let of = Type::object(headers.iter().map(|name| (Arc::from(name.as_str()), Type::String)));
    let mut items = Vec::new();
    for row in rows {
        if row.len() != headers.len() {
            return Err("A line of the table has another number of fields.".to_owned());
        }
        let members = headers.iter().zip(row).map(|(name, field)| {
            let value = EvaluatedValue::string(field, call.place);
            (Arc::from(name.as_str()), EvaluatedMember { key: call.place, value })
        });
        items.push(EvaluatedValue::object(members.collect::<Vec<_>>(), call.place));
    }
    call.spend(items.len())?;
    call.value(list_of(of, items))
}

/// The fields of the lines of a table. A field in quotes may have commas, line breaks and doubled quotes; empty lines count for nothing.
fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let misplaced = || Err("The table has a quote at a wrong place.".to_owned());
    let text = text.replace("\r\n", "\n");
    let mut chars = text.chars().peekable();
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    loop {
        if row.is_empty() {
            while chars.next_if_eq(&'\n').is_some() {}
            if chars.peek().is_none() {
                return Ok(rows);
            }
        }
        let mut field = String::new();
        if chars.next_if_eq(&'"').is_some() {
            loop {
                match chars.next() {
                    Some('"') if chars.next_if_eq(&'"').is_none() => break,
                    Some(char) => field.push(char),
                    None => return misplaced(),
                }
            }
        } else {
            while let Some(char) = chars.next_if(|char| !matches!(char, ',' | '\n')) {
                if char == '"' {
                    return misplaced();
                }
                field.push(char);
            }
        }
        row.push(field);
        match chars.next() {
            Some(',') => {}
            Some('\n') | None => rows.push(core::mem::take(&mut row)),
            Some(_) => return misplaced(),
        }
    }
}

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
