//! Environments: sibling folders of one input that look like several clusters, such as `dev` and `prod`.
//!
//! An object in an environment sees the objects of its environment and the objects outside of any environment. Environments
//! can be nested, as in `prod/eu-west-1`. If the user names the clusters with `--cluster`, there are no environments.

pub(crate) mod names;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use ids::{IdVec, ids};
use karpenter::kind::is_karpenter_group;
use manifest::File;
use objects::chart_values;
use objects::controller::Controller;
use objects::iam_policy;
use objects::object::Object;

use crate::files::files_of;
use crate::folders::{folders_of, name, parent};
use crate::ids::{ClusterId, FileId};
use crate::input_object::InputObject;
use crate::inventory::Inventory;

/// Largest sum of the objects in the inventories of all environments, as a multiple of the number of objects. It keeps the
/// cost linear: with more environments than that, an environment does not see the objects outside.
const MAX_COPIES: usize = 16;

/// The environments of an input, each with its inventory.
#[derive(Debug, Default)]
pub struct Environments<'d> {
    /// The scope of each file. Empty if there are no environments.
    of_file: BTreeMap<FileId, ScopeId>,
    /// The inventory of each scope.
    inventories: IdVec<ScopeId, Inventory<'d>>,
    /// The sibling folders that look like clusters.
    groups: Vec<Vec<String>>,
}

impl<'d> Environments<'d> {
    /// Finds the environments of a cluster without a name, among its files and their objects in the order of the input.
    pub fn of(cluster: ClusterId, files: &[File], objects: &[InputObject<'d>], complete: bool) -> Self {
        // Folders that hold only scripts are no clusters.
        let read = files_of(cluster, files).filter(|(_, file)| !file.kind.is_text());
        let names = read.map(|(id, file)| (id, file.source.name())).collect();
        let roles = roles_of_folders(&names, objects);
        let groups = groups(&roles);
        if groups.is_empty() {
            return Self::default();
        }
        let scopes = Scopes::of(&groups);
        let of_file = names.into_iter().map(|(file, name)| (file, scopes.find(name))).collect();
        let inventories = scopes.inventories(&of_file, objects, complete);
        let owned = |group: Vec<&str>| group.into_iter().map(str::to_owned).collect();
        Self { of_file, inventories, groups: groups.into_iter().map(owned).collect() }
    }

    /// The inventory for the objects of a file; `None` if there are no environments.
    pub fn inventory(&self, file: FileId) -> Option<&Inventory<'d>> {
        self.inventories.get(*self.of_file.get(&file)?)
    }

    /// The inventories of all environments and of the outside; none if there are no environments.
    pub fn inventories(&self) -> &[Inventory<'d>] {
        self.inventories.as_slice()
    }

    /// The groups of sibling folders that look like clusters.
    pub fn groups(&self) -> &[Vec<String>] {
        &self.groups
    }
}

/// Contents of a folder and of the folders below it.
#[derive(Clone, Copy, Debug, Default)]
struct Role {
    /// Objects from which rules learn about a cluster: NodePools, node classes, the controller, chart values, IAM policies.
    defines: bool,
    /// Pods and pod templates, which are compared with the objects above.
    runs: bool,
}

/// The roles of all folders, by path.
fn roles_of_folders<'f>(
    files: &BTreeMap<FileId, &'f str>,
    objects: &[InputObject<'_>],
) -> BTreeMap<&'f str, Role> {
    let mut of_file = BTreeMap::<FileId, Role>::new();
    for InputObject { object, document, .. } in objects {
        let role = of_file.entry(document.file).or_default();
        role.defines = role.defines || defines_cluster(*object);
        role.runs = role.runs || object.pod().is_some();
    }
    let mut roles: BTreeMap<&'f str, Role> = BTreeMap::new();
    for (file, name) in files {
        let own = of_file.get(file).copied().unwrap_or_default();
        for folder in folders_of(name) {
            let role = roles.entry(folder).or_default();
            role.defines |= own.defines;
            role.runs |= own.runs;
        }
    }
    roles
}

fn defines_cluster(object: Object<'_>) -> bool {
    is_karpenter_group(object.group())
        || chart_values::of(object).is_some()
        || Controller::of(object).is_some()
        || iam_policy::holds(object)
}

