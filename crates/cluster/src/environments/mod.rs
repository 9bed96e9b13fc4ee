//! Environments: sibling folders of one input that look like several clusters, such as `dev` and `prod`.
//!
//! An object in an environment sees the objects of its environment and the objects outside of any environment. Environments
//! can be nested, as in `prod/eu-west-1`. If the user names the clusters with `--cluster`, there are no environments.

mod names;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use objects::chart_values;
use objects::controller::Controller;
use objects::iam_policy;
use objects::object::Object;

use crate::folders::{folders_of, name, parent};
use crate::inventory::Inventory;

/// Largest sum of the objects in the inventories of all environments, as a multiple of the number of objects. It keeps the
/// cost linear: with more environments than that, an environment does not see the objects outside.
const MAX_COPIES: usize = 16;

/// The environments of an input, each with its inventory.
#[derive(Debug, Default)]
pub struct Environments<'d> {
    /// The environment of each file, as an index of `inventories`; 0 is the outside. Empty if there are no environments.
    of_file: Vec<usize>,
    inventories: Vec<Inventory<'d>>,
    /// The sibling folders that look like clusters.
    groups: Vec<Vec<String>>,
}

impl<'d> Environments<'d> {
    /// Finds the environments of a cluster without a name. `files` are the names of all files, and `objects` are all objects
    /// with the index of their file, in the order of the input.
    pub fn of(files: &[&str], objects: &[(usize, Object<'d>)], complete: bool) -> Self {
        let roles = roles_of_folders(files, objects);
        let groups = groups(&roles);
        if groups.is_empty() {
            return Self::default();
        }
        let scopes = Scopes::of(&groups);
        let of_file: Vec<usize> = files.iter().map(|file| scopes.find(file)).collect();
        let inventories = scopes.inventories(&of_file, objects, complete);
        let owned = |group: Vec<&str>| group.into_iter().map(str::to_owned).collect();
        Self { of_file, inventories, groups: groups.into_iter().map(owned).collect() }
    }

    /// The inventory for the objects of a file; `None` if there are no environments.
    pub fn inventory(&self, file: usize) -> Option<&Inventory<'d>> {
        self.inventories.get(*self.of_file.get(file)?)
    }

    /// The inventories of all environments and of the outside; none if there are no environments.
    pub fn inventories(&self) -> &[Inventory<'d>] {
        &self.inventories
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
fn roles_of_folders<'f>(files: &[&'f str], objects: &[(usize, Object<'_>)]) -> BTreeMap<&'f str, Role> {
    let mut of_file = vec![Role::default(); files.len()];
    for (file, object) in objects {
        if let Some(role) = of_file.get_mut(*file) {
            role.defines = role.defines || defines_cluster(*object);
            role.runs = role.runs || object.pod().is_some();
        }
    }
    let mut roles: BTreeMap<&'f str, Role> = BTreeMap::new();
    for (file, own) in files.iter().zip(of_file) {
        for folder in folders_of(file) {
            let role = roles.entry(folder).or_default();
            role.defines |= own.defines;
            role.runs |= own.runs;
        }
    }
    roles
}

fn defines_cluster(object: Object<'_>) -> bool {
    matches!(object.group(), "karpenter.sh" | "karpenter.k8s.aws")
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

/// The environments and the outside, each with the environment around it.
struct Scopes<'f> {
    /// The scopes by folder; the outside has index 0 and no folder.
    by_folder: BTreeMap<&'f str, usize>,
    /// The index of the scope around each scope.
    around: Vec<usize>,
}

impl<'f> Scopes<'f> {
    fn of(groups: &[Vec<&'f str>]) -> Self {
        let mut folders: Vec<&str> = groups.iter().flatten().copied().collect();
        // A folder sorts before the folders below it.
        folders.sort_unstable();
        let mut scopes = Self { by_folder: BTreeMap::new(), around: vec![0] };
        for folder in folders {
            let around = scopes.find(folder);
            scopes.by_folder.insert(folder, scopes.around.len());
            scopes.around.push(around);
        }
        scopes
    }

    /// The innermost scope that holds a file or folder.
    fn find(&self, path: &str) -> usize {
        folders_of(path).find_map(|folder| self.by_folder.get(folder).copied()).unwrap_or(0)
    }

    /// Builds the inventory of each scope from its objects and the objects of the scopes around it.
    fn inventories<'d>(
        &self,
        of_file: &[usize],
        objects: &[(usize, Object<'d>)],
        complete: bool,
    ) -> Vec<Inventory<'d>> {
        let mut own: Vec<Vec<usize>> = vec![Vec::new(); self.around.len()];
        for (index, (file, _)) in objects.iter().enumerate() {
            let scope = of_file.get(*file).copied().unwrap_or(0);
            own.get_mut(scope).into_iter().for_each(|own| own.push(index));
        }
        let sees_outside = self.copies(&own) <= MAX_COPIES * objects.len();
        let with_environments: BTreeSet<usize> = self.around.iter().skip(1).copied().collect();
        let inventory = |scope: usize| {
            let own_objects = own.get(scope).into_iter().flatten().copied();
            let mut visible: Vec<usize> = own_objects.clone().collect();
            if sees_outside {
                visible.extend(self.above(scope).filter_map(|above| own.get(above)).flatten());
                visible.sort_unstable();
            }
            let object = |index: usize| objects.get(index).map(|(_, object)| *object);
            let visible: Vec<_> = visible.into_iter().filter_map(object).collect();
            let inventory = Inventory::new("", visible, complete);
            let own_objects = own_objects.filter_map(object).collect();
            inventory.of_environment(own_objects, with_environments.contains(&scope))
        };
        (0..self.around.len()).map(inventory).collect()
    }

    /// Number of objects in all inventories if each environment sees the objects around it.
    fn copies(&self, own: &[Vec<usize>]) -> usize {
        let count = |scope: usize| own.get(scope).map_or(0, Vec::len);
        let of_scope = |scope: usize| count(scope) + self.above(scope).map(count).sum::<usize>();
        (0..self.around.len()).map(of_scope).sum()
    }

    /// The scopes around a scope, from the inside out.
    fn above(&self, scope: usize) -> impl Iterator<Item = usize> {
        let around = |scope: &usize| (*scope > 0).then(|| self.around.get(*scope).copied()).flatten();
        core::iter::successors(around(&scope), around)
    }
}
