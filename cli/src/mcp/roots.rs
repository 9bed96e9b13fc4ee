//! The folders that the server may read: the roots of the client, and the folders of `--root`.

// SEP-2577 deprecates roots. Clients that have them still grant folders through them, and no other part of the protocol does.
#![expect(deprecated, reason = "clients grant folders through roots until they have something else")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use language_server::path_of_address;
use rmcp::RoleServer;
use rmcp::model::{
    InputRequest, InputRequiredResult, InputResponses, ListRootsRequest, ListRootsResult, ProtocolVersion,
};
use rmcp::service::RequestContext;

use super::limits::ROOTS_SECONDS;
use crate::config;
use crate::error::CommandError;
use crate::input::{ByteBudget, Confinement, resolved};

/// Name of the request for the roots in an answer that needs them.
const KEY: &str = "roots";

/// Folders that may be read, with symbolic links resolved.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots {
    folders: Vec<PathBuf>,
}

/// The roots of a client.
pub(super) enum ClientRoots {
    /// The list of the client.
    Named(Roots),
    /// The client has no list, or its answer is late or an error: this call has no roots.
    Unknown,
    /// The client has to answer this first.
    Asked(InputRequiredResult),
}

impl Roots {
    pub(super) fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// The same folders and further ones.
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut folders = self.folders.clone();
        folders.extend(other.folders.iter().filter(|folder| !self.folders.contains(folder)).cloned());
        Self { folders }
    }

    /// The folders of a client's list. An address of something else, and a folder that does not exist, grants nothing.
    fn of_list(list: &ListRootsResult) -> Self {
        let paths = list.roots.iter().filter_map(|root| path_of_address(&root.uri));
        Self::new(paths.filter_map(|path| path.canonicalize().ok()).filter(|path| path.is_dir()).collect())
    }

    /// The first folder, for the settings of a text.
    pub(super) fn first(&self) -> Option<&Path> {
        self.folders.first().map(PathBuf::as_path)
    }

    /// The folder that holds a path without links.
    pub(super) fn root_of(&self, path: &Path) -> Option<&Path> {
        self.folders.iter().find(|root| path.starts_with(root)).map(PathBuf::as_path)
    }

    /// The bounds of a run whose names of files start from a folder.
    pub(super) fn confinement(&self, base: &Path, max_bytes: usize) -> Confinement {
        let budget = ByteBudget::new(max_bytes);
        Confinement { base: base.to_owned(), roots: self.folders.clone(), budget }
    }

    /// The path of an existing file or folder, with symbolic links resolved.
    pub(super) fn resolve(&self, text: &str) -> Result<PathBuf, CommandError> {
        let usage = |reason: String| Err(CommandError::Usage(format!("`{text}`: {reason}")));
        if self.folders.is_empty() {
            return usage(
                "the client grants no folder; pass the content as text, or start the server with `karpwarden mcp --root DIR`"
                    .to_owned(),
            );
        }
        let path = if text.starts_with("file:") { path_of_address(text) } else { Some(PathBuf::from(text)) };
        let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else {
            return usage("not a path of a file or folder".to_owned());
        };
        // A relative path starts from the first folder in which it exists.
        let candidates = || self.folders.iter().map(|root| root.join(&path));
        let start = candidates().find(|path| path.symlink_metadata().is_ok()).or_else(|| candidates().next());
        let found = start.and_then(|path| resolved(&path)).filter(|path| self.root_of(path).is_some());
        let Some(found) = found else {
            return usage(format!(
                "outside of the folders that may be read ({}); name a path below them, pass the content as text, or start the server with `karpwarden mcp --root DIR`",
                self.listed()
            ));
        };
        if !found.exists() {
            return usage(format!("no such file or folder below {}", self.listed()));
        }
        if !found.is_file() && !found.is_dir() {
            return usage("neither a file nor a folder; pipes and devices are not read".to_owned());
        }
        Ok(found)
    }

    /// The config file of a path: in its folder, or in the nearest folder above it that may be read.
    pub(super) fn config_of(&self, path: &Path) -> Option<PathBuf> {
        let folders = path.ancestors().take_while(|folder| self.root_of(folder).is_some());
        let config = folders.map(|folder| folder.join(config::FILE)).find(|file| file.is_file())?;
        // The file may be a link.
        self.root_of(&config.canonicalize().ok()?).map(|_| config)
    }

    fn listed(&self) -> String {
        self.folders.iter().map(|folder| format!("`{}`", folder.display())).collect::<Vec<_>>().join(", ")
    }
}