/// The groups of sibling folders that look like clusters. A group counts if at least two of its folders hold objects that
/// rules compare, and one of these defines a cluster.
fn groups<'f>(roles: &BTreeMap<&'f str, Role>) -> Vec<Vec<&'f str>> {
    let mut siblings: BTreeMap<&'f str, BTreeSet<&'f str>> = BTreeMap::new();
    let mut paths: BTreeMap<(&'f str, &'f str), &'f str> = BTreeMap::new();
    for folder in roles.keys().copied() {
        if let Some(above) = parent(folder) {
            siblings.entry(above).or_default().insert(name(folder));
            paths.insert((above, name(folder)), folder);
        }
    }
    let mut groups = Vec::new();
    for (above, names) in &siblings {
        let found = names::environments(name(above), names);
        let folders = found.into_iter().filter_map(|name| paths.get(&(*above, name)).copied());
        let role = |folder: &str| roles.get(folder).copied().unwrap_or_default();
        let compared: Vec<&str> =
            folders.filter(|folder| role(folder).defines || role(folder).runs).collect();
        if compared.len() > 1 && compared.iter().any(|folder| role(folder).defines) {
            groups.push(compared);
        }
    }
    groups
}

ids! {
    /// Environment, or the outside.
    ScopeId;
    /// Object of the input.
    InputObjectId;
}

impl ScopeId {
    const OUTSIDE: Self = Self(0);
}

/// The environments and the outside, each with the environment around it.
struct Scopes<'f> {
    /// The scopes by folder; the outside has no folder.
    by_folder: BTreeMap<&'f str, ScopeId>,
    /// The scope around each scope; the outside is around itself.
    around: IdVec<ScopeId, ScopeId>,
}

impl<'f> Scopes<'f> {
    fn of(groups: &[Vec<&'f str>]) -> Self {
        let mut folders: Vec<&str> = groups.iter().flatten().copied().collect();
        // A folder sorts before the folders below it.
        folders.sort_unstable();
        let mut scopes =
            Self { by_folder: BTreeMap::new(), around: [ScopeId::OUTSIDE].into_iter().collect() };
        for folder in folders {
            let around = scopes.find(folder);
            let id = scopes.around.push(around);
            scopes.by_folder.insert(folder, id);
        }
        scopes
    }

    /// All scopes.
    fn ids(&self) -> impl Iterator<Item = ScopeId> + use<> {
        self.around.ids()
    }

    /// The innermost scope that holds a file or folder.
    fn find(&self, path: &str) -> ScopeId {
        folders_of(path).find_map(|folder| self.by_folder.get(folder).copied()).unwrap_or(ScopeId::OUTSIDE)
    }

    /// Builds the inventory of each scope from its objects and the objects of the scopes around it.
    fn inventories<'d>(
        &self,
        of_file: &BTreeMap<FileId, ScopeId>,
        objects: &[InputObject<'d>],
        complete: bool,
    ) -> IdVec<ScopeId, Inventory<'d>> {
        let objects: IdVec<InputObjectId, &InputObject<'d>> = objects.iter().collect();
        // The ids of the objects restore the order of the input.
        let mut own = BTreeMap::<ScopeId, Vec<InputObjectId>>::new();
        for (id, object) in objects.enumerate() {
            let scope = of_file.get(&object.document.file).copied().unwrap_or(ScopeId::OUTSIDE);
            own.entry(scope).or_default().push(id);
        }
        let sees_outside = self.copies(&own) <= MAX_COPIES * objects.len();
        let with_environments: BTreeSet<ScopeId> = self.around.iter().skip(1).copied().collect();
        let inventory = |scope: ScopeId| {
            let own_objects = own.get(&scope).into_iter().flatten().copied();
            let mut visible: Vec<InputObjectId> = own_objects.clone().collect();
            if sees_outside {
                visible.extend(self.above(scope).filter_map(|above| own.get(&above)).flatten());
                visible.sort_unstable();
            }
            let object = |id: InputObjectId| objects.get(id).map(|one| one.object);
            let visible: Vec<_> = visible.into_iter().filter_map(object).collect();
            let inventory = Inventory::new("", visible, complete);
            let own_objects = own_objects.filter_map(object).collect();
            inventory.of_environment(own_objects, with_environments.contains(&scope))
        };
        self.ids().map(inventory).collect()
    }

    /// Number of objects in all inventories if each environment sees the objects around it.
    fn copies(&self, own: &BTreeMap<ScopeId, Vec<InputObjectId>>) -> usize {
        let count = |scope: ScopeId| own.get(&scope).map_or(0, Vec::len);
        self.ids().map(|scope| count(scope) + self.above(scope).map(count).sum::<usize>()).sum()
    }

    /// The scopes around a scope, from the inside out.
    fn above(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> {
        let around =
            |scope: &ScopeId| self.around.get(*scope).copied().filter(|_| *scope != ScopeId::OUTSIDE);
        core::iter::successors(around(&scope), around)
    }
}
