//! `karpwarden report`: the page as a file.

use serde_json::Value;

use crate::folder::{BAD, Folder, Run};

const AT: &str = "2026-03-11T10:30:00Z";

const POOL: &str = "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  disruption:
    budgets: [{nodes: \"10%\"}]
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers:
    - {name: web, image: nginx, resources: {requests: {cpu: \"1\"}}}
";

const LOG: &str = r#"{"level":"ERROR","time":"2026-03-11T10:00:00.000Z","logger":"controller","message":"could not schedule pod","commit":"1","controller":"provisioner","Pod":{"name":"web","namespace":"shop"},"error":"no nodepool matched"}
"#;

fn report(folder: &Folder, arguments: &[&str]) -> Run {
    folder.run(&[&["report", "--at", AT, "--karpenter-version", "1.14"], arguments].concat())
}

/// The data of a page.
fn data(html: &str) -> Value {
    let (_, rest) = html.split_once(r#"<script type="application/json" id="data">"#).unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

#[test]
fn writes_the_answers_of_the_other_commands() {
    let folder = Folder::with(&[("in/class.yaml", BAD), ("in/pool.yaml", POOL), ("in/karpenter.log", LOG)]);
    let run = report(&folder, &["in", "--output", "report.html"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run:?}");
    assert!(run.stderr.contains("`report.html` has "), "{run:?}");
    let page = folder.read("report.html");
    let data = data(&page);
    assert_eq!((&data["title"], &data["at"], &data["mark"]), (&"in".into(), &AT.into(), &Value::Null));
    let common = ["--karpenter-version", "1.14", "--format", "json"];
    let check = folder.run(&[&["check", "in"], &common[..]].concat()).json();
    assert_eq!(data["findings"]["summary"], check["summary"]);
    assert_eq!(data["findings"]["findings"][0]["message"], check["findings"][0]["message"]);
    let simulation = folder.run(&[&["simulate", "in"], &common[..]].concat()).json();
    assert_eq!(data["placement"]["verdict"], simulation["verdict"]);
    assert_eq!(data["placement"]["nodeClaims"], simulation["nodeClaims"]);
    assert_eq!(data["disruption"]["pools"][0]["name"], "general");
    let diagnosis = folder.run(&[&["diagnose", "in"], &common[..]].concat()).json();
    assert_eq!(data["symptoms"]["logs"], diagnosis["logs"]);
    for finding in data["symptoms"]["findings"].as_array().unwrap() {
        assert_eq!(finding["family"], "symptoms", "{finding}");
    }
    assert_eq!(data["absent"], Value::Array(Vec::new()));
}

#[test]
fn the_page_is_one_file_that_may_run_nothing_else() {
    let hostile = BAD.replace("name: default", "name: \"</script><script>alert(1)</script><!--\"");
    let folder = Folder::with(&[("a.yaml", &hostile)]);
    let run = report(&folder, &["a.yaml"]);
    let page = &run.stdout;
    assert!(page.contains(
        r#"<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-"#
    ));
    assert!(page.contains("connect-src 'none'; base-uri 'none'; form-action 'none'\">"), "{page}");
    // Two scripts: the data and the program.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("alert(1)</script>"));
    let name = &data(page)["findings"]["findings"][0]["name"];
    assert_eq!(name, "</script><script>alert(1)</script><!--");
    for start in ["src=", "@import", "url(", "<link rel=\"stylesheet", "<iframe", "<img"] {
        assert!(!page.contains(start), "{start}");
    }
}

#[test]
fn redacts_the_values_that_collect_redacts() {
    let class = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
  annotations: {vault.example/token: hvs.CAESIJ0123456789}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  userData: |
    #!/bin/bash
    export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY00
    /etc/eks/bootstrap.sh cluster
";
    let pod = "\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  nodeSelector: {karpenter.sh/capacity-type: spott}
  containers:
    - name: web
      image: nginx
      command: [serve, --password=hunter2hunter2]
      env: [{name: DATABASE, value: \"postgres://user:pass@db/shop\"}]
";
    let folder = Folder::with(&[("in/class.yaml", class), ("in/pod.yaml", pod), ("in/pool.yaml", POOL)]);
    let page = report(&folder, &["in"]).stdout;
    assert!(!data(&page)["findings"]["findings"].as_array().unwrap().is_empty());
    for secret in ["hvs.CAES", "wJalrXUtnFEMI", "hunter2", "postgres://", "user:pass"] {
        assert!(!page.contains(secret), "{secret}");
    }
}

#[test]
fn a_log_alone_is_an_input() {
    let folder = Folder::with(&[("only.log", LOG)]);
    let run = report(&folder, &["only.log", "--quiet"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    let data = data(&run.stdout);
    assert_eq!(data["symptoms"]["logs"][0]["lines"], 1, "{data}");
    // The log is on the page, so there is no advice to diagnose it.
    assert_eq!(data["findings"]["notes"], Value::Array(Vec::new()));
}

#[test]
fn exits_as_the_help_says() {
    let folder = Folder::with(&[
        ("in/a.yaml", BAD),
        ("in/broken.yaml", "apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: [\n"),
        ("empty/.hidden", ""),
    ]);
    assert_eq!(report(&folder, &["in/a.yaml"]).status, 0);
    let unreadable = report(&folder, &["in"]);
    assert_eq!(unreadable.status, 4);
    assert_eq!(unreadable.stderr.matches("`in/broken.yaml`").count(), 1, "{unreadable:?}");
    assert_eq!(report(&folder, &["empty"]).status, 3);
    assert_eq!(report(&folder, &["missing"]).status, 3);
    assert_eq!(report(&folder, &["in", "--prices", "in/a.yaml"]).status, 2);
    assert_eq!(report(&folder, &["in", "--at", "noon"]).status, 2);
    let refused = report(&folder, &["-"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("a page needs files or folders"), "{refused:?}");
    assert_eq!(report(&folder, &["in", "--karpenter-version", "x"]).status, 2);
    assert_eq!(report(&folder, &["in", "--output", "missing/report.html"]).status, 5);
    folder.write("in/karpwarden.yaml", b"unknown: 1\n");
    let invalid = report(&folder, &["in/a.yaml", "--config", "in/karpwarden.yaml", "--quiet"]);
    assert_eq!(invalid.status, 2);
    assert_eq!(invalid.stderr.matches("unknown key").count(), 1, "{invalid:?}");
}

#[test]
fn an_input_is_not_overwritten_and_an_earlier_page_is_no_input() {
    let folder = Folder::with(&[("in/a.yaml", BAD), ("in/b.log", LOG)]);
    for input in ["in/a.yaml", "in/b.log"] {
        let run = report(&folder, &["in", "--output", input]);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains("is also an input"), "{run:?}");
    }
    assert_eq!((folder.read("in/a.yaml").as_str(), folder.read("in/b.log").as_str()), (BAD, LOG));
    let first = report(&folder, &["in", "--output", "in/report.html"]);
    assert_eq!(first.status, 0, "{first:?}");
    let page = folder.read("in/report.html");
    assert_eq!(report(&folder, &["in", "--output", "in/report.html"]).status, 0);
    assert_eq!(folder.read("in/report.html"), page);
}
