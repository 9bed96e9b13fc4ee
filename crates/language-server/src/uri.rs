//! Addresses of files.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Characters of a path to write as they are: the unreserved ones of RFC 3986, and the separator.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b':');

/// The path of a file; `None` if the address names no file of this machine.
pub fn path_of(uri: &Uri) -> Option<PathBuf> {
    let scheme = uri.scheme()?.as_str();
    if !scheme.eq_ignore_ascii_case("file") || uri.authority().is_some_and(|host| !host.as_str().is_empty()) {
        return None;
    }
    let path = percent_decode_str(uri.path().as_str()).decode_utf8().ok()?;
    Some(PathBuf::from(without_root_before_drive(&path)))
}

/// The address of a path; `None` if the path is not absolute or not Unicode.
pub fn from_path(path: &Path) -> Option<Uri> {
    let text = path.to_str().filter(|_| path.is_absolute())?.replace(std::path::MAIN_SEPARATOR, "/");
    let path = utf8_percent_encode(&text, ESCAPED);
    let root = if text.starts_with('/') { "" } else { "/" };
    Uri::from_str(&format!("file://{root}{path}")).ok()
}

/// `/c:/folder` is the path `c:/folder` of Windows.
fn without_root_before_drive(path: &str) -> &str {
    let drive = path.strip_prefix('/').filter(|rest| {
        let mut bytes = rest.bytes();
        bytes.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && bytes.next() == Some(b':')
    });
    drive.filter(|_| cfg!(windows)).unwrap_or(path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn writes_the_address_of_a_path_and_reads_it() {
        for (path, address) in [
            ("/a/b.yaml", "file:///a/b.yaml"),
            ("/a b/ü%.yaml", "file:///a%20b/%C3%BC%25.yaml"),
            ("/a/#1?.yaml", "file:///a/%231%3F.yaml"),
        ] {
            let uri = from_path(Path::new(path)).unwrap();
            assert_eq!(uri.as_str(), address);
            assert_eq!(path_of(&uri).as_deref(), Some(Path::new(path)));
        }
    }

    #[test]
    fn reads_only_addresses_of_files_of_this_machine() {
        for (address, path) in [
            ("file:///a/b%2Dc.yaml", Some("/a/b-c.yaml")),
            ("FILE:///a", Some("/a")),
            ("file://host/a", None),
            ("untitled:Untitled-1", None),
            ("git:/a/b.yaml", None),
            ("file:///%ff", None),
        ] {
            let uri = Uri::from_str(address).unwrap();
            assert_eq!(path_of(&uri).as_deref(), path.map(Path::new), "{address}");
        }
    }
}
