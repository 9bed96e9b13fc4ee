//! `cargo xtask annotate`: a policy module with its metadata in it.
//!
//! Source: kubewarden/kubewarden-controller `crates/kwctl/src/annotate.rs`. The section holds the same JSON. kwctl parses
//! and rewrites the module; here the module keeps its bytes, so that the result depends on the inputs alone and the module is
//! the result without its last section.

use anyhow::{Context as _, Result, bail};

use crate::{
    capabilities,
    metadata::PolicyMetadata,
    module::{SECTION, ValidatedModule},
};

/// The id of a custom section: WebAssembly core specification, 5.5.2.
const CUSTOM: u8 = 0;

#[derive(Debug)]
pub(crate) struct Annotated {
    pub(crate) module: Vec<u8>,
    /// Mistakes in the metadata that do not keep the policy from working, as in kwctl.
    pub(crate) warnings: Vec<String>,
}

/// Appends the metadata of a YAML text, and the usage if there is one, to a module.
pub(crate) fn annotate(bytes: &[u8], metadata: &str, usage: Option<&str>) -> Result<Annotated> {
    let module = ValidatedModule::read(bytes)?;
    if module.metadata.is_some() {
        // Kubewarden reads the first section, which is the old one.
        bail!("the module is already annotated; annotate the one that was built");
    }
    module.check_interface()?;
    let metadata = PolicyMetadata::read(metadata, usage)?;
    let declared = metadata.host_capabilities.clone().unwrap_or_default();
    let warnings = capabilities::disagreements(&declared, &capabilities::used(&module.data));
    let json = serde_json::to_vec(&metadata).context("metadata")?;

    let mut content = Vec::new();
    write_length(&mut content, SECTION.len())?;
    content.extend(SECTION.as_bytes());
    content.extend(json);
    let mut annotated = bytes.to_vec();
    annotated.push(CUSTOM);
    write_length(&mut annotated, content.len())?;
    annotated.extend(content);
    Ok(Annotated { module: annotated, warnings })
}

/// An unsigned 32-bit number in LEB128: seven bits a byte, lowest first.
fn write_length(bytes: &mut Vec<u8>, length: usize) -> Result<()> {
    let mut rest = u32::try_from(length).context("the metadata is larger than a module can be")?;
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            bytes.push(low & 0x7f);
            return Ok(());
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = "\
rules:
- {apiGroups: [karpenter.sh], apiVersions: [v1], resources: [nodepools], operations: [CREATE]}
mutating: false
hostCapabilities: [kubernetes/list_resources_all]
";

    fn policy() -> Vec<u8> {
        wat::parse_str(
            r#"(module
                (import "wapc" "__guest_request" (func (param i32 i32)))
                (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
                (memory (export "memory") 1)
                (data (i32.const 0) "kubernetes list_resources_all")
                (func (export "wapc_init"))
                (func (export "__guest_call") (param i32 i32) (result i32) i32.const 1))"#,
        )
        .unwrap()
    }

    #[test]
    fn appends_a_section_that_can_be_read_back() {
        let built = policy();
        let annotated = annotate(&built, METADATA, Some("# Usage\n")).unwrap();
        assert!(annotated.module.starts_with(&built));
        assert_eq!(annotated.warnings, <[String; 0]>::default());
        let section = ValidatedModule::read(&annotated.module).unwrap().metadata.unwrap();
        assert_eq!(
            core::str::from_utf8(section).unwrap(),
            concat!(
                r#"{"protocolVersion":"v1","rules":[{"apiGroups":["karpenter.sh"],"apiVersions":["v1"],"#,
                r#""resources":["nodepools"],"operations":["CREATE"]}],"#,
                r##""annotations":{"io.kubewarden.policy.usage":"# Usage\n"},"mutating":false,"##,
                r#""backgroundAudit":true,"executionMode":"kubewarden-wapc","policyType":"kubernetes","#,
                r#""contextAwareResources":[],"hostCapabilities":["kubernetes/list_resources_all"]}"#
            )
        );
    }

    #[test]
    fn same_inputs_give_same_bytes() {
        let once = annotate(&policy(), METADATA, None).unwrap().module;
        assert_eq!(once, annotate(&policy(), METADATA, None).unwrap().module);
        // 0x00, the section's length in two bytes, the name's length, the name.
        let added = &once[policy().len()..];
        assert_eq!(added[0], 0);
        assert_eq!(usize::from(added[1] & 0x7f) + (usize::from(added[2]) << 7), added.len() - 3);
        assert_eq!(usize::from(added[3]), SECTION.len());
        assert!(added[4..].starts_with(SECTION.as_bytes()));
    }

    #[test]
    fn rejects_an_annotated_module() {
        let once = annotate(&policy(), METADATA, None).unwrap().module;
        assert!(annotate(&once, METADATA, None).unwrap_err().to_string().contains("already annotated"));
    }

    #[test]
    fn rejects_a_module_that_policy_server_cannot_run() {
        let message = |module: &[u8]| annotate(module, METADATA, None).unwrap_err().to_string();
        let refused = |text: &str| message(&wat::parse_str(text).unwrap());
        assert!(message(b"\0asm junk").starts_with("not a WebAssembly module"));
        assert!(refused("(module)").contains("exports no function `__guest_call`"));
        assert!(
            refused(r#"(module (func (export "__guest_call")))"#)
                .contains("neither `wapc_init` nor `_start`")
        );
        let foreign = r#"(module (import "env" "now" (func))
            (func (export "__guest_call")) (func (export "wapc_init")))"#;
        assert!(refused(foreign).contains("policy-server has no `env.now`"));
    }

    #[test]
    fn warns_of_capabilities_that_differ_from_the_metadata() {
        let metadata = METADATA.replace("list_resources_all", "can_i");
        assert_eq!(annotate(&policy(), &metadata, None).unwrap().warnings.len(), 2);
    }

    #[test]
    fn encodes_lengths_as_leb128() {
        let encoded = |length| {
            let mut bytes = Vec::new();
            write_length(&mut bytes, length).unwrap();
            bytes
        };
        assert_eq!(encoded(0), [0]);
        assert_eq!(encoded(127), [0x7f]);
        assert_eq!(encoded(128), [0x80, 1]);
        assert_eq!(encoded(624_485), [0xe5, 0x8e, 0x26]);
    }
}
