//! Name of the config file, and names that are meant to be it.

/// Name of the config file of the command line.
pub const CONFIG_FILE: &str = "karpwarden.yaml";

/// Whether a file name is nearly the name of the config file, such as `karpwarden.yml` or `.karpwarden.yaml`.
pub fn is_near_config_file(name: &str) -> bool {
    const EXTENSIONS: [&str; 5] = ["", "yaml", "yml", "json", "toml"];
    let lower = name.to_ascii_lowercase();
    let visible = lower.strip_prefix('.').unwrap_or(&lower);
    let (stem, extension) = visible.rsplit_once('.').unwrap_or((visible, ""));
    let is_program = visible == "karpwarden" && visible == lower;
    name != CONFIG_FILE && stem == "karpwarden" && EXTENSIONS.contains(&extension) && !is_program
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_names_that_are_meant_to_be_the_config_file() {
        for name in [
            "karpwarden.yml",
            ".karpwarden.yaml",
            ".karpwarden.yml",
            ".karpwarden",
            "Karpwarden.yaml",
            "karpwarden.json",
        ] {
            assert!(is_near_config_file(name), "{name}");
        }
        for name in [
            "karpwarden.yaml",
            "karpwarden",
            "karpwarden.sarif",
            "my-karpwarden.yaml",
            "karpwarden.schema.json",
        ] {
            assert!(!is_near_config_file(name), "{name}");
        }
    }
}
