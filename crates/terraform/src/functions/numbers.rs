//! Functions of numbers.
//!
//! Reference: zclconf/go-cty `cty/function/stdlib/number.go` and `sequence.go`.

use super::{Answer, Call};
use crate::convert::convert;
use crate::number::Number;
use crate::types::Type;
use crate::value::{Data, EvaluatedValue};

/// Elements that `range` may have.
const MAX_RANGE: usize = 1024;

fn number<'c>(call: &'c Call<'_>, index: usize) -> Result<&'c Number, String> {
    call.argument(index)?.as_number().ok_or_else(|| "The argument must be a number.".to_owned())
}

fn answer(call: &Call<'_>, number: Option<Number>) -> Answer {
    match number {
        Some(number) => Ok(EvaluatedValue::number(number, call.place)),
        // Terraform knows larger numbers.
        None => call.unknown(Type::Number),
    }
}

pub(super) fn abs(call: &Call<'_>) -> Answer {
    answer(call, Some(number(call, 0)?.absolute()))
}

pub(super) fn ceil(call: &Call<'_>) -> Answer {
    answer(call, Some(number(call, 0)?.ceil()))
}

pub(super) fn floor(call: &Call<'_>) -> Answer {
    answer(call, Some(number(call, 0)?.floor()))
}

pub(super) fn signum(call: &Call<'_>) -> Answer {
    let number = number(call, 0)?;
    if number.is_fraction() {
        return Err("The argument must be a whole number.".to_owned());
    }
    number.as_int().ok_or("The argument must be a number of 64 bits.")?;
    answer(call, Some(Number::from(number.signum())))
}

pub(super) fn max(call: &Call<'_>) -> Answer {
    let largest = call.arguments.iter().filter_map(EvaluatedValue::as_number).max();
    answer(call, Some(largest.ok_or("The function takes at least one number.")?.clone()))
}

pub(super) fn min(call: &Call<'_>) -> Answer {
    let smallest = call.arguments.iter().filter_map(EvaluatedValue::as_number).min();
    answer(call, Some(smallest.ok_or("The function takes at least one number.")?.clone()))
}

/// `pow`, in numbers of 64 bits as in Terraform. Only powers that are exact there are known here.
pub(super) fn pow(call: &Call<'_>) -> Answer {
    let (base, power) = (number(call, 0)?.to_float(), number(call, 1)?);
    let Some(power) = power.as_int().and_then(|power| i32::try_from(power).ok()).filter(|power| *power >= 0)
    else {
        return call.unknown(Type::Number);
    };
    let result = base.powi(power);
    let is_exact = base.fract() == 0.0 && result.abs() < 9_007_199_254_740_992.0;
    answer(call, Number::from_float(result).filter(|_| is_exact || power <= 1))
}

pub(super) fn parseint(call: &Call<'_>) -> Answer {
    let Some(text) = call.str(0).ok() else { return Err("Argument 1: a string is required.".to_owned()) };
    let radix = u32::try_from(call.int(1)?)
        .ok()
        .filter(|radix| (2..=62).contains(radix))
        .ok_or("The base must be between 2 and 62.")?;
    if radix > 36 {
        return call.unknown(Type::Number);
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    if !is_digits {
        return Err(format!("\"{text}\" is not a whole number of base {radix}."));
    }
    answer(call, Number::from_digits(text, radix))
}

pub(super) fn sum(call: &Call<'_>) -> Answer {
    let items = call.items(0)?;
    let mut sum: Option<Number> = None;
    for item in items {
        let number = convert(item, &Type::Number)?;
        let number = number.as_number().ok_or("An element is null.")?;
        sum = Some(match sum {
            None => number.clone(),
            Some(sum) => match sum.plus(number) {
                Some(sum) => sum,
                None => return call.unknown(Type::Number),
            },
        });
    }
    answer(call, Some(sum.ok_or("The list is empty.")?))
}

pub(super) fn range(call: &Call<'_>) -> Answer {
    let numbers: Vec<&Number> = call.arguments.iter().filter_map(EvaluatedValue::as_number).collect();
    let (zero, one) = (Number::from(0), Number::from(1));
    let down = one.negated();
    let step_of = |start: &Number, end: &Number| if end < start { down.clone() } else { one.clone() };
    let (start, end, step) = match numbers.as_slice() {
        [end] => (&zero, *end, step_of(&zero, end)),
        [start, end] => (*start, *end, step_of(start, end)),
        [start, end, step] => (*start, *end, Number::clone(step)),
        _ => return Err("The function takes one to three numbers.".to_owned()),
    };
    let is_down = step.signum() < 0;
    if step.is_zero() && start != end {
        return Err("The step is zero.".to_owned());
    }
    if (start < end && is_down) || (start > end && !is_down) {
        return Err("The step has the wrong sign.".to_owned());
    }
    let (mut next, mut items) = (start.clone(), Vec::new());
    while if is_down { next > *end } else { next < *end } {
        if items.len() >= MAX_RANGE {
            return Err(format!("The list would have more than {MAX_RANGE} elements."));
        }
        call.spend(1)?;
        let Some(following) = next.plus(&step) else { return call.unknown(Type::list(Type::Number)) };
        items.push(EvaluatedValue::number(core::mem::replace(&mut next, following), call.place));
    }
    call.value(Data::List(Type::Number, items.into_iter().collect()))
}
