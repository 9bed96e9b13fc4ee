use std::collections::BTreeSet;

use cluster::charts::{LocalChart, ValueReads};
use karpenter::release::Releases;
use manifest::source::Span;
use manifest::tree::Node;
use objects::object::{Form, Object};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Checks the values of a Helm chart whose folder is in the input, and whose templates hold objects of Karpenter, for keys that no
    /// template of the chart reads. Values files are `values.yaml` and the files beside it with a name that starts with `values`.
    ///
    /// It needs the whole folder of the chart. A chart is not checked if a template can read values unseen: `tpl`, templates that
    /// another chart defines, values that are passed on as a whole, library charts, charts that another chart in the input depends on,
    /// and dependencies with `import-values`. `global`, `tags`, the values for dependencies, and values with an anchor are not reported.
    ///
    /// The severity is `info` if the key does not resemble a key that the templates read.
    ///
    /// ## Why it is bad
    ///
    /// Helm accepts any key. A misspelt key is silently ignored, and the default of the chart applies to the nodes.
    ///
    /// ## Example
    ///
    /// ```yaml,files
    /// # pools/Chart.yaml
    /// apiVersion: v2
    /// name: pools
    /// version: 1.0.0
    /// ---
    /// # pools/values.yaml
    /// nodePool:
    ///   cpuLimits: 100
    /// ---
    /// # pools/templates/nodepool.yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   limits:
    ///     cpu: {{ .Values.nodePool.cpuLimit }}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,files
    /// # pools/Chart.yaml
    /// apiVersion: v2
    /// name: pools
    /// version: 1.0.0
    /// ---
    /// # pools/values.yaml
    /// nodePool:
    ///   cpuLimit: 100
    /// ---
    /// # pools/templates/nodepool.yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   limits:
    ///     cpu: {{ .Values.nodePool.cpuLimit }}
    /// ```
    ///
    /// ## References
    ///
    /// - docs/chart_template_guide/values_files.md and docs/topics/charts.md of helm/helm-www
    /// - pkg/chartutil/dependencies.go of helm/helm at v3.16.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a value of a local chart that no template of the chart reads",
        runs: Runs::OnFiles,
        on: &[On::LocalValues, On::ChartValues],
        inventory: &[],
        check: check,
    }
}

/// Maximum number of absent keys among which a similar one is looked for.
const MAX_ABSENT: usize = 50;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let root = object.root().tree().root();
    let is_values = match object.form() {
        Form::LocalValues => true,
        // A chart around Karpenter's chart has values of both. Values of Karpenter's chart alone are for another installation.
        Form::ChartValues => object.root() != root,
        _ => false,
    };
    let Some(chart) = context.local_chart().filter(|_| is_values) else { return };
    let is_for_chart = |key: &str| chart.reads().get(key).is_some() || chart.hands_on(key);
    // A file without any key of the chart is for another chart.
    if root.members().any(|(key, _)| is_for_chart(key)) {
        check_members(root, chart.reads(), Some(chart), &mut Vec::new(), findings);
    }
}

/// Reports the members of a mapping that are not read. `chart` is known at the top of the values.
fn check_members<'d>(
    map: Node<'d>,
    reads: &ValueReads,
    chart: Option<&LocalChart>,
    path: &mut Vec<&'d str>,
    findings: &mut Vec<Finding<'d>>,
) {
    let mut absent = None;
    for (key, value) in map.members() {
        let is_handed_on = chart.is_some_and(|chart| chart.hands_on(key));
        if is_handed_on || value.is_merged() || value.is_copied() || has_placeholder(key) {
            continue;
        }
        path.push(key);
        match reads.get(key) {
            Some(below) if below.is_whole() || !value.is_mapping() => {}
            Some(below) => check_members(value, below, None, path, findings),
            None if value.is_null() || has_anchor(value) => {}
            None => {
                let absent = absent.get_or_insert_with(|| absent_keys(map, reads));
                findings.push(unread(value, absent, path));
            }
        }
        path.pop();
    }
}

