//! Logs of Karpenter's controller.

use std::io::{self, Write};

use serde_json::Value;

use super::files::SnapshotFolder;
use super::kubectl::{Kubectl, KubectlFailure};
use super::snapshot::{LogResult, State};

/// Container of the controller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LogSource {
    pub(super) namespace: String,
    pub(super) pod: String,
    pub(super) container: String,
    /// Whether the container has restarted.
    pub(super) restarted: bool,
}

impl LogSource {
    /// The containers of a pod that run the controller.
    pub(super) fn find(pod: &Value) -> Vec<Self> {
        let text = |value: &Value, path: &str| {
            value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let is_in_chart = text(pod, "/metadata/labels/app.kubernetes.io~1name") == "karpenter";
        let items = |path: &str| pod.pointer(path).and_then(Value::as_array).into_iter().flatten();
        let controllers = items("/spec/containers").filter(|container| {
            symptoms::is_controller(&text(container, "/name"), &text(container, "/image"), is_in_chart)
        });
        let source = |container: &Value| {
            let name = text(container, "/name");
            let restarts = items("/status/containerStatuses")
                .filter(|status| text(status, "/name") == name)
                .filter_map(|status| status.get("restartCount")?.as_u64());
            Self {
                namespace: text(pod, "/metadata/namespace"),
                pod: text(pod, "/metadata/name"),
                restarted: restarts.sum::<u64>() > 0,
                container: name,
            }
        };
        controllers.map(source).collect()
    }

    /// Writes the log, and after a restart the log of the container before.
    pub(super) fn collect(
        &self,
        kubectl: &Kubectl,
        folder: &mut SnapshotFolder,
        since: &str,
    ) -> io::Result<Vec<LogResult>> {
        let mut results = vec![self.one(kubectl, folder, since, false)?];
        if self.restarted {
            results.push(self.one(kubectl, folder, since, true)?);
        }
        Ok(results)
    }

    /// The arguments of kubectl. Source: pkg/cmd/logs/logs.go of kubernetes/kubectl at v0.33.0. With `pod/` in front no name is a
    /// flag. The log of a container that crashed ends with the crash, however long ago; `--since` would cut it.
    fn arguments(&self, since: &str, previous: bool) -> Vec<String> {
        let mut arguments = vec![
            "logs".to_owned(),
            format!("pod/{}", self.pod),
            format!("--namespace={}", self.namespace),
            format!("--container={}", self.container),
        ];
        arguments.push(if previous { "--previous".to_owned() } else { format!("--since={since}") });
        arguments
    }

    fn one(
        &self,
        kubectl: &Kubectl,
        folder: &mut SnapshotFolder,
        since: &str,
        previous: bool,
    ) -> io::Result<LogResult> {
        let Self { namespace, pod, container, .. } = self;
        let suffix = if previous { "-previous" } else { "" };
        let (file, mut out) = folder.file(&format!("log-{namespace}-{pod}-{container}{suffix}"), "log")?;
        let arguments = self.arguments(since, previous);
        let (copied, failure) = kubectl.run(&arguments, |mut stdout| {
            let result = io::copy(&mut stdout, &mut out);
            result.and_then(|bytes| out.flush().map(|()| bytes))
        })?;
        let bytes = copied.transpose()?.unwrap_or_default();
        // After a restart the kubelet may have deleted the log of the container before.
        let state = match &failure {
            None => State::Read,
            Some(KubectlFailure::Other(_)) if previous => State::Absent,
            Some(failure) => State::of(failure),
        };
        let is_empty = bytes == 0 && failure.is_some();
        if !is_empty {
            out.finish_new()?;
        }
        let missing = match state {
            State::Forbidden => format!("get pods and pods/log in namespace {namespace}"),
            _ => String::new(),
        };
        let reason = failure.as_ref().map(|failure| failure.reason().to_owned()).unwrap_or_default();
        Ok(LogResult {
            namespace: namespace.clone(),
            pod: pod.clone(),
            container: container.clone(),
            previous,
            state,
            file: if is_empty { String::new() } else { file },
            reason,
            missing,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_the_controller_and_not_its_sidecars() {
        let pod = |labels: Value| {
            json!({
                "metadata": {"namespace": "kube-system", "name": "karpenter-1", "labels": labels},
                "spec": {"containers": [
                    {"name": "controller", "image": "mirror.example/karpenter:1"},
                    {"name": "istio-proxy", "image": "istio"}]},
                "status": {"containerStatuses": [
                    {"name": "controller", "restartCount": 2}, {"name": "istio-proxy", "restartCount": 0}]}})
        };
        let found = LogSource::find(&pod(json!({"app.kubernetes.io/name": "karpenter"})));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].container.as_str(), found[0].restarted), ("controller", true));
        assert!(LogSource::find(&pod(json!({}))).is_empty());
    }

    #[test]
    fn asks_for_the_end_of_the_log_and_for_the_whole_log_before_a_restart() {
        let [namespace, pod, container] = ["kube-system", "karpenter-1", "controller"].map(str::to_owned);
        let source = LogSource { namespace, pod, container, restarted: true };
        let common = ["logs", "pod/karpenter-1", "--namespace=kube-system", "--container=controller"];
        assert_eq!(source.arguments("1h", false), [&common[..], &["--since=1h"]].concat());
        assert_eq!(source.arguments("1h", true), [&common[..], &["--previous"]].concat());
    }
}
