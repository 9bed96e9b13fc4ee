//! Properties of user data that is made of the pieces that the parsers look for, and of any text.

use karpwarden_test_properties::user_data::assert_user_data;
use proptest::prelude::*;

/// Generates text from pieces that the parsers look for, and arbitrary text.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        " ",
        "\n",
        "\r\n",
        "\t",
        "'",
        "\"",
        "\\",
        "$",
        "$(",
        ")",
        "(",
        "`",
        "{",
        "}",
        "${",
        "$'",
        "#",
        ";",
        "&&",
        "|",
        "&",
        "<",
        ">",
        "<<",
        "<<-",
        "EOF",
        "=",
        "=(",
        ":",
        ",",
        "[",
        "]",
        "[[",
        "--",
        "é",
        "漢",
        "\u{1f600}",
        "a",
        "b.c",
        "1",
        "0x",
        "1979-01-01",
        "if ",
        "case ",
        " in ",
        "esac",
        "/etc/eks/bootstrap.sh ",
        "--kubelet-extra-args ",
        "--register-with-taints",
        "registerWithTaints",
        "key",
        "effect",
        "karpenter.sh/unregistered:NoExecute",
        "sudo ",
        "bash -c ",
        "MIME-Version: 1.0\n",
        "Content-Type: multipart/mixed; boundary=\"B\"\n",
        "\n--B",
        "--B--\n",
        "Content-Type: text/x-shellscript\n\n#!/bin/sh\n",
        "Content-Type: application/node.eks.aws\n\n",
        "[settings.kubernetes.node-taints]\n",
        "-KubeletExtraArgs ",
        "<powershell>",
        "apiVersion: node.eks.aws/v1alpha1\n",
        "#!/bin/bash\n",
        "\"\"\"",
        "'''",
        "- ",
    ]);
    prop_oneof![prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat()), any::<String>(),]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parsers_return_spans_inside_any_text(text in text()) {
        assert_user_data(&text);
    }
}
