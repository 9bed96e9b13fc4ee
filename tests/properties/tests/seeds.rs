//! Replay of the seeds of the fuzz targets in `fuzz/`: each seed, some beginnings of it, and the seed without some lines. The
//! examples and the pages of the rules are seeds too.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its seeds fails")]

use std::fs;
use std::path::Path;

use karpwarden_test_properties::cost::InputCost;
use karpwarden_test_properties::{
    admission, diagnosis, fixes, language_server, manifests, page, placement, terraform, user_data, values,
};

/// Number of beginnings of each seed.
const BEGINNINGS: usize = 16;

fn contents(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.is_file()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Calls `check` with the seeds of a target, and with variants of each.
fn replay(target: &str, check: impl Fn(&[u8])) {
    let seeds = contents(&format!("fuzz/seeds/{target}"));
    assert!(!seeds.is_empty());
    for seed in seeds {
        check(&seed);
        for number in 0..BEGINNINGS {
            check(seed.split_at(seed.len() * number / BEGINNINGS).0);
        }
        let lines: Vec<&[u8]> = seed.split_inclusive(|byte| *byte == b'\n').collect();
        for without in (0..lines.len()).step_by(lines.len().div_ceil(BEGINNINGS)) {
            let others = lines.iter().enumerate().filter(|(at, _)| *at != without);
            check(&others.flat_map(|(_, line)| line.iter().copied()).collect::<Vec<u8>>());
        }
    }
}

/// Calls `check` like [`replay`] with the variants that are UTF-8.
fn replay_text(target: &str, check: impl Fn(&str)) {
    replay(target, |bytes| {
        if let Ok(text) = core::str::from_utf8(bytes) {
            check(text);
        }
    });
}

#[test]
fn responses_to_requests_are_well_formed() {
    replay("admission", admission::assert_request);
}

#[test]
fn mistakes_in_settings_have_places() {
    replay("settings", admission::assert_settings);
}

#[test]
fn findings_have_places_and_are_the_same_in_json() {
    replay_text("manifests", |text| {
        manifests::assert_check(text);
        manifests::assert_same_in_json(text);
    });
}

#[test]
fn findings_in_policies_have_places() {
    replay_text("policies", manifests::assert_policy);
}

#[test]
fn reports_are_valid_in_every_format() {
    replay_text("reports", manifests::assert_reports);
}

#[test]
fn fixes_work_alone_and_together() {
    replay_text("fixes", fixes::assert_fixes);
}

#[test]
fn diagnoses_do_not_depend_on_the_size_of_pieces() {
    replay("logs", diagnosis::assert_diagnosis);
}

#[test]
fn parsers_of_user_data_return_spans_in_the_text() {
    replay_text("user_data", user_data::assert_user_data);
}

#[test]
fn parts_of_user_data_come_back() {
    replay_text("parts", user_data::assert_parts);
}

#[test]
fn builds_of_kustomizations_are_bounded() {
    replay_text("kustomizations", manifests::assert_builds);
}

#[test]
fn values_of_configurations_have_places() {
    replay_text("configurations", terraform::assert_configuration);
}

#[test]
fn any_line_is_an_expression_or_an_error() {
    replay_text("expressions", terraform::assert_expressions);
}

#[test]
fn values_of_plans_have_places() {
    replay_text("plans", terraform::assert_plan);
}

#[test]
fn findings_about_conditions_have_places() {
    replay_text("conditions", manifests::assert_conditions);
}

#[test]
fn reading_of_framed_messages_ends() {
    replay("frames", language_server::assert_frames);
}

#[test]
fn simulates_pods_that_are_hard_to_place() {
    replay("hard_pods", placement::assert_hard_pods);
}

#[test]
fn no_seed_costs_more_than_a_hundred_times_the_median_for_its_size() {
    let mut costs = Vec::new();
    for folder in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds")).unwrap() {
        let folder = folder.unwrap().file_name().into_string().unwrap();
        for seed in contents(&format!("fuzz/seeds/{folder}")) {
            let Ok(text) = String::from_utf8(seed) else { continue };
            for cost in [InputCost::of_files(&text), InputCost::of_user_data(&text)] {
                // Hundredths of a unit for each byte.
                costs.push((cost.units * 100 / cost.bytes.max(1), folder.clone()));
            }
        }
    }
    costs.sort();
    let (median, (most, folder)) = (costs[costs.len() / 2].0, costs.last().unwrap());
    println!("median {median}, most {most} of {folder}, in hundredths of a unit for each byte");
    assert!(median >= 100 && *most <= 100 * median, "{median} and {most} of {folder}");
}

#[test]
fn values_parse_back() {
    for seed in contents("fuzz/seeds/values") {
        String::from_utf8(seed).unwrap().lines().for_each(values::assert_values);
    }
}

#[test]
fn simulates_any_objects() {
    replay_text("simulation", placement::assert_simulation);
}

#[test]
fn judges_disruption_of_any_objects() {
    replay_text("disruption", placement::assert_disruption);
}

#[test]
fn the_page_gives_the_report_of_the_command_line() {
    for target in ["page", "manifests"] {
        replay_text(target, page::assert_page);
    }
}

#[test]
fn the_language_server_answers_every_request() {
    replay("language_server", language_server::assert_messages);
}

#[test]
fn diagnostics_and_edits_are_within_their_documents() {
    for target in ["documents", "manifests", "fixes"] {
        replay_text(target, language_server::assert_documents);
    }
}

/// Calls the checks of a manifest.
fn assert_manifest(text: &str) {
    manifests::assert_check(text);
    manifests::assert_reports(text);
    manifests::assert_same_in_json(text);
    fixes::assert_fixes(text);
}

#[test]
fn examples_have_the_properties() {
    for example in contents("examples") {
        let text = String::from_utf8(example).unwrap();
        assert_manifest(&text);
        placement::assert_simulation(&text);
        placement::assert_disruption(&text);
    }
}

#[test]
fn examples_of_rules_have_the_properties() {
    for page in contents("docs/rules") {
        let page = String::from_utf8(page).unwrap();
        for block in page.split("```yaml").skip(1) {
            let (_settings, rest) = block.split_once('\n').unwrap();
            assert_manifest(rest.split("```").next().unwrap());
        }
    }
}
