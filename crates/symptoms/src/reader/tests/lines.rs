//! Log lines: wrappers, encoders, and lines in several parts.

use insta::assert_snapshot;

use super::{ENTRIES, LINE, entries_of, read_pieces};
use crate::reader::LineCounts;

#[test]
fn reads_lines_in_every_wrapper() {
    let quoted = serde_json::to_string(LINE).unwrap();
    let broken = serde_json::to_string(&format!("{LINE}\n")).unwrap();
    for wrapped in [
        LINE.to_owned(),
        format!("{LINE}\r"),
        format!("\u{feff}{LINE}"),
        format!("\u{1b}[31m{LINE}\u{1b}[0m"),
        format!("2026-04-23T18:04:56.123456789Z {LINE}"),
        format!("2026-04-23T18:04:56.123456789Z stdout F {LINE}"),
        format!("Apr 23 18:04:56 ip-10-0-0-1 karpenter[1]: {LINE}"),
        format!("2026-04-23T18:04:56Z {{app=\"karpenter\"}} {LINE}"),
        format!("{LINE},"),
        format!("{{\"log\":{broken},\"stream\":\"stdout\",\"time\":\"2026-04-23T18:04:56.1Z\"}}"),
        format!("{{\"message\":{quoted}}}"),
        format!("{{\"@timestamp\":\"2026-04-23 18:04:56.000\",\"@message\":{quoted}}}"),
        format!("{{\"line\":{quoted},\"timestamp\":\"2026-04-23T18:04:56Z\",\"fields\":{{}}}}"),
        format!("{{\"severity\":\"ERROR\",\"jsonPayload\":{LINE},\"message\":{LINE}}}"),
    ] {
        assert_eq!(entries_of(&wrapped), ENTRIES, "{wrapped}");
    }
}

#[test]
fn reads_the_pod_from_the_prefix() {
    let in_pod = ENTRIES.replace(" of ", " in karpenter-5d8f7c9b6-x2x4z of ");
    let quoted = serde_json::to_string(LINE).unwrap();
    for prefixed in [
        format!("[pod/karpenter-5d8f7c9b6-x2x4z/controller] {LINE}"),
        format!("[pod/karpenter-5d8f7c9b6-x2x4z/controller] 2026-04-23T18:04:56Z {LINE}"),
        format!("karpenter-5d8f7c9b6-x2x4z controller {LINE}"),
        format!("\u{1b}[32mkarpenter-5d8f7c9b6-x2x4z\u{1b}[m \u{1b}[32mcontroller\u{1b}[m {LINE}"),
        format!("kube-system karpenter-5d8f7c9b6-x2x4z controller {LINE}"),
        format!("2026-04-23T18:04:56.000000+00:00 karpenter-5d8f7c9b6-x2x4z {LINE}"),
        format!("{{\"log\":{quoted},\"kubernetes\":{{\"pod_name\":\"karpenter-5d8f7c9b6-x2x4z\"}}}}"),
    ] {
        assert_eq!(entries_of(&prefixed), in_pod, "{prefixed}");
    }
}

