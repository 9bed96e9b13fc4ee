//! Output of `kubectl` for an object that the API server refuses before it calls a webhook of the policy.
//!
//! Sources: k8s.io/kubectl pkg/cmd/util/helpers.go (`checkErr`, `MultilineError`); k8s.io/cli-runtime
//! pkg/resource/mapper.go; k8s.io/apiserver pkg/endpoints/handlers/rest.go (`transformDecodeError`).

use karpwarden::answers::page::ReportedRefusal;
use karpwarden::karpenter::release::Release;
use karpwarden::manifest::{Document, File};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::objects::object::Object;
use karpwarden::objects::validation::response::{ApiServerResponse, response};

/// Prints the refusal of the object in a JSON manifest or AdmissionReview; `None` if the API server accepts it.
///
/// `file` is the name that `kubectl` reads, and `action` its word for the request, such as `creating`.
pub(crate) fn refusal(json: &str, release: Release, file: &str, action: &str) -> Option<ReportedRefusal> {
    let read = File::read("object.json", json, READ_OPTIONS);
    let Some(Document::Read(tree)) = read.documents.first() else { return None };
    let object = *Object::all(tree).first()?;
    let (kind, name) = (object.kind(), object.name());
    let response = response(object, release);
    let is_decoded = matches!(response, ApiServerResponse::Invalid(_));
    let output = match response {
        ApiServerResponse::Accepted => return None,
        ApiServerResponse::NotServed => format!(
            "error: resource mapping not found for name: {name:?} namespace: {:?} from {file:?}: no matches for kind {kind:?} in version {:?}\nensure CRDs are installed first",
            object.namespace(),
            object.api_version(),
        ),
        ApiServerResponse::Undecodable(reason) => {
            let version = object.version();
            format!(
                "Error from server (BadRequest): error when {action} {file:?}: {kind} in version {version:?} cannot be handled as a {kind}: {reason}"
            )
        }
        ApiServerResponse::Invalid(errors) => {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            let head = format!("The {kind} {name:?} is invalid: ");
            match lines.as_slice() {
                [only] => format!("{head}{only}"),
                _ => format!("{head}\n* {}", lines.join("\n* ")),
            }
        }
    };
    Some(ReportedRefusal { output, is_decoded })
}

#[cfg(test)]
mod tests {
    use karpwarden::karpenter::release::Release;
    use serde_json::{Value as Json, json};

    fn refusal(object: &Json) -> String {
        let release = Release::parse("1.14").unwrap();
        let refusal = super::refusal(&object.to_string(), release, "STDIN", "creating");
        refusal.map(|refusal| refusal.output).unwrap_or_default()
    }

    fn pool(name: &str, spec: Json) -> Json {
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec})
    }

    fn template(requirements: Json, labels: Json) -> Json {
        json!({"metadata": {"labels": labels}, "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": requirements,
        }})
    }

    // The expected texts are the output of kubectl against kube-apiserver 1.36 with the definitions of Karpenter 1.14.

    #[test]
    fn lists_the_errors_of_an_invalid_object() {
        let requirements = json!([
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
            {"key": "karpenter.k8s.aws/instance-famly", "operator": "In", "values": ["c6"]},
        ]);
        let batch =
            pool("batch", json!({"template": template(requirements, json!({"karpenter.sh/team": "batch"}))}));
        let expected = concat!(
            "The NodePool \"batch\" is invalid: \n",
            "* spec.template.metadata.labels: Invalid value: label domain \"karpenter.sh\" is restricted\n",
            "* spec.template.spec.requirements[1].key: Invalid value: \"karpenter.k8s.aws/instance-famly\": ",
            "label domain \"karpenter.k8s.aws\" is restricted",
        );
        assert_eq!(refusal(&batch), expected);
    }

    #[test]
    fn prints_a_single_error_on_the_same_line() {
        let class = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "analytics"},
            "spec": {
                "role": "r", "amiSelectorTerms": [{"alias": "al2023@latest"}],
                "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}],
                "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "120"}}],
            },
        });
        let printed = refusal(&class);
        assert!(
            printed.starts_with(
                "The EC2NodeClass \"analytics\" is invalid: spec.blockDeviceMappings[0].ebs.volumeSize: Invalid value: \"120\": \
                 spec.blockDeviceMappings[0].ebs.volumeSize in body should match '^((?:[1-9]"
            ) && !printed.contains('\n'),
            "{printed}"
        );
    }

    #[test]
    fn says_which_rules_the_server_did_not_check() {
        let half = pool(
            "default",
            json!({
                "disruption": {"consolidationPolicy": "WhenUnderutilized"},
                "limits": {"resources": {}},
                "template": {"spec": {"nodeClassRef": {"kind": "EC2NodeClass", "name": "default"}, "requirements": []}},
            }),
        );
        let printed = refusal(&half);
        let mut lines: Vec<&str> = printed.lines().collect();
        // The server's order of the fields is not known.
        lines.sort_unstable();
        let expected = [
            "* <nil>: Invalid value: \"\": \"spec.limits.resources\" must validate at least one schema (anyOf)",
            "* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
            "* spec.disruption.consolidateAfter: Required value",
            "* spec.disruption.consolidationPolicy: Unsupported value: \"WhenUnderutilized\": supported values: \"WhenEmpty\", \"WhenEmptyOrUnderutilized\", \"Balanced\"",
            "* spec.limits.resources: Invalid value: \"object\": spec.limits.resources in body must be of type integer,string: \"object\"",
            "* spec.limits.resources: Invalid value: \"object\": spec.limits.resources in body must be of type integer: \"object\"",
            "* spec.template.spec.nodeClassRef.group: Required value",
            "The NodePool \"default\" is invalid: ",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn names_unknown_fields_before_all_other_errors() {
        let unknown =
            pool("a", json!({"wieght": 1000, "weight": 1000, "template": template(json!([]), json!({}))}));
        let expected = r#"Error from server (BadRequest): error when creating "STDIN": NodePool in version "v1" cannot be handled as a NodePool: strict decoding error: unknown field "spec.wieght""#;
        assert_eq!(refusal(&unknown), expected);
    }

    #[test]
    fn accepts_a_valid_object_and_kinds_without_a_table() {
        assert_eq!(refusal(&pool("a", json!({"template": template(json!([]), json!({}))}))), "");
        assert_eq!(
            refusal(&json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}})),
            ""
        );
    }

    #[test]
    fn finds_no_mapping_for_a_version_that_is_not_served() {
        let old = json!({"apiVersion": "karpenter.sh/v1beta1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": {}});
        let expected = concat!(
            "error: resource mapping not found for name: \"a\" namespace: \"\" from \"STDIN\": ",
            "no matches for kind \"NodePool\" in version \"karpenter.sh/v1beta1\"\nensure CRDs are installed first",
        );
        assert_eq!(refusal(&old), expected);
    }
}
