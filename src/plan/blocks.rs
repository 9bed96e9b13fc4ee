//! The parts of a Terraform configuration or of a file of variables, by the address with which other parts refer to them.
//!
//! The parts are found by their lines, as `terraform fmt` writes them: a block starts and ends at the start of a line.
//! Sources: language/expressions/references and language/syntax/configuration in the documentation of Terraform.

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The address, such as `data.aws_ssm_parameter.x`, `local.team` or `var.team`.
    pub(super) address: String,
    /// The number of the first line.
    pub(super) line: usize,
    /// The lines without indentation, comments and empty lines.
    pub(super) text: String,
}

/// Arguments of a resource that no other resource uses.
const WITHOUT_EFFECT: [&str; 3] = ["description", "lifecycle", "tags"];

/// The values that a file of variables gives.
pub(super) fn variables(text: &str) -> Vec<Part> {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().collect();
    arguments(&lines)
        .into_iter()
        .map(|part| Part { address: format!("var.{}", part.address), ..part })
        .collect()
}

/// The data sources, resources, calls of modules and locals of a configuration.
pub(super) fn parts(text: &str) -> Vec<Part> {
    let mut found = Vec::new();
    let mut block: Vec<(usize, &str)> = Vec::new();
    let mut ends = HereDocuments::default();
    for (number, line) in text.lines().enumerate() {
        let is_inside = ends.hold(line);
        if block.is_empty() && (is_inside || !line.starts_with(|char: char| char.is_ascii_alphabetic())) {
            continue;
        }
        block.push((number, line));
        let is_one_line = block.len() == 1 && line.matches('{').count() == line.matches('}').count();
        if is_one_line || (!is_inside && line.starts_with('}')) {
            found.extend(of_block(&block));
            block.clear();
        }
    }
    found
}

/// The parts of a block with its first and its last line.
fn of_block(block: &[(usize, &str)]) -> Vec<Part> {
    let Some(((number, first), rest)) = block.split_first() else { return Vec::new() };
    let Some((header, behind)) = first.split_once('{') else { return Vec::new() };
    let inner: Vec<(usize, &str)> = match behind.rsplit_once('}').filter(|_| rest.is_empty()) {
        Some((only, _)) => vec![(*number, only.trim())],
        None => rest.split_last().map(|(_, lines)| lines.to_vec()).unwrap_or_default(),
    };
    let words: Vec<&str> = header.split_whitespace().map(|word| word.trim_matches('"')).collect();
    let whole = |address: String, text: String| vec![Part { address, line: number + 1, text }];
    match words.as_slice() {
        ["locals"] => {
            let locals = arguments(&inner).into_iter();
            locals.map(|part| Part { address: format!("local.{}", part.address), ..part }).collect()
        }
        ["data", kind, name] => whole(format!("data.{kind}.{name}"), written(&inner)),
        ["module", name] => whole(format!("module.{name}"), written(&inner)),
        ["resource", kind, name] => {
            let all = arguments(&inner).into_iter();
            let used = all.filter(|part| !WITHOUT_EFFECT.contains(&part.address.as_str()));
            whole(format!("{kind}.{name}"), used.map(|part| part.text).collect())
        }
        _ => Vec::new(),
    }
}

/// The arguments and blocks on the outermost level of some lines, by name.
fn arguments(lines: &[(usize, &str)]) -> Vec<Part> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let outermost = lines.iter().find(|(_, line)| is_shown(line)).map_or(0, |(_, line)| depth(line));
    let mut found: Vec<Part> = Vec::new();
    let mut ends = HereDocuments::default();
    for (number, line) in lines {
        let is_inside = ends.hold(line);
        let starts = !is_inside && depth(line) == outermost;
        if let Some(name) = name_of(line.trim()).filter(|_| starts) {
            found.push(Part { address: name.to_owned(), line: number + 1, text: String::new() });
        }
        if let Some(part) = found.last_mut().filter(|_| is_shown(line)) {
            part.text.push_str(&spaced(line));
            part.text.push('\n');
        }
    }
    found
}

