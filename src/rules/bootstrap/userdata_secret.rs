use super::user_data::UserData;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::source::Span;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Finds access keys, private keys, tokens and passwords in plain text in the user data.
    ///
    /// ## Why it is bad
    ///
    /// User data is not secret. Everyone who may read the EC2NodeClass, the launch template or the attributes of the
    /// instance can read it, and so can every pod that reaches the instance metadata service. It stays in every
    /// launch template that Karpenter created from it.
    ///
    /// The rule ignores values that come from a variable, a command or a file. The finding does not repeat the
    /// secret.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: AL2023
    ///   userData: |
    ///     #!/bin/bash
    ///     export REGISTRY_PASSWORD=hunter2hunter2
    ///     /opt/login.sh
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: AL2023
    ///   userData: |
    ///     #!/bin/bash
    ///     export REGISTRY_PASSWORD="$(aws ssm get-parameter --name /nodes/registry --with-decryption --query Parameter.Value --output text)"
    ///     /opt/login.sh
    /// ```
    ///
    /// ## References
    ///
    /// - docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html: "you should not store sensitive data"
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the user data contains a password or a key, and every pod on the node can read it",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    let mut at = 0;
    for line in data.text.split_inclusive('\n') {
        for (what, span) in secrets(line) {
            let message = format!(
                "the user data contains {what}, and every pod on the node can read it from the instance metadata"
            );
            findings.push(
                data.finding(&RULE, Span::new(at + span.start, at + span.end), message)
                    .help("let the node fetch the secret from Secrets Manager or Parameter Store, and rotate it, because it is exposed"),
            );
        }
        at += line.len();
    }
}

/// Kind of the secret that goes on in the next lines.
pub const PRIVATE_KEY: &str = "a private key";

/// Secrets in a line, the first of each kind.
pub fn secrets(line: &str) -> Vec<(&'static str, Span)> {
    let mut found = Vec::new();
    for (what, span) in [
        ("an AWS access key", access_key(line)),
        (PRIVATE_KEY, private_key(line)),
        ("an access token", token(line)),
        ("a password or key", password(line)),
    ] {
        found.extend(span.map(|span| (what, span)));
    }
    found
}

fn private_key(line: &str) -> Option<Span> {
    // A look at the bytes of a short line takes less time than a search that is made for long texts.
    if !line.as_bytes().windows(5).any(|bytes| bytes == b"-----") {
        return None;
    }
    let at = line.find("-----BEGIN ")?;
    line.get(at..)?.contains("PRIVATE KEY-----").then(|| Span::new(at, line.trim_end().len()))
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-".contains(&byte)
}

/// Span of the word around an offset.
fn word(line: &str, at: usize) -> Span {
    let bytes = line.as_bytes();
    let before = bytes.iter().take(at).rev().take_while(|byte| is_word_byte(**byte)).count();
    let after = bytes.iter().skip(at).take_while(|byte| is_word_byte(**byte)).count();
    Span::new(at - before, at + after)
}

/// Finds `AKIA` or `ASIA` with 16 more letters or digits. The examples of AWS itself end in `EXAMPLE`.
fn access_key(line: &str) -> Option<Span> {
    let find = |start: &[u8; 4]| line.as_bytes().windows(4).position(|bytes| bytes == start);
    let at = find(b"AKIA").or_else(|| find(b"ASIA"))?;
    let span = word(line, at);
    let key = span.text(line);
    let letters = key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    (span.start == at && key.len() == 20 && letters && !key.ends_with("EXAMPLE")).then_some(span)
}

/// Finds tokens with the well-known prefix of their issuer.
fn token(line: &str) -> Option<Span> {
    const PREFIXES: [&str; 7] = ["ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-"];
    let may_start =
        |bytes: &[u8]| matches!(bytes, b"ghp_" | b"gho_" | b"ghs_" | b"gith" | b"glpa" | b"xoxb" | b"xoxp");
    if !line.as_bytes().windows(4).any(may_start) {
        return None;
    }
    let at = PREFIXES.iter().find_map(|prefix| line.find(prefix))?;
    let span = word(line, at);
    (span.start == at && span.len() >= 24).then_some(span)
}

/// Whether a word ends with a name in lower case with underscores, in any spelling: `ApiKey` and `DB-PASSWORD` do.
fn ends_with_name(word: &str, name: &str) -> bool {
    let same = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    word.len() >= name.len()
        && word.bytes().rev().zip(name.bytes().rev()).all(|(byte, wanted)| same(byte) == wanted)
}

