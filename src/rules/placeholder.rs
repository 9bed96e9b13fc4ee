//! Values that somebody or something has yet to fill in: they are not judged.

/// Whether a value holds what is still to be filled in: `${X}`, `$(X)`, `$X`, `{{ x }}`, `<x>`, `%{x}`, `#{x}`, `@@x@@`,
/// `__X__`, or the `a | b` of reference manuals.
pub(super) fn is_unresolved(text: &str) -> bool {
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
    use super::is_unresolved;

    #[test]
    fn marks_of_the_usual_templates_are_known() {
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
        for text in ["", "m5.large", "0 9 * * mon-fri", "100%", "a < b", "5$", "#1", "a__b"] {
            assert!(!is_unresolved(text), "{text}");
        }
    }
}
