//! Paths between the files of an input.

/// Joins a folder and a relative path, and resolves `.` and `..` as far as possible.
pub(crate) fn join(folder: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let folder = if relative.starts_with('/') { "" } else { folder };
    for part in folder.split('/').chain(relative.split('/')) {
        match part {
            "" if !parts.is_empty() || !folder.starts_with('/') && !relative.starts_with('/') => {}
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The folder of a file; empty for a file without a folder.
pub(crate) fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub(crate) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Names under which kustomize looks for a kustomization in a folder.
///
/// Source: api/konfig/general.go of kustomize v5.5.0.
pub const KUSTOMIZATION_FILES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Whether the name of a file is one under which kustomize looks for a kustomization.
pub(crate) fn is_kustomization_file(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| KUSTOMIZATION_FILES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_paths_from_the_folder_of_the_kustomization() {
        for (folder, relative, expected) in [
            ("overlays/prod", "pool.yaml", "overlays/prod/pool.yaml"),
            ("overlays/prod", "./a/../../pool.yaml", "overlays/pool.yaml"),
            ("/srv/prod", "../pool.yaml", "/srv/pool.yaml"),
            ("", "pool.yaml", "pool.yaml"),
            ("..", "../pool.yaml", "../../pool.yaml"),
            ("", "/srv//pool.yaml", "/srv/pool.yaml"),
            ("a", "/srv/pool.yaml", "/srv/pool.yaml"),
            ("overlays/prod", "../../base/", "base"),
        ] {
            assert_eq!(join(folder, relative), expected, "{folder} {relative}");
        }
    }
}
