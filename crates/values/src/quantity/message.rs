//! Messages and suggestions for errors in a quantity.

use core::fmt;

use super::amount::Quantity;
use super::error::{QuantityError, QuantityProblem};

impl QuantityError {
    /// Valid quantities that may be meant: `1k` and `1Ki` for `1K`, `100Mi` for `100 Mi`.
    pub fn suggestions(&self) -> Vec<String> {
        let mut text = self.text.clone();
        text.retain(|c| !c.is_whitespace());
        if matches!(text.split_once(','), Some((_, after)) if !after.contains([',', '.'])) {
            text = text.replace(',', ".");
        }
        if text != self.text && Quantity::parse(&text).is_ok() {
            return vec![text];
        }
        let letters = text.trim_start_matches(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        let number = text.strip_suffix(letters).unwrap_or_default();
        let mut meant: Vec<String> = suffixes_like(letters).into_iter().flatten().collect();
        for suffix in &mut meant {
            suffix.insert_str(0, number);
        }
        meant.retain(|text| !number.is_empty() && Quantity::parse(text).is_ok());
        meant
    }
}

/// The decimal and the binary suffix that may be meant by `K`, `gb`, `MiB` or `gi`.
fn suffixes_like(letters: &str) -> [Option<String>; 2] {
    let lower = letters.to_ascii_lowercase();
    let stem = lower.strip_suffix("bytes").or_else(|| lower.strip_suffix('b')).unwrap_or(&lower);
    let mut rest = stem.chars();
    let Some(first) = rest.next().filter(|c| "kmgtpe".contains(*c)) else {
        return [None, None];
    };
    let upper = first.to_ascii_uppercase();
    let decimal = if first == 'k' { first } else { upper };
    match rest.as_str() {
        "" => [Some(decimal.to_string()), Some(format!("{upper}i"))],
        "i" => [None, Some(format!("{upper}i"))],
        _ => [None, None],
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match &self.problem {
            QuantityProblem::Empty => return f.write_str("the quantity is empty"),
            QuantityProblem::Whitespace => {
                write!(f, "`{text}` contains whitespace, which a quantity may not")?;
            }
            QuantityProblem::Percentage => write!(f, "`{text}` is a percentage, not a quantity")?,
            QuantityProblem::Suffix(suffix) => {
                write!(f, "`{suffix}` in `{text}` is not a suffix of a quantity")?;
            }
            QuantityProblem::NoDigits => write!(f, "`{text}` has no number")?,
            QuantityProblem::Syntax => {
                write!(f, "`{text}` is not a quantity such as `500m`, `2` or `1.5Gi`")?;
            }
        }
        for (index, meant) in self.suggestions().iter().enumerate() {
            f.write_str(if index == 0 { "; did you mean " } else { " or " })?;
            write!(f, "`{meant}`")?;
            let plain =
                Quantity::parse(meant).ok().filter(|_| meant.ends_with(|c: char| c.is_ascii_alphabetic()));
            let plain = plain.map(Quantity::units).filter(|units| (1..1_000_000).contains(units));
            if let Some(units) =
                plain.filter(|units| Ok(Quantity::from_units(*units)) == Quantity::parse(meant))
            {
                write!(f, " ({units})")?;
            }
        }
        Ok(())
    }
}

impl core::error::Error for QuantityError {}
