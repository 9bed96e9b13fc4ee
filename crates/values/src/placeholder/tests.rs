use super::{
    Placeholder, are_alternatives, has_placeholder, is_bare_reference, is_in_capitals, replaced,
    with_defaults,
};

#[test]
fn alternatives_are_valid_values_with_bars_between() {
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    for (text, expected) in
        [("1|2", true), ("1 | 2|3", true), ("1", false), ("1|", false), ("1|b", false), ("1||2", false)]
    {
        assert_eq!(are_alternatives(text, is_number), expected, "{text}");
    }
}

#[test]
fn words_in_capitals_have_three_letters_or_digits() {
    for word in ["NODE_NAME", "ABC", "V20240807"] {
        assert!(is_in_capitals(word), "{word}");
    }
    for word in ["", "AB", "Node", "123", "node-NAME"] {
        assert!(!is_in_capitals(word), "{word}");
    }
}

#[test]
fn recognises_every_spelling() {
    for text in [
        "${X}",
        "${}",
        "${module.eks.cluster_name}",
        "a-$(NODETYPE)",
        "$ZONE",
        "$_zone-a",
        "{{ .Values.x }}",
        "{% x %}",
        "{cluster_name}",
        "<zone>",
        "<<CLUSTER NAME>>",
        "<< inputs.cluster.name >>",
        "<%= zone %>",
        "%{x}",
        "#{x}",
        "@@x@@",
        "%%x%%",
        "((zone))",
        "@CLUSTER_NAME@",
        "%CLUSTER_NAME%",
        "__INSTANCE_TYPE__",
        "ami-__AMI__",
        "720h | Never",
        "REPLACE_ME",
        "Role-REPLACE_ME",
        "REPLACE_WITH_CLUSTER_NAME",
        "CLUSTER_NAME_TO_REPLACE",
        "change-me",
        "CHANGEME",
        "TODO",
        "tbd",
        "FIXME",
        "YOUR-CLUSTER-NAME",
        "Role-YOUR_CLUSTER",
        "your_cluster",
        "arn:aws:iam::111122223333:role/your-role",
        "XXXX",
        "ami-xxxxxxxx",
        "arn:aws:iam::XXXXXXXXXXXX:role/a",
        "sg-zzzzzz",
        "subnet-yyy",
        "subnet-****",
        "sg-...",
        "subnet-0a1b2c...",
        "sg-0a1b****",
        "subnet-0a1b\u{2026}",
        "XXXGi",
        "xxxm",
        "XXXh",
        "sg-\u{2026}",
        "arn:aws:iam::****:role/a",
        "sg-your-id",
        "sg-aaa",
        "sg-nnnnnnnn",
        "sg-abcdefgh",
        "subnet-abc123",
        "sg-xyz",
        "ami-example",
        "sg-redacted",
        "[REDACTED]",
        "masked",
        "ROLE_NAME_HERE",
        "role-name-goes-here",
        "fill-me-in",
    ] {
        assert!(has_placeholder(text), "{text}");
    }
}

#[test]
fn accepts_text_that_is_not_replaced() {
    for text in [
        "",
        "m5.large",
        "name-0a1b...z",
        "wait...",
        "xxl",
        "XXGi",
        "0 9 * * mon-fri",
        "100%",
        "10%,20%",
        "a < b",
        "cat << EOF >> /etc/x",
        "a < b > c",
        "a <= b > c",
        "5$",
        "$5",
        "#1",
        "a|b",
        "a__b",
        "a__b__c",
        "__",
        "____",
        "${",
        "{{}}",
        "{\"a\": 1}",
        "{a, b}",
        "((enis - 1) * (ips - 1))",
        "me@example.com, you@example.com",
        "bring-your-own",
        "yours",
        "replace-dns",
        "my-cluster",
        "mytodo",
        "todo-app",
        "2xlarge",
        "xx",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "xxl",
        "subnet-0a1b2c3d",
        "sg-0123456789abcdef0",
        "sg-netops",
        "subnet-private",
        "i-have-abc",
        "my-sg-abc",
        "www.example.com",
        "aaa",
        "a.b...c",
        "* * * * *",
        "**/*.yaml",
        "here",
        "HERE",
        "we-are-here",
        "fillings",
        "111122223333",
        "123456789012",
    ] {
        assert!(!has_placeholder(text), "{text}");
    }
    for mark in ["${", "<", "{{", "__", "@", "{", "|"] {
        assert!(!has_placeholder(&mark.repeat(1000)), "{mark}");
    }
    assert!(!has_placeholder(&format!("${{{}}}", "a".repeat(600))));
}

#[test]
fn recognises_references_of_terraform_without_marks() {
    for text in [
        "var.cluster_name",
        "var.cluster.name",
        "local.cluster_name",
        "module.eks.cluster_name",
        "module.eks[0].cluster_name",
        "data.aws_eks_cluster.this.name",
        "aws_iam_role.node.name",
        "each.value",
        "each.value.name",
        "KarpenterNodeRole-var.cluster_name",
    ] {
        assert!(is_bare_reference(text), "{text}");
    }
    for text in [
        "",
        "var",
        "var.",
        "${var.cluster_name}",
        "local.cluster",
        "data.example.com",
        "module.eks",
        "aws_iam_role",
        "my.var.name",
        "var.example.com/name",
        "each.other",
        "prod",
        "m5.large",
    ] {
        assert!(!is_bare_reference(text), "{text}");
    }
}

#[test]
fn finds_the_bytes_of_a_placeholder() {
    for (text, expected) in [
        ("a-${X}-b", "${X}"),
        ("é$(X)é", "$(X)"),
        ("role/$CLUSTER-node", "$CLUSTER"),
        ("<<NAME>>", "<<NAME>>"),
        ("<%= name %>-x", "<%= name %>"),
        ("a-__X__", "__X__"),
        ("ami-xxxx", "xxxx"),
        ("your-name", "your-name"),
    ] {
        let found = Placeholder::find(text).unwrap();
        assert_eq!(text.get(found.range), Some(expected), "{text}");
    }
}

#[test]
fn replaces_placeholders() {
    for (text, expected) in [
        ("arn:${AWS::Partition}:iam::$ACCOUNT:role/<name>", "arn:*:iam::*:role/*"),
        ("plain", "plain"),
        ("a-XXXX-b-${C}-xxx", "a-*-b-*-*"),
        ("$é", "$é"),
    ] {
        assert_eq!(replaced(text, "*"), expected, "{text}");
    }
}

#[test]
fn reads_defaults() {
    for (text, expected) in [
        ("${EXPIRE_AFTER:=720h}", Some("720h")),
        ("${EXPIRE_AFTER:-720h}", Some("720h")),
        ("${A-1}${B=2}h", Some("12h")),
        ("${EMPTY:=}", Some("")),
        ("${EXPIRE_AFTER}", None),
        ("${A:=1}${B}", None),
        ("${A:=${B}}", None),
        ("${A:?no value}", None),
        ("$A", None),
        ("720h", None),
    ] {
        assert_eq!(with_defaults(text).as_deref(), expected, "{text}");
    }
}
