//! The pod or node that the command line of `why` names, in the forms of kubectl.

use crate::error::CommandError;

/// Object that the user asks about, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WhySubject {
    Pod(String),
    /// A Node, a NodeClaim or an instance.
    Node(String),
}

impl WhySubject {
    /// Parses `pod/web-0`, or `pod web-0` in two words. Completion writes the slash before the second word.
    pub(crate) fn parse(first: &str, second: Option<&str>) -> Result<Self, CommandError> {
        let (kind, name) = first.split_once('/').unwrap_or((first, ""));
        let is_pod = match kind.to_lowercase().as_str() {
            "pod" | "pods" | "po" => true,
            "node" | "nodes" | "no" | "nodeclaim" | "nodeclaims" => false,
            _ => return Err(usage("name a pod or a node: `pod/NAME` or `node/NAME`".to_owned())),
        };
        let name = match (name, second) {
            ("", Some(name)) | (name, None) => name,
            (_, Some(second)) => {
                return Err(usage(format!("`{second}` is one name too many: `{first}` has a name")));
            }
        };
        if name.is_empty() {
            return Err(usage(format!("name the {kind}: `{kind}/NAME`")));
        }
        Ok(if is_pod { Self::Pod(name.to_owned()) } else { Self::Node(name.to_owned()) })
    }
}

fn usage(text: String) -> CommandError {
    CommandError::Usage(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_pod_or_a_node_as_kubectl_does() {
        let pod = WhySubject::Pod("web-0".to_owned());
        for words in [&["pod/web-0"][..], &["pods", "web-0"], &["po/", "web-0"], &["Pod", "web-0"]] {
            assert_eq!(WhySubject::parse(words[0], words.get(1).copied()).ok().as_ref(), Some(&pod));
        }
        assert_eq!(WhySubject::parse("no", Some("a")).ok(), Some(WhySubject::Node("a".to_owned())));
        for (words, expected) in [
            (&["deploy/web"][..], "`pod/NAME` or `node/NAME`"),
            (&["web-0"], "`pod/NAME` or `node/NAME`"),
            (&["pod/"], "name the pod: `pod/NAME`"),
            (&["node"], "name the node: `node/NAME`"),
            (&["pod/web-0", "web-1"], "`web-1` is one name too many"),
        ] {
            let error = WhySubject::parse(words[0], words.get(1).copied()).unwrap_err().to_string();
            assert!(error.contains(expected), "{words:?}: {error}");
        }
    }
}
