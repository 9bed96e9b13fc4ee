//! Errors as warnings in mode `monitor`, and many warnings.

use karpwarden_policy::admission::validate_settings;
use serde_json::json;

use super::cluster::{ARN, Cluster, has_warning, node_class, node_pool, warnings};

#[test]
fn announces_errors_as_warnings_unless_the_settings_say_false() {
    let cluster = Cluster::default();
    let silent = cluster.create(&node_class(ARN), &json!({"announceErrors": false}));
    assert_eq!(silent["accepted"], false);
    assert!(warnings(&silent).is_empty(), "{silent}");
    // A policy cannot see its mode, and in mode `monitor` nothing else would say the error.
    for settings in [json!({"announceErrors": true}), json!({"announceErrors": "auto"}), json!({})] {
        let audible = cluster.create(&node_class(ARN), &settings);
        assert_eq!(audible["accepted"], false);
        assert_eq!(audible["message"], silent["message"]);
        let [warning] = warnings(&audible)[..] else { panic!("{audible}") };
        assert!(
            warning.starts_with("would be rejected: instance-profile-is-arn at spec.instanceProfile: "),
            "{warning}"
        );
        assert!(warning.contains("`p`"), "the remedy: {warning}");
    }
}

#[test]
fn good_object_has_nothing_to_announce() {
    let answer = Cluster::default().create(&node_class("p"), &json!({"announceErrors": true}));
    assert_eq!(answer["accepted"], true);
    assert!(warnings(&answer).is_empty(), "{answer}");
}

#[test]
fn every_warning_names_its_rule_and_place_however_many_there_are() {
    let mut pool = node_pool("general", &json!({}));
    let wrong = |index: usize| json!({"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", format!("sp0t-{index}")]});
    pool["spec"]["template"]["spec"]["requirements"] = (0..60).map(wrong).collect();
    let answer = Cluster::default().create(&pool, &json!({"announceErrors": true}));
    let all = warnings(&answer);
    assert!(all.len() > 30, "{answer}");
    assert!(all.iter().map(|text| text.chars().count()).sum::<usize>() <= 4_096);
    assert!(
        all[..all.len() - 1].iter().all(|text| text.contains(" at spec.template.spec.requirements[")),
        "{all:?}"
    );
    assert!(all.last().unwrap().ends_with("more, in the audit annotations"), "{all:?}");
    let details = answer["audit_annotations"]["details"].as_str().unwrap();
    assert!(details.contains("sp0t-59"), "{details}");
}

#[test]
fn new_pool_may_precede_its_node_class() {
    let pool = node_pool("general", &json!({}));
    let mut class = node_class("p");
    class["metadata"]["name"] = "defau1t".into();
    let cluster = Cluster::holding([class]);
    for settings in [json!({}), json!({"completeInventory": true})] {
        let created = cluster.create(&pool, &settings);
        assert!(!has_warning(&created, "nodeclass-ref-dangling"), "{created}");
        let updated = cluster.update(&pool, &pool, &settings);
        assert!(has_warning(&updated, "nodeclass-ref-dangling"), "{updated}");
    }
    // The audit scanner sends an object that exists as a CREATE request.
    let mut stored = pool;
    stored["metadata"]["resourceVersion"] = "7".into();
    let audited = cluster.create(&stored, &json!({}));
    assert!(has_warning(&audited, "nodeclass-ref-dangling"), "{audited}");
    assert!(has_warning(&audited, "in the cluster") && !has_warning(&audited, "input"), "{audited}");
}

/// A key of the command line would be an unknown key with a hint that leads to another error.
#[test]
fn unknown_key_lists_only_keys_of_the_policy() {
    let answer = validate_settings(br#"{"anounceErrors": true}"#);
    assert!(answer.contains("did you mean `announceErrors`?"), "{answer}");
    for (key, is_listed) in [
        ("strictUpdates", true),
        ("context", true),
        ("exclude", false),
        ("render", false),
        ("overrides", false),
    ] {
        assert_eq!(answer.contains(&format!(" {key}")), is_listed, "{key}: {answer}");
    }
}
