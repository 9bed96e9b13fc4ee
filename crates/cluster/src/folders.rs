//! The folders in the names of files.

/// The folders of a file, from its own folder to the start of the name: `a/b`, `a` and the empty text for `a/b/c.yaml`.
pub fn folders_of(file: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(parent(file), |folder| parent(folder))
}

/// The folder that holds a file or folder; `None` for the empty text.
pub fn parent(path: &str) -> Option<&str> {
    if path.is_empty() {
        return None;
    }
    Some(path.rsplit_once('/').map_or("", |(folder, _)| folder))
}

/// The last part of a path.
pub fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_the_folders_of_a_file_from_the_inside_out() {
        let all = |file| folders_of(file).collect::<Vec<_>>();
        assert_eq!(all("a/b/c.yaml"), ["a/b", "a", ""]);
        assert_eq!(all("c.yaml"), [""]);
        assert_eq!(all("/srv/c.yaml"), ["/srv", ""]);
        assert_eq!(all("../a/c.yaml"), ["../a", "..", ""]);
        assert_eq!((name("a/b"), name("a"), name("")), ("b", "a", ""));
    }
}
