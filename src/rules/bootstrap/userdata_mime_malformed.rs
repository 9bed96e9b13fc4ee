use super::user_data::UserData;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::source::Span;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::fix::Fix;
use rule::{Fixes, On, Runs};
use userdata::format::UserDataFormat as Format;
use userdata::image_family::{ImageFamily as Image, Treatment};
use userdata::mime::{Archive, MimeProblem, MimeProblemKind};

rule! {
    /// ## What it does
    ///
    /// Parses user data that is a MIME multi-part archive the way Karpenter does. Reports what Karpenter refuses,
    /// what it silently drops, and what works only by accident.
    ///
    /// ## Why it is bad
    ///
    /// For AL2 and AL2023 Karpenter parses the archive and appends its own part. If it cannot parse the archive, it
    /// launches no node: the NodeClaim reports `LaunchFailed`, and since 1.3 the EC2NodeClass is not Ready. Karpenter
    /// trims the text to decide whether it is an archive, but then parses the untrimmed text, so one blank line
    /// before `MIME-Version:` hides all headers.
    ///
    /// Other mistakes lose parts. If the boundary is misspelt, every part of the archive is dropped without an error.
    ///
    /// For `Custom` Karpenter does not parse the archive. cloud-init parses it leniently. nodeadm, on AL2023 images,
    /// is as strict as Karpenter and even refuses a last delimiter without the two closing dashes.
    ///
    /// Karpenter and cloud-init accept a last line `--BOUNDARY` instead of `--BOUNDARY--`, as in Karpenter's own
    /// example of a custom AMI, so the rule reports it as an info.
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
    ///     MIME-Version: 1.0
    ///     Content-Type: multipart/mixed; boundary="BOUNDARY"
    ///
    ///     --BOUNDARY
    ///     Content-Type: text/x-shellscript
    ///
    ///     #!/bin/bash
    ///     sysctl -w vm.max_map_count=262144
    ///
    ///     --BOUNDARY-
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
    ///     MIME-Version: 1.0
    ///     Content-Type: multipart/mixed; boundary="BOUNDARY"
    ///
    ///     --BOUNDARY
    ///     Content-Type: text/x-shellscript
    ///
    ///     #!/bin/bash
    ///     sysctl -w vm.max_map_count=262144
    ///
    ///     --BOUNDARY--
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the fix completes the closing delimiter, removes blank lines before the first header, or corrects the
    /// case of a header name. All other mistakes need a change by hand.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/eksbootstrap.go, nodeadm.go and mime/mime.go at
    ///   v1.14.1; examples/v1/custom-family.yaml
    /// - awslabs/amazon-eks-ami nodeadm/internal/configprovider/mime.go at v20260724
    /// - aws/karpenter-provider-aws#8130, #8131
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "the MIME archive in the user data is refused, or parts of it are silently dropped",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    if Format::detect(data.text) != Format::Mime {
        return;
    }
    match (data.family, data.family.treatment(data.text)) {
        (_, Treatment::Mime) | (Image::Custom, _) => archive(data, context, findings),
        (Image::Al2 | Image::Al2023, _) => findings.extend(name(data)),
        _ => {}
    }
}

