//! The clusters to which files outside of their folders belong, by the names of folders.

use std::collections::{BTreeMap, BTreeSet};

use cluster::appliers::folder_of_overlay;
use cluster::folders::folders_of;

use super::PlanPair;
use super::crossed::ScopeParts;
use super::scope::{PlanScope, joined};

/// The clusters that see a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeenBy {
    /// The cluster, and maybe others.
    Cluster,
    /// Other clusters: the place is in the folder of one of them.
    Other,
    /// Probably other clusters: a folder of the place has the name of a folder of one of them.
    OtherByName,
}

/// The names of the clusters of a pair.
#[derive(Debug, Default)]
pub(super) struct ClusterNames {
    /// The folders of the clusters, without the start of their side.
    folders: BTreeSet<String>,
    /// The clusters that have a word in their names, of the words that not all clusters have.
    words: BTreeMap<String, BTreeSet<String>>,
}

impl ClusterNames {
    pub(super) fn of(pair: PlanPair<'_>, scopes: &[PlanScope<'_>]) -> Self {
        let mut found = Self::default();
        for scope in scopes {
            for name in [Some(&scope.name), scope.was.as_ref()].into_iter().flatten() {
                found.folders.extend(
                    Some(folder_of_cluster(pair, name)).filter(|name| !name.is_empty()).map(str::to_owned),
                );
                for word in words(plain(pair, name)) {
                    found.words.entry(word.to_owned()).or_default().insert(scope.name.clone());
                }
            }
        }
        let all = scopes.len();
        found.words.retain(|_, clusters| clusters.len() < all);
        found
    }

    /// Which clusters see a place, of which one has a name and a folder: the places in its folder, around it, and outside of all. Outside of all
    /// folders of clusters, `crds/prod` is of the cluster `pools/prod`.
    pub(super) fn sees(&self, (cluster, folder): (&str, &str), place: &str) -> SeenBy {
        let mut around = std::iter::once(place).chain(folders_of(place));
        if let Some(home) = around.find(|around| self.folders.contains(*around)) {
            let is_around = home == folder || folders_of(folder).any(|around| around == home);
            return if is_around { SeenBy::Cluster } else { SeenBy::Other };
        }
        let known = words(place).filter_map(|word| self.words.get(word));
        let common = known.fold(None, |common: Option<BTreeSet<&String>>, clusters| {
            Some(match common {
                None => clusters.iter().collect(),
                Some(common) => common.into_iter().filter(|name| clusters.contains(*name)).collect(),
            })
        });
        match common {
            Some(owners) if !owners.is_empty() && !owners.iter().any(|owner| *owner == cluster) => {
                SeenBy::OtherByName
            }
            _ => SeenBy::Cluster,
        }
    }
}

fn plain<'n>(pair: PlanPair<'_>, name: &'n str) -> &'n str {
    name.strip_prefix(pair.name).unwrap_or(name).trim_start_matches('/')
}

/// The folder of a cluster, without the start of its side.
pub(super) fn folder_of_cluster<'n>(pair: PlanPair<'_>, name: &'n str) -> &'n str {
    folder_of_overlay(plain(pair, name))
}

/// The names of some of the scopes: the name of the pair for all, of an overlay for all of its scopes, and of a root module for all of its scopes.
pub(super) fn named(pair: PlanPair<'_>, scopes: &[PlanScope<'_>], own: &BTreeSet<usize>) -> String {
    if scopes.len() > 1 && own.len() == scopes.len() {
        return pair.name.to_owned();
    }
    let all = |part: fn(&ScopeParts) -> &str| {
        let mut found: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (index, scope) in scopes.iter().enumerate() {
            found.entry(part(&scope.parts)).or_default().insert(index);
        }
        found.retain(|name, all| !name.is_empty() && all.len() > 1 && all.is_subset(own));
        found
    };
    let overlays = all(|parts| &parts.overlay);
    let roots = all(|parts| if parts.is_root { &parts.folder } else { "" });
    let name = |index: &usize| {
        let scope = scopes.get(*index)?;
        let whole = [(&overlays, &scope.parts.overlay), (&roots, &scope.parts.folder)];
        let whole = whole
            .into_iter()
            .find(|(all, name)| all.get(name.as_str()).is_some_and(|all| all.contains(index)));
        Some(whole.map_or_else(|| scope.name.clone(), |(_, name)| joined(pair.name, name)))
    };
    let mut names: Vec<String> = own.iter().filter_map(name).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names.join(", ")
}

/// The names of the folders in the name of a cluster or a file.
pub(super) fn words(name: &str) -> impl Iterator<Item = &str> {
    const EXTENSIONS: [&str; 5] = [".yaml", ".yml", ".auto.tfvars", ".tfvars", ".tfvars.json"];
    let parts = name.split(['/', ' ', '(', ')']);
    let plain = parts.map(|part| EXTENSIONS.iter().find_map(|end| part.strip_suffix(end)).unwrap_or(part));
    plain.filter(|part| !part.is_empty() && *part != ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_outside_of_the_clusters_is_of_the_one_that_shares_a_folder_name() {
        let clusters = ["pools/eu/dev", "pools/eu/prod", "pools/us/prod", "infra (clusters/a/i)"];
        let mut names = ClusterNames::default();
        for cluster in clusters {
            names.folders.insert(folder_of_overlay(cluster).to_owned());
            for word in words(cluster) {
                names.words.entry(word.to_owned()).or_default().insert(cluster.to_owned());
            }
        }
        let seeing = |place: &str| -> String {
            let sees =
                |cluster: &&str| names.sees((cluster, folder_of_overlay(cluster)), place) == SeenBy::Cluster;
            clusters.iter().filter(|cluster| sees(cluster)).copied().collect::<Vec<_>>().join(", ")
        };
        let all = clusters.join(", ");
        for (place, expected) in [
            ("crds/crd.yaml", all.as_str()),
            ("crds/eu/prod/crd.yaml", "pools/eu/prod"),
            ("crds/us/crd.yaml", "pools/us/prod"),
            ("crds/dev.yaml", "pools/eu/dev"),
            ("crds/us/dev/crd.yaml", all.as_str()),
            ("pools/eu/prod/crd.yaml", "pools/eu/prod"),
            ("clusters/a/crd.yaml", "infra (clusters/a/i)"),
        ] {
            assert_eq!(seeing(place), expected, "{place}");
        }
    }
}
