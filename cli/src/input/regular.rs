//! Files that a run reads beside its input: the config file, baselines, kustomizations and ignore files.

use std::fs;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;

/// Maximum number of bytes of such a file: 16 MiB.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Reason why a larger file is not read.
const TOO_LARGE: &str = "larger than 16 MiB";

/// Reads a file that must be regular: a device has no end, and a pipe may never have a beginning.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if let Some(reason) = refusal(path) {
        return Err(io::Error::other(reason));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file or a pipe. A device may have no end; a terminal and `/dev/null` have one.
pub(crate) fn open_finite(path: &Path) -> io::Result<fs::File> {
    let file = fs::File::open(path)?;
    if is_device(&file)? && !file.is_terminal() && path != Path::new("/dev/null") {
        return Err(io::Error::other("a device, not a file or a pipe"));
    }
    Ok(file)
}

#[cfg(unix)]
fn is_device(file: &fs::File) -> io::Result<bool> {
    use std::os::unix::fs::FileTypeExt as _;

    let kind = file.metadata()?.file_type();
    Ok(kind.is_char_device() || kind.is_block_device())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "other systems have to ask")]
fn is_device(_: &fs::File) -> io::Result<bool> {
    Ok(false)
}

/// Reads a file or a pipe of at most 16 MiB.
pub(crate) fn read_finite(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_finite(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES { Err(io::Error::other(TOO_LARGE)) } else { Ok(bytes) }
}

/// Reason why an existing path is not read.
pub(super) fn refusal(path: &Path) -> Option<&'static str> {
    let file = fs::metadata(path).ok()?;
    if !file.is_file() {
        return Some("not a regular file");
    }
    (file.len() > MAX_BYTES).then_some(TOO_LARGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_only_regular_files_of_a_usual_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "text").unwrap();
        assert_eq!(read_regular(&path).unwrap(), b"text");
        assert_eq!(read_regular(folder.path()).unwrap_err().to_string(), "not a regular file");
        fs::File::create(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert_eq!(read_regular(&path).unwrap_err().to_string(), "larger than 16 MiB");
        let error = read_regular(&folder.path().join("b")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn does_not_read_a_device() {
        assert_eq!(read_regular(Path::new("/dev/zero")).unwrap_err().to_string(), "not a regular file");
        let error = read_finite(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "a device, not a file or a pipe");
        assert_eq!(read_finite(Path::new("/dev/null")).unwrap(), b"");
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(MAX_BYTES + 1).unwrap();
        assert_eq!(read_finite(file.path()).unwrap_err().to_string(), TOO_LARGE);
    }
}
