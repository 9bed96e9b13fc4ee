//! Files that are written as a whole: a reader sees the old content or the new content, even if the program is killed.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

/// File that appears at its path when it is complete. Until then its content is in a temporary file in the same folder, which is
/// removed if the program gives up.
pub(crate) struct WholeFile {
    /// The path, with symbolic links resolved.
    target: PathBuf,
    out: BufWriter<NamedTempFile>,
}

/// Reason why a file was left as it is.
#[derive(Debug, Error)]
pub(crate) enum NotReplaced {
    /// The content differs from what was read.
    #[error("the file changed since it was read; run the command again")]
    Changed,
    /// The file was deleted or moved.
    #[error("the file was deleted since it was read")]
    Deleted,
    /// The path leads out of the checked folder: it is a symbolic link, or a folder in it is one.
    #[error("it is a link to a file outside of the checked folder; name that file to fix it")]
    LinkOutside,
    /// Several names lead to the file.
    #[error("the file has {0} hard links, which a replacement would separate")]
    HardLinks(u64),
    /// The path leads to a folder or a device.
    #[error("it is not a regular file")]
    NotAFile,
    /// A file of the same fix is left as it is.
    #[error("a fix changes several files, and another one of them was not fixed")]
    Companion,
    /// The system refused to write.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl WholeFile {
    /// Begins a file. A symbolic link stays, and the file that it leads to is replaced.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let target = target_of(path)?;
        if let Ok(existing) = fs::metadata(&target) {
            if !existing.is_file() {
                return Err(io::Error::other("it is not a regular file"));
            }
            // A file that its owner protects from writing stays as it is.
            OpenOptions::new().append(true).open(&target)?;
        }
        fault::point()?;
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut options = tempfile::Builder::new();
        options.prefix(".karpwarden-");
        // The process's umask applies, as for a file that a shell creates.
        #[cfg(unix)]
        options.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let folder = folder.unwrap_or(Path::new("."));
        let temporary = options.tempfile_in(folder).map_err(|error| of_folder(&error, folder))?;
        Ok(Self { target, out: BufWriter::new(temporary) })
    }

    /// Begins a file that only its owner may read.
    pub(crate) fn create_private(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let temporary =
            tempfile::Builder::new().prefix(".karpwarden-").tempfile_in(folder.unwrap_or(Path::new(".")))?;
        Ok(Self { target: path.to_owned(), out: BufWriter::new(temporary) })
    }

    /// Puts the file in its place. The mode, owner and extended attributes of a file that it replaces are kept as far as the system
    /// allows it.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.put(false)
    }

    /// Puts the file in its place. `keeps_all` makes an attribute that cannot be kept an error.
    fn put(self, keeps_all: bool) -> io::Result<()> {
        let (target, file) = self.complete()?;
        if let Ok(replaced) = fs::metadata(&target) {
            let kept = keep_attributes(&target, &replaced, file.as_file(), file.path());
            kept.or_else(|error| if keeps_all { Err(error) } else { Ok(()) })?;
        }
        fault::point()?;
        file.persist(&target).map_err(|error| error.error)?;
        sync_folder(&target);
        Ok(())
    }

    /// Puts the file in its place, unless another file is there.
    pub(crate) fn finish_new(self) -> io::Result<()> {
        let (target, file) = self.complete()?;
        fault::point()?;
        file.persist_noclobber(&target).map_err(|error| error.error)?;
        sync_folder(&target);
        Ok(())
    }

    /// Writes the content to the disk.
    fn complete(self) -> io::Result<(PathBuf, NamedTempFile)> {
        fault::point()?;
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        fault::point()?;
        file.as_file().sync_all()?;
        Ok((self.target, file))
    }
}

