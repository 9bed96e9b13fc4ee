//! Treatment of user data by AMI family.

use crate::format::only_comments;

/// AMI families, grouped by how Karpenter treats their user data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFamily {
    /// AL2, and Ubuntu before Karpenter 1.0.
    Al2,
    /// AL2023.
    Al2023,
    /// Bottlerocket.
    Bottlerocket,
    /// Windows2019, Windows2022, Windows2025.
    Windows,
    /// Custom.
    Custom,
}

/// Treatment of a text as user data by Karpenter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// There is no user data.
    Nothing,
    /// MIME archive. Karpenter appends its parts.
    Mime,
    /// Shell script, which becomes a MIME part of type `text/x-shellscript`.
    Script,
    /// NodeConfig, which becomes a MIME part of type `application/node.eks.aws`.
    NodeConfig,
    /// NodeConfig if the whole text is a YAML mapping or null, else a shell script. Only a YAML parser can decide.
    NodeConfigIfYaml,
    /// TOML, which Karpenter merges with its own settings.
    Toml,
    /// PowerShell, which Karpenter puts into `<powershell>` tags before its own lines.
    PowerShell,
    /// Passed to the node unchanged.
    Verbatim,
}

/// Prefixes of a MIME archive. Karpenter compares them with the start of the trimmed text, case-sensitively, and then
/// parses the untrimmed text (aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/eksbootstrap.go `mimeify`
/// and nodeadm.go `parseUserData`, the same from v1.0.0 to v1.14.1).
const MIME_PREFIXES: [&str; 2] = ["MIME-Version:", "Content-Type:"];

impl ImageFamily {
    /// Treatment of a text.
    pub fn treatment(self, text: &str) -> Treatment {
        let mime = MIME_PREFIXES.iter().any(|prefix| text.trim().starts_with(prefix));
        match self {
            _ if text.is_empty() => Treatment::Nothing,
            Self::Custom => Treatment::Verbatim,
            Self::Bottlerocket => Treatment::Toml,
            Self::Windows => Treatment::PowerShell,
            Self::Al2 | Self::Al2023 if mime => Treatment::Mime,
            Self::Al2 => Treatment::Script,
            // YAML parses comments as null, which Go unmarshals into a map without an error.
            Self::Al2023 if only_comments(text) => Treatment::NodeConfig,
            Self::Al2023 => Treatment::NodeConfigIfYaml,
        }
    }

    /// Whether Karpenter removes every carriage return from the text: for AL2 and AL2023 (eksbootstrap.go `Script`,
    /// mime/mime.go `Serialize`, the same from v1.0.0 to v1.14.1).
    pub const fn strips_carriage_returns(self) -> bool {
        matches!(self, Self::Al2 | Self::Al2023)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treats_text_as_the_family_boots_from_it() {
        let script = "#!/bin/bash\necho hi";
        assert_eq!(ImageFamily::Al2.treatment(script), Treatment::Script);
        assert_eq!(ImageFamily::Al2023.treatment(script), Treatment::NodeConfigIfYaml);
        assert_eq!(ImageFamily::Al2023.treatment("#!/bin/bash\n# nothing yet\n"), Treatment::NodeConfig);
        assert_eq!(ImageFamily::Bottlerocket.treatment(script), Treatment::Toml);
        assert_eq!(ImageFamily::Windows.treatment(script), Treatment::PowerShell);
        assert_eq!(ImageFamily::Custom.treatment(script), Treatment::Verbatim);
        assert_eq!(ImageFamily::Al2023.treatment("\n\tContent-Type: x"), Treatment::Mime);
        assert_eq!(ImageFamily::Al2.treatment("mime-version: 1.0"), Treatment::Script);
        assert_eq!(ImageFamily::Al2023.treatment(""), Treatment::Nothing);
    }
}
