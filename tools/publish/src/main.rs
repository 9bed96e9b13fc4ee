//! `make publish TARGET=registry.example/policies/karpenter:v1.0.0`

use std::process::ExitCode;
use std::{env, fs};

use karpwarden_publish::{PublishFailure, registry, target};

const USAGE: &str = "\
Usage: karpwarden-publish MODULE.wasm TARGET

  MODULE.wasm  the annotated module
  TARGET       registry.example/policies/karpenter:v1.0.0

Login: REGISTRY_USER and REGISTRY_PASSWORD, or the credentials that `docker login` stored.
Exit status: 0 pushed; 2 invalid usage or module; 3 registry unreachable; 4 login missing or not permitted; 5 push rejected.
";

fn main() -> ExitCode {
    match run() {
        Ok(immutable) => {
            // The output of `kwctl push --output json`.
            println!("{}", serde_json::json!({"immutable_ref": immutable}));
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("error: {}", failure.to_string().trim_end());
            ExitCode::from(failure.status())
        }
    }
}

fn run() -> Result<String, PublishFailure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, target] = &arguments[..] else { return Err(PublishFailure::Usage(USAGE.to_owned())) };
    let reference = target::reference(target)?;
    let module = fs::read(module).map_err(|error| PublishFailure::Usage(format!("{module}: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| PublishFailure::Usage(format!("no runtime: {error}")))?;
    runtime.block_on(registry::push(&module, &reference))
}
