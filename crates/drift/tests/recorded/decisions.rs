//! 292 NodeClaims with the decision of Karpenter's controllers at four releases.

use ::objects::object::Object;
use karpenter::kind::Kind;
use karpenter::operator::Operator;
use karpenter::release::{Release, Releases};
use karpwarden_drift::{DriftDecision, DriftQuestion, KnownInstance, OfferedType, decide};
use manifest::limits::Limits;
use manifest::{Document, File};
use scheduling::requirements::{Requirement, Requirements};
use serde_json::Value as Json;
use values::timestamp::Timestamp;

use super::rows;

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

fn requirements(list: &Json) -> Requirements<'_> {
    let mut all = Requirements::default();
    for item in list.as_array().into_iter().flatten() {
        let values = item["values"].as_array().into_iter().flatten().map(text);
        let requirement = Requirement::new(Operator::parse(text(&item["operator"])).unwrap(), values);
        all.add(text(&item["key"]), requirement.unwrap());
    }
    all
}

fn offered_type(json: &Json) -> OfferedType<'_> {
    let offerings = json["offerings"].as_array().into_iter().flatten();
    OfferedType {
        name: text(&json["name"]),
        requirements: requirements(&json["requirements"]),
        offerings: offerings.map(|offering| requirements(&offering["requirements"])).collect(),
    }
}

/// An object with the annotations that it had at a release.
fn file_at(row: &Json, key: &str, release: &str) -> Option<File> {
    let mut object = row[key].as_object()?.clone();
    if let Some(annotations) = row["annotationsAt"][release].get(key) {
        object["metadata"]["annotations"] = annotations.clone();
    }
    Some(File::read("object.json", Json::from(object).to_string(), &Limits::DEFAULT))
}

fn object(file: &File, kind: Kind) -> Object<'_> {
    let [Document::Read(document)] = file.documents.as_slice() else { panic!("{file:?}") };
    Object::of_kind(document.root(), kind)
}

/// The condition `Drifted` after the decision: its reason, or `None`.
fn drifted_after(row: &Json, release_name: &str) -> Option<String> {
    let release = Release::parse(release_name).unwrap();
    let pool = file_at(row, "nodePool", release_name).unwrap();
    let class = file_at(row, "nodeClass", release_name);
    let claim = file_at(row, "nodeClaim", release_name).unwrap();
    let types: Vec<OfferedType<'_>> =
        row["instanceTypes"].as_array().into_iter().flatten().map(offered_type).collect();
    let instance = &row["instance"];
    // Since 1.13 Karpenter reads the instance again before it decides about its reservation.
    let fresh = instance.get("freshCapacityReservationID").filter(|_| Releases::since(13).contains(release));
    let groups = instance["securityGroupIDs"].as_array().into_iter().flatten();
    let question = DriftQuestion {
        node_claim: object(&claim, Kind::NODE_CLAIM),
        node_pool: object(&pool, Kind::NODE_POOL),
        node_class: class.as_ref().map(|class| object(class, Kind::NODE_CLASS)),
        instance_types: Some(&types),
        instance: KnownInstance {
            image: Some(text(&instance["imageID"])),
            subnet: Some(text(&instance["subnetID"])),
            security_groups: Some(groups.map(text).collect()),
            capacity_reservation: Some(text(fresh.unwrap_or(&instance["capacityReservationID"]))),
        },
        placement_group: Some(text(&row["placementGroupID"])),
        now: Timestamp::parse(text(&row["now"])).unwrap(),
        release,
    };
    match decide(&question) {
        DriftDecision::Drifted(reason) => Some(reason.name().to_owned()),
        DriftDecision::NotDrifted => None,
        DriftDecision::Undecided(_) => {
            let conditions = row["nodeClaim"]["status"]["conditions"].as_array().into_iter().flatten();
            let drifted = conditions.into_iter().find(|condition| condition["type"] == "Drifted");
            drifted
                .filter(|drifted| drifted["status"] == "True")
                .map(|drifted| text(&drifted["reason"]).to_owned())
        }
        DriftDecision::Unknown(missing) => panic!("{}: everything is known: {missing:?}", row["id"]),
    }
}

#[test]
fn nodes_drift_as_karpenter_decides() {
    let (mut count, mut wrong) = (0, Vec::new());
    for row in rows(include_bytes!("decisions.jsonl.gz")) {
        for (release, expected) in row["expect"].as_object().unwrap() {
            if expected.is_null() {
                continue;
            }
            count += 1;
            let found = drifted_after(&row, release);
            if found.as_deref() != expected["reason"].as_str().filter(|_| expected["drifted"] == true) {
                wrong.push(format!("{} {release}: {found:?} instead of {expected}", row["id"]));
            }
        }
    }
    assert!(count > 1_100, "{count}");
    assert!(wrong.is_empty(), "{} of {count}: {wrong:#?}", wrong.len());
}

#[test]
fn what_is_not_known_is_told_unless_a_known_reason_applies() {
    let rows = rows(include_bytes!("decisions.jsonl.gz"));
    for (id, expected) in [("clean", None), ("hash/np/changed/same/drop=None", Some("NodePoolDrifted"))] {
        let row = rows.iter().find(|row| row["id"] == id).unwrap();
        let (pool, claim) = (file_at(row, "nodePool", "").unwrap(), file_at(row, "nodeClaim", "").unwrap());
        let class = file_at(row, "nodeClass", "").unwrap();
        let decision = decide(&DriftQuestion {
            node_claim: object(&claim, Kind::NODE_CLAIM),
            node_pool: object(&pool, Kind::NODE_POOL),
            node_class: Some(object(&class, Kind::NODE_CLASS)),
            instance_types: None,
            instance: KnownInstance::default(),
            placement_group: None,
            now: Timestamp::parse(text(&row["now"])).unwrap(),
            release: Release::parse("1.14.1").unwrap(),
        });
        match (&decision, expected) {
            (DriftDecision::Unknown(missing), None) => assert_eq!(missing.len(), 5, "{missing:?}"),
            (DriftDecision::Drifted(reason), Some(expected)) => assert_eq!(reason.name(), expected),
            _ => panic!("{id}: {decision:?}"),
        }
    }
}