/// A line with single spaces, because `terraform fmt` aligns what stands below each other.
fn spaced(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of the argument or the block that a line starts.
fn name_of(line: &str) -> Option<&str> {
    let end = line.find(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-')))?;
    let (name, rest) = line.split_at_checked(end)?;
    let is_one = rest.trim_start().starts_with(['=', '{', '"']);
    (is_one && !name.is_empty()).then_some(name)
}

fn written(lines: &[(usize, &str)]) -> String {
    let shown = lines.iter().filter(|(_, line)| is_shown(line));
    shown.map(|(_, line)| spaced(line) + "\n").collect()
}

/// Whether a line is neither empty nor a comment.
fn is_shown(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#') && !line.starts_with("//")
}

/// The here-document that lines are in.
#[derive(Debug, Default)]
struct HereDocuments<'t> {
    end: Option<&'t str>,
}

impl<'t> HereDocuments<'t> {
    /// Whether the next line is in a here-document, or ends it.
    fn hold(&mut self, line: &'t str) -> bool {
        if let Some(end) = self.end {
            if line.trim() == end {
                self.end = None;
            }
            return true;
        }
        let start = line.rsplit_once("<<").map(|(_, word)| word.trim_start_matches('-').trim());
        let is_word = |word: &&str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        self.end = start.filter(is_word);
        false
    }
}

/// The addresses that an expression refers to.
pub(super) fn references(text: &str) -> impl Iterator<Item = String> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
    text.split(move |char| !is_word(char)).filter_map(|word| {
        let mut parts = word.split('.').filter(|part| !part.is_empty());
        let first = parts.next()?;
        let second = parts.next()?;
        match first {
            "data" => Some(format!("data.{second}.{}", parts.next()?)),
            "var" | "local" | "module" => Some(format!("{first}.{second}")),
            // The types of resources have the name of their provider first.
            _ if first.contains('_') => Some(format!("{first}.{second}")),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{parts, references, variables};

    #[test]
    fn finds_the_parts_of_configurations_and_of_files_of_variables() {
        let text = "variable \"a\" {}\nlocals { one = 1 }\nlocals {\n  # none\n  two = {\n    x = 1\n  }\n  three = var.a\n}\n\n\
                    data \"aws_a\" \"x\" { name = \"/b\" }\nresource \"aws_b\" \"y\" {\n  tags = {\n    a = 1\n  }\n  policy = <<EOF\n{\n}\nEOF\n  name = \"n\"\n}\n\
                    module \"m\" {\n  source = \"x\"\n}\n";
        let shown = |all: Vec<super::Part>| -> Vec<(String, usize, String)> {
            all.into_iter().map(|part| (part.address, part.line, part.text.replace('\n', ";"))).collect()
        };
        let part = |address: &str, line, text: &str| (address.to_owned(), line, text.to_owned());
        assert_eq!(
            shown(parts(text)),
            [
                part("local.one", 2, "one = 1;"),
                part("local.two", 5, "two = {;x = 1;};"),
                part("local.three", 8, "three = var.a;"),
                part("data.aws_a.x", 11, "name = \"/b\";"),
                part("aws_b.y", 12, "policy = <<EOF;{;};EOF;name = \"n\";"),
                part("module.m", 22, "source = \"x\";"),
            ]
        );
        let given = "a = 1\nlist = [\n  \"b\",\n]\n";
        assert_eq!(
            shown(variables(given)),
            [part("var.a", 1, "a = 1;"), part("var.list", 2, "list = [;\"b\",;];")]
        );
    }

    #[test]
    fn finds_the_references_of_an_expression() {
        let text = "templatefile(\"${path.module}/a.tpl\", { a = data.aws_a.x[\"b\"].value, b = var.b, c = local.c.d, e = aws_b.y[0].arn, f = module.m.out })";
        let found: Vec<String> = references(text).collect();
        assert_eq!(found, ["data.aws_a.x", "var.b", "local.c", "aws_b.y", "module.m"]);
    }
}
