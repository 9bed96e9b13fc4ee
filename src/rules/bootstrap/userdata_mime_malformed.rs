use super::user_data::UserData;
use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Severity};
use lint::fix::Fix;
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use userdata::Span;
use userdata::kind::{Family as Image, Kind as Format, Taken};
use userdata::mime::{Archive, Problem, ProblemKind};

rule! {
    /// ## What it does
    ///
    /// Reads user data that is a MIME multi-part archive as Karpenter reads it, and reports what Karpenter refuses, what
    /// it drops in silence and what only happens to work.
    ///
    /// ## Why it is bad
    ///
    /// For AL2 and AL2023 Karpenter takes the archive apart and puts its own part behind yours. Where it cannot, no node
    /// is launched: the NodeClaim says `LaunchFailed`, from 1.3 on the node class is not ready. Karpenter decides that a
    /// text is an archive after trimming it, and then parses the untrimmed text: one blank line before `MIME-Version:`
    /// and all headers are gone.
    ///
    /// Other mistakes cost parts: of an archive whose boundary is misspelt every part is dropped and nobody says so.
    ///
    /// For `Custom` Karpenter does not look. cloud-init reads the archive leniently; nodeadm, on AL2023 images, reads it
    /// as strictly as Karpenter and refuses even a last delimiter without its two dashes.
    ///
    /// A last line `--BOUNDARY` instead of `--BOUNDARY--`, as in Karpenter's own example of a custom AMI, is accepted by
    /// Karpenter and by cloud-init, and is an info.
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
    /// Safe: the closing delimiter is completed, blank lines before the first header are taken away, a header's name is
    /// spelled as Karpenter looks for it. Everything else is for the author to mend.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/eksbootstrap.go, nodeadm.go and mime/mime.go at
    ///   v1.14.1; examples/v1/custom-family.yaml
    /// - awslabs/amazon-eks-ami nodeadm/internal/configprovider/mime.go at v20260724
    /// - aws/karpenter-provider-aws#8130, #8131
    RULE {
        name: "userdata-mime-malformed",
        family: Family::Bootstrap,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "the MIME archive in the user data is refused, or parts of it are dropped in silence",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    if Format::of(data.text) != Format::Mime {
        return;
    }
    match (data.family, data.family.takes(data.text)) {
        (_, Taken::Mime) | (Image::Custom, _) => archive(data, drafts),
        (Image::Al2 | Image::Al2023, _) => drafts.extend(name(data)),
        _ => {}
    }
}

/// A header whose name Karpenter does not recognise by its case.
fn name(data: UserData<'_>) -> Option<Draft<'_>> {
    const NAMES: [&str; 2] = ["MIME-Version", "Content-Type"];
    let text = data.text.trim_start();
    let (written, _) = text.split_once(':')?;
    let right = NAMES.iter().find(|name| name.eq_ignore_ascii_case(written))?;
    let start = data.text.len() - text.len();
    let span = Span::new(start, start + written.len());
    let message = format!("Karpenter looks for `{right}:` letter by letter and takes this archive for a script");
    let fix = Fix::safe_one("spell the header as Karpenter does", data.replace(span, *right));
    Some(data.draft(&RULE, span, message).help(format!("write `{right}:`")).fix(fix))
}

fn archive<'d>(data: UserData<'d>, drafts: &mut Vec<Draft<'d>>) {
    let archive = Archive::read(data.text);
    let handled = archive.parts.iter().any(|part| part.media_type() == "text/part-handler");
    let causes = archive.problems.iter().any(|problem| is_cause(problem.kind));
    let reader = Reader {
        karpenter: data.family != Image::Custom,
        nodeadm: archive.parts.iter().any(|part| part.media_type() == "application/node.eks.aws"),
        refused: archive.is_refused(),
    };
    let mut before: Option<Span> = None;
    for problem in &archive.problems {
        // A consequence of what is said anyway, or the same line twice.
        let said = (causes && is_consequence(problem.kind)) || before == Some(problem.span);
        let known = handled && problem.kind == ProblemKind::UnknownPartType;
        if said || known {
            continue;
        }
        let Some((what, help)) = words(problem.kind) else { continue };
        before = Some(problem.span);
        let severity = reader.severity(problem.kind);
        let mut draft = data.draft(&RULE, problem.span, format!("{what}{}", reader.effect(problem.kind)))
            .help(help)
            .severity(severity)
            .caught_by(if severity == Severity::Error { CaughtBy::Controller } else { CaughtBy::Nobody });
        if let Some(fix) = fix(data, &archive, problem) {
            draft = draft.fix(fix);
        }
        drafts.push(draft);
    }
}

/// Who reads the archive, and whether they do.
struct Reader {
    karpenter: bool,
    nodeadm: bool,
    refused: bool,
}

impl Reader {
    fn refuses(&self, kind: ProblemKind) -> bool {
        self.refused && (kind.is_refused() || is_cause(kind))
    }

    fn severity(&self, kind: ProblemKind) -> Severity {
        match kind {
            ProblemKind::BareFinalDelimiter if self.nodeadm && !self.karpenter => Severity::Warning,
            ProblemKind::BareFinalDelimiter => Severity::Info,
            ProblemKind::NotClosed if !self.karpenter && !self.nodeadm => Severity::Info,
            ProblemKind::BoundaryNeverUsed if self.karpenter => Severity::Error,
            _ if self.karpenter && self.refuses(kind) => Severity::Error,
            _ => Severity::Warning,
        }
    }

    fn effect(&self, kind: ProblemKind) -> &'static str {
        match kind {
            ProblemKind::BareFinalDelimiter if self.nodeadm && !self.karpenter => "; nodeadm refuses the archive for it",
            ProblemKind::BareFinalDelimiter if self.karpenter => "; Karpenter accepts it",
            ProblemKind::BareFinalDelimiter => "; cloud-init accepts it",
            ProblemKind::NotClosed if !self.karpenter && !self.nodeadm => "; cloud-init accepts it",
            _ if !self.refuses(kind) => "",
            _ if self.karpenter => "; Karpenter refuses the archive, and no node is launched",
            _ => "; programs on the node may not read it",
        }
    }
}

