use super::MimeProblemKind::*;
use super::*;

const SHELL: &str = "Content-Type: text/x-shellscript; charset=\"us-ascii\"";

/// Bodies of the parts, and problems with the text of their spans.
fn parse(text: &str) -> (Vec<&str>, Vec<(MimeProblemKind, &str)>) {
    let archive = Archive::parse(text);
    let bodies = archive.parts.iter().map(|part| part.body.text(text)).collect();
    (bodies, archive.problems.iter().map(|problem| (problem.kind, problem.span.text(text))).collect())
}

fn with_head(body: &str) -> String {
    format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n{body}")
}

fn problems(text: &str) -> Vec<(MimeProblemKind, &str)> {
    parse(text).1
}

#[test]
fn finds_parts_between_delimiters() {
    let text = with_head(&format!(
        "--B\n{SHELL}\n\n#!/bin/sh\na\n\n--B \t\ncontent-type: text/cloud-config\n\nx: y\n--B--\n"
    ));
    assert_eq!(parse(&text), (vec!["#!/bin/sh\na\n", "x: y"], vec![]));
    let archive = Archive::parse(&text);
    assert_eq!(archive.boundary.as_ref().unwrap().span.text(&text), "B");
    assert_eq!(archive.parts[1].media_type(), "text/cloud-config");
    assert_eq!(archive.parts[1].delimiter.text(&text), "--B");
}

#[test]
fn first_delimiter_determines_the_line_ending() {
    let text = with_head(&format!("--B\n{SHELL}\n\n#!/bin/sh\n--B--\n")).replace('\n', "\r\n");
    assert_eq!(parse(&text), (vec!["#!/bin/sh"], vec![]));
    let text = with_head(&format!("--B\n{SHELL}\n\n#!/bin/sh\n--B\r\n{SHELL}\n\n#!/bin/sh\n--B--\n"));
    assert_eq!(problems(&text), [(UnexpectedLine, "--B")]);
    let text = with_head(&format!("--B\r\n{SHELL}\n\n#!/bin/sh\n--B--\n"));
    assert_eq!(problems(&text), [(NotClosed, "--B")]);
}

#[test]
fn reports_blank_line_before_the_headers() {
    let text = format!("\n\n{}", with_head("--B--\n"));
    assert_eq!(problems(&text), [(LeadingBlankLine, "\n\n")]);
    assert_eq!(problems(&format!("  {}", with_head(""))), [(IndentedFirstHeader, "  MIME-Version: 1.0")]);
}

#[test]
fn requires_a_valid_boundary_that_is_used() {
    assert_eq!(
        problems("Content-Type: multipart/mixed\n\n"),
        [(NoBoundary, "Content-Type: multipart/mixed")]
    );
    assert_eq!(
        problems("Content-Type: multipart/mixed; boundary=\"\"\n\n"),
        [(NoBoundary, "Content-Type: multipart/mixed; boundary=\"\"")]
    );
    assert_eq!(
        problems("Content-Type: multipart/mixed; boundary=//\n\n"),
        [(MalformedContentType, "; boundary=//")]
    );
    assert_eq!(
        problems("Content-Type: multipart/mixed; boundary==a=\n\n"),
        [(MalformedContentType, "; boundary==a=")]
    );
    assert_eq!(problems("Content-Type: text/plain\n\nx"), [(NotMultipart, "text/plain")]);
    assert_eq!(problems("MIME-Version: 1.0\n\nx"), [(NoContentType, "MIME-Version: 1.0")]);
    assert_eq!(
        problems(&with_head("--C\nx\n--C--\n")),
        [(BoundaryNeverUsed, "B"), (TextBeforeFirstPart, "--C\nx\n--C--\n")]
    );
    assert_eq!(
        problems("Content-Type: multipart/mixed; boundary*0=B\n\n"),
        [(BoundaryNotRead, "multipart/mixed; boundary*0=B")]
    );
}

