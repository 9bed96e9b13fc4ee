//! Compares the words in which the page shows the API server's errors with the recorded details.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use karpenter::release::Release;
use karpwarden::objects::embedded::READ_OPTIONS;
use manifest::{Document, File};
use objects::object::Object;
use objects::validation::response::{ApiServerResponse, response};

use super::cases::{self, Case, Verdict};

/// Minimum share of refused objects, in thousandths, whose errors have the recorded details. The others name the same
/// fields: the server reports the values of an enum also for a value of another type, lists the operators of requirements
/// in another order, and reports rules that cannot be evaluated.
const SAME_WORDS: usize = 940;

fn responded(case: &Case, release: Release) -> ApiServerResponse {
    let file = File::read("case.json", case.text(), READ_OPTIONS);
    let read = |document: &Document| match document {
        Document::Read(tree) => Some(response(Object::all(tree)[0], release)),
        _ => None,
    };
    file.documents.iter().find_map(read).unwrap()
}

/// Path and detail of each error that names a field.
fn details(response: &ApiServerResponse) -> BTreeSet<(String, String)> {
    match response {
        ApiServerResponse::Invalid(errors) => {
            let named = errors.iter().filter(|error| error.path.is_some());
            named.map(|error| (error.path.clone().unwrap(), error.detail.clone())).collect()
        }
        ApiServerResponse::Undecodable(reason) => BTreeSet::from([(String::new(), reason.clone())]),
        ApiServerResponse::Accepted | ApiServerResponse::NotServed => BTreeSet::new(),
    }
}

fn expected(verdict: &Verdict) -> BTreeSet<(String, String)> {
    if verdict.unknown.is_empty() {
        return verdict.details.clone();
    }
    let fields: Vec<String> =
        verdict.unknown.iter().map(|path| format!("unknown field \"{path}\"")).collect();
    BTreeSet::from([(String::new(), format!("strict decoding error: {}", fields.join(", ")))])
}

#[test]
fn refuses_in_the_words_of_the_api_server() {
    let (mut compared, mut same, mut differences) = (0, 0, String::new());
    for case in cases::all() {
        for (releases, verdict) in &case.verdicts {
            // All releases of a verdict have the same errors.
            let Some(release) = releases.last() else { continue };
            let response = responded(&case, *release);
            let is_accepted = verdict.valid && verdict.unknown.is_empty();
            assert_eq!(
                response == ApiServerResponse::Accepted,
                is_accepted,
                "{} {release} {response:?}",
                case.id
            );
            if is_accepted {
                continue;
            }
            compared += 1;
            let (given, expected) = (details(&response), expected(verdict));
            if given == expected {
                same += 1;
            } else {
                let _ = writeln!(differences, "{} {release}\n  {given:?}\n  {expected:?}", case.id);
            }
        }
    }
    println!("{same} of {compared} refusals have the recorded details\n{differences}");
    assert!(compared > 2_000 && same * 1000 >= compared * SAME_WORDS, "{same} of {compared}\n{differences}");
}