/// Reports a first header that Karpenter does not recognise because of its case.
fn name(data: UserData<'_>) -> Option<Finding<'_>> {
    const NAMES: [&str; 2] = ["MIME-Version", "Content-Type"];
    let text = data.text.trim_start();
    let (written, _) = text.split_once(':')?;
    let right = NAMES.iter().find(|name| name.eq_ignore_ascii_case(written))?;
    let start = data.text.len() - text.len();
    let span = Span::new(start, start + written.len());
    let message =
        format!("Karpenter looks for `{right}:` with exactly this case and treats this archive as a script");
    let fix = Fix::safe_one("write the header as Karpenter expects it", data.replace(span, *right));
    Some(data.finding(&RULE, span, message).help(format!("write `{right}:`")).fix(fix))
}

fn archive<'d>(data: UserData<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let archive = data.archive(context);
    let handled = archive.parts.iter().any(|part| part.media_type() == "text/part-handler");
    let causes = archive.problems.iter().any(|problem| is_cause(problem.kind));
    let reader = Reader {
        karpenter: data.family != Image::Custom,
        nodeadm: archive.parts.iter().any(|part| part.media_type() == "application/node.eks.aws"),
        refused: archive.is_rejected(),
    };
    let mut before: Option<Span> = None;
    for problem in &archive.problems {
        // Skip the consequence of a reported cause, and a second finding on the same line.
        let redundant = (causes && is_consequence(problem.kind)) || before == Some(problem.span);
        let known = handled && problem.kind == MimeProblemKind::UnknownPartType;
        if redundant || known {
            continue;
        }
        let Some((message, help)) = message_and_help(problem.kind) else { continue };
        before = Some(problem.span);
        let severity = reader.severity(problem.kind);
        let mut finding = data
            .finding(&RULE, problem.span, format!("{message}{}", reader.effect(problem.kind)))
            .help(help)
            .severity(severity)
            .caught_by(if severity == Severity::Error { CaughtBy::Controller } else { CaughtBy::Nobody });
        if let Some(fix) = fix(data, archive, problem) {
            finding = finding.fix(fix);
        }
        findings.push(finding);
    }
}

/// Programs that read the archive, and whether they refuse it.
struct Reader {
    karpenter: bool,
    nodeadm: bool,
    refused: bool,
}

impl Reader {
    fn refuses(&self, kind: MimeProblemKind) -> bool {
        self.refused && (kind.is_rejected() || is_cause(kind))
    }

    fn severity(&self, kind: MimeProblemKind) -> Severity {
        match kind {
            MimeProblemKind::BareFinalDelimiter if self.nodeadm && !self.karpenter => Severity::Warning,
            MimeProblemKind::BareFinalDelimiter => Severity::Info,
            MimeProblemKind::NotClosed if !self.karpenter && !self.nodeadm => Severity::Info,
            MimeProblemKind::BoundaryNeverUsed if self.karpenter => Severity::Error,
            _ if self.karpenter && self.refuses(kind) => Severity::Error,
            _ => Severity::Warning,
        }
    }

    fn effect(&self, kind: MimeProblemKind) -> &'static str {
        match kind {
            MimeProblemKind::BareFinalDelimiter if self.nodeadm && !self.karpenter => {
                "; nodeadm refuses the archive because of it"
            }
            MimeProblemKind::BareFinalDelimiter if self.karpenter => "; Karpenter accepts it",
            MimeProblemKind::BareFinalDelimiter => "; cloud-init accepts it",
            MimeProblemKind::NotClosed if !self.karpenter && !self.nodeadm => "; cloud-init accepts it",
            _ if !self.refuses(kind) => "",
            _ if self.karpenter => "; Karpenter refuses the archive and launches no node",
            _ => "; programs on the node may fail to read the archive",
        }
    }
}

/// Whether a problem causes other problems in the list.
fn is_cause(kind: MimeProblemKind) -> bool {
    matches!(
        kind,
        MimeProblemKind::IndentedHeader | MimeProblemKind::LineOfSpaces | MimeProblemKind::MisspeltDelimiter
    )
}

fn is_consequence(kind: MimeProblemKind) -> bool {
    use MimeProblemKind::{NoBlankLineAfterHeaders, NoBoundary, NoContentType, NotClosed};
    matches!(kind, NoContentType | NoBoundary | NotClosed | NoBlankLineAfterHeaders)
}

