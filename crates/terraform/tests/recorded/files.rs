//! A folder of the repository as the files of an input.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use karpwarden_terraform::FolderFiles;
use manifest::source::Source;

pub(crate) struct Folder(BTreeMap<String, Arc<Source>>);

impl Folder {
    pub(crate) fn read(folder: &str) -> Self {
        let mut files = BTreeMap::new();
        add(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), "", &mut files);
        Self(files)
    }

    /// The folder with one more file.
    pub(crate) fn with(mut self, name: &str, text: String) -> Self {
        self.0.insert(name.to_owned(), Arc::new(Source::new(name, text)));
        self
    }
}

fn add(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Arc<Source>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            add(&entry.path(), &format!("{name}/"), files);
        } else {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            files.insert(name.clone(), Arc::new(Source::new(name, text)));
        }
    }
}

impl FolderFiles for Folder {
    fn read(&self, path: &str) -> Option<Arc<Source>> {
        self.0.get(path).cloned()
    }

    fn paths(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}
