//! The name and the family of a rule, which the path of its module spells: `karpwarden::rules::nodeclass::instance_profile_is_arn`
//! is the rule `instance-profile-is-arn` of the family `nodeclass`. The compiler evaluates these functions.

use crate::classification::Family;

/// The last name in the path of a module.
pub const fn file(module: &str) -> &[u8] {
    split_last(module.as_bytes()).1
}

/// The family that the folder of a module is named after.
pub const fn family(module: &str) -> Option<Family> {
    Family::of_folder(split_last(split_last(module.as_bytes()).0).1)
}

/// A name with dashes instead of underscores. `N` is its length.
pub const fn kebab<const N: usize>(mut file: &[u8]) -> [u8; N] {
    let mut name = [b'-'; N];
    let mut places = name.as_mut_slice();
    while let ([byte, bytes @ ..], [place, others @ ..]) = (file, places) {
        if *byte != b'_' {
            *place = *byte;
        }
        (file, places) = (bytes, others);
    }
    name
}

/// The text of a name. Empty if it is not UTF-8, which no name of a module is.
pub const fn text(name: &[u8]) -> &str {
    match core::str::from_utf8(name) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// Splits a path at its last `::`.
const fn split_last(path: &[u8]) -> (&[u8], &[u8]) {
    let mut before = path;
    while let [shorter @ .., _] = before {
        if let [folder @ .., b':', b':'] = before {
            return (folder, path.split_at(before.len()).1);
        }
        before = shorter;
    }
    (&[], path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_family_follow_from_the_module() {
        const FILE: &[u8] = file("karpwarden::rules::api_server::api_rule");
        const NAME: [u8; FILE.len()] = kebab(FILE);
        assert_eq!(text(&NAME), "api-rule");
        for family_of_all in Family::ALL {
            let folder = family_of_all.name().replace('-', "_");
            assert_eq!(family(&format!("karpwarden::rules::{folder}::a_rule")), Some(family_of_all));
        }
        assert_eq!((file("a_rule"), family("a_rule")), (b"a_rule".as_slice(), None));
    }
}
