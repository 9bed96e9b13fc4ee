//! Addresses of files.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;

/// The path of an address such as `file:///work/a%20b`. `None` for an address of something else.
pub fn path_of_uri(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    if !matches!(host, "" | "localhost") {
        return None;
    }
    let path = percent_decode_str(path).decode_utf8().ok()?;
    // `/C:/work` is `C:/work` on Windows.
    let is_drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if is_drive { path.get(1..).unwrap_or_default() } else { &*path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn reads_addresses_of_files_alone() {
        let path = |uri| path_of_uri(uri).map(|path| path.display().to_string());
        assert_eq!(path("file:///work/a%20b").as_deref(), Some("/work/a b"));
        assert_eq!(path("file://localhost/work").as_deref(), Some("/work"));
        for uri in ["file://server/share", "https://example.com/a", "/work", "file:", "file:///%ff"] {
            assert_eq!(path(uri), None, "{uri}");
        }
    }
}
