//! A Go panic or fatal error, and the first function of Karpenter in its goroutine dump.
//!
//! The runtime prints `panic: ` or `fatal error: `, perhaps a signal, an empty line and `goroutine 1 [running]:`, then for each
//! function a line with its name and arguments and a line with its file. Sources: `printpanics` in src/runtime/panic.go and
//! `traceback` in src/runtime/traceback.go of golang/go.

use crate::entry::{At, Entry};
use crate::log::{self, LineKind};

/// Number of lines of a dump in which the function is searched for.
const MAX_SEARCHED: usize = 200;

/// Modules of the controller: go.mod of kubernetes-sigs/karpenter and of aws/karpenter-provider-aws at v1.0.0 and v1.14.0.
const MODULES: [&str; 2] = ["sigs.k8s.io/karpenter/", "github.com/aws/karpenter-provider-aws/"];

/// A panic whose goroutine dump is being read.
#[derive(Debug)]
pub(super) struct Crash {
    at: At,
    /// The line with the panic.
    line: String,
    /// Number of lines read after it.
    searched: usize,
    /// The first function of Karpenter; empty until a line shows it.
    frame: String,
}

impl Crash {
    /// Begins a crash at a line.
    pub(super) fn new(at: At, line: &str) -> Self {
        Self { at, line: line.to_owned(), searched: 0, frame: String::new() }
    }

    /// Reads the next line. Returns whether nothing more is expected.
    pub(super) fn is_complete(&mut self, kind: LineKind, line: &str) -> bool {
        self.searched += 1;
        if kind == LineKind::GoesOn
            && let Some(frame) = frame(line)
        {
            frame.clone_into(&mut self.frame);
        }
        !self.frame.is_empty() || kind == LineKind::Entry || self.searched >= MAX_SEARCHED
    }

    /// Emits the entry.
    pub(super) fn emit(&self, emit: &mut dyn FnMut(&Entry<'_>)) {
        log::read_crash(&self.line, self.at, &self.frame, emit);
    }
}

/// The function of Karpenter in a line of a dump, without its arguments.
fn frame(line: &str) -> Option<&str> {
    if line.contains(".go:") || line.contains("created by ") {
        return None;
    }
    let start = MODULES.iter().filter_map(|module| line.find(module)).min()?;
    let call = line.get(start..)?.split(char::is_whitespace).next()?;
    let (name, _) = call.rsplit_once('(')?;
    // A method of a pointer has a bracket in its name: `state.(*Cluster).Synced(0xc000)`.
    Some(if name.ends_with('.') { call } else { name })
}

#[cfg(test)]
mod tests {
    use super::frame;

    #[test]
    fn finds_the_function_of_a_frame() {
        for (line, expected) in [
            (
                "sigs.k8s.io/karpenter/pkg/operator.NewOperator(0x1)",
                Some("sigs.k8s.io/karpenter/pkg/operator.NewOperator"),
            ),
            (
                "2026-04-23T18:04:56Z github.com/aws/karpenter-provider-aws/pkg/providers/ami.(*DefaultProvider).List(0xc0, {0x1, 0x2})",
                Some("github.com/aws/karpenter-provider-aws/pkg/providers/ami.(*DefaultProvider).List"),
            ),
            ("\tsigs.k8s.io/karpenter/pkg/operator/operator.go:12 +0x1d", None),
            ("created by sigs.k8s.io/karpenter/pkg/operator.(*Operator).Start in goroutine 1", None),
            ("panic({0x1, 0x2})", None),
            ("runtime.gopanic(0x1)", None),
        ] {
            assert_eq!(frame(line), expected, "{line}");
        }
    }
}