/// Message and help; `None` if the problem is harmless or another rule reports it.
fn message_and_help(kind: MimeProblemKind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        MimeProblemKind::LeadingBlankLine => (
            "the blank line before the headers ends them, so the archive has no headers",
            "start the text with `MIME-Version: 1.0`",
        ),
        MimeProblemKind::IndentedFirstHeader => {
            ("the first header is indented", "start the header in the first column")
        }
        MimeProblemKind::IndentedHeader => (
            "an indented header continues the line before it instead of starting a new header",
            "start every header in the first column",
        ),
        MimeProblemKind::LineOfSpaces => (
            "a line of spaces does not end the headers but continues the line before it",
            "leave the line empty",
        ),
        MimeProblemKind::NoBlankLineAfterHeaders => {
            ("no empty line ends the headers", "add an empty line after the headers")
        }
        MimeProblemKind::MalformedHeader => (
            "this line among the headers is not a header",
            "write `Name: value`, or end the headers with an empty line before it",
        ),
        MimeProblemKind::BodyReadAsHeader => (
            "this line is parsed as a header of the part, because no empty line ends the headers before it",
            "add an empty line between the part's headers and its content",
        ),
        MimeProblemKind::NoContentType => (
            "the archive has no `Content-Type`",
            "add `Content-Type: multipart/mixed; boundary=\"BOUNDARY\"` to its headers",
        ),
        MimeProblemKind::MalformedContentType => {
            ("the `Content-Type` cannot be parsed", "put the boundary in double quotes: `boundary=\"//\"`")
        }
        MimeProblemKind::NotMultipart => (
            "the `Content-Type` is not `multipart/...`",
            "write `multipart/mixed` with a boundary, or remove the headers",
        ),
        MimeProblemKind::NoBoundary => {
            ("the `Content-Type` names no boundary", "add `; boundary=\"BOUNDARY\"`")
        }
        MimeProblemKind::BoundaryNeverUsed => (
            "no line starts a part with this boundary, so every part is silently dropped",
            "start each part with `--` and the boundary, and end the last part with `--`, the boundary and `--`",
        ),
        MimeProblemKind::MisspeltDelimiter => {
            ("this line looks like the closing delimiter but is not one", "write `--`, the boundary and `--`")
        }
        MimeProblemKind::NotClosed => {
            ("the archive ends inside this part", "end it with `--`, the boundary and `--`")
        }
        MimeProblemKind::BareFinalDelimiter => {
            ("the last delimiter lacks its two closing dashes", "write `--`, the boundary and `--`")
        }
        MimeProblemKind::PartWithoutBody => (
            "the archive ends in the headers of this part, so the part is silently dropped",
            "add an empty line after the part's headers and write its content below",
        ),
        MimeProblemKind::UnexpectedLine => (
            "this line is not a valid delimiter, so parsing stops here",
            "write nothing after the boundary, and use the same line ending everywhere",
        ),
        MimeProblemKind::PartAfterClosing => (
            "this part comes after the closing delimiter and is silently dropped",
            "remove the two dashes after the boundary from every delimiter except the last",
        ),
        MimeProblemKind::PartWithoutContentType => (
            "this part has no `Content-Type`, so no program knows what to do with it",
            "write `Content-Type: text/x-shellscript`, or the type that applies",
        ),
        MimeProblemKind::MalformedPartType => (
            "the `Content-Type` of this part cannot be parsed",
            "write it as `text/x-shellscript; charset=\"us-ascii\"`",
        ),
        MimeProblemKind::UnknownPartType => (
            "no program on the node handles a part of this type",
            "write `text/x-shellscript`, `text/cloud-config` or `application/node.eks.aws`",
        ),
        MimeProblemKind::BoundaryNotRead
        | MimeProblemKind::TextBeforeFirstPart
        | MimeProblemKind::ShellPartWithoutShebang => {
            return None;
        }
    })
}