/// Asks the client for its roots.
pub(super) async fn ask(
    context: &RequestContext<RoleServer>,
    responses: Option<&InputResponses>,
    needs_them: bool,
) -> ClientRoots {
    if context.client_capabilities().is_none_or(|client| client.roots.is_none()) {
        return ClientRoots::Unknown;
    }
    // Since this revision, a server asks nothing by itself.
    let is_stateless =
        context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    if is_stateless {
        let answered = responses.and_then(|responses| responses.get(KEY));
        return match answered.map(|list| serde_json::from_value(list.clone())) {
            Some(Ok(list)) => ClientRoots::Named(Roots::of_list(&list)),
            None if needs_them => {
                let request = InputRequest::ListRoots(ListRootsRequest::default());
                let requests = [(KEY.to_owned(), request)].into_iter().collect();
                ClientRoots::Asked(InputRequiredResult::from_input_requests(requests))
            }
            Some(Err(_)) | None => ClientRoots::Unknown,
        };
    }
    let listed = tokio::time::timeout(Duration::from_secs(ROOTS_SECONDS), context.peer.list_roots()).await;
    match listed {
        Ok(Ok(list)) => ClientRoots::Named(Roots::of_list(&list)),
        _ => ClientRoots::Unknown,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn resolves_what_is_below_the_folders_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (one, two) = (base.join("one"), base.join("two"));
        for folder in [one.join("nodes"), two.clone()] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in [one.join("nodes/a.yaml"), two.join("b.yaml"), base.join("secret.yaml")] {
            fs::write(file, "").unwrap();
        }
        std::os::unix::fs::symlink(base.join("secret.yaml"), one.join("out.yaml")).unwrap();
        std::os::unix::fs::symlink(&two, one.join("in")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(one.join("socket")).unwrap();
        let roots = Roots::new(vec![one.clone(), two.clone()]);
        for (text, path) in [
            (".", one.clone()),
            ("nodes/a.yaml", one.join("nodes/a.yaml")),
            ("nodes/../nodes/a.yaml", one.join("nodes/a.yaml")),
            ("b.yaml", two.join("b.yaml")),
            ("in/b.yaml", two.join("b.yaml")),
            ("../two/b.yaml", two.join("b.yaml")),
            (two.join("b.yaml").to_str().unwrap(), two.join("b.yaml")),
            (&format!("file://{}", two.join("b.yaml").display()), two.join("b.yaml")),
        ] {
            assert_eq!(roots.resolve(text).unwrap(), path, "{text}");
        }
        for (text, reason) in [
            ("../secret.yaml", "outside of the folders"),
            ("out.yaml", "outside of the folders"),
            ("/etc/passwd", "outside of the folders"),
            ("/no/such/file", "outside of the folders"),
            ("nodes/../../secret.yaml", "outside of the folders"),
            ("https://example.com/a.yaml", "no such file or folder"),
            ("missing.yaml", "no such file or folder"),
            ("socket", "neither a file nor a folder"),
            ("", "not a path"),
            ("file://server/a", "not a path"),
        ] {
            let error = roots.resolve(text).unwrap_err().to_string();
            assert!(error.contains(reason) && error.starts_with(&format!("`{text}`: ")), "{text}: {error}");
        }
        let error = Roots::default().resolve("a.yaml").unwrap_err().to_string();
        assert!(error.contains("grants no folder") && error.contains("--root"), "{error}");
        drop(socket);
    }

    #[test]
    fn finds_the_config_file_only_below_the_folders() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(base.join(config::FILE), "").unwrap();
        let roots = Roots::new(vec![root.clone()]);
        assert_eq!(roots.config_of(&root.join("a/b")), None);
        std::os::unix::fs::symlink(base.join(config::FILE), root.join(config::FILE)).unwrap();
        assert_eq!(roots.config_of(&root.join("a/b")), None);
        fs::write(root.join("a").join(config::FILE), "").unwrap();
        assert_eq!(roots.config_of(&root.join("a/b")), Some(root.join("a").join(config::FILE)));
    }
}
