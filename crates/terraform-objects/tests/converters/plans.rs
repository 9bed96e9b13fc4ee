//! Plans and states. Their shape is the shape of `terraform show -json` (`crates/terraform/tests/recorded/plan`), with resources of other
//! providers.

use insta::assert_snapshot;
use karpwarden_terraform_objects::{PlannedSide, evaluate_plans};
use manifest::File;
use manifest::limits::Limits;
use objects::embedded::READ_OPTIONS;

use super::{shown, shown_files};

/// A plan: `kubectl_manifest` has its body twice, and says that the first one is sensitive.
const PLAN: &str = r#"{"format_version":"1.2","terraform_version":"1.11.4","resource_changes":[
{"address":"module.k.kubectl_manifest.a[\"one\"]","module_address":"module.k","mode":"managed","type":"kubectl_manifest","name":"a","index":"one","change":{"actions":["update"],
 "before":{"yaml_body":"kind: Z\n","yaml_body_parsed":"kind: Z\n"},
 "after":{"yaml_body":"kind: A\nmetadata: {name: x}\n","yaml_body_parsed":"kind: A\nmetadata:\n  name: \"x \u003e\"\n"},
 "after_unknown":{"uid":true},"before_sensitive":{"yaml_body":true},"after_sensitive":{"yaml_body":true}}},
{"address":"kubectl_manifest.secret","mode":"managed","type":"kubectl_manifest","name":"secret","change":{"actions":["create"],"before":null,
 "after":{"yaml_body":"kind: S"},"after_unknown":{},"before_sensitive":false,"after_sensitive":{"yaml_body":true}}},
{"address":"kubectl_manifest.later","mode":"managed","type":"kubectl_manifest","name":"later","change":{"actions":["create"],"before":null,
 "after":{"force_new":false},"after_unknown":{"yaml_body":true,"yaml_body_parsed":true},"before_sensitive":false,"after_sensitive":{}}},
{"address":"kubernetes_manifest.b","mode":"managed","type":"kubernetes_manifest","name":"b","change":{"actions":["no-op"],
 "before":{"manifest":{"kind":"B"}},
 "after":{"manifest":{"kind":"B","none":null,"items":[1,null,{"c":true},"hidden"]}},
 "after_unknown":{"manifest":{"role":true,"items":[false,true,{"d":true},false]}},
 "before_sensitive":{},"after_sensitive":{"manifest":{"items":[false,false,{},true]}}}},
{"address":"helm_release.karpenter","mode":"managed","type":"helm_release","name":"karpenter","change":{"actions":["create"],"before":null,
 "after":{"chart":"karpenter","version":"1.6.2","values":["settings:\n  clusterName: prod\n"],"set":[{"name":"a","type":null,"value":"b"}],"set_sensitive":[]},
 "after_unknown":{"id":true,"set":[{}]},"before_sensitive":false,"after_sensitive":{"set":[{}]}}},
{"address":"aws_iam_policy.p","mode":"managed","type":"aws_iam_policy","name":"p","change":{"actions":["create"],"before":null,
 "after":{"name":"p","policy":"{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"sqs:*\",\"Resource\":\"${aws:x}\"}]}"},
 "after_unknown":{},"before_sensitive":false,"after_sensitive":{}}},
{"address":"kubernetes_manifest.gone","mode":"managed","type":"kubernetes_manifest","name":"gone","change":{"actions":["delete"],
 "before":{"manifest":{"kind":"G"}},"after":null,"after_unknown":{},"before_sensitive":{},"after_sensitive":false}}
]}
"#;

