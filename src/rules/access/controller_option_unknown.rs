use std::collections::BTreeSet;

use karpenter::kind::Kind;
use karpenter::options;
use karpenter::release::Releases;
use objects::controller::Controller;
use objects::object::Object;
use objects::pod::EnvVar;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Checks the flags in `args` of Karpenter's controller, and reports environment variables whose names resemble an
    /// option of the controller.
    ///
    /// The flags are checked if the container runs the controller's image without a `command`. A controller of a release
    /// before 1.0 has other options and is not checked.
    ///
    /// ## Why it is bad
    ///
    /// The controller exits at start-up with `flag provided but not defined` if it does not know a flag. It ignores an
    /// unknown variable without a message, so the option keeps its default. A variable is therefore only a warning.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - name: controller
    ///         image: public.ecr.aws/karpenter/controller:1.14.1
    ///         args: [--leader-elect=false]
    ///         env:
    ///         - {name: CLUSTER_NAME, value: prod-eu-1}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - name: controller
    ///         image: public.ecr.aws/karpenter/controller:1.14.1
    ///         args: [--disable-leader-election]
    ///         env:
    ///         - {name: CLUSTER_NAME, value: prod-eu-1}
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/operator/options/options.go of aws/karpenter-provider-aws and of kubernetes-sigs/karpenter, 1.0-1.14
    /// - `WithOptionsOrDie` in pkg/operator/injection/injection.go of kubernetes-sigs/karpenter at v1.14.0
    RULE {
        formerly: &["identity"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a flag or an environment variable of the controller names a setting that does not exist",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(controller) = Controller::of(object).filter(|controller| !controller.is_before_1_0()) else {
        return;
    };
    if controller.certain && controller.container.command().is_none() {
        check_flags(&controller, findings);
    }
    check_variables(&controller, findings);
}

/// Reports the first flag that no release has, and flags that some releases do not have. Go stops at the first unknown flag,
/// and at the first argument that is no flag.
fn check_flags<'d>(controller: &Controller<'d>, findings: &mut Vec<Finding<'d>>) {
    let mut arguments = controller.container.args();
    while let Some(node) = arguments.next() {
        let Some(text) = node.as_str().filter(|text| !has_placeholder(text) || text.starts_with("--")) else {
            return;
        };
        let Some(flag) = text.strip_prefix("--").or_else(|| text.strip_prefix('-')) else { return };
        let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        if name.is_empty() || has_placeholder(name) || matches!(name, "h" | "help") {
            return;
        }
        let known = options::releases_of_flag(name);
        if !known.is_empty() && value.is_none() && !options::is_boolean(name) {
            arguments.next();
        }
        let unknown = Releases::ALL.without(known);
        if !unknown.is_empty() {
            let message = format!(
                "the controller has no flag `--{name}`: it exits at start-up with `flag provided but not defined`"
            );
            findings
                .push(Finding::at(&RULE, node, message).releases(unknown).help(help_for_flag(name, known)));
        }
        if known.is_empty() {
            return;
        }
    }
}

fn help_for_flag(name: &str, known: Releases) -> String {
    if !known.is_empty() {
        return format!("supported by Karpenter {known}");
    }
    match nearest(name, options::flags()) {
        Some(near) => format!("did you mean `--{near}`?"),
        None => "remove the flag".to_owned(),
    }
}