#[test]
fn treats_an_indented_header_as_continuation() {
    let text = "MIME-Version: 1.0\n  Content-Type: multipart/mixed; boundary=B\n\n--B--\n";
    assert_eq!(
        problems(text),
        [(NoContentType, "MIME-Version: 1.0"), (IndentedHeader, "Content-Type: multipart/mixed; boundary=B")]
    );
    let folded = "Content-Type: multipart/mixed;\n  boundary=\"B\"\n\n--B--\n";
    assert_eq!(problems(folded), []);
    assert_eq!(Archive::parse(folded).boundary.unwrap().span.text(folded), "B");
}

#[test]
fn requires_an_empty_line_after_the_headers() {
    assert_eq!(
        problems("Content-Type: multipart/mixed; boundary=B\n--B\n\n#!/bin/sh\n--B--\n"),
        [(NoBlankLineAfterHeaders, "--B")]
    );
    assert_eq!(
        problems("Content-Type: multipart/mixed; boundary=B\n  \n--B\nx\n--B--\n"),
        [(LineOfSpaces, "  "), (NoBlankLineAfterHeaders, "--B")]
    );
    assert_eq!(
        problems(&with_head(&format!("--B\n{SHELL}\n#!/bin/sh\n--B--\n"))),
        [(NoBlankLineAfterHeaders, "#!/bin/sh")]
    );
    let yaml = with_head(
        r"--B
Content-Type: application/node.eks.aws
apiVersion: node.eks.aws/v1alpha1

--B--
",
    );
    assert_eq!(problems(&yaml), [(BodyReadAsHeader, "apiVersion")]);
}

#[test]
fn distinguishes_ends_of_an_archive() {
    let part = format!("--B\n{SHELL}\n\n#!/bin/sh\n");
    for bare in ["--B", "--B\n"] {
        let text = with_head(&format!("{part}{bare}"));
        assert_eq!(parse(&text), (vec!["#!/bin/sh"], vec![(BareFinalDelimiter, "--B")]));
    }
    assert_eq!(problems(&with_head(&part)), [(NotClosed, "--B")]);
    let text = with_head(&format!("{part}--B-\n"));
    assert_eq!(problems(&text), [(MisspeltDelimiter, "--B-"), (NotClosed, "--B-")]);
    assert_eq!(
        problems(&with_head(&format!("{part}-B--\n"))),
        [(MisspeltDelimiter, "-B--"), (NotClosed, "-B--")]
    );
    assert_eq!(problems(&with_head(&format!("{part}--B x\n"))), [(UnexpectedLine, "--B x")]);
    assert_eq!(problems(&with_head(&format!("--B\n{SHELL}\n"))), [(PartWithoutBody, "--B")]);
    assert_eq!(problems(&with_head(&format!("{part}--B--\n{part}"))), [(PartAfterClosing, "--B")]);
    assert_eq!(parse(&with_head(&format!("{part}--BB\n--B--"))), (vec!["#!/bin/sh\n--BB"], vec![]));
}

#[test]
fn checks_the_type_of_each_part() {
    let part = |head: &str, body: &str| with_head(&format!("--B\n{head}\n\n{body}\n--B--\n"));
    assert_eq!(problems(&part("X-A: b", "x")), [(PartWithoutContentType, "--B")]);
    assert_eq!(
        problems(&part("Content-Type: text/x-shell-script", "x")),
        [(UnknownPartType, "text/x-shell-script")]
    );
    assert_eq!(problems(&part("Content-Type: ;", "x")), [(MalformedPartType, ";")]);
    assert_eq!(problems(&part(SHELL, "\n#!/bin/sh")), [(ShellPartWithoutShebang, "")]);
    assert_eq!(problems(&part(SHELL, "echo hi\nx")), [(ShellPartWithoutShebang, "echo hi")]);
    assert!(!Archive::parse(&part(SHELL, "echo hi")).is_rejected());
}
