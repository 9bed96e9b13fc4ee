//! Compares the rules of family `api-server` with the verdicts of the API server's own code, release by release.
//!
//! `cases.jsonl.gz` contains objects with the verdicts of apiextensions-apiserver v0.35 under the CRDs of each Karpenter
//! release; `defaulting.jsonl` contains the objects that it stores. Cases are never edited, and the rules do not know their
//! ids: `check` gets the objects as text and reports the findings for all releases at once.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot be set up fails")]

mod cases;
mod defaulting;
mod generated;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use answers::report::Report;
use cases::{Case, Verdict};
use cluster::Cluster;
use karpenter::release::Release;
use karpwarden::check;
use karpwarden::objects::embedded::READ_OPTIONS;
use manifest::File;
use rule::settings::{RuleSelector, Settings, Target};

/// Cases with different paths, each with the reason. No case may have a different verdict.
const DIFFERENT_PATHS: &[(&str, &str)] = &[];

/// Minimum share of rejected cases, in thousandths, with the same paths as the API server.
const SAME_PATHS: usize = 995;

/// Findings for a case under one release.
#[derive(Debug, Default, PartialEq)]
struct Found {
    paths: BTreeSet<String>,
    unknown: BTreeSet<String>,
}

/// Checks many texts, each as a file, against a range of releases.
fn report(texts: &[String], karpenter: &str) -> Report {
    let files = texts.iter().enumerate();
    let files =
        files.map(|(index, text)| File::read(index.to_string(), text.as_str(), READ_OPTIONS)).collect();
    let settings = Settings {
        karpenter: Target::parse(karpenter).unwrap(),
        select: vec![RuleSelector::Family("api-server")],
        ..Settings::default()
    };
    let report = check(&[Cluster { name: String::new(), files }], &settings);
    assert!(report.unreadable.is_empty(), "{:?}", report.unreadable);
    assert!(!report.truncated);
    report
}

/// Findings for each text under each release of a range.
fn found(texts: &[String], karpenter: &str) -> Vec<BTreeMap<Release, Found>> {
    let releases: Vec<Release> = Target::parse(karpenter).unwrap().releases().collect();
    let mut all = Vec::new();
    // Small parts stay below the bound on findings.
    for part in texts.chunks(200) {
        let report = report(part, karpenter);
        let empty =
            || releases.iter().map(|release| (*release, Found::default())).collect::<BTreeMap<_, _>>();
        let mut found: Vec<BTreeMap<Release, Found>> = part.iter().map(|_| empty()).collect();
        for finding in &report.findings {
            let index: usize = finding.file.parse().unwrap();
            let refused = cases::releases_of_report(&finding.releases);
            for release in releases.iter().filter(|release| refused.contains(*release)) {
                let of_release = found[index].get_mut(release).unwrap();
                let set = if finding.rule == "api-unknown-field" {
                    &mut of_release.unknown
                } else {
                    &mut of_release.paths
                };
                set.insert(finding.path.clone());
            }
        }
        let accepted = report.accepted.as_ref().unwrap();
        assert_eq!(accepted.len(), part.len());
        for (of_text, accepted) in found.iter().zip(accepted) {
            let accepted = cases::releases_of_report(&accepted.releases);
            // A minor means its newest patch.
            for (release, found) in
                of_text.iter().filter(|(release, _)| Release::minors().any(|minor| minor == **release))
            {
                let accepts = found.paths.is_empty() && found.unknown.is_empty();
                assert_eq!(accepted.contains(release), accepts, "{release} {found:?}");
            }
        }
        all.append(&mut found);
    }
    all
}

/// Agreement of the rules with the API server, for one kind and release.
#[derive(Default)]
struct Agreement {
    compared: usize,
    verdicts: usize,
    unknown: usize,
    rejected: usize,
    paths: usize,
}

#[derive(Default)]
struct Score {
    by_kind: BTreeMap<String, BTreeMap<Release, Agreement>>,
    differences: String,
    different_paths: BTreeSet<String>,
}

impl Score {
    fn add(&mut self, case: &Case, release: Release, verdict: &Verdict, found: &Found) {
        let agreement = self.by_kind.entry(case.kind.clone()).or_default().entry(release).or_default();
        agreement.compared += 1;
        let mut differ = |what: &str| {
            let _ = writeln!(self.differences, "{} {release} {what}: {verdict:?} {found:?}", case.id);
        };
        if verdict.valid == found.paths.is_empty() {
            agreement.verdicts += 1;
        } else {
            differ("verdict");
        }
        if verdict.unknown == found.unknown {
            agreement.unknown += 1;
        } else {
            differ("unknown fields");
        }
        if !verdict.valid {
            agreement.rejected += 1;
            let same = if verdict.cel_skipped {
                verdict.paths.is_subset(&found.paths)
            } else {
                verdict.paths == found.paths
            };
            if same {
                agreement.paths += 1;
            } else {
                differ("paths");
                self.different_paths.insert(case.id.clone());
            }
        }
    }

    /// Table with a line for each kind and release.
    fn table(&self) -> String {
        let mut table = String::from("kind          release  cases  verdicts  unknown  rejected  paths\n");
        for (kind, releases) in &self.by_kind {
            for (release, of) in releases {
                let release = release.to_string();
                let _ = writeln!(
                    table,
                    "{kind:13} {release:7} {:6} {:9} {:8} {:9} {:6}",
                    of.compared, of.verdicts, of.unknown, of.rejected, of.paths
                );
            }
        }
        table
    }

    fn sum(&self, of: impl Fn(&Agreement) -> usize) -> usize {
        self.by_kind.values().flat_map(BTreeMap::values).map(of).sum()
    }
}

#[test]
fn agrees_with_the_api_server() {
    let cases = cases::all();
    let texts: Vec<String> = cases.iter().map(Case::text).collect();
    let mut score = Score::default();
    for (case, found) in cases.iter().zip(found(&texts, cases::RANGE)) {
        for (release, found) in &found {
            // A release without a verdict does not serve the kind.
            match case.verdicts.iter().find(|(releases, _)| releases.contains(release)) {
                Some((_, verdict)) => score.add(case, *release, verdict, found),
                None => assert!(!found.paths.is_empty(), "{} {release}", case.id),
            }
        }
    }
    for patch in ["1.0.0", "1.0.3", "1.0.4", "1.0.8"] {
        let patched: Vec<&Case> = cases.iter().filter(|case| !case.patch_verdicts.is_empty()).collect();
        let texts: Vec<String> = patched.iter().map(|case| case.text()).collect();
        let release = Release::parse(patch).unwrap();
        for (case, found) in patched.iter().zip(found(&texts, &format!("{patch}..1.0"))) {
            let (_, verdict) =
                case.patch_verdicts.iter().find(|(releases, _)| releases.contains(&release)).unwrap();
            score.add(case, release, verdict, &found[&release]);
        }
    }
    println!("{}", score.table());
    let (compared, rejected) = (score.sum(|of| of.compared), score.sum(|of| of.rejected));
    assert!(compared > 40_000 && rejected > 10_000, "{compared} {rejected}");
    assert_eq!(score.sum(|of| of.verdicts), compared, "verdicts\n{}", score.differences);
    assert_eq!(score.sum(|of| of.unknown), compared, "unknown fields\n{}", score.differences);
    assert!(score.sum(|of| of.paths) * 1000 >= rejected * SAME_PATHS, "paths\n{}", score.differences);
    let listed: BTreeSet<String> = DIFFERENT_PATHS.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(score.different_paths, listed, "\n{}", score.differences);
}
