//! Names of folders that look like environments of one system: `dev` and `prod`, `eu-west-1` and `us-east-1`, or the numbers
//! of two AWS accounts.

use std::collections::{BTreeMap, BTreeSet};

use manifest::source::certain;

/// Folders whose subfolders are environments whatever their names are.
const CONTAINERS: [&str; 6] = ["cluster", "clusters", "env", "envs", "environments", "overlays"];

/// Subfolders of such folders that the environments share.
const SHARED: [&str; 14] = [
    "all",
    "base",
    "bases",
    "common",
    "components",
    "default",
    "defaults",
    "global",
    "lib",
    "modules",
    "shared",
    "template",
    "templates",
    "_base",
];

/// Words that tell environments apart.
const WORDS: [&str; 18] = [
    "dev",
    "develop",
    "development",
    "nonprod",
    "preprod",
    "prd",
    "prod",
    "production",
    "qa",
    "sandbox",
    "sbx",
    "stage",
    "staging",
    "stg",
    "test",
    "testing",
    "uat",
    "preproduction",
];

/// Returns the sibling folders that look like environments: none or at least two.
pub(super) fn environments<'n>(parent: &str, names: &BTreeSet<&'n str>) -> Vec<&'n str> {
    if CONTAINERS.contains(&parent) {
        let found: Vec<_> =
            names.iter().copied().filter(|name| !is_shared(name) && !name.starts_with('.')).collect();
        return if found.len() > 1 { found } else { Vec::new() };
    }
    let mut by_pattern: BTreeMap<String, Vec<&'n str>> = BTreeMap::new();
    for name in names {
        if let Some(pattern) = pattern(name) {
            by_pattern.entry(pattern).or_default().push(name);
        }
    }
    by_pattern.into_values().filter(|similar| similar.len() > 1).flatten().collect()
}

/// Whether the name of a folder says that environments share it.
pub(crate) fn is_shared(name: &str) -> bool {
    SHARED.contains(&name)
}

/// Whether the name of a folder has a word, an account or a region that tells environments apart.
pub(crate) fn is_environment(name: &str) -> bool {
    pattern(name).is_some()
}

/// The name with `*` for each word, account or region that tells environments apart; `None` if the name has none of these.
fn pattern(name: &str) -> Option<String> {
    let name = name.replace("pre-prod", "preprod").replace("non-prod", "nonprod");
    let words: Vec<&str> = name.split(['-', '_', '.']).collect();
    let mut rest = words.as_slice();
    let mut pattern: Vec<&str> = Vec::new();
    while let Some((word, after)) = rest.split_first() {
        let length = region_length(rest);
        if length > 0 {
            pattern.push("*");
            rest = certain(rest.get(length..));
        } else {
            pattern.push(if WORDS.contains(word) || is_account(word) { "*" } else { word });
            rest = after;
        }
    }
    pattern.contains(&"*").then(|| pattern.join("-"))
}

/// Whether a word is the number of an AWS account, which has twelve digits.
fn is_account(word: &str) -> bool {
    word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Number of words of an AWS region at the start: 3 for `eu-west-1`, 4 for `us-gov-west-1`, else 0.
fn region_length(words: &[&str]) -> usize {
    const AREAS: [&str; 11] = ["af", "ap", "ca", "cn", "eu", "il", "me", "mx", "sa", "us", "eusc"];
    const DIRECTIONS: [&str; 9] =
        ["central", "east", "north", "northeast", "northwest", "south", "southeast", "southwest", "west"];
    let is_number = |word: &str| word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_digit());
    match words {
        [area, "gov", direction, number, ..]
            if AREAS.contains(area) && DIRECTIONS.contains(direction) && is_number(number) =>
        {
            4
        }
        [area, direction, number, ..]
            if AREAS.contains(area) && DIRECTIONS.contains(direction) && is_number(number) =>
        {
            3
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parent: &str, names: &[&str]) -> String {
        environments(parent, &names.iter().copied().collect()).join(" ")
    }

    #[test]
    fn siblings_that_differ_by_an_environment_word_are_environments() {
        for (names, expected) in [
            (&["dev", "prod"][..], "dev prod"),
            (&["base", "docs", "production", "staging"], "production staging"),
            (&["eks-dev", "eks-prod", "other"], "eks-dev eks-prod"),
            (&["dev_eks", "prod_eks"], "dev_eks prod_eks"),
            (&["pre-prod", "prod"], "pre-prod prod"),
            (&["eu-west-1", "us-east-1"], "eu-west-1 us-east-1"),
            (&["us-east-1", "us-gov-west-1"], "us-east-1 us-gov-west-1"),
            (&["dev-eu-west-1", "prod-us-east-1"], "dev-eu-west-1 prod-us-east-1"),
            (&["111122223333", "444455556666", "docs"], "111122223333 444455556666"),
            (&["a-dev", "a-prod", "b-dev", "b-prod"], "a-dev a-prod b-dev b-prod"),
        ] {
            assert_eq!(of("", names), expected, "{names:?}");
        }
    }

    #[test]
    fn other_siblings_are_no_environments() {
        for names in [
            &["dev", "docs"][..],
            &["prod"],
            &["karpenter-dev", "eks-prod"],
            &["device", "product"],
            &["a", "b"],
            &["west-1", "east-1"],
            &["us-east", "us-west"],
            &["us-east-a", "us-west-a"],
            &["data-east-1", "data-west-1"],
            &["data-gov-east-1", "data-gov-west-1"],
            &["us-gov-api-1", "us-gov-web-1"],
            &["us-api-1", "us-web-1"],
            &["team-a-1", "team-b-2"],
            &["team-gov-a-1", "team-gov-b-2"],
            &["20240807", "20250807"],
            &[],
        ] {
            assert_eq!(of("apps", names), "", "{names:?}");
        }
    }

    #[test]
    fn subfolders_of_a_folder_for_environments_are_environments() {
        assert_eq!(of("clusters", &["alpha", "beta", "base"]), "alpha beta");
        assert_eq!(of("overlays", &["common", "prod"]), "");
        assert_eq!(of("envs", &[".git", "a"]), "");
    }
}
