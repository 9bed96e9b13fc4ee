//! Files that a run reads beside its input: the config file, baselines, kustomizations and ignore files.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

/// Maximum number of bytes of such a file: 16 MiB.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Reads a file that must be regular: a device has no end, and a pipe may never have a beginning.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if let Some(reason) = refusal(path) {
        return Err(io::Error::other(reason));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reason why an existing path is not read.
pub(super) fn refusal(path: &Path) -> Option<&'static str> {
    let file = fs::metadata(path).ok()?;
    if !file.is_file() {
        return Some("not a regular file");
    }
    (file.len() > MAX_BYTES).then_some("larger than 16 MiB")
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
    }
}
