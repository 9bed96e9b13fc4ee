//! Calls of `helm`, and its output.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::platform;

/// Time that helm may take for a chart.
const TIME_LIMIT: Duration = Duration::from_mins(1);
/// Time that helm may take for all charts of a run, each with all its files of values.
pub(super) const TOTAL_TIME_LIMIT: Duration = Duration::from_mins(5);
/// Bytes that helm may print for a chart.
const MAX_OUTPUT: u64 = 64 << 20;
/// Bytes of standard error that are kept.
const MAX_ERROR_BYTES: u64 = 1 << 16;
/// A file without content, in which helm finds neither clusters nor repositories.
const NULL_DEVICE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };
/// Environment in which helm has no plugins, no repositories and no cluster.
///
/// Sources: `globalUsage` in cmd/helm/root.go of helm/helm at v3.16.0, and `EnvVars` in pkg/cli/environment.go.
const ENVIRONMENT: [(&str, &str); 5] = [
    ("HELM_NO_PLUGINS", "1"),
    ("HELM_PLUGINS", NULL_DEVICE),
    ("HELM_REPOSITORY_CONFIG", NULL_DEVICE),
    ("HELM_REGISTRY_CONFIG", NULL_DEVICE),
    ("KUBECONFIG", NULL_DEVICE),
];

/// The program that renders, and the time until which it may run.
#[derive(Debug)]
pub(super) struct Helm {
    program: PathBuf,
    deadline: Instant,
}

/// Output of `helm template`.
#[derive(Debug)]
pub(super) struct Rendering {
    text: String,
}

/// Output of one template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RenderedPart<'r> {
    /// The path of the template in the folder of the chart.
    pub(super) template: &'r str,
    /// Its output.
    pub(super) text: &'r str,
}

/// Reason for which a chart is not rendered.
#[derive(Debug)]
pub(super) enum HelmFailure {
    /// helm cannot be started.
    NotStarted(io::Error),
    /// helm refuses the chart, in its words.
    Refused(String),
    /// helm takes too long for a chart, or prints too much.
    Exceeded(&'static str),
    /// The time for all charts is over.
    OutOfTime,
}

impl HelmFailure {
    /// The remark of the report about a chart.
    pub(super) fn remark(&self, folder: &str, values: Option<&str>) -> String {
        let with = values.map(|values| format!(" --values {values}")).unwrap_or_default();
        match self {
            Self::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => format!(
                "no chart is rendered: `helm` is not on the PATH; install it, or render the charts elsewhere: `helm template {folder} | karpwarden check -`"
            ),
            Self::NotStarted(error) => {
                format!("no chart is rendered: `helm` cannot be started: {}", platform::start_failure(error))
            }
            Self::Refused(reason) => {
                format!(
                    "the chart `{folder}` is not rendered: `helm template {folder}{with}` fails: {reason}"
                )
            }
            Self::Exceeded(bound) => {
                format!("the chart `{folder}` is not rendered: `helm template {folder}{with}` {bound}")
            }
            Self::OutOfTime => {
                format!("the chart `{folder}` is not rendered: the time for all charts is over")
            }
        }
    }
}

impl Helm {
    /// The `helm` on the PATH, for a run that starts now.
    pub(super) fn on_path() -> Self {
        Self { program: PathBuf::from("helm"), deadline: Instant::now() + TOTAL_TIME_LIMIT }
    }

    /// A program with the time that it may run.
    #[cfg(test)]
    pub(super) fn of(program: PathBuf, time: Duration) -> Self {
        Self { program, deadline: Instant::now() + time }
    }

