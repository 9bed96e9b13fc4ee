//! Writes `types.txt` and `prices.txt` of `crates/karpenter/src/instance_types` from files of the AWS provider.
//!
//! ```text
//! cargo run -p karpwarden-instance-types -- PROVIDER REVISION PRICE-REVISION REGION
//! ```
//!
//! `PROVIDER` is a clone of aws/karpenter-provider-aws. The labels come from the reference page of instance types, the
//! network interfaces from `zz_generated.vpclimits.go`, and the prices from `zz_generated.pricing_aws.go`. The page of a
//! release is often published after its tag, so the prices have a separate revision.

mod limits;
mod page;
mod prices;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

const PAGE: &str = "website/content/en/preview/reference/instance-types.md";
const LIMITS: &str = "pkg/providers/instancetype/zz_generated.vpclimits.go";
const PRICES: &str = "pkg/providers/pricing/zz_generated.pricing_aws.go";
const OUTPUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/karpenter/src/instance_types");

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [provider, types, prices, region] = arguments.as_slice() else {
        eprintln!("usage: karpwarden-instance-types PROVIDER REVISION PRICE-REVISION REGION");
        return ExitCode::from(2);
    };
    match write(Path::new(provider), types, prices, region) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns a file of the provider at a revision.
fn show(provider: &Path, revision: &str, path: &str) -> Result<String, String> {
    let object = format!("{revision}:{path}");
    let output = Command::new("git").arg("-C").arg(provider).args(["show", &object]).output();
    let output = output.map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{object}: {error}"))
}

fn write(provider: &Path, revision: &str, of_prices: &str, region: &str) -> Result<(), String> {
    let limits = limits::parse(&show(provider, revision, LIMITS)?);
    let types = page::parse(&show(provider, revision, PAGE)?);
    let mut table = format!(
        "# aws/karpenter-provider-aws at {revision}: {PAGE}, {LIMITS}\n# {}\n",
        page::COLUMNS.join(" ")
    );
    for (name, page) in &types {
        let limits = limits.get(name).copied().or_else(|| page.interfaces());
        let limits = limits.ok_or_else(|| format!("{name}: no network interfaces"))?;
        table.push_str(&page.line(name, limits));
    }
    let prices = prices::parse(&show(provider, of_prices, PRICES)?, region);
    let mut list = format!(
        "# aws/karpenter-provider-aws at {of_prices}: {PRICES}\n# {region}, on-demand, USD per hour\n"
    );
    for (name, price) in prices.iter().filter(|(name, _)| types.contains_key(name.as_str())) {
        writeln!(list, "{name} {price}").map_err(|error| error.to_string())?;
    }
    for (file, text) in [("types.txt", table), ("prices.txt", list)] {
        fs::write(Path::new(OUTPUT).join(file), text).map_err(|error| format!("{file}: {error}"))?;
    }
    println!("{} instance types, {} prices", types.len(), prices.len());
    Ok(())
}
