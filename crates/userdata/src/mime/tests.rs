use super::ProblemKind::*;
use super::*;

const SHELL: &str = "Content-Type: text/x-shellscript; charset=\"us-ascii\"";

/// The bodies, and the problems with the words they stand at.
fn read(text: &str) -> (Vec<&str>, Vec<(ProblemKind, &str)>) {
    let archive = Archive::read(text);
    let bodies = archive.parts.iter().map(|part| part.body.text(text)).collect();
    (bodies, archive.problems.iter().map(|problem| (problem.kind, problem.span.text(text))).collect())
}

fn with_head(body: &str) -> String {
    format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n{body}")
}

fn problems(text: &str) -> Vec<(ProblemKind, &str)> {
    read(text).1
}

#[test]
fn parts_are_found_between_delimiters() {
    let text = with_head(&format!(
        "--B\n{SHELL}\n\n#!/bin/sh\na\n\n--B \t\ncontent-type: text/cloud-config\n\nx: y\n--B--\n"
    ));
    assert_eq!(read(&text), (vec!["#!/bin/sh\na\n", "x: y"], vec![]));
    let archive = Archive::read(&text);
    assert_eq!(archive.boundary.as_ref().unwrap().span.text(&text), "B");
    assert_eq!(archive.parts[1].media_type(), "text/cloud-config");
    assert_eq!(archive.parts[1].delimiter.text(&text), "--B");
}

#[test]
fn carriage_returns_are_a_line_ending_of_their_own() {
    let text = with_head(&format!("--B\n{SHELL}\n\n#!/bin/sh\n--B--\n")).replace('\n', "\r\n");
    assert_eq!(read(&text), (vec!["#!/bin/sh"], vec![]));
    // The first delimiter decides.
    let text = with_head(&format!("--B\n{SHELL}\n\n#!/bin/sh\n--B\r\n{SHELL}\n\n#!/bin/sh\n--B--\n"));
    assert_eq!(problems(&text), [(UnexpectedLine, "--B")]);
    let text = with_head(&format!("--B\r\n{SHELL}\n\n#!/bin/sh\n--B--\n"));
    assert_eq!(problems(&text), [(NotClosed, "--B")]);
}

#[test]
fn a_leading_blank_line_hides_all_headers() {
    let text = format!("\n\n{}", with_head("--B--\n"));
    assert_eq!(problems(&text), [(LeadingBlankLine, "\n\n")]);
    assert_eq!(problems(&format!("  {}", with_head(""))), [(IndentedFirstHeader, "  MIME-Version: 1.0")]);
}

#[test]
fn the_boundary_must_be_there_quoted_and_used() {
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
fn an_indented_header_continues_the_one_before() {
    let text = "MIME-Version: 1.0\n  Content-Type: multipart/mixed; boundary=B\n\n--B--\n";
    assert_eq!(
        problems(text),
        [(NoContentType, "MIME-Version: 1.0"), (IndentedHeader, "Content-Type: multipart/mixed; boundary=B")]
    );
    let folded = "Content-Type: multipart/mixed;\n  boundary=\"B\"\n\n--B--\n";
    assert_eq!(problems(folded), []);
    assert_eq!(Archive::read(folded).boundary.unwrap().span.text(folded), "B");
}

#[test]
fn an_empty_line_ends_the_headers_and_one_of_blanks_does_not() {
    assert_eq!(
        problems("Content-Type: multipart/mixed; boundary=B\n--B\n\n#!/bin/sh\n--B--\n"),
        [(NoBlankLineAfterHeaders, "--B")]
    );
    assert_eq!(
        problems("Content-Type: multipart/mixed; boundary=B\n  \n--B\nx\n--B--\n"),
        [(BlankLineWithBlanks, "  "), (NoBlankLineAfterHeaders, "--B")]
    );
    assert_eq!(
        problems(&with_head(&format!("--B\n{SHELL}\n#!/bin/sh\n--B--\n"))),
        [(NoBlankLineAfterHeaders, "#!/bin/sh")]
    );
    let yaml = with_head(
        "--B\nContent-Type: application/node.eks.aws\napiVersion: node.eks.aws/v1alpha1\n\n--B--\n",
    );
    assert_eq!(problems(&yaml), [(BodyReadAsHeader, "apiVersion")]);
}

#[test]
fn the_end_is_told_apart() {
    let part = format!("--B\n{SHELL}\n\n#!/bin/sh\n");
    for bare in ["--B", "--B\n"] {
        let text = with_head(&format!("{part}{bare}"));
        assert_eq!(read(&text), (vec!["#!/bin/sh"], vec![(BareFinalDelimiter, "--B")]));
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
    assert_eq!(read(&with_head(&format!("{part}--BB\n--B--"))), (vec!["#!/bin/sh\n--BB"], vec![]));
}

#[test]
fn a_part_says_what_it_is() {
    let part = |head: &str, body: &str| with_head(&format!("--B\n{head}\n\n{body}\n--B--\n"));
    assert_eq!(problems(&part("X-A: b", "x")), [(PartWithoutContentType, "--B")]);
    assert_eq!(
        problems(&part("Content-Type: text/x-shell-script", "x")),
        [(UnknownPartType, "text/x-shell-script")]
    );
    assert_eq!(problems(&part("Content-Type: ;", "x")), [(MalformedPartType, ";")]);
    assert_eq!(problems(&part(SHELL, "\n#!/bin/sh")), [(ShellPartWithoutShebang, "")]);
    assert_eq!(problems(&part(SHELL, "echo hi\nx")), [(ShellPartWithoutShebang, "echo hi")]);
    assert!(!Archive::read(&part(SHELL, "echo hi")).is_refused());
}
