use ids::Id;
use manifest::source::Span;

use super::*;
use crate::word::SourceWord;

fn parse(text: &str) -> Script {
    Script::parse(text, Span::whole(text))
}

/// Commands, each with its words between bars.
fn commands(text: &str) -> Vec<String> {
    let values =
        |words: &[SourceWord]| words.iter().map(|word| word.value.clone()).collect::<Vec<_>>().join("|");
    parse(text).commands.iter().map(|command| values(&command.words)).collect()
}

fn problems(text: &str) -> Vec<(ShellProblemKind, &str)> {
    parse(text).problems.iter().map(|problem| (problem.kind, problem.span.text(text))).collect()
}

#[test]
fn separates_commands_outside_quotes() {
    assert_eq!(commands("a b; c&&d||e|f&g\nh"), ["a|b", "c", "d", "e", "f", "g", "h"]);
    assert_eq!(commands(r#"echo "a;b" 'c && d' e\;f"#), ["echo|a;b|c && d|e;f"]);
    assert_eq!(commands("a # b; c\nd#e # f"), ["a", "d#e"]);
}

#[test]
fn joins_adjacent_quotes_to_one_word() {
    assert_eq!(commands(r#"x --a='b'"c d"\ e''"#), ["x|--a=bc d e"]);
    assert_eq!(commands(r#"x "it's" 'say "hi"' "q\"q" "a\b""#), [r#"x|it's|say "hi"|q"q|a\b"#]);
    assert_eq!(commands(r"x $'a\tb\'c\x41\u00e9'"), ["x|a\tb'cA\u{e9}"]);
    assert_eq!(commands("x '' \"\""), ["x||"]);
}

#[test]
fn joins_lines_at_a_backslash_without_trailing_spaces() {
    assert_eq!(commands("a \\\n  b \\\r\n  c"), ["a|b|c"]);
    assert_eq!(commands("a\\\nb"), ["ab"]);
    let text = "a --b \\  \n  --c\n";
    assert_eq!(commands(text), ["a|--b| ", "--c"]);
    assert_eq!(problems(text), [(ShellProblemKind::BrokenContinuation, "\\  ")]);
    assert_eq!(problems("a \"b \\  \n c\""), []);
}

#[test]
fn finds_commands_in_blocks_groups_and_substitutions() {
    assert_eq!(commands("if a; then b; elif c; then d; else e; fi"), ["a", "b", "c", "d", "e"]);
    assert_eq!(commands("while ! a; do { b; }; done"), ["a", "b"]);
    assert_eq!(commands("(a; b) && c"), ["a", "b", "c"]);
    assert_eq!(commands("f() { a; }\nf"), ["f", "a", "f"]);
    assert_eq!(
        commands("X=$(a \"$(b)\") c `d e`"),
        ["c|`d e`", "a|\"$(b)\"".replace('"', "").as_str(), "b", "d|e"]
    );
    assert_eq!(commands("case $x in a) b;; *) c;; esac; d"), ["case|$x|in", "a", "b", "*", "c", "d"]);
    assert_eq!(commands("v=$(case $x in a) b;; esac); c"), ["", "case|$x|in", "a", "b", "c"]);
    assert_eq!(commands("[[ a && ( b < c ) ]] && d"), ["[[|a|b|c|]]", "d"]);
    assert_eq!(commands("(( a << 2 )); b"), ["b"]);
}

#[test]
fn separates_redirections_from_arguments() {
    let script = parse("a >b 2>&1 <<<c d &>>e");
    let command = &script.commands[0];
    let words: Vec<_> = command.words.iter().map(|word| word.value.as_str()).collect();
    let targets: Vec<_> = command.redirections.iter().map(|to| to.target.value.as_str()).collect();
    assert_eq!((words, targets), (vec!["a", "d"], vec!["b", "1", "c", "e"]));
    assert_eq!(
        commands("exec > >(tee /var/log/x|logger -t y -s 2>/dev/console) 2>&1"),
        ["exec", "tee|/var/log/x", "logger|-t|y|-s"]
    );
}

#[test]
fn does_not_parse_here_documents_as_commands() {
    let text = "cat <<EOF >x\na; b\nEOF\ncat <<-'E O'\n\tc $d\n\tE O\ne\n";
    let script = parse(text);
    let bodies: Vec<_> = script.heredocs.iter().map(|heredoc| heredoc.body.text(text)).collect();
    assert_eq!(bodies, ["a; b\n", "\tc $d\n"]);
    assert_eq!(commands(text), ["cat", "cat", "e"]);
    assert!(
        script.heredocs.as_slice()[1].literal
            && script.heredocs.as_slice()[1].strips_tabs
            && !script.heredocs.as_slice()[1].expands(text)
    );
    assert_eq!(script.commands[1].redirections[0].heredoc, Some(HeredocId::from_position(1)));
}

#[test]
fn parses_two_here_documents_of_one_line() {
    let text = "a <<X <<Y\n1\nX\n2\nY\nb";
    let script = parse(text);
    let bodies: Vec<_> = script.heredocs.iter().map(|heredoc| heredoc.body.text(text)).collect();
    assert_eq!((bodies, commands(text).len()), (vec!["1\n", "2\n"], 2));
}

#[test]
fn reports_unterminated_constructs_at_their_opening() {
    assert_eq!(problems("a 'b"), [(ShellProblemKind::UnterminatedQuote, "'")]);
    assert_eq!(problems("a \"b"), [(ShellProblemKind::UnterminatedQuote, "\"")]);
    assert_eq!(problems("a $(b"), [(ShellProblemKind::UnterminatedExpansion, "$(")]);
    assert_eq!(problems("a ${b"), [(ShellProblemKind::UnterminatedExpansion, "{")]);
    assert_eq!(problems("a <<E\nb\n"), [(ShellProblemKind::UnterminatedHeredoc, "E")]);
    assert_eq!(problems("a <<E"), [(ShellProblemKind::UnterminatedHeredoc, "E")]);
    assert_eq!(
        problems(&"$(".repeat(60)).first().map(|problem| problem.0),
        Some(ShellProblemKind::UnterminatedExpansion)
    );
    assert!(problems(&"$(".repeat(60)).iter().any(|problem| problem.0 == ShellProblemKind::TooDeep));
}

#[test]
fn reports_windows_line_endings_once_and_ignores_them() {
    let text = "#!/bin/bash\r\na b\r\nc 'd'\r\n";
    assert_eq!(commands(text), ["a|b", "c|d"]);
    assert_eq!(problems(text), [(ShellProblemKind::CarriageReturns, "\r\n")]);
}

#[test]
fn marks_words_with_expansions_without_expanding_them() {
    let script = parse(r#"a '$b' "$c" ${d:-"e f"} \$g $ $((1 + 2)) --x="${y}z""#);
    let words = &script.commands[0].words;
    let dynamic: Vec<_> = words.iter().map(SourceWord::is_dynamic).collect();
    assert_eq!(dynamic, [false, false, true, true, false, false, true, true]);
    assert_eq!(words[7].value, "--x=${y}z");
    assert!(words[7].is_dynamic_in(&(4..5)) && !words[7].is_dynamic_in(&(0..4)));
}

#[test]
fn treats_an_array_as_one_word() {
    let script = parse("A=(--x 'b c')\nrun \"${A[@]}\"");
    assert_eq!(script.commands.len(), 2);
    assert!(script.commands[0].assignments[0].is_dynamic());
}

#[test]
fn finds_the_program_after_its_prefixes() {
    let invoked = |text: &str| {
        let script = parse(text);
        let invocation = script.commands[0].invocation().unwrap();
        (invocation.name().to_owned(), invocation.arguments.len())
    };
    assert_eq!(invoked("sudo -E -u root env A=b /etc/eks/bootstrap.sh x"), ("bootstrap.sh".into(), 1));
    assert_eq!(invoked("bash -xe /etc/eks/bootstrap.sh x y"), ("bootstrap.sh".into(), 2));
    assert_eq!(invoked("exec nohup time bootstrap.sh"), ("bootstrap.sh".into(), 0));
    assert_eq!(invoked("timeout -k 5 60 kubelet --v=2"), ("kubelet".into(), 1));
    assert_eq!(invoked("bash -lc 'x y'"), ("bash".into(), 2));
    assert_eq!(invoked("bash -s -- a"), ("bash".into(), 3));
    assert_eq!(invoked("sudo"), ("sudo".into(), 0));
    assert_eq!(invoked("A=b $X y"), ("$X".into(), 1));
}

#[test]
fn maps_parts_of_a_quoted_argument_to_the_text() {
    let text = r#"bootstrap.sh é --kubelet-extra-args '--a="b" '"--c=d""#;
    let script = parse(text);
    let word = &script.commands[0].words[3];
    assert_eq!(word.value, r#"--a="b" --c=d"#);
    let at = word.value.find('d').unwrap();
    assert_eq!(word.span_of(&(at..at + 1)).text(text), "d");
    let words = word.split();
    assert_eq!(words[0].span_of(&(4..5)).text(text), "b");
    assert_eq!(words[1].span.text(text), "--c=d");
}
