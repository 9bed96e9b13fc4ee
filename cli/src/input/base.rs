//! Names of files in reports, which do not depend on how the command line spells a path.

use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

use crate::options::InputOptions;

/// Folder that the names of files start from.
#[derive(Clone, Debug)]
pub(crate) struct BaseFolder {
    here: PathBuf,
    folder: PathBuf,
}

impl BaseFolder {
    /// The working directory.
    pub(crate) fn here() -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        Self { folder: here.clone(), here }
    }

    /// The folder of a file, or the working directory if the folder does not exist.
    pub(crate) fn of_file(file: &Path) -> Self {
        let Self { here, .. } = Self::here();
        let folder = file.parent().and_then(|folder| here.join(folder).canonicalize().ok());
        Self { folder: folder.unwrap_or_else(|| here.clone()), here }
    }

    /// The base of a run: the base of its confinement, the folder of the config file, or the working directory without one. A config file in a folder that
    /// holds neither the working directory nor the input, such as `.github`, gives no base.
    pub(crate) fn of_run(input: &InputOptions, config: Option<&Path>) -> Self {
        if let Some(confinement) = &input.confinement {
            return Self { here: confinement.base.clone(), folder: confinement.base.clone() };
        }
        let Some(base) = config.map(Self::of_file) else { return Self::here() };
        let mut paths = input.paths.iter().chain(&input.clusters).filter(|path| path.as_os_str() != "-");
        let is_inside = |path: &PathBuf| {
            let path = normalised(&base.here.join(path));
            path.starts_with(&base.folder) || physical(&path).starts_with(&base.folder)
        };
        let holds_run = base.here.starts_with(&base.folder) || paths.all(is_inside);
        if holds_run { base } else { Self::here() }
    }

    /// Name of a file or folder: relative to the base with forward slashes, or absolute if they have only the root in common.
    pub(crate) fn name(&self, path: &Path) -> String {
        let path = normalised(&self.here.join(path));
        // A path can lead into the base through a symbolic link outside of it.
        let inside = path.strip_prefix(&self.folder).map(Path::to_owned);
        let inside = inside.or_else(|_| physical(&path).strip_prefix(&self.folder).map(Path::to_owned));
        let name = inside.unwrap_or_else(|_| relative(&path, &self.folder));
        let shown = name.to_string_lossy().replace(MAIN_SEPARATOR, "/");
        if shown.is_empty() { ".".to_owned() } else { shown }
    }

    /// Path of a name, for opening the file.
    pub(crate) fn path(&self, name: &Path) -> PathBuf {
        self.folder.join(name)
    }
}

/// Path without `.` and `..`.
pub(crate) fn normalised(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

/// Path with the symbolic links of its folders resolved, as far as they exist.
fn physical(path: &Path) -> PathBuf {
    let existing = path.ancestors().skip(1).find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let resolved =
        existing.and_then(|(folder, canonical)| Some(canonical.join(path.strip_prefix(folder).ok()?)));
    resolved.unwrap_or_else(|| path.to_owned())
}

/// Path from a folder to an absolute path outside of it.
fn relative(path: &Path, folder: &Path) -> PathBuf {
    let common = path.components().zip(folder.components()).take_while(|(one, other)| one == other).count();
    let is_root_only = path.components().take(common).all(|part| !matches!(part, Component::Normal(_)));
    if is_root_only {
        return path.to_owned();
    }
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_for_every_spelling_of_a_path() {
        let base = BaseFolder { here: "/home/u/repo/apps".into(), folder: "/home/u/repo".into() };
        for (path, name) in [
            ("a.yaml", "apps/a.yaml"),
            ("./a.yaml", "apps/a.yaml"),
            ("../apps/./a.yaml", "apps/a.yaml"),
            ("/home/u/repo/apps/a.yaml", "apps/a.yaml"),
            ("..", "."),
            ("../../other/a.yaml", "../other/a.yaml"),
            ("/tmp/a.yaml", "/tmp/a.yaml"),
        ] {
            assert_eq!(base.name(Path::new(path)), name, "{path}");
        }
    }
}