/// Finds a literal value after a name such as `…PASSWORD=` or `…secret_access_key:`.
fn password(line: &str) -> Option<Span> {
    const NAMES: [&str; 10] = [
        "password",
        "passwd",
        "secret_access_key",
        "secret_key",
        "api_key",
        "apikey",
        "auth_token",
        "access_token",
        "client_secret",
        "private_token",
    ];
    if line.trim_start().starts_with(['#', ';']) {
        return None;
    }
    for (at, sign) in line.bytes().enumerate() {
        if !matches!(sign, b'=' | b':') {
            continue;
        }
        let before = line.as_bytes().get(..at)?;
        let end = at - before.iter().rev().take_while(|byte| b"\"' ".contains(byte)).count();
        let name = word(line, end).text(line);
        if end == 0 || !NAMES.iter().any(|known| ends_with_name(name, known)) {
            continue;
        }
        let rest = line.get(at + 1..)?;
        let lead = rest.bytes().take_while(|byte| b" \"'\\".contains(byte)).count();
        // `PASSWORD= next` assigns an empty value, but in a mapping a space separates key and value.
        if sign == b'=' && rest.starts_with(' ') && before.last() != Some(&b' ') {
            continue;
        }
        let value = rest.get(lead..)?;
        let length = value.bytes().take_while(|byte| !b" \"'\n\r,;\\}".contains(byte)).count();
        let value = value.get(..length)?;
        if is_literal(value) {
            let start = at + 1 + lead;
            return Some(Span::new(start, start + value.len()));
        }
    }
    None
}

/// Whether a value is the secret itself and not a reference to it.
fn is_literal(value: &str) -> bool {
    const REFERENCES: [&str; 9] =
        ["/", "arn:", "http", "ssm", "secretsmanager", "vault", "file", "s3:", "--"];
    const NO_SECRETS: [&str; 8] =
        ["required", "disabled", "enabled", "prompt", "sha512", "changeme", "password", "example"];
    let lower = value.to_ascii_lowercase();
    value.len() >= 6
        && !value.bytes().any(|byte| b"${<(`%*".contains(&byte))
        && !has_placeholder(value)
        && !value.bytes().next().is_some_and(|first| b"!@&|.".contains(&first))
        && !REFERENCES.iter().any(|reference| lower.starts_with(reference))
        && !NO_SECRETS.iter().any(|word| lower == *word)
}

#[cfg(test)]
mod tests {
    use super::super::examples::script;
    use crate::rules::testing::{findings, silent};

    #[test]
    fn reports_the_secret_without_repeating_it_in_the_message() {
        let key = ["AKIA", "QWERTYUIOPASDFGH"].concat();
        let found = findings(&super::RULE, &script(&format!("export AWS_ACCESS_KEY_ID={key}")));
        insta::assert_snapshot!(found, @"
          8 |     export AWS_ACCESS_KEY_ID=AKIAQWERTYUIOPASDFGH
            |                              ^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          the user data contains an AWS access key, and every pod on the node can read it from the instance metadata
          help: let the node fetch the secret from Secrets Manager or Parameter Store, and rotate it, because it is exposed
        ");
        assert_eq!(found.matches(&key).count(), 1);
        insta::assert_snapshot!(findings(&super::RULE, &script("docker login -u ci --password=hunter2hunter2 r.example.com")), @"
          8 |     docker login -u ci --password=hunter2hunter2 r.example.com
            |                                   ^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          the user data contains a password or key, and every pod on the node can read it from the instance metadata
          help: let the node fetch the secret from Secrets Manager or Parameter Store, and rotate it, because it is exposed
        ");
    }

    #[test]
    fn reports_passwords_keys_and_tokens() {
        for line in [
            "export DB_PASSWORD='hunter2hunter2'",
            "echo 'api_key: 0123456789abcdef' > /etc/datadog.yaml",
            "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzzzzz",
            "cat > /k <<EOF\n-----BEGIN RSA PRIVATE KEY-----\nEOF",
            "git clone https://x:ghp_0123456789abcdefghijklmnop@github.com/a/b",
            "echo '{\"client_secret\": \"0123456789\"}'",
        ] {
            assert!(!findings(&super::RULE, &script(line)).is_empty(), "{line}");
        }
    }

    #[test]
    fn accepts_references_and_placeholders() {
        for line in [
            "PASSWORD=\"$(aws ssm get-parameter --name x)\"",
            "export PASSWORD=$PASSWORD",
            "docker login --password-stdin",
            "sed -i 's/^PasswordAuthentication yes/PasswordAuthentication no/' /etc/ssh/sshd_config",
            "echo 'PasswordAuthentication=disabled'",
            "TOKEN=$(curl -X PUT http://169.254.169.254/latest/api/token -H 'X-aws-ec2-metadata-token-ttl-seconds: 21600')",
            "curl -H \"X-aws-ec2-metadata-token: $TOKEN\" http://169.254.169.254/",
            "export API_KEY=/run/secrets/key",
            "api_key: arn:aws:secretsmanager:eu-west-1:111122223333:secret:x",
            "# password: hunter2hunter2",
            "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
            "PASSWORD=<your-password>",
            "PASSWORD= ./run",
            "gpgkey=https://example.com/key.pub",
        ] {
            silent(&super::RULE, &script(line));
        }
    }

    #[test]
    fn marks_the_value_inside_its_quotes() {
        let found =
            findings(&super::RULE, &super::super::examples::script("export DB_PASSWORD=\"hunter2secret\""));
        let mut lines = found.lines();
        let (text, mark) = (lines.next().unwrap(), lines.next().unwrap());
        assert_eq!(text.find("hunter2secret"), mark.find('^'), "{found}");
    }

    #[test]
    fn short_text_with_the_prefix_of_a_token_is_no_token() {
        silent(&super::RULE, &super::super::examples::script("echo ghp_short"));
    }
}
