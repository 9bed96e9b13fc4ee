//! The parts of a WebAssembly module that the tasks read.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use wasmparser::{ExternalKind, Parser, Payload, TypeRef, Validator};

/// The section that holds the metadata: kubewarden/kubewarden-controller `crates/policy-evaluator/src/constants.rs`.
pub(crate) const SECTION: &str = "io.kubewarden.metadata";

/// A module that has been validated.
#[derive(Debug, Default)]
pub(crate) struct ValidatedModule<'a> {
    /// Bytes of the metadata, if the module is annotated.
    pub(crate) metadata: Option<&'a [u8]>,
    /// Imported functions, such as `wapc.__host_call`.
    pub(crate) imports: BTreeSet<String>,
    /// Names of all exports.
    pub(crate) exports: BTreeSet<String>,
    /// Names of the exported functions.
    pub(crate) functions: BTreeSet<String>,
    /// The data segments.
    pub(crate) data: Vec<&'a [u8]>,
}

impl<'a> ValidatedModule<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self> {
        const INVALID: &str = "not a WebAssembly module";
        Validator::new().validate_all(bytes).context(INVALID)?;
        let mut module = Self::default();
        for payload in Parser::new(0).parse_all(bytes) {
            payload.and_then(|payload| module.take(payload)).context(INVALID)?;
        }
        Ok(module)
    }

    fn take(&mut self, payload: Payload<'a>) -> wasmparser::Result<()> {
        match payload {
            // Kubewarden reads the first one.
            Payload::CustomSection(section) if section.name() == SECTION => {
                self.metadata.get_or_insert(section.data());
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import?;
                    if matches!(import.ty, TypeRef::Func(_)) {
                        self.imports.insert(format!("{}.{}", import.module, import.name));
                    }
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export?;
                    self.exports.insert(export.name.to_owned());
                    if export.kind == ExternalKind::Func {
                        self.functions.insert(export.name.to_owned());
                    }
                }
            }
            Payload::DataSection(section) => {
                for segment in section {
                    self.data.push(segment?.data);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Fails if policy-server cannot run the module as a waPC policy.
    ///
    /// `kwctl annotate` runs the module to get its protocol version. This check reads only the imports and exports, so that no
    /// WebAssembly engine is needed; the tests in `tests/front-ends` call the module.
    pub(crate) fn check_interface(&self) -> Result<()> {
        if !self.functions.contains("__guest_call") {
            bail!("not a waPC guest: the module exports no function `__guest_call`");
        }
        if !self.functions.contains("wapc_init") && !self.functions.contains("_start") {
            bail!("the module registers no operations: it exports neither `wapc_init` nor `_start`");
        }
        let known =
            |import: &&String| !import.starts_with("wapc.") && !import.starts_with("wasi_snapshot_preview1.");
        match self.imports.iter().find(known) {
            Some(import) => bail!("policy-server has no `{import}`, which the module imports"),
            None => Ok(()),
        }
    }
}
