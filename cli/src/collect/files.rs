//! Files of a snapshot, which only their owner may read.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::names::FileNames;
use crate::error::CommandError;
use crate::whole_file::WholeFile;

/// Bytes and objects of a file, below the default bounds of the other commands: 64 MiB and 100,000 documents.
const MAX_BYTES: usize = 48 << 20;
const MAX_OBJECTS: usize = 50_000;

/// Folder of a snapshot.
#[derive(Debug)]
pub(super) struct SnapshotFolder {
    path: PathBuf,
    names: FileNames,
}

impl SnapshotFolder {
    /// Creates the folder. The folder must be empty: a file of another cluster would mix with the snapshot.
    pub(super) fn create(path: &Path) -> Result<Self, CommandError> {
        let shown = path.display();
        let refused =
            |verb: &str, error: io::Error| io::Error::other(format!("cannot {verb} `{shown}`: {error}"));
        create_private_dir(path).map_err(|error| refused("create", error))?;
        let mut entries = fs::read_dir(path).map_err(|error| refused("read", error))?;
        if entries.next().is_some() {
            let text = format!("`{shown}` is not empty: name another folder, or remove it");
            return Err(CommandError::Usage(text));
        }
        Ok(Self { path: path.to_owned(), names: FileNames::default() })
    }

    /// Creates a file in the folder. Returns its name, which has the stem if it is a safe name and no other file has it.
    pub(super) fn file(&mut self, stem: &str, extension: &str) -> io::Result<(String, WholeFile)> {
        let name = self.names.unused(stem, extension);
        let path = self.path.join(&name);
        let file = WholeFile::create_private(&path)
            .map_err(|error| io::Error::other(format!("cannot write `{}`: {error}", path.display())))?;
        Ok((name, file))
    }
}

fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// The files with the objects of a kind, one object a line. A further file begins before a bound of the other commands is
/// reached.
pub(super) struct ObjectFiles<'f> {
    folder: &'f mut SnapshotFolder,
    resource: &'static str,
    open: Option<WholeFile>,
    line: Vec<u8>,
    bytes: usize,
    objects_in_file: usize,
    /// The names of the files.
    pub(super) names: Vec<String>,
    /// Number of objects in all files.
    pub(super) objects: u64,
}

impl<'f> ObjectFiles<'f> {
    pub(super) fn new(folder: &'f mut SnapshotFolder, resource: &'static str) -> Self {
        let (open, line, names) = (None, Vec::new(), Vec::new());
        Self { folder, resource, open, line, bytes: 0, objects_in_file: 0, names, objects: 0 }
    }

    /// Writes an object.
    pub(super) fn write(&mut self, object: &Value) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, object)?;
        self.line.push(b'\n');
        let is_full = self.bytes + self.line.len() > MAX_BYTES || self.objects_in_file >= MAX_OBJECTS;
        if is_full && self.objects_in_file > 0 {
            self.finish()?;
        }
        if self.open.is_none() {
            let (name, file) = self.folder.file(self.resource, "jsonl")?;
            self.open = Some(file);
            self.names.push(name);
            (self.bytes, self.objects_in_file) = (0, 0);
        }
        if let Some(file) = &mut self.open {
            file.write_all(&self.line)?;
        }
        self.bytes += self.line.len();
        self.objects_in_file += 1;
        self.objects += 1;
        Ok(())
    }

    /// Ends the current file.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.open.take().map_or(Ok(()), WholeFile::finish_new)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::status::Status;

    #[test]
    fn begins_a_further_file_at_a_bound() {
        let root = tempfile::tempdir().unwrap();
        let mut folder = SnapshotFolder::create(&root.path().join("new")).unwrap();
        let mut files = ObjectFiles::new(&mut folder, "pods");
        for number in 0..=MAX_OBJECTS {
            files.write(&json!({ "n": number })).unwrap();
        }
        files.finish().unwrap();
        assert_eq!(files.names, ["pods.jsonl", "pods-2.jsonl"]);
        assert_eq!(files.objects, MAX_OBJECTS as u64 + 1);
        let last = fs::read_to_string(root.path().join("new/pods-2.jsonl")).unwrap();
        assert_eq!(last, format!("{{\"n\":{MAX_OBJECTS}}}\n"));
    }

    #[test]
    fn refuses_a_folder_with_files_and_a_path_with_a_file_in_the_way() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "").unwrap();
        for name in ["file", "file/below"] {
            let error = SnapshotFolder::create(&root.path().join(name)).unwrap_err();
            assert_eq!(error.status(), Status::System, "{error}");
        }
        fs::remove_file(root.path().join("file")).unwrap();
        let mut folder = SnapshotFolder::create(root.path()).unwrap();
        folder.file("a", "log").unwrap().1.finish_new().unwrap();
        let error = SnapshotFolder::create(root.path()).unwrap_err();
        assert!(error.to_string().contains("is not empty"), "{error}");
        assert_eq!(error.status(), Status::Usage);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_a_snapshot() {
        use std::os::unix::fs::PermissionsExt as _;

        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("new");
        SnapshotFolder::create(&path).unwrap().file("a", "log").unwrap().1.finish_new().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&path.join("a.log"))), (0o700, 0o600));
    }
}
