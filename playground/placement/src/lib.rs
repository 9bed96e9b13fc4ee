//! Browser front end of `karpwarden simulate`, `karpwarden disruption` and `karpwarden plan`: takes files and returns where
//! Karpenter places the pods, when it may disrupt the nodes, and what a change does to them.
//!
//! This is a separate module because most visitors only check a manifest. The page fetches it when the Placement, the
//! Disruption or the Change tab opens, or when the pointer rests on a requirement or a schedule of a NodePool. It contains
//! no rules.

mod change;
mod disruption;

use karpwarden::answers::page::{TypesOfPool, TypesOfRequirement};
use karpwarden::answers::sorted;
use karpwarden::cluster::Cluster;
use karpwarden::cluster::built_objects::BuiltObjects;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::objects::object::Object;
use karpwarden::rule::settings::{Settings, Target};
use karpwarden::scheduling::simulation::{PoolTypes, RequirementTypes};
use karpwarden::simulate::{self, Choices, DeducedSettings, replicas};
use karpwarden::values::timestamp::Timestamp;
use serde::Serialize;
use terraform_objects::evaluate_given;
use wasm_bindgen::prelude::wasm_bindgen;

/// Files and a release to simulate. The files are parsed once, and each number of replicas is a simulation.
#[wasm_bindgen(js_name = PlacementWorld)]
#[derive(Debug, Default)]
pub struct PlacementWorld {
    cluster: Cluster,
    settings: Settings,
}

#[wasm_bindgen(js_class = PlacementWorld)]
impl PlacementWorld {
    /// Starts without files. The release is the one that the files pin, or else the newest, unless the visitor chose one.
    #[wasm_bindgen(constructor)]
    pub fn new(release: Option<String>) -> Result<Self, String> {
        let mut settings = Settings::default();
        if let Some(release) = release {
            settings.karpenter = Target::parse(&release).map_err(|error| error.to_string())?;
            settings.is_karpenter_version_set = true;
        }
        Ok(Self { cluster: Cluster::default(), settings })
    }

    /// Adds a file.
    pub fn file(&mut self, name: &str, text: &str) {
        self.cluster.files.push(read(name, text));
    }

    /// Evaluates the configurations and the plans of Terraform among the files, after the last file.
    pub fn evaluate(&mut self) {
        evaluate_given(&mut self.cluster.files, &Limits::DEFAULT);
    }

    /// Returns the result as `karpwarden simulate --format json` prints it, without line breaks, and without the flags that
    /// replace an assumption there. Each line of `replicas` is a `KIND/NAME=N`.
    pub fn simulate(&self, replicas: &str) -> Result<String, String> {
        let replicas: Result<_, _> = replicas.lines().map(replicas::parse).collect();
        let replicas = replicas.map_err(|error| error.to_string())?;
        let choices = Choices { replicas, ..Choices::default() };
        let answer = simulate::answer(&self.cluster.files, &choices, &self.settings);
        text(&answer.map_err(|error| error.to_string())?)
    }

    /// Returns the number of instance types that each requirement of a NodePool leaves:
    /// `[{"nodePool", "all", "left", "requirements": [{"file", "offset", "endOffset", "key", "types"}]}]`.
    pub fn requirements(&self) -> Result<String, String> {
        let built = BuiltObjects::of(&self.cluster.files);
        let objects = built.objects(&self.cluster.files);
        let options = self.options(&Choices::default(), &built, &objects)?;
        let pools = PoolTypes::of(&objects, &options.settings);
        text(&pools.iter().map(pool).collect::<Vec<_>>())
    }

    /// Returns the week of each NodePool from a time such as `2026-03-11T10:30:00Z`, and the obstacles of each node.
    pub fn disruption(&self, at: &str) -> Result<String, String> {
        let at = time(at)?;
        let built = BuiltObjects::of(&self.cluster.files);
        let objects = built.objects(&self.cluster.files);
        let options = self.options(&Choices::default(), &built, &objects)?;
        text(&disruption::overview(&objects, options, at))
    }

    /// Returns what consolidation would do with a node if Karpenter looked at it first, as a string; null if something is in
    /// the way.
    pub fn alone(&self, at: &str, node: &str) -> Result<String, String> {
        let at = time(at)?;
        let built = BuiltObjects::of(&self.cluster.files);
        let objects = built.objects(&self.cluster.files);
        let options = self.options(&Choices::default(), &built, &objects)?;
        text(&disruption::alone(&objects, options, at, node))
    }

    /// Returns the week of each budget with a schedule, from a time on.
    pub fn schedules(&self, at: &str) -> Result<String, String> {
        let at = time(at)?;
        let built = BuiltObjects::of(&self.cluster.files);
        let objects = built.objects(&self.cluster.files);
        let options = self.options(&Choices::default(), &built, &objects)?;
        text(&disruption::schedules(&objects, &options, at))
    }

    /// Returns the plan of the change from the files of another world to these files at a time, as
    /// `karpwarden plan --format json` prints it, without the flags that replace an assumption there. The nodes are those of
    /// the world before, or else of this one.
    pub fn plan(&self, before: &Self, at: &str) -> Result<String, String> {
        let answer = change::answer(&before.cluster, &self.cluster, &self.settings, time(at)?);
        text(&answer.map_err(|error| error.to_string())?)
    }

    fn options(
        &self,
        choices: &Choices,
        built: &BuiltObjects,
        objects: &[Object<'_>],
    ) -> Result<DeducedSettings, String> {
        let options = DeducedSettings::new(choices, &self.settings, &self.cluster.files, objects);
        Ok(options.map_err(|error| error.to_string())?.with_overlays(&built.left_out()))
    }
}

/// Parses a file. A visitor chooses each file, like a user who names it on the command line.
fn read(name: &str, text: &str) -> File {
    let read = File::from_bytes(name.to_owned(), text.as_bytes().to_vec(), READ_OPTIONS);
    File { is_relevant: Some(true), ..read }
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| format!("`{text}` is not a time such as 2026-03-11T10:30:00Z"))
}

/// Prints an answer with sorted keys.
fn text(answer: &impl Serialize) -> Result<String, String> {
    sorted(answer).map(|json| json.to_string()).map_err(|error| error.to_string())
}

fn pool(pool: &PoolTypes<'_>) -> TypesOfPool {
    TypesOfPool {
        node_pool: pool.pool.name().to_owned(),
        all: pool.all,
        left: pool.left,
        requirements: pool.requirements.iter().map(requirement).collect(),
    }
}

fn requirement(requirement: &RequirementTypes<'_>) -> TypesOfRequirement {
    let node = requirement.item.node();
    let (source, span) = (node.source(), node.span());
    TypesOfRequirement {
        file: source.name().to_owned(),
        offset: source.position(span.start).offset,
        end_offset: source.position(span.end).offset,
        key: requirement.item.key().unwrap_or_default().to_owned(),
        types: requirement.types,
    }
}
