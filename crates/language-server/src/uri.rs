//! Addresses of files.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::Uri;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

/// Characters of a path to write as they are: the unreserved ones of RFC 3986, and the separator.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b':');

/// Characters that no URI of a file contains.
const NOT_IN_URIS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The path of an address as a program writes it, possibly without the encoding of characters that no URI contains.
pub fn path_of_address(text: &str) -> Option<PathBuf> {
    path_of(&Uri::from_str(&utf8_percent_encode(text, NOT_IN_URIS).to_string()).ok()?)
}

/// The path of a file; `None` if the address names no file of this machine.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let scheme = uri.scheme()?.as_str();
    let host = uri.authority().map_or("", |host| host.as_str());
    if !scheme.eq_ignore_ascii_case("file") || !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
        return None;
    }
    let path = percent_decode_str(uri.path().as_str()).decode_utf8().ok()?;
    if !path.starts_with('/') {
        return None;
    }
    Some(PathBuf::from(if cfg!(windows) { without_root_before_drive(&path) } else { &path }))
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
    drive.unwrap_or(path)
}

/// Encodes the characters of the URIs in a message that RFC 3986 does not allow. Some editors leave them, such as `[` in a path.
pub fn encode_uris(message: &mut Value) {
    match message {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(uri) if key == "uri" || key == "rootUri" => {
                        *uri = utf8_percent_encode(uri, NOT_IN_URIS).to_string();
                    }
                    other => encode_uris(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(encode_uris),
        _ => {}
    }
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
            ("file://localhost/a", Some("/a")),
            ("file://host/a", None),
            ("untitled:Untitled-1", None),
            ("git:/a/b.yaml", None),
            ("file:///%ff", None),
            ("file:", None),
            ("/a", None),
            ("file:///a b/[c]", Some("/a b/[c]")),
        ] {
            assert_eq!(path_of_address(address).as_deref(), path.map(Path::new), "{address}");
        }
    }

    #[test]
    fn encodes_what_editors_leave_in_uris() {
        let mut message =
            serde_json::json!([{"uri": "file:///a b/[env]/%20é.yaml", "text": "[a b]"}, {"rootUri": null}]);
        encode_uris(&mut message);
        assert_eq!(
            message,
            serde_json::json!([{"uri": "file:///a%20b/%5Benv%5D/%20%C3%A9.yaml", "text": "[a b]"}, {"rootUri": null}])
        );
    }

    #[test]
    fn a_drive_of_windows_has_no_root_before_it() {
        for (path, expected) in [("/c:/a", "c:/a"), ("/C:", "C:"), ("/cd/a", "/cd/a"), ("/1:/a", "/1:/a")] {
            assert_eq!(without_root_before_drive(path), expected);
        }
    }
}
