use super::*;

fn read(text: &str) -> Script {
    Script::read(text, Span::whole(text))
}

/// The commands, a line each, words between bars.
fn commands(text: &str) -> Vec<String> {
    let values = |words: &[Word]| words.iter().map(|word| word.value.clone()).collect::<Vec<_>>().join("|");
    read(text).commands.iter().map(|command| values(&command.words)).collect()
}

fn problems(text: &str) -> Vec<(ProblemKind, &str)> {
    read(text).problems.iter().map(|problem| (problem.kind, problem.span.text(text))).collect()
}

#[test]
fn separators_end_commands_and_quotes_hide_them() {
    assert_eq!(commands("a b; c&&d||e|f&g\nh"), ["a|b", "c", "d", "e", "f", "g", "h"]);
    assert_eq!(commands(r#"echo "a;b" 'c && d' e\;f"#), ["echo|a;b|c && d|e;f"]);
    assert_eq!(commands("a # b; c\nd#e # f"), ["a", "d#e"]);
}

#[test]
fn adjacent_quotes_make_one_word() {
    assert_eq!(commands(r#"x --a='b'"c d"\ e''"#), ["x|--a=bc d e"]);
    assert_eq!(commands(r#"x "it's" 'say "hi"' "q\"q" "a\b""#), [r#"x|it's|say "hi"|q"q|a\b"#]);
    assert_eq!(commands(r"x $'a\tb\'c\x41\u00e9'"), ["x|a\tb'cA\u{e9}"]);
    assert_eq!(commands("x '' \"\""), ["x||"]);
}

#[test]
fn a_backslash_joins_lines_and_a_blank_after_it_breaks_them() {
    assert_eq!(commands("a \\\n  b \\\r\n  c"), ["a|b|c"]);
    assert_eq!(commands("a\\\nb"), ["ab"]);
    let text = "a --b \\  \n  --c\n";
    assert_eq!(commands(text), ["a|--b| ", "--c"]);
    assert_eq!(problems(text), [(ProblemKind::BrokenContinuation, "\\  ")]);
    assert_eq!(problems("a \"b \\  \n c\""), []);
}

#[test]
fn the_command_word_is_found_behind_keywords_groups_and_substitutions() {
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
fn redirections_are_no_arguments() {
    let script = read("a >b 2>&1 <<<c d &>>e");
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
fn here_documents_are_data() {
    let text = "cat <<EOF >x\na; b\nEOF\ncat <<-'E O'\n\tc $d\n\tE O\ne\n";
    let script = read(text);
    let bodies: Vec<_> = script.heredocs.iter().map(|heredoc| heredoc.body.text(text)).collect();
    assert_eq!(bodies, ["a; b\n", "\tc $d\n"]);
    assert_eq!(commands(text), ["cat", "cat", "e"]);
    assert!(
        script.heredocs[1].literal && script.heredocs[1].strips_tabs && !script.heredocs[1].expands(text)
    );
    assert_eq!(script.commands[1].redirections[0].heredoc, Some(1));
}

#[test]
fn two_here_documents_on_a_line_follow_one_another() {
    let text = "a <<X <<Y\n1\nX\n2\nY\nb";
    let script = read(text);
    let bodies: Vec<_> = script.heredocs.iter().map(|heredoc| heredoc.body.text(text)).collect();
    assert_eq!((bodies, commands(text).len()), (vec!["1\n", "2\n"], 2));
}

#[test]
fn what_never_ends_is_a_problem_at_its_opening() {
    assert_eq!(problems("a 'b"), [(ProblemKind::UnterminatedQuote, "'")]);
    assert_eq!(problems("a \"b"), [(ProblemKind::UnterminatedQuote, "\"")]);
    assert_eq!(problems("a $(b"), [(ProblemKind::UnterminatedExpansion, "$(")]);
    assert_eq!(problems("a ${b"), [(ProblemKind::UnterminatedExpansion, "{")]);
    assert_eq!(problems("a <<E\nb\n"), [(ProblemKind::UnterminatedHeredoc, "E")]);
    assert_eq!(problems("a <<E"), [(ProblemKind::UnterminatedHeredoc, "E")]);
    assert_eq!(
        problems(&"$(".repeat(60)).first().map(|problem| problem.0),
        Some(ProblemKind::UnterminatedExpansion)
    );
    assert!(problems(&"$(".repeat(60)).iter().any(|problem| problem.0 == ProblemKind::TooDeep));
}

#[test]
fn windows_line_endings_are_told_once_and_read_over() {
    let text = "#!/bin/bash\r\na b\r\nc 'd'\r\n";
    assert_eq!(commands(text), ["a|b", "c|d"]);
    assert_eq!(problems(text), [(ProblemKind::CarriageReturns, "\r\n")]);
}

#[test]
fn an_expansion_marks_its_word_and_nothing_is_expanded() {
    let script = read(r#"a '$b' "$c" ${d:-"e f"} \$g $ $((1 + 2)) --x="${y}z""#);
    let words = &script.commands[0].words;
    let dynamic: Vec<_> = words.iter().map(Word::is_dynamic).collect();
    assert_eq!(dynamic, [false, false, true, true, false, false, true, true]);
    assert_eq!(words[7].value, "--x=${y}z");
    assert!(words[7].is_dynamic_in(&(4..5)) && !words[7].is_dynamic_in(&(0..4)));
}

#[test]
fn an_array_is_one_word() {
    let script = read("A=(--x 'b c')\nrun \"${A[@]}\"");
    assert_eq!(script.commands.len(), 2);
    assert!(script.commands[0].assignments[0].is_dynamic());
}

#[test]
fn a_prefix_steps_aside() {
    let invoked = |text: &str| {
        let script = read(text);
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
fn a_part_of_a_quoted_argument_is_found_in_the_text() {
    let text = r#"bootstrap.sh é --kubelet-extra-args '--a="b" '"--c=d""#;
    let script = read(text);
    let word = &script.commands[0].words[3];
    assert_eq!(word.value, r#"--a="b" --c=d"#);
    let at = word.value.find('d').unwrap();
    assert_eq!(word.place(&(at..at + 1)).text(text), "d");
    let words = word.split();
    assert_eq!(words[0].place(&(4..5)).text(text), "b");
    assert_eq!(words[1].span.text(text), "--c=d");
}