/// The reason why a folder takes no file, without the random name of the temporary file.
fn of_folder(error: &io::Error, folder: &Path) -> io::Error {
    if error.kind() == io::ErrorKind::NotFound {
        return io::Error::new(error.kind(), format!("the folder `{}` does not exist", folder.display()));
    }
    let cause = error.get_ref().and_then(|error| error.source());
    io::Error::new(error.kind(), cause.map_or_else(|| error.to_string(), ToString::to_string))
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        fault::point()?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// New text of a file that was read before, ready to be put in its place.
pub(crate) struct FileReplacement {
    file: WholeFile,
    /// The content that was read.
    old: Vec<u8>,
}

impl FileReplacement {
    /// Prepares the replacement. The file is left as it is if its content is not `old` any more, if it has several hard links, or if the
    /// path leads out of `folder` through a symbolic link.
    pub(crate) fn prepare(path: &Path, folder: &Path, old: Vec<u8>, new: &[u8]) -> Result<Self, NotReplaced> {
        let target = path.canonicalize().map_err(not_found)?;
        if !folder.canonicalize().is_ok_and(|folder| target.starts_with(folder)) {
            return Err(NotReplaced::LinkOutside);
        }
        let metadata = fs::metadata(&target).map_err(not_found)?;
        if !metadata.is_file() {
            return Err(NotReplaced::NotAFile);
        }
        if let links @ 2.. = hard_links(&target, &metadata) {
            return Err(NotReplaced::HardLinks(links));
        }
        let mut file = WholeFile::create(&target)?;
        file.write_all(new)?;
        file.flush()?;
        let replacement = Self { file, old };
        replacement.compare()?;
        Ok(replacement)
    }

    /// Puts the new file in its place, unless the old one changed.
    pub(crate) fn finish(self) -> Result<(), NotReplaced> {
        self.compare()?;
        Ok(self.file.put(true)?)
    }

    fn compare(&self) -> Result<(), NotReplaced> {
        fault::point()?;
        let is_same = fs::read(&self.file.target).map_err(not_found)? == self.old;
        if is_same { Ok(()) } else { Err(NotReplaced::Changed) }
    }
}

/// Number of symbolic links in a row that are followed, as Linux does (`path_resolution(7)`).
const MAX_LINKS: usize = 40;

/// The file that a path leads to, with symbolic links resolved. The file need not exist.
pub(crate) fn target_of(path: &Path) -> io::Result<PathBuf> {
    let error = match path.canonicalize() {
        Ok(existing) => return Ok(existing),
        Err(error) => error,
    };
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        let Ok(link) = fs::read_link(&target) else {
            let name = target.file_name().ok_or(error)?;
            return Ok(folder.canonicalize().unwrap_or(folder).join(name));
        };
        // A relative link starts from its own folder.
        target = folder.join(link);
    }
    Err(error)
}

fn not_found(error: io::Error) -> NotReplaced {
    if error.kind() == io::ErrorKind::NotFound { NotReplaced::Deleted } else { NotReplaced::System(error) }
}

#[cfg(unix)]
fn hard_links(_: &Path, metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(target_os = "wasi")]
fn hard_links(path: &Path, _: &Metadata) -> u64 {
    rustix::fs::stat(path).map_or(1, |file| file.st_nlink)
}

#[cfg(not(any(unix, target_os = "wasi")))]
fn hard_links(_: &Path, _: &Metadata) -> u64 {
    1
}

/// Gives a new file the owner, the extended attributes and the mode of the file that it replaces.
#[cfg(unix)]
fn keep_attributes(from: &Path, replaced: &Metadata, file: &File, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    let new = file.metadata()?;
    fault::point()?;
    if (new.uid(), new.gid()) != (replaced.uid(), replaced.gid()) {
        fchown(file, Some(replaced.uid()), Some(replaced.gid()))?;
    }
    // A file system without extended attributes refuses to list them.
    for name in xattr::list(from).into_iter().flatten() {
        fault::point()?;
        let Some(value) = xattr::get(from, &name)? else { continue };
        // The security module of the system labels a new file itself, and lets only root copy a label.
        let is_label = name.as_encoded_bytes().starts_with(b"security.");
        match xattr::set(to, &name, &value) {
            Err(error) if !is_label => return Err(error),
            _ => {}
        }
    }
    // The last step: a change of the owner clears bits of the mode.
    fault::point()?;
    file.set_permissions(replaced.permissions())
}

/// WebAssembly cannot change attributes: the host of the module does so when it renames the file (`playground/package/command.js`).
#[cfg(target_os = "wasi")]
#[expect(clippy::unnecessary_wraps, reason = "other systems can refuse it")]
fn keep_attributes(_: &Path, _: &Metadata, _: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(not(any(unix, target_os = "wasi")))]
fn keep_attributes(_: &Path, replaced: &Metadata, file: &File, _: &Path) -> io::Result<()> {
    file.set_permissions(replaced.permissions())
}

