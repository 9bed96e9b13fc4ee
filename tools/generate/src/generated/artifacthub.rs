//! `artifacthub-pkg.yml`: the policy's page on Artifact Hub, with everything that `kwctl scaffold artifacthub` writes.
//!
//! Source: artifacthub/hub `docs/metadata/artifacthub-pkg.yml`; kubewarden/kubewarden-controller `crates/policy-evaluator/src/`
//! `policy_artifacthub.rs` for the annotations.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::{changelog, home, yaml};

/// The text of the package file.
pub(super) fn text(metadata: &str, questions: &str) -> Result<String> {
    let policy: Value = serde_saphyr::from_str(metadata)?;
    let annotation = |name: &str| {
        let text = policy.get("annotations").and_then(|all| all.get(name)).and_then(Value::as_str);
        text.map(str::to_owned).with_context(|| format!("the metadata has no {name}"))
    };
    let section = changelog::newest(&home::text("CHANGELOG.md")?)?;
    let (author, mail) =
        home::AUTHOR.trim_end_matches('>').split_once(" <").context("the author has no address")?;
    let module = format!("{}:v{}", home::module_name(), home::VERSION);
    let release = format!("{}/releases/download/v{}", home::REPOSITORY, home::VERSION);
    let mut links = vec![
        json!({"name": "policy", "url": format!("{release}/policy.wasm")}),
        json!({"name": "source", "url": home::REPOSITORY}),
    ];
    if !home::HOMEPAGE.is_empty() {
        links.push(json!({"name": "rules", "url": format!("{}/rules/", home::HOMEPAGE)}));
        links.push(json!({"name": "playground", "url": format!("{}/", home::HOMEPAGE)}));
    }
    links.push(json!({"name": "support", "url": format!("{}/issues", home::REPOSITORY)}));
    let package = json!({
        "version": home::VERSION,
        "name": annotation("io.kubewarden.policy.title")?,
        "displayName": annotation("io.artifacthub.displayName")?,
        "createdAt": section.created_at(),
        "description": home::DESCRIPTION,
        "license": annotation("io.kubewarden.policy.license")?,
        "homeURL": home::REPOSITORY,
        "containersImages": [{"name": "policy", "image": module}],
        "keywords": home::KEYWORDS,
        "links": links,
        "install": install(),
        "maintainers": [{"name": author, "email": mail}],
        "provider": {"name": "karpwarden"},
        "recommendations": [
            {"url": "https://artifacthub.io/packages/helm/kubewarden/admission-controller"},
        ],
        "screenshots": [{
            "title": "A finding in a terminal",
            "url": format!("{}/raw/v{}/{}", home::REPOSITORY, home::VERSION, super::screenshot::PATH),
        }],
        "changes": section.changes,
        "annotations": {
            "kubewarden/mutation": policy.get("mutating").and_then(Value::as_bool).unwrap_or_default().to_string(),
            "kubewarden/resources": annotation("io.artifacthub.resources")?,
            "kubewarden/rules": yaml::text(&policy.get("rules"))?,
            "kubewarden/contextAwareResources": yaml::text(&policy.get("contextAwareResources"))?,
            "kubewarden/questions-ui": questions,
        },
        "readme": home::text("policies/karpenter/README.md")?,
    });
    let text = yaml::text(&package)?;
    Ok(format!(
        "# Written by `make generate` from the metadata, the settings form, the README and the changelog.\n{text}"
    ))
}

/// No manifest of `kwctl scaffold`: it has the default policy server, no match conditions, and `failurePolicy: Fail`.
fn install() -> String {
    let (repository, version) = (home::REPOSITORY, home::VERSION);
    format!(
        "The policies in mode monitor, their permissions, and a policy server for them:\n\n\
         ```console\nkubectl apply -f {repository}/raw/v{version}/policies/karpenter/monitor.yaml\n```\n\n\
         To set your Karpenter release and cluster name, and to reject errors later, write this `kustomization.yaml` and run \
         `kubectl apply -k .`:\n\n\
         ```yaml\n\
         apiVersion: kustomize.config.k8s.io/v1beta1\n\
         kind: Kustomization\n\
         resources:\n\
         \x20 - {repository}//policies/karpenter/kustomize/base?ref=v{version}\n\
         patches:\n\
         \x20 - target:\n\
         \x20     kind: ClusterAdmissionPolicy\n\
         \x20   patch: |-\n\
         \x20     - op: add\n\
         \x20       path: /spec/settings/karpenterVersion\n\
         \x20       value: \"1.8\"\n\
         ```\n\n\
         [Install in a cluster]({repository}/blob/v{version}/docs/install.md) describes every step. Do not use \
         `kwctl scaffold manifest`: its manifest has no match conditions, and rejects requests while the policy server is \
         unavailable.\n"
    )
}
