//! Lines that a container runtime has cut into parts → whole lines.
//!
//! `2016-10-06T00:17:09.669794202Z stdout P …` goes on in the next line of the same stream, up to one tagged `F`. Tags that
//! follow after a colon mean nothing yet. Source: kubernetes/kubernetes pkg/kubelet/kuberuntime/logs/logs.go, `parseCRILog`.

use super::LONGEST;
use crate::entry::{At, Time};

/// The starts of lines whose ends have not come yet, one for each stream.
#[derive(Debug, Default)]
pub(super) struct Parts {
    stdout: Option<Start>,
    stderr: Option<Start>,
}

/// The start of a line.
#[derive(Debug)]
pub(super) struct Start {
    /// Where its first part stands.
    pub(super) at: At,
    /// What was read of it; empty where that is longer than any line.
    pub(super) text: String,
}

/// What a line is in this.
#[derive(Debug)]
pub(super) enum Part {
    /// No part of another.
    None,
    /// A part that others follow.
    Kept,
    /// The last part: the line as a whole.
    Last(Start),
    /// The part with which the line is longer than any line of a log.
    TooLong,
}

impl Parts {
    /// Takes a line.
    pub(super) fn take(&mut self, line: &str, at: At) -> Part {
        let Some((stream, tag, content)) = parted(line) else { return Part::None };
        let open = if stream == "stdout" { &mut self.stdout } else { &mut self.stderr };
        match open {
            None if tag != "P" => return Part::None,
            None => *open = Some(Start { at, text: line.to_owned() }),
            Some(start) if start.text.is_empty() => {}
            Some(start) if start.text.len() + content.len() > LONGEST => {
                start.text = String::new();
                if tag != "P" {
                    *open = None;
                }
                return Part::TooLong;
            }
            Some(start) => start.text.push_str(content),
        }
        if tag == "P" {
            return Part::Kept;
        }
        open.take().filter(|start| !start.text.is_empty()).map_or(Part::Kept, Part::Last)
    }

    /// What has no end when the file ends.
    pub(super) fn finish(self) -> impl Iterator<Item = Start> {
        [self.stdout, self.stderr].into_iter().flatten().filter(|start| !start.text.is_empty())
    }
}

/// The stream, the tag and the content of a line that a container runtime wrote.
fn parted(line: &str) -> Option<(&str, &str, &str)> {
    let (time, rest) = line.split_once(' ')?;
    let (stream, rest) = rest.split_once(' ').filter(|(stream, _)| matches!(*stream, "stdout" | "stderr"))?;
    let (tags, content) = rest.split_once(' ').unwrap_or((rest, ""));
    let tag = tags.split(':').next().filter(|tag| matches!(*tag, "P" | "F"))?;
    Time::parse(time).map(|_| (stream, tag, content))
}