    fn is_out_of_time(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Renders a chart without a cluster, without plugins and without the network: helm would read what the schema of the values refers to, so
    /// the schema is left out.
    ///
    /// Sources: `docs/helm/helm_template.md` of helm/helm-www; `--skip-schema-validation` exists since 3.16.0, and backstage/charts#127 shows
    /// what a schema can read.
    pub(super) fn template(
        &self,
        name: &str,
        folder: &Path,
        values: Option<&Path>,
        kubernetes_minor: Option<u8>,
    ) -> Result<Rendering, HelmFailure> {
        if self.is_out_of_time() {
            return Err(HelmFailure::OutOfTime);
        }
        if values.is_some_and(|path| path.to_string_lossy().contains([',', '"'])) {
            let reason = "`--values` takes a path with a comma or a quotation mark for several files";
            return Err(HelmFailure::Refused(reason.to_owned()));
        }
        let mut command = Command::new(&self.program);
        // A name with the form of an option would be one.
        let name = if is_release_name(name) { name } else { "release" };
        command.args(["template", name, "--skip-schema-validation"]);
        if let Some(values) = values {
            command.arg("--values").arg(values);
        }
        command.args(kubernetes_minor.map(|minor| format!("--kube-version=1.{minor}")));
        command.arg("--").arg(folder);
        command.envs(ENVIRONMENT).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(HelmFailure::NotStarted)?;
        let printed = self.printed(&mut child);
        if printed.is_err() {
            // A process that has ended cannot be killed.
            let _ = child.kill();
        }
        let status = child.wait().map_err(HelmFailure::NotStarted)?;
        let (output, errors) = printed?;
        if !status.success() {
            if errors.contains("unknown flag: --skip-schema-validation") {
                return Err(HelmFailure::Refused("helm 3.16 or newer is needed".to_owned()));
            }
            let is_error = |line: &&str| line.starts_with("Error:");
            let line =
                errors.lines().find(is_error).or_else(|| errors.lines().next_back()).unwrap_or_default();
            let reason = line.trim_start_matches("Error:").trim();
            return Err(HelmFailure::Refused(
                if reason.is_empty() { "no message" } else { reason }.to_owned(),
            ));
        }
        Ok(Rendering { text: output })
    }

    /// The text that a process prints on standard output and standard error, within the bounds.
    fn printed(&self, child: &mut Child) -> Result<(String, String), HelmFailure> {
        let deadline = self.deadline.min(Instant::now() + TIME_LIMIT);
        let output = child.stdout.take().map(|stream| read_aside(stream, MAX_OUTPUT));
        let errors = child.stderr.take().map(|stream| read_aside(stream, MAX_ERROR_BYTES));
        let receive = |stream: Option<mpsc::Receiver<(String, bool)>>| {
            let Some(stream) = stream else { return Ok((String::new(), true)) };
            let left = deadline.saturating_duration_since(Instant::now());
            let failure = || {
                if self.is_out_of_time() {
                    HelmFailure::OutOfTime
                } else {
                    HelmFailure::Exceeded("takes more than a minute")
                }
            };
            stream.recv_timeout(left).map_err(|_| failure())
        };
        let (output, is_whole) = receive(output)?;
        if !is_whole {
            return Err(HelmFailure::Exceeded("prints more than 64 MiB"));
        }
        Ok((output, receive(errors)?.0))
    }
}

/// Reads a stream in another thread: at most so many bytes, and whether these are all.
fn read_aside(mut stream: impl Read + Send + 'static, limit: u64) -> mpsc::Receiver<(String, bool)> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A stream that fails has ended.
        let _ = stream.by_ref().take(limit).read_to_end(&mut bytes);
        let is_whole = (bytes.len() as u64) < limit;
        // Nobody receives what comes after the time limit.
        let _ = send.send((String::from_utf8_lossy(&bytes).into_owned(), is_whole));
        // helm blocks if nobody reads one of its outputs.
        let _ = io::copy(&mut stream, &mut io::sink());
    });
    receive
}

/// Whether helm accepts the name of a release.
///
/// Source: `ValidateReleaseName` in `pkg/chartutil/validate_name.go` of helm/helm at v3.16.0.
fn is_release_name(name: &str) -> bool {
    const MAX_LENGTH: usize = 53;
    let is_in_words = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !name.is_empty()
        && name.len() <= MAX_LENGTH
        && name.bytes().all(|byte| is_in_words(byte) || byte == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-')
}

impl Rendering {
    /// The parts of the output, each with its template: helm writes `# Source: chart/templates/pool.yaml` behind the `---` line of each
    /// document. A document without the comment belongs to the template before it.
    ///
    /// Source: `docs/chart_template_guide/getting_started.md` of helm/helm-www; `renderResources` in pkg/action/action.go of helm/helm at v3.16.0.
    pub(super) fn parts<'r>(&'r self, chart: &str) -> Vec<RenderedPart<'r>> {
        let mut parts: Vec<RenderedPart<'r>> = Vec::new();
        let (mut start, mut at, mut template) = (0, 0, None);
        // A comment of the author may begin with the same words.
        let mut starts_document = true;
        for line in self.text.split_inclusive('\n') {
            let source = line.strip_prefix("# Source: ").filter(|_| starts_document).map(str::trim);
            starts_document = line.trim_end() == "---";
            if let Some(path) = source {
                self.push(&mut parts, template, start, at);
                template = path.strip_prefix(chart).and_then(|path| path.strip_prefix('/'));
                start = at + line.len();
            }
            at += line.len();
        }
        self.push(&mut parts, template, start, at);
        parts
    }

    fn push<'r>(
        &'r self,
        parts: &mut Vec<RenderedPart<'r>>,
        template: Option<&'r str>,
        start: usize,
        end: usize,
    ) {
        let text = self.text.get(start..end).unwrap_or_default();
        parts.extend(template.map(|template| RenderedPart { template, text }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_releases_reach_helm_as_such() {
        assert!(is_release_name("node-pools2"));
        for name in ["", "-pools", "--validate", "pools-", "Pools", "a_b", "a.b", &"a".repeat(54)] {
            assert!(!is_release_name(name), "{name}");
        }
    }

    #[test]
    fn splits_the_output_by_template() {
        let text = "---\n# Source: pools/templates/a.yaml\na: 1\n---\n# Source: pools/charts/sub/templates/b.yaml\nb: 2\n---\nb: 3\n";
        let rendering = Rendering { text: text.to_owned() };
        let parts = rendering.parts("pools");
        let parts: Vec<(&str, &str)> = parts.iter().map(|part| (part.template, part.text)).collect();
        assert_eq!(
            parts,
            [("templates/a.yaml", "a: 1\n---\n"), ("charts/sub/templates/b.yaml", "b: 2\n---\nb: 3\n")]
        );
        let text = "---\n# Source: pools/templates/a.yaml\n# Source: https://example.com\na: 1\n";
        let rendering = Rendering { text: text.to_owned() };
        assert_eq!(rendering.parts("pools").len(), 1);
        assert!(Rendering { text: "no comment\n".to_owned() }.parts("pools").is_empty());
    }
}