/// Writes the entry of a renamed file to the disk. The file is in its place already, so that a file system that cannot do this changes
/// nothing about the result.
#[cfg(unix)]
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let synced = fault::point().and_then(|()| File::open(folder.unwrap_or(Path::new(".")))?.sync_all());
    drop(synced);
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) {}

/// Points before the calls of the system at which a test can stop the program.
mod fault {
    use std::io;

    #[cfg(test)]
    type Hook = Box<dyn FnMut() -> io::Result<()>>;

    #[cfg(test)]
    std::thread_local! {
        static HOOK: std::cell::RefCell<Option<Hook>> = const { std::cell::RefCell::new(None) };
    }

    /// Runs the hook of the test at each point that `work` passes.
    #[cfg(test)]
    pub(super) fn with_hook<T>(
        hook: impl FnMut() -> io::Result<()> + 'static,
        work: impl FnOnce() -> T,
    ) -> T {
        HOOK.set(Some(Box::new(hook)));
        let result = work();
        HOOK.take();
        result
    }

    #[cfg(test)]
    pub(super) fn point() -> io::Result<()> {
        HOOK.with_borrow_mut(|hook| hook.as_mut().map_or(Ok(()), |hook| hook()))
    }

    #[cfg(not(test))]
    #[expect(clippy::unnecessary_wraps, reason = "a test lets it fail")]
    pub(super) const fn point() -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    fn replace(path: &Path, folder: &Path, old: &[u8], new: &[u8]) -> Result<(), NotReplaced> {
        FileReplacement::prepare(path, folder, old.to_vec(), new)?.finish()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_unfinished_file_changes_nothing_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.yaml");
        fs::write(&path, "old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(&vec![b'x'; 100_000]).unwrap();
        assert_eq!(names(folder.path()).len(), 2, "the content is in a temporary file");
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a.yaml"]);
    }

    #[test]
    fn replaces_only_what_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.yaml");
        fs::write(&path, "old").unwrap();
        replace(&path, folder.path(), b"old", b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(matches!(replace(&path, folder.path(), b"old", b"newer"), Err(NotReplaced::Changed)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        fs::remove_file(&path).unwrap();
        assert!(matches!(replace(&path, folder.path(), b"new", b"newer"), Err(NotReplaced::Deleted)));
        fs::create_dir(&path).unwrap();
        assert!(matches!(replace(&path, folder.path(), b"new", b"newer"), Err(NotReplaced::NotAFile)));
        assert_eq!(names(folder.path()), ["a.yaml"]);
    }

    #[cfg(unix)]
    #[test]
    fn keeps_the_mode_of_a_replaced_file_and_applies_the_umask_to_a_new_one() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let [path, usual] = ["a.sh", "usual"].map(|name| folder.path().join(name));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        WholeFile::create(&path).unwrap().finish().unwrap();
        fs::write(&usual, "").unwrap();
        assert_eq!(mode(&path), mode(&usual));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
        replace(&path, folder.path(), b"", b"new").unwrap();
        assert_eq!(mode(&path), 0o750);
    }

    #[cfg(unix)]
    #[test]
    fn follows_links_only_within_the_folder() {
        use std::os::unix::fs::symlink;

        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [inside, outside] = [folder.path().join("a.yaml"), other.path().join("b.yaml")];
        for path in [&inside, &outside] {
            fs::write(path, "old").unwrap();
        }
        let [near, far] = ["near.yaml", "far.yaml"].map(|name| folder.path().join(name));
        symlink(&inside, &near).unwrap();
        symlink(&outside, &far).unwrap();
        replace(&near, folder.path(), b"old", b"new").unwrap();
        assert!(near.is_symlink());
        assert_eq!(fs::read_to_string(&inside).unwrap(), "new");
        assert!(matches!(replace(&far, folder.path(), b"old", b"new"), Err(NotReplaced::LinkOutside)));
        assert_eq!(fs::read_to_string(&outside).unwrap(), "old");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_folder_does_not_lead_out_of_the_checked_one() {
        use std::os::unix::fs::symlink;

        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = folder.path().join("sub/a.yaml");
        fs::write(other.path().join("a.yaml"), "old").unwrap();
        symlink(other.path(), folder.path().join("sub")).unwrap();
        assert!(matches!(replace(&path, folder.path(), b"old", b"new"), Err(NotReplaced::LinkOutside)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        replace(&path, &folder.path().join("sub"), b"old", b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_missing_file_starts_from_its_own_folder() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("in")).unwrap();
        fs::create_dir(path("in/deep")).unwrap();
        symlink("deep/far", path("in/near")).unwrap();
        symlink("../new.json", path("in/deep/far")).unwrap();
        let mut file = WholeFile::create(&path("in/near")).unwrap();
        file.write_all(b"new").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(path("in/new.json")).unwrap(), "new");
        assert!(path("in/near").is_symlink() && path("in/deep/far").is_symlink());
        symlink("loop", path("loop")).unwrap();
        assert!(WholeFile::create(&path("loop")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn does_not_separate_hard_links() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["a.yaml", "b.yaml"].map(|name| folder.path().join(name));
        fs::write(&path, "old").unwrap();
        fs::hard_link(&path, &other).unwrap();
        assert!(matches!(replace(&path, folder.path(), b"old", b"new"), Err(NotReplaced::HardLinks(2))));
        assert_eq!(fs::read_to_string(&other).unwrap(), "old");
    }

    /// Replaces or creates a file once for each point, stops at that point, and checks the file before each point and after the last.
    fn stopped_at_every_point(work: impl Fn(&Path) -> bool, old: Option<&'static [u8]>, new: &'static [u8]) {
        for stop in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.yaml");
            if let Some(old) = old {
                fs::write(&path, old).unwrap();
            }
            let content = |path: &Path| fs::read(path).ok();
            let (mut points, watched) = (0, path.clone());
            let is_stopped = Rc::new(Cell::new(false));
            let stopped = Rc::clone(&is_stopped);
            // A program that is killed at the point leaves what the file has now.
            let hook = move || {
                let found = content(&watched);
                assert!(found.as_deref() == old || found.as_deref() == Some(new), "at point {points}");
                points += 1;
                stopped.set(points > stop);
                if points > stop { Err(io::Error::other("stopped")) } else { Ok(()) }
            };
            let is_done = fault::with_hook(hook, || work(&path));
            let found = content(&path);
            assert_eq!(found.as_deref(), if is_done { Some(new) } else { old }, "stopped at point {stop}");
            let left = names(folder.path());
            assert!(left.iter().all(|name| name == "a.yaml"), "stopped at point {stop}: {left:?}");
            if !is_stopped.get() {
                assert!(is_done && stop >= 5, "only {stop} points");
                return;
            }
        }
    }

    #[test]
    fn a_file_is_old_or_new_wherever_the_program_stops() {
        static OLD: &[u8] = &[b'o'; 50_000];
        static NEW: &[u8] = &[b'n'; 70_000];
        let replaced = |path: &Path| replace(path, path.parent().unwrap(), OLD, NEW).is_ok();
        stopped_at_every_point(replaced, Some(OLD), NEW);
        let written = |path: &Path, finish: fn(WholeFile) -> io::Result<()>| {
            let mut file = WholeFile::create(path)?;
            NEW.chunks(1_000).try_for_each(|chunk| file.write_all(chunk))?;
            finish(file)
        };
        for old in [None, Some(OLD)] {
            stopped_at_every_point(|path| written(path, WholeFile::finish).is_ok(), old, NEW);
        }
        stopped_at_every_point(|path| written(path, WholeFile::finish_new).is_ok(), None, NEW);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_whose_attributes_cannot_be_kept_is_not_replaced() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.yaml");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        for stop in 0.. {
            let mut points = 0;
            let hook = move || {
                points += 1;
                if points == stop { Err(io::Error::other("stopped")) } else { Ok(()) }
            };
            let result = fault::with_hook(hook, || replace(&path, folder.path(), b"old", b"new"));
            assert_eq!(mode(), 0o640);
            assert_eq!(fs::read_to_string(&path).unwrap() == "new", result.is_ok(), "at point {stop}");
            if result.is_ok() && stop > 0 {
                return;
            }
            fs::write(&path, "old").unwrap();
        }
    }
}
