//! The language server in a folder of 1,000 manifests: the time from a keystroke to the diagnostics, and to the completions, beside the
//! time for reading the files of the folder.
//!
//! Measures the command of `cargo build --release`.

#![expect(clippy::panic, reason = "a server that ends cannot be measured")]

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};
use karpwarden_bench::manifests::documents;
use karpwarden_bench::{Bench, Comparison, RatioBudget, main_of, time};
use language_server::{Message, Notification, Request, from_path};
use serde_json::{Value, json};

/// The number of manifests, each in a file.
const MANIFESTS: usize = 1_000;

/// The most that diagnostics may take at the median.
const DIAGNOSTICS: Duration = Duration::from_millis(50);

/// The most that completions may take at the median.
const COMPLETIONS: Duration = Duration::from_millis(30);

/// The document in which somebody types. Each keystroke adds a finding or removes it.
const TYPED: &str = "apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: typed}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
  weight: 1
";

/// The character at which the name of the node class starts, on line 6: its completions are the names in the folder.
const NAME_START: usize = 73;

fn main() -> ExitCode {
    main_of(run)
}

fn run(bench: &mut Bench) -> Result<()> {
    let command = built().filter(|path| path.is_file());
    let command =
        command.context("the command is not built; run `cargo build --release --package karpwarden-cli`")?;
    let folder = tempfile::tempdir()?;
    let mut paths = Vec::new();
    for (index, text) in documents(MANIFESTS).into_iter().enumerate() {
        let path = folder.path().join(format!("{index:04}.yaml"));
        fs::write(&path, text)?;
        paths.push(path);
    }
    let typed = folder.path().join("typed.yaml");
    fs::write(&typed, TYPED)?;
    let read = || {
        time(|| {
            let bytes = paths.iter().filter_map(|path| fs::read(path).ok()).map(|bytes| bytes.len());
            bytes.sum::<usize>()
        })
    };
    let mut editor = Editor::start(&command, folder.path(), &typed)?;
    let title = format!("keystroke to diagnostics, {MANIFESTS} manifests");
    let mut medians = Vec::new();
    bench.compare(
        Comparison { title: &title, reference: "reading the files", budget: RatioBudget::None },
        || sampled(&mut medians, || editor.keystroke()),
        read,
    )?;
    let diagnostics = median(&mut medians);
    let title = format!("keystroke to completions, {MANIFESTS} manifests");
    let mut medians = Vec::new();
    bench.compare(
        Comparison { title: &title, reference: "reading the files", budget: RatioBudget::None },
        || sampled(&mut medians, || editor.completion()),
        read,
    )?;
    let completions = median(&mut medians);
    editor.end()?;
    ensure!(diagnostics <= DIAGNOSTICS, "diagnostics take {diagnostics:?} at the median");
    ensure!(completions <= COMPLETIONS, "completions take {completions:?} at the median");
    Ok(())
}

fn sampled(samples: &mut Vec<Duration>, sample: impl FnOnce() -> Duration) -> Duration {
    let took = sample();
    samples.push(took);
    took
}

fn median(samples: &mut [Duration]) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// The command beside the folder of this program, `target/PROFILE/deps`.
fn built() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("karpwarden"))
}

/// An editor with the folder and a document.
struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    uri: String,
    version: i32,
    requests: i32,
}

impl Editor {
    fn start(command: &Path, folder: &Path, typed: &Path) -> Result<Self> {
        let mut server =
            Command::new(command).arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = server.stdin.take().context("no standard input")?;
        let output = BufReader::new(server.stdout.take().context("no standard output")?);
        let uri = from_path(typed).context("no address")?;
        let root = from_path(folder).context("no address")?;
        let uri = uri.as_str().to_owned();
        let mut editor = Self { server, input, output, uri: uri.clone(), version: 1, requests: 0 };
        editor.ask("initialize", json!({"capabilities": {}, "rootUri": root}));
        editor.tell("initialized", json!({}));
        let opened = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": TYPED});
        editor.tell("textDocument/didOpen", json!({"textDocument": opened}));
        editor.until(is_diagnostics);
        Ok(editor)
    }

    fn send(&mut self, message: &Message) {
        assert!(message.write(&mut self.input).is_ok(), "the server has ended");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&Message::Notification(Notification { method: method.to_owned(), params }));
    }

    fn request(&mut self, method: &str, params: Value) {
        self.requests += 1;
        let id = self.requests.into();
        self.send(&Message::Request(Request { id, method: method.to_owned(), params }));
    }

    fn ask(&mut self, method: &str, params: Value) {
        self.request(method, params);
        self.until(|message| matches!(message, Message::Response(_)));
    }

    fn receive(&mut self) -> Message {
        match Message::read(&mut self.output) {
            Ok(Some(message)) => message,
            other => panic!("the server has ended: {other:?}"),
        }
    }

    /// Reads messages until one is of a kind.
    fn until(&mut self, is_wanted: impl Fn(&Message) -> bool) {
        while !is_wanted(&self.receive()) {}
    }

    /// Changes one character of the document, so that a finding appears or goes.
    fn typed(&mut self) {
        self.version += 1;
        let digits = if self.version % 2 == 0 { "101" } else { "1" };
        let old = if self.version % 2 == 0 { 11 } else { 13 };
        let range = json!({"start": {"line": 9, "character": 10}, "end": {"line": 9, "character": old}});
        let document = json!({"uri": self.uri, "version": self.version});
        let change = json!({"range": range, "text": digits});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
    }

    /// The time from a keystroke to the diagnostics.
    fn keystroke(&mut self) -> Duration {
        let start = Instant::now();
        self.typed();
        self.until(is_diagnostics);
        start.elapsed()
    }

    /// The time from a keystroke to the completions of the name of a node class.
    fn completion(&mut self) -> Duration {
        let start = Instant::now();
        self.typed();
        let position = json!({"line": 6, "character": NAME_START});
        self.request(
            "textDocument/completion",
            json!({"textDocument": {"uri": self.uri}, "position": position}),
        );
        // The diagnostics of the keystroke come before the answer or after it.
        let (mut took, mut has_diagnostics) = (None, false);
        loop {
            let message = self.receive();
            has_diagnostics |= is_diagnostics(&message);
            if let Message::Response(response) = message {
                took = Some(start.elapsed());
                let answer = response.response_result.unwrap_or_default();
                let items = answer.get("items").and_then(Value::as_array);
                assert!(items.is_some_and(|items| !items.is_empty()), "{answer}");
            }
            if let Some(took) = took.filter(|_| has_diagnostics) {
                return took;
            }
        }
    }

    fn end(mut self) -> Result<()> {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        ensure!(self.server.wait()?.success(), "the server ends with an error");
        Ok(())
    }
}

fn is_diagnostics(message: &Message) -> bool {
    matches!(message, Message::Notification(one) if one.method == "textDocument/publishDiagnostics")
}
