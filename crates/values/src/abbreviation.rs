//! Names that a user writes in full, in part, or misspelt.

use std::collections::BTreeSet;

use crate::spelling;

/// Reason why a text is not the name of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnresolvedName {
    /// No name starts with the text. The nearest name, if one is near.
    Unknown(Option<String>),
    /// Several things have names that start with the text: the first few, and the number of all.
    Ambiguous(Vec<String>, usize),
}

/// Number of names that an ambiguous text lists.
const MAX_LISTED: usize = 3;

/// Finds the thing that a text names: by one of its names in full, or else by the start of a name, if only one thing has such a
/// name. `names` has the names with the things; a thing can have several names.
pub fn resolve<'c>(
    text: &str,
    names: impl Iterator<Item = (&'c str, &'c str)> + Clone,
) -> Result<&'c str, UnresolvedName> {
    if let Some((_, thing)) = names.clone().find(|(name, _)| *name == text) {
        return Ok(thing);
    }
    let started: BTreeSet<&str> = names
        .clone()
        .filter(|(name, _)| !text.is_empty() && name.starts_with(text))
        .map(|(_, thing)| thing)
        .collect();
    let mut all = started.iter();
    match (all.next(), all.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => {
            let first = started.iter().take(MAX_LISTED).map(|thing| (*thing).to_owned()).collect();
            Err(UnresolvedName::Ambiguous(first, started.len()))
        }
        _ => {
            let nearest = spelling::nearest(text, names.map(|(name, _)| name));
            Err(UnresolvedName::Unknown(nearest.map(str::to_owned)))
        }
    }
}

impl UnresolvedName {
    /// The end of a sentence about a text that names nothing: a suggestion, or the candidates. May be empty.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown(None) => String::new(),
            Self::Unknown(Some(nearest)) => format!(" (did you mean `{nearest}`?)"),
            Self::Ambiguous(first, all) => {
                let more = all.saturating_sub(first.len());
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                format!(" (it is the start of `{}`{more})", first.join("`, `"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [(&str, &str); 5] = [
        ("ip-10-0-1-12", "ip-10-0-1-12"),
        ("ip-10-0-1-120", "ip-10-0-1-120"),
        ("general-7xk2p", "ip-10-0-1-12"),
        ("i-0123456789abcdef0", "ip-10-0-1-12"),
        ("gpu-9q2ws", "ip-10-0-9-1"),
    ];

    fn found(text: &str) -> Result<&str, UnresolvedName> {
        resolve(text, NAMES.into_iter())
    }

    #[test]
    fn a_name_in_full_comes_before_the_start_of_another() {
        assert_eq!(found("ip-10-0-1-12"), Ok("ip-10-0-1-12"));
        for text in ["general-7xk2p", "general", "i-0123", "i-0123456789abcdef0"] {
            assert_eq!(found(text), Ok("ip-10-0-1-12"), "{text}");
        }
        assert_eq!(found("gp"), Ok("ip-10-0-9-1"));
    }

    #[test]
    fn a_start_of_several_names_or_of_none_is_told() {
        assert_eq!(found("ip-").unwrap_err().hint(), " (it is the start of `ip-10-0-1-12`, `ip-10-0-1-120`)");
        assert_eq!(found("genral-7xk2p").unwrap_err().hint(), " (did you mean `general-7xk2p`?)");
        assert_eq!(found("").unwrap_err().hint(), "");
        assert_eq!(found("something else").unwrap_err(), UnresolvedName::Unknown(None));
    }
}