/// Reports variables whose names resemble an option that the container does not set. Other variables are for the AWS SDK, for
/// Go, or for a sidecar.
fn check_variables<'d>(controller: &Controller<'d>, findings: &mut Vec<Finding<'d>>) {
    let known: Vec<String> = options::flags().map(options::variable_of).collect();
    let set: BTreeSet<_> = controller.container.env().filter_map(EnvVar::name).collect();
    for item in controller.container.env() {
        let Some(name) = item.name().filter(|name| !known.iter().any(|known| known == name)) else {
            continue;
        };
        let near = nearest(name, known.iter().map(String::as_str)).filter(|near| !set.contains(near));
        let Some(near) = near.filter(|_| !has_placeholder(name)) else { continue };
        let message =
            format!("the controller does not read the variable `{name}`, so the option keeps its default");
        let finding =
            Finding::at(&RULE, item.node(), message).severity(Severity::Warning).caught_by(CaughtBy::Nobody);
        findings.push(finding.help(format!("did you mean `{near}`?")));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::{Settings, Target};

    fn controller(container: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: public.ecr.aws/karpenter/controller:1.14.1
        {container}
"
        )
    }

    #[test]
    fn reports_flag_that_no_release_has() {
        insta::assert_snapshot!(findings(&RULE, &controller("args: [--log-levels=debug]")), @"
         10 |         args: [--log-levels=debug]
            |                ^^^^^^^^^^^^^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].args[0] [all]
          the controller has no flag `--log-levels`: it exits at start-up with `flag provided but not defined`
          help: did you mean `--log-level`?
        ");
        assert!(findings(&RULE, &controller("args: [-leader-elect]")).contains("help: remove the flag"));
    }

    #[test]
    fn reports_flags_by_release() {
        let text = controller("args: [--webhook-port=8443, --enable-zonal-shift]");
        // The image tag of the controller pins 1.14.1, and a setting wins over it.
        let at = |release| Settings {
            karpenter: Target::parse(release).unwrap(),
            is_karpenter_version_set: true,
            ..Settings::default()
        };
        let in_1_0 = findings_with(&RULE, &text, &at("1.0"));
        assert!(
            in_1_0.contains("no flag `--enable-zonal-shift`") && !in_1_0.contains("no flag `--webhook-port`"),
            "{in_1_0}"
        );
        assert!(in_1_0.contains("supported by Karpenter since 1.12"), "{in_1_0}");
        let in_1_12 = findings_with(&RULE, &text, &at("1.12"));
        assert!(
            in_1_12.contains("no flag `--webhook-port`")
                && !in_1_12.contains("no flag `--enable-zonal-shift`"),
            "{in_1_12}"
        );
    }

    #[test]
    fn reports_misspelt_variable() {
        insta::assert_snapshot!(findings(&RULE, &controller("env: [{name: CLUSTER_NAM, value: a}]")), @"
         10 |         env: [{name: CLUSTER_NAM, value: a}]
            |                ^^^^
        warning Deployment/karpenter spec.template.spec.containers[0].env[0] [all]
          the controller does not read the variable `CLUSTER_NAM`, so the option keeps its default
          help: did you mean `CLUSTER_NAME`?
        ");
        assert!(
            findings(&RULE, &controller("env: [{name: log_level, value: a}]"))
                .contains("did you mean `LOG_LEVEL`")
        );
        silent(&RULE, &controller("env: [{name: CLUSTER_NAMES, value: a}, {name: CLUSTER_NAME, value: a}]"));
    }

    #[test]
    fn accepts_flags_and_variables_of_the_controller_and_of_others() {
        for container in [
            "args: [--cluster-name, prod, -log-level=debug, --isolated-vpc, --feature-gates=A=true]",
            "args: [--cluster-name, --x]",
            "args: [--log-level=$(LEVEL), serve, --x]",
            "args: [--help, --x]",
            "args: [--, --x]",
            "args: ['--${FLAG}=a', --x]",
            "args: ['${FLAGS}', --x]",
            "env: [{name: AWS_REGION, value: a}, {name: GOMEMLIMIT, value: a}, {name: HTTPS_PROXY, value: a}]",
            "env: [{name: CLUSTER_NAME, value: a}, {name: KUBERNETES_MIN_VERSION, value: a}, {name: SYSTEM_NAMESPACE, value: a}]",
        ] {
            silent(&RULE, &controller(container));
        }
    }

    #[test]
    fn ignores_other_programs_and_releases_before_1_0() {
        silent(&RULE, &controller("command: [/bin/sh], args: [--x]").replace("], args", "]\n        args"));
        silent(&RULE, &controller("args: [--x]").replace("1.14.1", "v0.37.0"));
        silent(&RULE, &controller("args: [--x]").replace("karpenter/controller", "shop/controller"));
    }
}