#[test]
fn a_plan_has_the_objects_of_its_resources() {
    assert_snapshot!(shown(&[("plan.json", PLAN)], &[]), @r#"
    --- plan.json:2
    .kind = "A" @4:82
    .metadata.name = "x >" @4:104 from "\\\"x \\u003e\\\""
    --- plan.json:6
    `kubectl_manifest.secret`, not checked: `yaml_body` is sensitive
    --- plan.json:8
    `kubectl_manifest.later`, not checked: `yaml_body` is known only after Terraform applies `${kubectl_manifest.later.yaml_body}`
    --- plan.json:10
    .items.0 = 1 @12:55
    .items.1 = "${kubernetes_manifest.b.manifest.items[1]}" @12:57 from "null"
    .items.2.c = true @12:67
    .items.2.d = "${kubernetes_manifest.b.manifest.items[2].d}" @12:62 from "{\"c\":true}"
    .items.3 = "${sensitive}" @12:73 from "\"hidden\""
    .kind = "B" @12:30
    .role = "${kubernetes_manifest.b.manifest.role}" @12:22 from "{\"kind\":\"B\",\"none\":null,\"items\":[1,null,{\"c\":true},\"hidden\"]}"
    --- plan.json:15
    .resource.helm_release.karpenter.chart = "karpenter" @16:19
    .resource.helm_release.karpenter.version = "1.6.2" @16:41
    .resource.helm_release.karpenter.values.settings.clusterName = "prod" @16:86
    .resource.helm_release.karpenter.set.0.name = "a" @16:110
    .resource.helm_release.karpenter.set.0.type = null @16:121
    .resource.helm_release.karpenter.set.0.value = "b" @16:134
    --- plan.json:18
    .Resources.p.Type = "AWS::IAM::ManagedPolicy" @18:12 from "\"aws_iam_policy.p\""
    .Resources.p.Properties.ManagedPolicyName = "p" @19:18
    .Resources.p.Properties.PolicyDocument.Statement.0.Action = "sqs:*" @19:81 from "\\\"sqs:*\\\""
    .Resources.p.Properties.PolicyDocument.Statement.0.Effect = "Allow" @19:60 from "\\\"Allow\\\""
    .Resources.p.Properties.PolicyDocument.Statement.0.Resource = "${aws:x}" @19:104 from "\\\"${aws:x}\\\""
    "#);
}

#[test]
fn the_side_before_a_plan_has_the_objects_of_the_state() {
    let mut files = vec![File::read("plan.json", PLAN, READ_OPTIONS)];
    evaluate_plans(&mut files, PlannedSide::Before, &Limits::DEFAULT);
    assert_snapshot!(shown_files(&files), @r#"
    --- plan.json:2
    .kind = "Z" @3:62
    --- plan.json:10
    .kind = "B" @11:31
    --- plan.json:21
    .kind = "G" @22:31
    "#);
    // Evaluating again is the side after.
    evaluate_plans(&mut files, PlannedSide::After, &Limits::DEFAULT);
    assert_eq!(shown_files(&files), shown(&[("plan.json", PLAN)], &[]));
}

#[test]
fn a_state_has_the_objects_of_its_resources() {
    let text = r#"{"format_version":"1.0","terraform_version":"1.11.4","values":{"root_module":{
"resources":[{"address":"kubernetes_manifest.a","mode":"managed","type":"kubernetes_manifest","name":"a","values":{"manifest":{"kind":"A","x":"hidden"}},"sensitive_values":{"manifest":{"x":true}}}],
"child_modules":[{"address":"module.m","resources":[{"address":"module.m.kubernetes_manifest.b[0]","mode":"managed","type":"kubernetes_manifest","name":"b","index":0,"values":{"manifest":{"kind":"B"}},"sensitive_values":{}}]}]}}}
"#;
    assert_snapshot!(shown(&[("state.json", text)], &[]), @r#"
    --- state.json:2
    .kind = "A" @2:135
    .x = "${sensitive}" @2:143 from "\"hidden\""
    --- state.json:3
    .kind = "B" @3:196
    "#);
    let other = "{\"format_version\":\"1.0\",\"kind\":\"A\"}";
    assert_snapshot!(shown(&[("other.json", other)], &[]), @r#"
    --- other.json:1
    .format_version = "1.0" @1:19
    .kind = "A" @1:32
    "#);
}

#[test]
fn a_plan_replaces_the_objects_of_the_configuration_in_its_folder() {
    let main = "resource \"kubectl_manifest\" \"a\" {\n  yaml_body = <<-EOT\n    kind: A\n  EOT\n}\nresource \"kubectl_manifest\" \"later\" {\n  yaml_body = <<-EOT\n    kind: L\n  EOT\n}\nresource \"kubernetes_manifest\" \"b\" {\n  manifest = { kind = \"B\" }\n}\n";
    let change = |address: &str, kind: &str, after: &str, unknown: &str| {
        format!(
            r#"{{"address":"{address}","mode":"managed","type":"{kind}","name":"x","change":{{"actions":["create"],"before":null,"after":{after},"after_unknown":{unknown}}}}}"#
        )
    };
    let plan = format!(
        r#"{{"format_version":"1.2","terraform_version":"1.11.4","resource_changes":[{},{},{}]}}"#,
        change("kubectl_manifest.a", "kubectl_manifest", r#"{"yaml_body":"kind: P"}"#, "{}"),
        change("kubectl_manifest.later", "kubectl_manifest", "{}", r#"{"yaml_body":true}"#),
        change("kubernetes_manifest.b", "kubernetes_manifest", r#"{"manifest":{"kind":"Q"}}"#, "{}"),
    );
    assert_snapshot!(shown(&[("x/main.tf", main), ("x/plan.json", &plan)], &[]), @r#"
    --- x/main.tf:8
    .kind = "L" @8:11
    --- x/plan.json:1
    .kind = "P" @1:233
    --- x/plan.json:1
    `kubectl_manifest.later`, not checked: `yaml_body` is known only after Terraform applies `${kubectl_manifest.later.yaml_body}`
    --- x/plan.json:1
    .kind = "Q" @1:606
    "#);
}
