//! The steps of "From a checkout" in docs/install.md, with Debian's docker-registry.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use karpwarden_generate::{home, kustomize, yaml};
use karpwarden_publish::registry::client;
use oci_client::secrets::RegistryAuth;
use serde_json::Value;

use super::running::{Registry, immutable, module_with, publish, wait};

/// The section of the page.
fn section() -> String {
    let page = home::text("docs/install.md").unwrap();
    let (_, rest) = page.split_once("\n## From a checkout\n").unwrap();
    rest.split("\n## ").next().unwrap().to_owned()
}

fn parsed(block: &str) -> Value {
    yaml::documents(block).unwrap().remove(0)
}

/// `make publish` without the builds, which `make test` has done.
fn make_publish(target: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_karpwarden-publish"));
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("make");
    for name in ["MAKEFLAGS", "MAKELEVEL", "REGISTRY_USER", "REGISTRY_PASSWORD"] {
        command.env_remove(name);
    }
    command
        .args(["--no-print-directory", "publish", "MAKE=true", "CARGO=true", &format!("TARGET={target}")])
        .env("CARGO_TARGET_DIR", program.ancestors().nth(2).unwrap())
        .env("DOCKER_CONFIG", folder.path())
        .current_dir(home::path(""))
        .output()
        .unwrap()
}

#[test]
fn documented_steps_from_a_checkout_install_what_was_published() {
    let section = section();
    let line = |start: &str| section.lines().find(|line| line.starts_with(start)).unwrap();
    let target = line("$ make publish TARGET=").split_once("TARGET=").unwrap().1;
    let (host, _) = target.split_once('/').unwrap();
    let documented: Value = serde_json::from_str(line("{\"immutable_ref\"")).unwrap();

    // Publish. `make -n` shows the command that the documented one ends in.
    let shown = Command::new("make")
        .args(["-n", "--no-print-directory", "publish", &format!("TARGET={target}")])
        .current_dir(home::path(""))
        // The tests may run below `make test`, which hands its flags on.
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let push = shown.lines().last().unwrap();
    assert!(
        push.contains("karpwarden-publish") && push.ends_with(&format!("annotated-policy.wasm {target}")),
        "{push}"
    );
    let registry = Registry::start("", "");
    let here = |text: &str| text.replace(host, &registry.address);
    let built = home::path("policies/karpenter/annotated-policy.wasm");
    let (module, output) = if built.is_file() {
        (fs::read(built).unwrap(), make_publish(&here(target)))
    } else {
        let module = module_with(r#"{"annotations":{"io.kubewarden.policy.title":"karpenter"}}"#);
        let output = publish(&module, &here(target), &[]);
        (module, output)
    };
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        printed.as_object().unwrap().keys().collect::<Vec<_>>(),
        documented.as_object().unwrap().keys().collect::<Vec<_>>()
    );
    let reference = immutable(&output);

    // Write the overlay with the printed reference, and add the item for plain HTTP.
    let text = section.replace(documented["immutable_ref"].as_str().unwrap(), &reference);
    let blocks = yaml::blocks(&here(&text));
    let [overlay, plain_http] = &blocks[..] else { panic!("{blocks:?}") };
    let mut overlay = parsed(overlay);
    overlay["patches"].as_array_mut().unwrap().extend(parsed(plain_http).as_array().unwrap().clone());
    let objects = kustomize::render_text(&yaml::text(&overlay).unwrap()).unwrap();

    // The policy server pulls what each policy names, over HTTP from the hosts in `insecureSources`.
    let of_kind = |kind: &'static str| objects.iter().filter(move |object| object["kind"] == kind);
    let server = of_kind("PolicyServer").next().unwrap();
    let mut policies = 0;
    for policy in of_kind("ClusterAdmissionPolicy") {
        let source = policy["spec"]["module"].as_str().unwrap().strip_prefix("registry://").unwrap();
        let insecure = server["spec"]["insecureSources"].as_array().unwrap();
        assert!(
            insecure.iter().any(|host| source.split('/').next() == host.as_str()),
            "{source}: {insecure:?}"
        );
        let place: oci_client::Reference = source.parse().unwrap();
        let layers = vec!["application/vnd.wasm.content.layer.v1+wasm"];
        let image = wait(client(&place).pull(&place, &RegistryAuth::Anonymous, layers)).unwrap();
        assert_eq!(image.layers[0].data, module);
        policies += 1;
    }
    assert_eq!(policies, 5);
    assert!(home::path("policies/karpenter/preflight.sh").is_file());
}
