//! The commit of each release, which every log line names.
//!
//! Source: the tags of aws/karpenter-provider-aws; the controller logs the first seven digits (pkg/operator/logging of
//! kubernetes-sigs/karpenter). kubernetes-sigs/karpenter#1767 identifies a release by them.

use karpenter::release::Release;

/// Returns the release that was built from a commit, by the digits in a log.
pub fn release(commit: &str) -> Option<Release> {
    let found = COMMITS.binary_search_by(|(other, _)| (*other).cmp(commit)).ok()?;
    COMMITS.get(found).and_then(|(_, release)| Release::parse(release).ok())
}

/// Sorted by commit.
const COMMITS: &[(&str, &str)] = &[
    ("00aaae1", "1.3.7"),
    ("02cad97", "1.5.8"),
    ("058c665", "1.2.1"),
    ("0871602", "1.4.0"),
    ("093ba9d", "1.0.14"),
    ("09935d8", "1.1.8"),
    ("0a85efb", "1.1.0"),
    ("0c4e1cf", "1.11.3"),
    ("0f47193", "1.5.6"),
    ("0f8788c", "1.0.4"),
    ("11330aa", "1.7.4"),
    ("13242ea", "1.6.3"),
    ("15781e3", "1.12.1"),
    ("1ad0d78", "1.8.1"),
    ("1bfdc3d", "1.1.3"),
    ("1c39126", "1.3.2"),
    ("207f1a7", "1.5.2"),
    ("22f7207", "1.3.1"),
    ("23f9115", "1.3.4"),
    ("245b48b", "1.13.1"),
    ("2be9554", "1.13.0"),
    ("2fbbce5", "1.1.10"),
    ("310b356", "1.9.2"),
    ("31eb355", "1.4.1"),
    ("31fa2ea", "1.8.0"),
    ("3298d91", "1.1.1"),
    ("3307798", "1.4.3"),
    ("33b235c", "1.3.8"),
    ("34dac0d", "1.3.5"),
    ("35e088b", "1.12.2"),
    ("3a570db", "1.2.8"),
    ("3cf01c2", "1.5.5"),
    ("477072f", "1.2.2"),
    ("4abf673", "1.7.3"),
    ("4f41a6d", "1.1.5"),
    ("4ff8cfe", "1.6.2"),
    ("51932b4", "1.8.5"),
    ("537b01a", "1.11.0"),
    ("54ada83", "1.7.0"),
    ("5598b50", "1.0.13"),
    ("5a37f83", "1.2.4"),
    ("5b5bf22", "1.8.8"),
    ("5bba96f", "1.4.4"),
    ("5bdf9c3", "1.0.0"),
    ("5db5fc8", "1.1.9"),
    ("6174c75", "1.0.6"),
    ("62a726c", "1.0.1"),
    ("63f4a15", "1.8.7"),
    ("652e6aa", "1.0.5"),
    ("664f076", "1.6.4"),
    ("66c0051", "1.5.3"),
    ("68643c6", "1.9.1"),
    ("688ea21", "1.0.3"),
    ("6cca1dc", "1.0.10"),
    ("746a3af", "1.11.2"),
    ("75bcc27", "1.10.2"),
    ("7736841", "1.5.4"),
    ("77c1613", "1.11.1"),
    ("781485b", "1.7.1"),
    ("7a8109f", "1.6.8"),
    ("7e06109", "1.0.9"),
    ("7f8a83d", "1.3.6"),
    ("7ff7943", "1.12.0"),
    ("85616bc", "1.2.3"),
    ("85eeae8", "1.14.0"),
    ("867954d", "1.6.7"),
    ("87b7ff2", "1.7.6"),
    ("8adb23d", "1.6.1"),
    ("8bd9a3d", "1.0.12"),
    ("8f399a9", "1.1.2"),
    ("901a5dc", "1.0.7"),
    ("930b1f9", "1.5.1"),
    ("93da438", "1.2.0"),
    ("9458bb5", "1.5.0"),
    ("95881e1", "1.2.5"),
    ("9e59a13", "1.6.5"),
    ("a03f2c5", "1.1.4"),
    ("a2875e3", "1.0.8"),
    ("a316020", "1.6.6"),
    ("a4354cb", "1.1.7"),
    ("a88b5ef", "1.0.11"),
    ("abb467b", "1.2.7"),
    ("ad71530", "1.3.3"),
    ("afe3eba", "1.7.2"),
    ("b897114", "1.0.2"),
    ("bde0065", "1.14.1"),
    ("c6ab9ff", "1.5.7"),
    ("c8c45c1", "1.6.0"),
    ("c9c3a48", "1.8.3"),
    ("d497314", "1.1.6"),
    ("d80cb86", "1.10.0"),
    ("e574368", "1.7.5"),
    ("e7e1327", "1.9.0"),
    ("eac1f3c", "1.2.6"),
    ("f15a737", "1.8.4"),
    ("f23af71", "1.4.2"),
    ("f29079c", "1.8.6"),
    ("f88820a", "1.10.1"),
    ("f913f41", "1.8.2"),
    ("ff59416", "1.3.0"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Releases whose commit is not recorded here. The tag of a minor release is the parent of its commit `chore: Release`
    /// on the main branch (v1.8.0 to v1.14.0), so 6d1426c is not the commit of 1.15.0.
    const UNRECORDED: &[&str] = &["1.9.3", "1.15.0", "1.15.1"];

    #[test]
    fn records_the_commit_of_each_release_or_lists_it_as_unrecorded() {
        assert!(COMMITS.is_sorted_by(|(one, _), (other, _)| one < other));
        let mut releases: Vec<Release> = COMMITS
            .iter()
            .map(|(_, release)| *release)
            .chain(UNRECORDED.iter().copied())
            .map(|release| Release::parse(release).unwrap())
            .collect();
        releases.sort();
        assert_eq!(releases, Release::all().collect::<Vec<_>>());
    }

    #[test]
    fn finds_the_release_of_a_commit() {
        assert_eq!(release("5bdf9c3"), Release::parse("1.0.0").ok());
        assert_eq!(release("652e6aa"), Release::parse("1.0.5").ok());
        assert_eq!(release("unknown"), None);
    }
}