/// The keys that the templates read and a mapping lacks. Of too many, none is suggested.
fn absent_keys<'r>(map: Node<'_>, reads: &'r ValueReads) -> Vec<&'r str> {
    let present: BTreeSet<&str> = map.members().map(|(key, _)| key).collect();
    let absent: Vec<&str> = reads.keys().filter(|read| !present.contains(read)).collect();
    if absent.len() > MAX_ABSENT { Vec::new() } else { absent }
}

fn unread<'d>(value: Node<'d>, absent: &[&str], path: &[&str]) -> Finding<'d> {
    let meant = nearest(value.key(), absent.iter().copied());
    let message = format!("no template of the chart reads `{}`, so the value has no effect", path.join("."));
    let finding = Finding::new(&RULE, Place::key(value), message);
    match meant {
        Some(meant) => {
            finding.help(format!("the templates read `{meant}` here: rename the key if you mean it"))
        }
        None => finding.severity(Severity::Info).help("remove the key, or read it in a template".to_owned()),
    }
}

/// Whether a value, or a part of it, has an anchor, so that other values may repeat it.
fn has_anchor(value: Node<'_>) -> bool {
    let last = core::iter::successors(Some(value), |node| node.children().last()).last().unwrap_or(value);
    let end = last.span().end.max(value.span().end);
    value.source().slice(Span::new(value.key_span().end.min(end), end)).contains('&')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::findings_in_folder;

    const CHART: &str =
        "apiVersion: v2\nname: pools\ndependencies: [{name: karpenter, condition: karpenter.enabled}]\n";
    const POOL: &str = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: {{ .Values.name }}}
spec:
  weight: {{ .Values.pool.weight }}
  disruption: {{ toYaml .Values.pool.disruption | nindent 4 }}
";

    fn findings_of(values: &str) -> String {
        let files =
            [("c/Chart.yaml", CHART), ("c/templates/pool.yaml", POOL), ("c/values-prod.yaml", values)];
        findings_in_folder(&RULE, &files)
    }

    #[test]
    fn reports_keys_that_no_template_reads_at_any_depth() {
        let values = "name: a\npool:\n  wieght: 10\n  zones: [a]\n  disruption: {anything: {goes: here}}\nregion: eu\n";
        insta::assert_snapshot!(findings_of(values), @r"
        warning / pool.wieght: no template of the chart reads `pool.wieght`, so the value has no effect
        info / pool.zones: no template of the chart reads `pool.zones`, so the value has no effect
        info / region: no template of the chart reads `region`, so the value has no effect
        ");
    }

    #[test]
    fn suggests_no_key_that_the_values_have() {
        assert!(findings_of("pool: {weight: 1, weights: 2}\n").starts_with("info / pool.weights"));
    }

    #[test]
    fn leaves_alone_what_is_read_elsewhere() {
        for values in [
            "name: a\nglobal: {region: eu}\ntags: {a: true}\nkarpenter: {settings: {clusterName: a, interruptionQueue: a}}\n",
            "name: a\nkarpenter: {enabled: true, settings: {clusterName: a, interruptionQueue: a}}\n",
            "name: a\ndefaults: &defaults {weight: 1}\npool: {<<: *defaults, weight: 2}\n",
            "name: a\nshared:\n- &zone eu-west-1a\npool: {disruption: {zones: [*zone]}}\n",
            "name: a\nregion: null\n",
            "name: a\npool: small\n",
            // Values of Karpenter's own chart, and of another chart.
            "settings: {clusterName: a, interruptionQueue: a}\nreplicas: 2\n",
            "ingress: {enabled: true}\n",
        ] {
            assert_eq!(findings_of(values), "", "{values}");
        }
    }

    #[test]
    fn reads_the_values_of_a_chart_around_karpenters_chart() {
        let values = "nmae: a\nkarpenter: {settings: {clusterName: a, interruptionQueue: a}}\n";
        assert!(findings_of(values).starts_with("warning /karpenter nmae: "), "{}", findings_of(values));
    }
}