/// What makes others of the list follow.
fn is_cause(kind: ProblemKind) -> bool {
    matches!(kind, ProblemKind::IndentedHeader | ProblemKind::BlankLineWithBlanks | ProblemKind::MisspeltDelimiter)
}

fn is_consequence(kind: ProblemKind) -> bool {
    use ProblemKind::{NoBlankLineAfterHeaders, NoBoundary, NoContentType, NotClosed};
    matches!(kind, NoContentType | NoBoundary | NotClosed | NoBlankLineAfterHeaders)
}

/// What is wrong and what to write; nothing for what harms nobody or is another rule's.
fn words(kind: ProblemKind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        ProblemKind::LeadingBlankLine => (
            "the blank line before the headers ends them, and none is left",
            "start the text with `MIME-Version: 1.0`",
        ),
        ProblemKind::IndentedFirstHeader => ("the first header is indented", "start the header in the first column"),
        ProblemKind::IndentedHeader => (
            "an indented header continues the line before it and is none of its own",
            "start every header in the first column",
        ),
        ProblemKind::BlankLineWithBlanks => (
            "a line of blanks does not end the headers; it continues the line before",
            "leave the line empty",
        ),
        ProblemKind::NoBlankLineAfterHeaders => (
            "the headers are not ended by an empty line",
            "leave a line empty between the headers and what follows",
        ),
        ProblemKind::MalformedHeader => ("this line among the headers is none", "write `Name: value`, or end the headers with an empty line before it"),
        ProblemKind::BodyReadAsHeader => (
            "this line is read as a header of the part, because no empty line ends the headers before it",
            "leave a line empty between the part's headers and its content",
        ),
        ProblemKind::NoContentType => (
            "the archive has no `Content-Type`",
            "write `Content-Type: multipart/mixed; boundary=\"BOUNDARY\"` into its headers",
        ),
        ProblemKind::MalformedContentType => (
            "the `Content-Type` cannot be read",
            "put the boundary in double quotes: `boundary=\"//\"`",
        ),
        ProblemKind::NotMultipart => (
            "the `Content-Type` is not `multipart/...`",
            "write `multipart/mixed` with a boundary, or leave the headers out",
        ),
        ProblemKind::NoBoundary => ("the `Content-Type` names no boundary", "add `; boundary=\"BOUNDARY\"`"),
        ProblemKind::BoundaryNeverUsed => (
            "no line starts a part with this boundary, so that every part is dropped in silence",
            "start each part with two dashes and the boundary, and end the last with two more",
        ),
        ProblemKind::MisspeltDelimiter => (
            "this line looks like the closing delimiter and is none",
            "write two dashes, the boundary, and two dashes",
        ),
        ProblemKind::NotClosed => ("the text ends inside this part", "end it with two dashes, the boundary, and two dashes"),
        ProblemKind::BareFinalDelimiter => (
            "the last delimiter lacks its two closing dashes",
            "write two dashes, the boundary, and two dashes",
        ),
        ProblemKind::PartWithoutBody => (
            "the text ends in the headers of this part, which is dropped in silence",
            "leave a line empty after the part's headers and write its content there",
        ),
        ProblemKind::UnexpectedLine => (
            "no delimiter is expected to look like this; reading stops here",
            "write nothing after the boundary, and end all lines alike",
        ),
        ProblemKind::PartAfterClosing => (
            "this part stands after the closing delimiter and is dropped in silence",
            "take the two dashes after the boundary away from all delimiters but the last",
        ),
        ProblemKind::PartWithoutContentType => (
            "this part has no `Content-Type`, so that nobody knows what to do with it",
            "write `Content-Type: text/x-shellscript`, or whatever it is",
        ),
        ProblemKind::MalformedPartType => ("the `Content-Type` of this part cannot be read", "write it as `text/x-shellscript; charset=\"us-ascii\"`"),
        ProblemKind::UnknownPartType => (
            "nothing on the node handles a part of this type",
            "write `text/x-shellscript`, `text/cloud-config` or `application/node.eks.aws`",
        ),
        ProblemKind::BoundaryNotRead | ProblemKind::TextBeforeFirstPart | ProblemKind::ShellPartWithoutShebang => {
            return None;
        }
    })
}

