//! Names of the files of a snapshot. They are made of the names of a cluster, which may be any text, and must be the name of one new
//! file in the folder on every system.

use std::collections::BTreeSet;

/// Maximum number of characters of a name before its number and its extension. File systems allow 255 bytes.
const MAX_STEM: usize = 200;

/// Names that Windows reserves for devices, whatever their extension is.
/// Source: "Naming Files, Paths, and Namespaces" in the documentation of Windows.
const DEVICES: [&str; 4] = ["CON", "PRN", "AUX", "NUL"];
/// Starts of the names of numbered devices.
const NUMBERED_DEVICES: [&str; 2] = ["COM", "LPT"];

/// The names that are taken. Some file systems do not distinguish upper case from lower case.
#[derive(Debug, Default)]
pub(super) struct FileNames {
    taken: BTreeSet<String>,
}

impl FileNames {
    /// A name that no file has yet, made of safe characters of the stem, a number if another file has that name, and the extension.
    pub(super) fn unused(&mut self, stem: &str, extension: &str) -> String {
        let stem = safe(stem);
        let numbered = (2..).map(|number: u64| format!("{stem}-{number}.{extension}"));
        let mut names = std::iter::once(format!("{stem}.{extension}")).chain(numbered);
        names.find(|name| self.taken.insert(name.to_lowercase())).unwrap_or_default()
    }
}

/// A text as the start of the name of a file: letters, digits, `.`, `-` and `_`.
fn safe(text: &str) -> String {
    let is_safe = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_');
    let replaced = |char: char| if is_safe(&char) { char } else { '_' };
    let name: String = text.chars().take(MAX_STEM).map(replaced).collect();
    // A file with a dot in front is hidden, and a name with a dash in front looks like a flag.
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
    if starts_well && !is_device(&name) { name } else { format!("_{name}") }
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let is_numbered = |device: &&str| {
        stem.strip_prefix(*device).is_some_and(|number| number.len() == 1 && number.is_ascii())
    };
    DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.iter().any(is_numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(stem: &str) -> String {
        FileNames::default().unused(stem, "log")
    }

    #[test]
    fn keeps_names_of_kubernetes() {
        assert_eq!(
            name("log-kube-system-karpenter-5d8f7c9b6-x2x4z-controller"),
            "log-kube-system-karpenter-5d8f7c9b6-x2x4z-controller.log"
        );
        assert_eq!(name("a.b-c_D9"), "a.b-c_D9.log");
    }

    #[test]
    fn replaces_what_is_no_letter_digit_dot_dash_or_underscore() {
        for (stem, expected) in [
            ("a/../../etc/passwd", "a_.._.._etc_passwd.log"),
            ("..", "_...log"),
            ("", "_.log"),
            ("-rf", "_-rf.log"),
            (".hidden", "_.hidden.log"),
            ("a\\b:c*d?e\"f<g>h|i", "a_b_c_d_e_f_g_h_i.log"),
            ("a\nb\u{1b}[31m\0", "a_b__31m_.log"),
            ("a\u{202e}b é", "a_b__.log"),
            ("C:\\x", "C__x.log"),
            ("%2e%2e", "_2e_2e.log"),
        ] {
            assert_eq!(name(stem), expected, "{stem:?}");
        }
    }

    #[test]
    fn avoids_the_names_of_devices() {
        for (stem, expected) in [
            ("con", "_con.log"),
            ("Nul.txt", "_Nul.txt.log"),
            ("COM1", "_COM1.log"),
            ("lpt9.a", "_lpt9.a.log"),
            ("COM10", "COM10.log"),
            ("console", "console.log"),
        ] {
            assert_eq!(name(stem), expected);
        }
    }

    #[test]
    fn gives_each_file_its_own_name_of_bounded_length() {
        let mut names = FileNames::default();
        let mut all = BTreeSet::new();
        let long = "x".repeat(100_000);
        for stem in
            ["a", "A", "a-2", "a", "a/b", "a_b", "a:b", &long, &(long.clone() + "y"), &"é".repeat(300)]
        {
            let name = names.unused(stem, "log");
            assert!(name.len() < 220, "{name}");
            assert!(all.insert(name.to_lowercase()), "{name} is there already");
        }
        assert!(all.contains("a-2.log") && all.contains("a-2-2.log") && all.contains("a_b-3.log"), "{all:?}");
    }
}
