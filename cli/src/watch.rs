//! `karpwarden check --watch`: checks again when a file of the input changes.
//!
//! It asks for the size and time of each file again and again. No event arrives from network file systems, from folders that
//! a virtual machine or a container shares, or for files that appear beside the input; the metadata change everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use karpwarden::simulate::words::counted;

use super::error::CommandError;
use super::form::Color;
use super::input::BaseFolder;
use super::messages::CollectedMessages;
use super::options::CheckOptions;
use super::status::Status;
use super::{check, config, terminal};

/// Shortest pause between two looks at the files.
const PAUSE: Duration = Duration::from_millis(200);

/// Pauses are this many times as long as a look, so that a large folder does not keep a core busy.
const PAUSE_PER_LOOK: u32 = 10;

/// Names of changed files that a note lists.
const MAX_NAMES: usize = 3;

/// Checks until the process is interrupted, or until a report cannot be written.
pub(crate) fn run(options: &CheckOptions, color: Color) -> Result<Status, CommandError> {
    if options.input.reads_stdin() {
        return Err(CommandError::Usage("`--watch` needs files: standard input does not change".to_owned()));
    }
    let mut beside = BTreeSet::new();
    let mut seen = State::of(options, &beside, &State::default());
    let mut note: Option<String> = None;
    let mut is_first = true;
    loop {
        if options.report.file.is_none() {
            clear();
        }
        if let Some(note) = &note {
            say(options, color, note);
        }
        match check::print(options, color) {
            Ok(printed) => {
                let read = printed.read.iter().map(|path| absolute(path)).collect();
                let before = std::mem::replace(&mut beside, read);
                seen.files.retain(|path, _| beside.contains(path) || !before.contains(path));
            }
            Err(error) if is_first || matches!(error, CommandError::System(_)) => return Err(error),
            // The config file is half edited, for example.
            Err(error) if error.has_message() => terminal::error(color, &error.to_string()),
            Err(_) => {}
        }
        is_first = false;
        seen.add(&beside);
        say(options, color, &format!("watching {}; Ctrl-C ends this", counted(seen.len(), "file")));
        let now = changed(options, &beside, &seen);
        note = Some(format!("checking again: {}", now.differences(&seen)));
        seen = now;
    }
}

/// Prints a note, unless `--quiet` is given.
fn say(options: &CheckOptions, color: Color, text: &str) {
    if !options.report.quiet {
        terminal::note(color, text);
    }
}

/// Clears the terminal, if the report goes to one that can be cleared.
fn clear() {
    let mut out = io::stdout();
    let is_plain = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    if out.is_terminal() && !is_plain {
        // A closed terminal is not an error.
        let _ = out.write_all(b"\x1b[2J\x1b[3J\x1b[H").and_then(|()| out.flush());
    }
}

/// Waits until the files have changed and are at rest: an editor and `git checkout` write in several steps.
fn changed(options: &CheckOptions, beside: &BTreeSet<PathBuf>, seen: &State) -> State {
    let mut last: Option<State> = None;
    loop {
        let started = Instant::now();
        let now = State::of(options, beside, seen);
        if now != *seen && last.as_ref() == Some(&now) {
            return now;
        }
        last = Some(now);
        thread::sleep(PAUSE.max(started.elapsed() * PAUSE_PER_LOOK));
    }
}

/// One spelling of a path.
fn absolute(path: &Path) -> PathBuf {
    let here = BaseFolder::here();
    here.path(Path::new(&here.name(path)))
}

/// Size and time of a file; `None` if it does not exist.
type Stamp = Option<(u64, Option<SystemTime>)>;

/// The files of the input, with their stamps, and the names of the files that are not read.
#[derive(Debug, Default, PartialEq)]
struct State {
    files: BTreeMap<PathBuf, Stamp>,
    unread: BTreeSet<String>,
}

impl State {
    /// The config file, the inputs, and the files of the last check. With an invalid config file the inputs are unknown, so the inputs of `before` stay.
    fn of(options: &CheckOptions, beside: &BTreeSet<PathBuf>, before: &Self) -> Self {
        let silent = CollectedMessages::default();
        let mut state = Self::default();
        let mut paths: BTreeSet<PathBuf> = config::path(&options.settings, &silent).into_iter().collect();
        if let Ok((_, clusters)) = check::inputs(options, &silent) {
            for cluster in clusters {
                paths.extend(cluster.inputs.iter().filter_map(|input| input.path()).map(Path::to_owned));
                paths.extend(cluster.pinning);
                state.unread.extend(cluster.unread);
            }
        } else {
            paths.extend(before.files.keys().cloned());
            state.unread.extend(before.unread.iter().cloned());
        }
        paths.extend(options.baseline.as_ref().map(|baseline| baseline.path().to_owned()));
        state.add(&paths);
        state.add(beside);
        // The report changes with each check.
        if let Some(report) = options.report.file.as_deref().map(absolute) {
            state.files.remove(&report);
            state.unread.retain(|name| absolute(Path::new(name)) != report);
        }
        state
    }

    /// Adds files that are not there yet. Several spellings of a path are one file.
    fn add(&mut self, paths: &BTreeSet<PathBuf>) {
        for path in paths {
            let stamp = || path.metadata().ok().map(|file| (file.len(), file.modified().ok()));
            self.files.entry(absolute(path)).or_insert_with(stamp);
        }
    }

    /// Number of files that exist.
    fn len(&self) -> usize {
        self.files.values().flatten().count()
    }

    /// The files that differ, for a note.
    fn differences(&self, before: &Self) -> String {
        let here = BaseFolder::here();
        let paths: BTreeSet<&PathBuf> = self.files.keys().chain(before.files.keys()).collect();
        let stamp = |state: &Self, path| state.files.get(path).copied().flatten();
        let differ = paths.into_iter().filter(|path| stamp(self, *path) != stamp(before, *path));
        let names: Vec<String> = differ.map(|path| format!("`{}`", here.name(path))).collect();
        match names.len() {
            0 => "the files of the folder changed".to_owned(),
            1..=MAX_NAMES => format!("{} changed", names.join(", ")),
            count => format!("{count} files changed"),
        }
    }
}
