//! Lines that a container runtime split into parts → whole lines.
//!
//! `2016-10-06T00:17:09.669794202Z stdout P …` continues in the next line of the same stream, up to one tagged `F`. Tags after a
//! colon have no meaning yet. Source: kubernetes/kubernetes pkg/kubelet/kuberuntime/logs/logs.go, `parseCRILog`.

use super::lines::MAX_LINE_BYTES;
use crate::entry::{At, Time};

/// The starts of incomplete lines, one for each stream.
#[derive(Debug, Default)]
pub(super) struct IncompleteLines {
    stdout: Option<IncompleteLine>,
    stderr: Option<IncompleteLine>,
}

/// The start of an incomplete line.
#[derive(Debug)]
pub(super) struct IncompleteLine {
    /// The location of its first part.
    pub(super) at: At,
    /// The text so far; empty if it is longer than a line may be.
    pub(super) text: String,
}

/// Role of a line in a line of several parts.
#[derive(Debug)]
pub(super) enum PartKind {
    /// Not a part.
    None,
    /// A part before the last one.
    Kept,
    /// The last part, with the whole line.
    Last(IncompleteLine),
    /// The part that makes the line too long.
    TooLong,
}

impl IncompleteLines {
    /// Adds a line.
    pub(super) fn take(&mut self, line: &str, at: At) -> PartKind {
        let Some((stream, tag, content)) = parted(line) else { return PartKind::None };
        let open = if stream == "stdout" { &mut self.stdout } else { &mut self.stderr };
        match open {
            None if tag != "P" => return PartKind::None,
            None => *open = Some(IncompleteLine { at, text: line.to_owned() }),
            Some(start) if start.text.is_empty() => {}
            Some(start) if start.text.len() + content.len() > MAX_LINE_BYTES => {
                start.text = String::new();
                if tag != "P" {
                    *open = None;
                }
                return PartKind::TooLong;
            }
            Some(start) => start.text.push_str(content),
        }
        if tag == "P" {
            return PartKind::Kept;
        }
        open.take().filter(|start| !start.text.is_empty()).map_or(PartKind::Kept, PartKind::Last)
    }

    /// Returns the incomplete lines at the end of the file.
    pub(super) fn finish(self) -> impl Iterator<Item = IncompleteLine> {
        [self.stdout, self.stderr].into_iter().flatten().filter(|start| !start.text.is_empty())
    }
}

/// Stream, tag and content of a line of a container runtime.
fn parted(line: &str) -> Option<(&str, &str, &str)> {
    let (time, rest) = line.split_once(' ')?;
    let (stream, rest) = rest.split_once(' ').filter(|(stream, _)| matches!(*stream, "stdout" | "stderr"))?;
    let (tags, content) = rest.split_once(' ').unwrap_or((rest, ""));
    let tag = tags.split(':').next().filter(|tag| matches!(*tag, "P" | "F"))?;
    Time::parse(time).map(|_| (stream, tag, content))
}
