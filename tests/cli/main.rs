//! Inputs, outputs and exit statuses of the built binary.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up, or whose output has another shape, fails"
)]

mod adoption;
mod answers;
mod audit;
mod charts;
#[cfg(unix)]
mod collect;
mod compressed;
mod costly;
mod diagnose;
mod disruption;
mod documented;
mod editor;
mod field_cases;
mod fixing;
mod folder;
mod formats;
mod getting_started;
mod guard;
mod hash;
mod kustomize;
mod lsp;
mod lsp_examples;
mod lsp_names;
mod lsp_terraform;
mod mcp;
mod open;
mod pipes;
mod places;
mod plan;
mod plan_appliers;
mod plan_around;
mod plan_base;
#[cfg(unix)]
mod plan_charts;
mod plan_clusters;
mod plan_collected;
mod plan_definitions;
mod plan_inputs;
mod plan_kustomized_charts;
mod plan_nested;
mod plan_nodes;
mod plan_releases;
mod plan_roots;
mod plan_snapshot;
mod plan_sources;
mod plan_templates;
mod plan_terragrunt;
mod plan_values;
mod plan_variables;
mod plan_words;
mod plan_wrapped;
mod reading;
#[cfg(unix)]
mod render;
mod report;
mod reporting;
mod rules;
mod schema;
mod settings;
mod simulate;
mod story;
mod terraform;
mod terraform_instances;
mod terraform_parts;
mod terraform_plan;
mod terraform_unknown;
mod upgrade;
mod versions;
mod watch;
mod what_if;
#[cfg(unix)]
mod why;
mod writing;
