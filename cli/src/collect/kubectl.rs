//! Calls of `kubectl`.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{ChildStdout, Command, Stdio};
use std::thread;

use super::flags::ClusterFlags;

/// Bytes of standard error that are kept.
const MAX_ERROR_BYTES: u64 = 1 << 16;

/// kubectl with the flags that choose the cluster.
#[derive(Debug)]
pub(super) struct Kubectl {
    flags: Vec<OsString>,
}

/// Reason for which kubectl returned nothing, or not everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KubectlFailure {
    /// The server has no such kind.
    Absent,
    /// The user lacks the right.
    Forbidden(String),
    /// Another reason, in kubectl's words.
    Other(String),
}

impl KubectlFailure {
    /// Parses standard error of kubectl.
    ///
    /// Sources: `mappingFor` in pkg/resource/builder.go and `EnhanceListError` in pkg/resource/helper.go of
    /// kubernetes/cli-runtime, `StandardErrorMessage` in pkg/cmd/util/helpers.go of kubernetes/kubectl, `NewForbidden` in
    /// pkg/api/errors/errors.go of kubernetes/apimachinery, each at v0.33.0.
    pub(super) fn parse(stderr: &str) -> Self {
        let is_noise =
            |line: &&str| line.trim().is_empty() || line.starts_with("Warning:") || is_of_klog(line);
        let reason = stderr.lines().filter(|line| !is_noise(line)).map(str::trim).next_back();
        let reason = reason.unwrap_or("kubectl failed without a message").to_owned();
        if stderr.contains("the server doesn't have a resource type")
            || stderr.contains("the server could not find the requested resource")
        {
            Self::Absent
        } else if stderr.contains("(Forbidden)") {
            Self::Forbidden(reason)
        } else {
            Self::Other(reason)
        }
    }

    /// The reason in kubectl's words; empty if the kind is absent.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Absent => "",
            Self::Forbidden(reason) | Self::Other(reason) => reason,
        }
    }
}

/// Whether a line comes from the log of the client library: `E0712 10:00:00.000000   12345 memcache.go:265] …`.
/// Source: the header in klog.go of kubernetes/klog at v2.130.1.
fn is_of_klog(line: &str) -> bool {
    let mut bytes = line.bytes();
    bytes.next().is_some_and(|level| b"IWEF".contains(&level))
        && bytes.by_ref().take(4).filter(u8::is_ascii_digit).count() == 4
        && bytes.next() == Some(b' ')
}

impl Kubectl {
    /// kubectl for a cluster. The flags are global: every command of kubectl has them.
    pub(super) fn new(cluster: &ClusterFlags) -> Self {
        let mut flags = Vec::new();
        if let Some(path) = &cluster.kubeconfig {
            flags.push("--kubeconfig".into());
            flags.push(path.into());
        }
        flags.extend(cluster.context.as_ref().map(|context| format!("--context={context}").into()));
        Self { flags }
    }

    /// Runs kubectl and hands its standard output to `read`. Returns what `read` returned, and the failure of kubectl, if it
    /// failed. An error means that kubectl cannot be started.
    pub(super) fn run<T>(
        &self,
        arguments: &[String],
        read: impl FnOnce(&mut ChildStdout) -> T,
    ) -> io::Result<(Option<T>, Option<KubectlFailure>)> {
        let mut command = Command::new("kubectl");
        command.args(arguments).args(&self.flags).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        // kubectl blocks if nobody reads one of its outputs.
        let errors = child.stderr.take().map(|stderr| thread::spawn(move || start_of(stderr)));
        let result = child.stdout.take().map(|mut stdout| {
            let result = read(&mut stdout);
            // Without a reader, kubectl fails at the last bytes, which a list in JSON does not need.
            let _ = io::copy(&mut stdout, &mut io::sink());
            result
        });
        let status = child.wait()?;
        let stderr = errors.and_then(|thread| thread.join().ok()).unwrap_or_default();
        let failure = (!status.success()).then(|| KubectlFailure::parse(&stderr));
        Ok((result, failure))
    }

    /// The version of the API server, such as `v1.33.1`.
    /// Source: `Version` in pkg/cmd/version/version.go of kubernetes/kubectl at v0.33.0.
    pub(super) fn server_version(&self) -> io::Result<Result<String, KubectlFailure>> {
        let arguments = ["version", "--output=json", "--request-timeout=30s"].map(str::to_owned);
        let (answer, failure) = self.run(&arguments, |stdout| serde_json::from_reader(stdout).ok())?;
        let answer: Option<serde_json::Value> = answer.flatten();
        if let Some(failure) = failure {
            return Ok(Err(failure));
        }
        let version =
            answer.as_ref().and_then(|answer| answer.pointer("/serverVersion/gitVersion")?.as_str());
        Ok(Ok(version.unwrap_or_default().to_owned()))
    }

    /// The namespace of the context; `default` if it names none.
    /// Source: `Namespace` of `DeferredLoadingClientConfig` in `tools/clientcmd/merged_client_builder.go` of kubernetes/client-go at v0.33.0.
    pub(super) fn namespace(&self) -> io::Result<String> {
        let arguments = ["config", "view", "--minify", "--output=json"].map(str::to_owned);
        let (config, _) = self.run(&arguments, |stdout| serde_json::from_reader(stdout).ok())?;
        let config: Option<serde_json::Value> = config.flatten();
        let namespace = config.as_ref().and_then(|config| config.pointer("/contexts/0/context/namespace"));
        let namespace = namespace.and_then(serde_json::Value::as_str).filter(|name| !name.is_empty());
        Ok(namespace.unwrap_or("default").to_owned())
    }
}

/// The start of a stream, which is read to its end.
fn start_of(mut stream: impl Read) -> String {
    let mut start = Vec::new();
    // The child decides when the stream ends.
    let _ = stream.by_ref().take(MAX_ERROR_BYTES).read_to_end(&mut start);
    let _ = io::copy(&mut stream, &mut io::sink());
    String::from_utf8_lossy(&start).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_missing_kinds_from_missing_rights() {
        let forbidden = "Error from server (Forbidden): nodes is forbidden: User \"dev\" cannot list resource \"nodes\" in API group \"\" at the cluster scope";
        for (stderr, expected) in [
            ("error: the server doesn't have a resource type \"nodeoverlays\"\n", KubectlFailure::Absent),
            (
                "Error from server (NotFound): Unable to list \"karpenter.sh/v1, Resource=nodepools\": the server could not find the requested resource\n",
                KubectlFailure::Absent,
            ),
            (forbidden, KubectlFailure::Forbidden(forbidden.to_owned())),
            (
                "error: context \"prod\" does not exist\n",
                KubectlFailure::Other("error: context \"prod\" does not exist".to_owned()),
            ),
            ("", KubectlFailure::Other("kubectl failed without a message".to_owned())),
        ] {
            assert_eq!(KubectlFailure::parse(stderr), expected, "{stderr}");
        }
    }

    #[test]
    fn quotes_the_error_and_not_the_log_of_the_client() {
        let stderr = "E0712 10:00:00.000000   12345 memcache.go:265] couldn't get current server API group list: dial tcp: i/o timeout\n\
            Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout\n\
            Warning: version difference\n";
        let expected = "Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout";
        assert_eq!(KubectlFailure::parse(stderr).reason(), expected);
        assert!(!is_of_klog("Error from server (Forbidden): x") && !is_of_klog(""));
    }
}