#[test]
fn reads_other_encoders() {
    let text = "\
2023-06-01T12:00:00.000Z\tINFO\tcontroller.provisioner\tfound provisionable pod(s)\t{\"commit\": \"abc1234\", \"pods\": \"a/b\"}
2023-06-01T12:00:01.000Z\tDEBUG\tcontroller\tprovisioning/provisioner.go:12\tignoring pod\t{\"controller\": \"provisioner\", \"Pod\": {\"name\":\"x\"}}
karpenter-a controller 2023-06-01T12:00:02.000Z\tERROR\tcontroller.interruption\tReconciler error\t{\"error\": \"no queue\"}
2023-06-01T12:00:03.000Z  INFO  controller.provisioner  computed new nodeclaim(s) to fit pod(s)  {\"nodeclaims\": 1}
I0423 18:04:55.123456       1 leaderelection.go:250] attempting to acquire leader lease kube-system/karpenter-leader-election...
2026-04-23T18:04:56Z stderr F E0423 18:04:55.123456       1 reflector.go:150] \"Unhandled Error\" err=\"connection refused\" logger=\"x\"
{\"level\":\"INFO\",\"time\":\"2023-01-01T00:00:00Z\",\"logger\":\"controller.nodeclaim.lifecycle\",\"message\":\"launched\",\"nodeclaim\":\"default-x\"}
panic: validating options, missing field, cluster-name

goroutine 1 [running]:
sigs.k8s.io/karpenter/pkg/operator.NewOperator(0x1)
\t/go/pkg/mod/sigs.k8s.io/karpenter@v1.8.0/pkg/operator/operator.go:12 +0x1d
Error from server (Forbidden): pods is forbidden
";
    assert_snapshot!(entries_of(text), @"
    1: Log Info by provisioner at 2023-06-01T12:00:00Z: found provisionable pod(s)
    2: Log Debug by provisioner of x at 2023-06-01T12:00:01Z: ignoring pod
    3: Log Error by interruption in karpenter-a at 2023-06-01T12:00:02Z: Reconciler error <- no queue
    4: Log Info by provisioner at 2023-06-01T12:00:03Z: computed new nodeclaim(s) to fit pod(s)
    5: Log Info at 2023-04-23T18:04:55Z: attempting to acquire leader lease kube-system/karpenter-leader-election...
    6: Log Error at 2026-04-23T18:04:56Z: Unhandled Error <- connection refused
    7: Log Info by nodeclaim.lifecycle at 2023-01-01T00:00:00Z: launched
    8: Log Panic: validating options, missing field, cluster-name <- sigs.k8s.io/karpenter/pkg/operator.NewOperator
    13: Text Info: Error from server (Forbidden): pods is forbidden
    ");
}

#[test]
fn takes_a_missing_year_from_nearby_lines() {
    let text = format!(
        "\
I1231 23:59:58.000001       1 leaderelection.go:250] attempting to acquire leader lease a/b
W0101 00:00:03.500000       1 reflector.go:561] failed to list *v1.NodePool
{}
E0101 00:00:05.000001       1 leaderelection.go:436] error retrieving resource lock a/b
",
        LINE.replace("2026-04-23T18:04:55", "2026-01-01T00:00:04"),
    );
    assert_snapshot!(entries_of(&text), @r#"
    3: Log Error by provisioner of web-1 at 2026-01-01T00:00:04Z: could not schedule pod <- did not tolerate "a"=b
    1: Log Info at 2025-12-31T23:59:58Z: attempting to acquire leader lease a/b
    2: Log Warn at 2026-01-01T00:00:03Z: failed to list *v1.NodePool
    4: Log Error at 2026-01-01T00:00:05Z: error retrieving resource lock a/b
    "#);
    let alone = "I0423 18:04:55.123456       1 a.go:1] b\nI0423 18:04:56.123456       1 a.go:1] c\n";
    assert_snapshot!(entries_of(alone), @"
    1: Log Info: b
    2: Log Info: c
    ");
    // The number of waiting lines is bounded.
    let many = format!("I0423 18:04:55.123456       1 a.go:1] {}\n", "b".repeat(1000)).repeat(2000);
    let (text, counts) = read_pieces("-", &[format!("{many}{LINE}\n").as_bytes()]);
    assert_eq!((counts.entries, counts.lines, text.contains(" at ")), (2001, 2001, true));
    assert!(text.starts_with("1: ") && text.lines().last().unwrap().starts_with("2001: "));
}

#[test]
fn a_line_with_only_a_prefix_is_blank() {
    let (text, counts) =
        read_pieces("-", &[b"2026-04-23T18:04:56.1Z \n2026-04-23T18:04:56.1Z stderr F \n\n"]);
    assert_eq!((text.as_str(), counts), ("", LineCounts { lines: 3, ..LineCounts::default() }));
}

#[test]
fn counts_truncated_lines() {
    let start = LINE.get(..150).unwrap();
    let end = LINE.get(100..).unwrap();
    let (text, counts) = read_pieces("-", &[format!("{end}\n{LINE}\n{start}").as_bytes()]);
    assert_eq!(text, ENTRIES.replace("1:", "2:"));
    assert_eq!(counts, LineCounts { lines: 3, entries: 1, truncated: 2, ..LineCounts::default() });
}

/// Lines of a container runtime with a line of the controller, cut after this number of bytes.
fn cut_up(line: &str, stream: &str, size: usize) -> Vec<String> {
    let parts: Vec<_> =
        line.as_bytes().chunks(size).map(|part| String::from_utf8(part.to_vec()).unwrap()).collect();
    let tagged = parts.iter().enumerate().map(|(at, part)| {
        let tag = if at + 1 == parts.len() { "F" } else { "P" };
        format!("2026-04-23T18:04:56.12345678{at}Z {stream} {tag} {part}")
    });
    tagged.collect()
}

#[test]
fn joins_lines_of_a_container_runtime() {
    let cut = cut_up(LINE, "stdout", 80);
    assert_eq!(cut.len(), 4);
    let (text, counts) = read_pieces("-", &[cut.join("\n").as_bytes()]);
    assert_eq!(
        (text, counts),
        (ENTRIES.to_owned(), LineCounts { lines: 4, entries: 1, ..LineCounts::default() })
    );

    // Lines of another stream are between its parts: whole lines and a line in parts.
    let [one, two, three, four] = cut.as_slice() else { panic!("{cut:?}") };
    let other = cut_up(&LINE.replace("web-1", "web-2"), "stderr", 160);
    let [first, second] = other.as_slice() else { panic!("{other:?}") };
    let whole = format!("2026-04-23T18:04:56.2Z stderr F {}", LINE.replace("web-1", "web-3"));
    let text =
        entries_of(&[&whole, one, first, two, second, three, four, &whole].map(String::as_str).join("\n"));
    let said_of: Vec<_> =
        text.lines().map(|line| (line.split(':').next().unwrap(), line.contains("<- did not"))).collect();
    assert_eq!(said_of, [("1", true), ("3", true), ("2", true), ("8", true)]);
    assert!(
        text.contains("2: Log Error by provisioner of web-1 ")
            && text.contains("3: Log Error by provisioner of web-2 ")
    );

    // Further tags may follow the tag; the document after it keeps its position.
    let tagged = format!("{}\napiVersion: v1\nkind: A\n", cut.join("\n").replace(" P ", " P:x "));
    let offset = tagged.find("apiVersion").unwrap();
    assert!(entries_of(&tagged).contains(&format!("{ENTRIES}document at 5, offset {offset}:")));
}

#[test]
fn counts_lines_without_their_last_part_as_truncated() {
    let cut = cut_up(LINE, "stdout", 200);
    let (start, end) = (cut.first().unwrap(), cut.last().unwrap());
    let (text, counts) = read_pieces("-", &[format!("{LINE}\n{start}").as_bytes()]);
    assert_eq!(
        (text, counts),
        (ENTRIES.to_owned(), LineCounts { lines: 2, entries: 1, truncated: 1, ..LineCounts::default() })
    );
    assert_eq!(read_pieces("-", &[format!("{end}\n{LINE}\n").as_bytes()]).1.truncated, 1);
}

#[test]
fn joins_parts_up_to_the_maximum_length() {
    let long = LINE.replace("did not", &"did not ".repeat(1 << 17));
    let text = format!(
        "{}\n{}\n",
        cut_up(&long, "stdout", 1 << 14).join("\n"),
        cut_up(LINE, "stdout", 200).join("\n")
    );
    let (entries_of, counts) = read_pieces("-", &[text.as_bytes()]);
    let lines = counts.lines;
    assert_eq!(entries_of, ENTRIES.replace("1:", &format!("{}:", lines - 1)));
    assert_eq!(counts, LineCounts { lines, entries: 1, too_long: 1, ..LineCounts::default() });
    let at_the_end = format!(
        "{LINE}\n2026-04-23T18:04:56Z stdout P {}\n2026-04-23T18:04:56Z stdout F {0}\n{LINE}",
        "x".repeat(600_000)
    );
    assert_eq!(
        read_pieces("-", &[at_the_end.as_bytes()]).1,
        LineCounts { lines: 4, entries: 2, too_long: 1, ..LineCounts::default() }
    );
}
