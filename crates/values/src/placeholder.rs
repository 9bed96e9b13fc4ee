//! Placeholders: text that a template engine or the author replaces later, so that it cannot be checked yet.

/// Whether a text has a placeholder `${X}`, which Flux, envsubst, Terraform and CloudFormation replace before the object is
/// applied.
pub fn is_filled_in_later(text: &str) -> bool {
    text.split_once("${").is_some_and(|(_, rest)| rest.contains('}'))
}

/// Whether a name has a character of template syntax that no name can have.
pub fn is_in_name(text: &str) -> bool {
    text.contains(['$', '{', '}', '<', '>', '%'])
}

/// Whether a value has a placeholder: `${X}`, `$(X)`, `$X`, `{{ x }}`, `<x>`, `%{x}`, `#{x}`, `@@x@@`, `__X__`, or the
/// `a | b` of reference manuals.
pub fn is_unresolved(text: &str) -> bool {
    const MARKS: [&str; 6] = ["{{", "%{", "#{", "@@", "%%", " | "];
    let dollar = || {
        let mut after = text.split('$').skip(1);
        after.any(|rest| rest.starts_with(|char: char| "({_".contains(char) || char.is_ascii_alphabetic()))
    };
    let angles = || text.split_once('<').is_some_and(|(_, rest)| rest.contains('>'));
    let underscores = || text.split_once("__").is_some_and(|(_, rest)| rest.contains("__"));
    MARKS.iter().any(|mark| text.contains(mark)) || dollar() || angles() || underscores()
}

#[cfg(test)]
mod tests {
    use super::{is_filled_in_later, is_in_name, is_unresolved};

    #[test]
    fn recognises_placeholders_of_common_templates() {
        for text in [
            "${X}",
            "a-$(NODETYPE)",
            "$ZONE",
            "{{ .Values.x }}",
            "<zone>",
            "%{x}",
            "#{x}",
            "@@x@@",
            "__INSTANCE_TYPE__",
            "720h | Never",
        ] {
            assert!(is_unresolved(text), "{text}");
        }
        assert!(is_filled_in_later("arn:${AWS::Partition}:iam") && is_filled_in_later("${cluster_name}-x"));
        assert!(
            !is_filled_in_later("$CLUSTER_NAME")
                && !is_filled_in_later("<name>")
                && !is_filled_in_later("${")
        );
        assert!(is_in_name("<name>") && is_in_name("$NAME") && !is_in_name("prod-eu-1"));
        for text in ["", "m5.large", "0 9 * * mon-fri", "100%", "a < b", "5$", "#1", "a__b"] {
            assert!(!is_unresolved(text), "{text}");
        }
    }
}
