//! The objects of a folder, as a file in it sees them.

use manifest::{File, FileKind};
use objects::object::Object;

use crate::navigation::objects_in;
use crate::workspace::FolderView;

/// The objects that a check compares with the objects of a file: those of its environment, and those around it. Without a file, all objects.
/// A patch is no object of its own.
pub(crate) fn objects<'f>(folder: &'f dyn FolderView, file: Option<&File>) -> Vec<Object<'f>> {
    let files = files(folder, file, is_within);
    files.into_iter().filter(|file| !is_patch(file)).flat_map(objects_in).collect()
}

/// The files of the environment of a file, of the environments around it, and of those within it: their names may lead to one another.
pub(crate) fn related<'f>(folder: &'f dyn FolderView, file: &File) -> Vec<&'f File> {
    files(folder, Some(file), |own, other| is_within(own, other) || is_within(other, own))
}

/// Whether a file has patches instead of objects.
pub(crate) fn is_patch(file: &File) -> bool {
    file.kind == FileKind::Patch
}

fn files<'f>(
    folder: &'f dyn FolderView,
    file: Option<&File>,
    is_beside: impl Fn(&str, &str) -> bool,
) -> Vec<&'f File> {
    let environments = folder.environments();
    let innermost = |file: &File| {
        let around = environments.iter().filter(|one| is_within(file.source.name(), one));
        around.max_by_key(|one| one.len()).copied().unwrap_or_default()
    };
    let own = file.map(innermost);
    let inputs = folder.files().iter().filter(|file| file.is_input());
    inputs.filter(|file| own.is_none_or(|own| is_beside(own, innermost(file)))).collect()
}

/// Whether a file or folder is a folder or in it. Everything is in the folder without a name.
fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with('/'))
}