fn fix<'d>(data: UserData<'d>, archive: &Archive, problem: &Problem) -> Option<Fix<'d>> {
    let boundary = archive.boundary.as_ref().map(|boundary| boundary.value.as_str());
    let closed = || Some(format!("--{}--", boundary?));
    let line = problem.span.text(data.text);
    let (title, change) = match problem.kind {
        ProblemKind::LeadingBlankLine => ("take the blank lines away", data.remove(problem.span)),
        ProblemKind::BareFinalDelimiter => ("close the archive", data.replace(problem.span, closed()?)),
        // Only where it ends the text; elsewhere it may have been meant to start a part.
        ProblemKind::MisspeltDelimiter
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
    use lint::settings::Settings;

    const HEAD: &str = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n";
    const PART: &str = "--B\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho hi\n";

    fn severities(text: &str) -> Vec<&'static str> {
        let found = report(&super::RULE, text, &Settings::default()).findings;
        found.iter().map(|finding| finding.severity.name()).collect()
    }

    #[test]
    fn a_misspelt_end_is_refused_and_completed() {
        let text = class("AL2", &format!("{HEAD}\n{PART}\n--B-\n"));
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
         16 |     --B-
            |     ^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          this line looks like the closing delimiter and is none; Karpenter refuses the archive, and no node is launched
          help: write two dashes, the boundary, and two dashes
          fix: close the archive: "--B--"
        "#);
        assert_eq!(fixed(&super::RULE, &text), class("AL2", &format!("{HEAD}\n{PART}\n--B--\n")));
    }

    #[test]
    fn a_blank_line_at_the_start_hides_the_headers() {
        let text = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec:\n  amiFamily: AL2023\n  userData: \"\\nMIME-Version: 1.0\\nContent-Type: multipart/mixed; boundary=B\\n\\n--B--\\n\"\n";
        insta::assert_snapshot!(findings(&super::RULE, text), @r#"
          5 |   userData: "\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B--\n"
            |              ^^
        error EC2NodeClass/ spec.userData [1.0-1.14]
          the blank line before the headers ends them, and none is left; Karpenter refuses the archive, and no node is launched
          help: start the text with `MIME-Version: 1.0`
          fix: take the blank lines away: ""
        "#);
        silent(&super::RULE, &fixed(&super::RULE, text));
        let block = class("AL2", &format!("\n{HEAD}\n{PART}--B--\n"));
        assert_eq!(severities(&block), ["error"]);
        assert_eq!(fixed(&super::RULE, &block), class("AL2", &format!("{HEAD}\n{PART}--B--\n")));
    }

    #[test]
    fn a_last_delimiter_without_dashes_is_an_info_unless_nodeadm_reads_it() {
        let bare = format!("{HEAD}\n{PART}--B");
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2023", &bare)), @r#"
         15 |     --B
            |     ^^^
        info EC2NodeClass/a spec.userData [1.0-1.14]
          the last delimiter lacks its two closing dashes; Karpenter accepts it
          help: write two dashes, the boundary, and two dashes
          fix: close the archive: "--B--"
        "#);
        assert_eq!(fixed(&super::RULE, &custom(&bare)), custom(&format!("{bare}--")));
        let config = "--B\nContent-Type: application/node.eks.aws\n\nkind: NodeConfig\n";
        assert_eq!(severities(&custom(&format!("{HEAD}\n{config}--B\n"))), ["warning"]);
    }

    #[test]
    fn what_karpenter_refuses_is_an_error_and_for_custom_a_warning() {
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
    fn headers_in_another_case_are_none_to_karpenter() {
        let text = class("AL2", &format!("{HEAD}\n{PART}--B--\n").replace("MIME-Version", "Mime-Version"));
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          7 |     Mime-Version: 1.0
            |     ^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          Karpenter looks for `MIME-Version:` letter by letter and takes this archive for a script
          help: write `MIME-Version:`
          fix: spell the header as Karpenter does: "MIME-Version"
        "#);
        silent(&super::RULE, &fixed(&super::RULE, &text));
    }

    #[test]
    fn sound_archives_are_left_alone() {
        for body in [
            format!("{HEAD}\n{PART}{PART}--B--\n"),
            format!("{HEAD}\nThis is a multi-part message.\n{PART}--B--\n"),
            format!("Content-Type: multipart/mixed;\n  boundary=\"B\"\nMIME-Version: 1.0\n\n{PART}--B--\n"),
            format!("{HEAD}\n--B\nContent-Type: text/part-handler\n\n#part-handler\n--B\nContent-Type: text/x-mine\n\nx\n--B--\n"),
            format!("{HEAD}\n--B\nContent-Type: application/node.eks.aws\n\nkind: NodeConfig\n\n--B--\n"),
        ] {
            for family in ["AL2", "AL2023", "Custom"] {
                silent(&super::RULE, &class(family, &body));
            }
        }
    }
}