fn fix<'d>(data: UserData<'d>, archive: &Archive, problem: &MimeProblem) -> Option<Fix<'d>> {
    let boundary = archive.boundary.as_ref().map(|boundary| boundary.value.as_str());
    let closed = || Some(format!("--{}--", boundary?));
    let line = problem.span.text(data.text);
    let (title, change) = match problem.kind {
        MimeProblemKind::LeadingBlankLine => ("remove the blank lines", data.remove(problem.span)),
        MimeProblemKind::BareFinalDelimiter => ("close the archive", data.replace(problem.span, closed()?)),
        // Only at the end of the text; elsewhere the line may be meant to start a part.
        MimeProblemKind::MisspeltDelimiter
            if data.text.get(problem.span.end..)?.trim().is_empty() && line.trim() == line =>
        {
            ("close the archive", data.replace(problem.span, closed()?))
        }
        _ => return None,
    };
    Some(Fix::safe_one(title, change))
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, custom};
    use crate::rules::testing::{findings, fixed, report, silent};
    use rule::finding::CaughtBy;
    use rule::settings::Settings;

    const HEAD: &str = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n";
    const PART: &str = "--B\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho hi\n";

    fn severities(text: &str) -> Vec<&'static str> {
        let found = report(&super::RULE, text, &Settings::default()).findings;
        found.iter().map(|finding| finding.severity.name()).collect()
    }

    #[test]
    fn reports_and_fixes_misspelt_closing_delimiter() {
        let text = class("AL2", &format!("{HEAD}\n{PART}\n--B-\n"));
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
         16 |     --B-
            |     ^^^^
        error EC2NodeClass/a spec.userData [all]
          this line looks like the closing delimiter but is not one; Karpenter refuses the archive and launches no node
          help: write `--`, the boundary and `--`
          fix: close the archive: "--B--"
        "#);
        assert_eq!(fixed(&super::RULE, &text), class("AL2", &format!("{HEAD}\n{PART}\n--B--\n")));
    }

    #[test]
    fn reports_and_removes_leading_blank_line() {
        let text = r#"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
spec:
  amiFamily: AL2023
  userData: "\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B--\n"
"#;
        insta::assert_snapshot!(findings(&super::RULE, text), @r#"
          5 |   userData: "\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B--\n"
            |              ^^
        error EC2NodeClass/ spec.userData [all]
          the blank line before the headers ends them, so the archive has no headers; Karpenter refuses the archive and launches no node
          help: start the text with `MIME-Version: 1.0`
          fix: remove the blank lines: ""
        "#);
        silent(&super::RULE, &fixed(&super::RULE, text));
        let block = class("AL2", &format!("\n{HEAD}\n{PART}--B--\n"));
        assert_eq!(severities(&block), ["error"]);
        assert_eq!(fixed(&super::RULE, &block), class("AL2", &format!("{HEAD}\n{PART}--B--\n")));
    }

    #[test]
    fn unclosed_last_delimiter_is_an_info_unless_nodeadm_reads_it() {
        let bare = format!("{HEAD}\n{PART}--B");
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2023", &bare)), @r#"
         15 |     --B
            |     ^^^
        info EC2NodeClass/a spec.userData [all]
          the last delimiter lacks its two closing dashes; Karpenter accepts it
          help: write `--`, the boundary and `--`
          fix: close the archive: "--B--"
        "#);
        assert_eq!(fixed(&super::RULE, &custom(&bare)), custom(&format!("{bare}--")));
        let config = "--B\nContent-Type: application/node.eks.aws\n\nkind: NodeConfig\n";
        assert_eq!(severities(&custom(&format!("{HEAD}\n{config}--B\n"))), ["warning"]);
    }

    #[test]
    fn refused_archive_is_an_error_and_for_custom_a_warning() {
        for body in [
            format!("{HEAD}{PART}--B--\n"),
            format!("MIME-Version: 1.0\nContent-Type: multipart/mixed\n\n{PART}--B--\n"),
            format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=//\n\n{PART}--B--\n"),
            format!("MIME-Version: 1.0\n Content-Type: multipart/mixed; boundary=B\n\n{PART}--B--\n"),
            format!("{HEAD}\n{PART}--B x\n"),
            format!("{HEAD}\n--C\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n--C--\n"),
        ] {
            assert_eq!(severities(&class("AL2", &body)), ["error"], "{body}");
            assert_eq!(severities(&custom(&body)), ["warning"], "{body}");
        }
        assert_eq!(severities(&custom(&format!("{HEAD}\n{PART}"))), ["info"]);
    }

    #[test]
    fn reports_and_fixes_header_in_the_wrong_case() {
        let text = class("AL2", &format!("{HEAD}\n{PART}--B--\n").replace("MIME-Version", "Mime-Version"));
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          7 |     Mime-Version: 1.0
            |     ^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          Karpenter looks for `MIME-Version:` with exactly this case and treats this archive as a script
          help: write `MIME-Version:`
          fix: write the header as Karpenter expects it: "MIME-Version"
        "#);
        silent(&super::RULE, &fixed(&super::RULE, &text));
    }

    #[test]
    fn accepts_valid_archives() {
        for body in [
            format!("{HEAD}\n{PART}{PART}--B--\n"),
            format!("{HEAD}\nThis is a multi-part message.\n{PART}--B--\n"),
            format!("Content-Type: multipart/mixed;\n  boundary=\"B\"\nMIME-Version: 1.0\n\n{PART}--B--\n"),
            format!(
                "{HEAD}\n--B\nContent-Type: text/part-handler\n\n#part-handler\n--B\nContent-Type: text/x-mine\n\nx\n--B--\n"
            ),
            format!(
                r"{HEAD}
--B
Content-Type: application/node.eks.aws

kind: NodeConfig

--B--
"
            ),
        ] {
            for family in ["AL2", "AL2023", "Custom"] {
                silent(&super::RULE, &class(family, &body));
            }
        }
    }

    #[test]
    fn effect_of_an_unclosed_archive_depends_on_its_readers() {
        let config = "--B\nContent-Type: application/node.eks.aws\n\nkind: NodeConfig\n";
        let bare = |parts: &str| format!("{HEAD}\n{parts}--B\n");
        for (text, severity, effect) in [
            (custom(&bare(PART)), "info", "; cloud-init accepts it"),
            (custom(&bare(config)), "warning", "; nodeadm refuses the archive because of it"),
            (class("AL2023", &bare(config)), "info", "; Karpenter accepts it"),
            (custom(&format!("{HEAD}\n{PART}")), "info", "; cloud-init accepts it"),
        ] {
            assert_eq!(severities(&text), [severity], "{text}");
            assert!(findings(&super::RULE, &text).contains(effect), "{text}");
        }
        for text in [custom(&format!("{HEAD}\n{config}")), class("AL2023", &format!("{HEAD}\n{PART}"))] {
            let found = findings(&super::RULE, &text);
            assert!(!found.is_empty() && !found.contains("cloud-init accepts it"), "{found}");
            assert_ne!(severities(&text), ["info"], "{text}");
        }
    }

    #[test]
    fn part_of_an_unknown_type_is_a_warning_in_a_refused_archive_too() {
        let text = |end: &str| format!("{HEAD}\n{PART}--B\nContent-Type: text/x-mine\n\nx\n{end}\n");
        let closed = findings(&super::RULE, &class("AL2", &text("--B--")));
        assert!(closed.contains("warning ") && closed.contains("handles a part of this type\n"), "{closed}");
        let refused = report(&super::RULE, &class("AL2", &text("--B-")), &Settings::default()).findings;
        let found: Vec<_> = refused.iter().map(|one| (one.severity.name(), one.caught_by)).collect();
        assert_eq!(found, [("warning", CaughtBy::Nobody), ("error", CaughtBy::Controller)]);
        let of_image = findings(&super::RULE, &custom(&text("--B-")));
        assert!(of_image.contains("; programs on the node may fail to read the archive"), "{of_image}");
    }

    #[test]
    fn part_handler_excuses_only_unknown_types() {
        let handler = "--B\nContent-Type: text/part-handler\n\n#part-handler\n";
        let text = |end: &str| class("AL2", &format!("{HEAD}\n{handler}{PART}{end}\n"));
        silent(&super::RULE, &text("--B--"));
        assert!(findings(&super::RULE, &text("--B-")).contains("looks like the closing delimiter"));
    }

    #[test]
    fn offers_no_fix_for_a_delimiter_before_other_text() {
        let text = class("AL2", &format!("{HEAD}\n{PART}\n--B-\necho more\n"));
        let found = findings(&super::RULE, &text);
        assert!(found.contains("looks like") && !found.contains("fix:"), "{found}");
    }
}
