//! The parts of a Terraform configuration or of a file of variables, by the address with which other parts refer to them.
//!
//! The parts are found by their lines, as `terraform fmt` writes them: a block starts and ends at the start of a line.
//! Sources: language/expressions/references and language/syntax/configuration in the documentation of Terraform.

use super::spelling::{Spelling, code, depth};

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The address, such as `data.aws_ssm_parameter.x`, `local.team` or `var.team`.
    pub(super) address: String,
    /// The number of the first line.
    pub(super) line: usize,
    pub(super) arguments: Vec<Argument>,
}

/// An argument or a block of a part, or a whole value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    /// The name; empty for a whole value.
    pub(super) name: String,
    /// The number of the first line.
    pub(super) line: usize,
    /// The text without comments, and without white space that means nothing.
    pub(super) text: String,
}

/// Arguments that give no value to another part. A description does: another one makes a security group anew.
///
/// Source: `resourceSecurityGroup` in `internal/service/ec2/vpc_security_group.go` of hashicorp/terraform-provider-aws: `ForceNew`.
const WITHOUT_EFFECT: [&str; 2] = ["lifecycle", "depends_on"];

/// Words in the names of arguments that only attributes with the same word show: `tags` of a security group or a module, `cluster_addons`
/// of the module `eks`.
const OWN_WORDS: [&str; 2] = ["tags", "addons"];

impl Argument {
    /// Whether an attribute of the part may depend on the argument. Without an attribute, all may be used.
    pub(super) fn feeds(&self, attribute: Option<&str>) -> bool {
        let word = OWN_WORDS.iter().find(|word| self.name.contains(*word));
        word.zip(attribute).is_none_or(|(word, attribute)| attribute.contains(word))
    }
}

/// The values that a file of variables gives.
pub(super) fn variables(text: &str) -> Vec<Part> {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().collect();
    values("var", &lines)
}

/// The arguments and blocks on the outermost level of a text.
pub(super) fn arguments_in(text: &str) -> Vec<Argument> {
    arguments(&text.lines().enumerate().collect::<Vec<_>>())
}

/// The arguments in a block, or in an argument that is an object, on the outermost level of a text. `None` for a value that is computed.
pub(super) fn arguments_of(text: &str, name: &str) -> Option<Vec<Argument>> {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().collect();
    let is_start = |(_, line): &(usize, &str)| {
        let rest = line.strip_prefix(name).map(|rest| rest.trim_start().trim_start_matches('=').trim_start());
        rest.is_some_and(|rest| rest.starts_with('{'))
    };
    let start = lines.iter().position(is_start)?;
    let (number, line) = lines.get(start)?;
    if depth(code(line)) > 0 {
        let inner = lines.get(start + 1..)?.iter().take_while(|(_, line)| !line.starts_with('}'));
        return Some(arguments(&inner.copied().collect::<Vec<_>>()));
    }
    let (_, inner) = code(line).rsplit_once('}')?.0.split_once('{')?;
    // Commas separate several values on the line.
    (!inner.contains(',')).then(|| arguments(&[(*number, inner)]))
}

/// The arguments in the block, or in the argument that is an object, that starts on a line of a text.
pub(super) fn arguments_at(text: &str, line: usize) -> Vec<Argument> {
    let mut lines = text.lines().enumerate().skip(line.saturating_sub(1));
    let Some((number, first)) = lines.next() else { return Vec::new() };
    let mut level = depth(code(first));
    if level <= 0 {
        let inner = code(first).rsplit_once('}').and_then(|(inner, _)| inner.split_once('{'));
        // Commas separate several values on the line.
        return inner.map_or_else(Vec::new, |(_, inner)| {
            let parts: Vec<(usize, &str)> = inner.split(',').map(|part| (number, part)).collect();
            arguments(&parts)
        });
    }
    let (mut ends, mut inner) = (HereDocuments::default(), Vec::new());
    for (number, line) in lines {
        level += if ends.hold(line) { 0 } else { depth(code(line)) };
        if level <= 0 {
            break;
        }
        inner.push((number, line));
    }
    arguments(&inner)
}

/// The data sources, resources, calls of modules, locals and variables of a configuration.
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
        let is_one_line = block.len() == 1 && depth(code(line)) == 0;
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
    let Some((header, behind)) = code(first).split_once('{') else { return Vec::new() };
    let inner: Vec<(usize, &str)> = match behind.rsplit_once('}').filter(|_| rest.is_empty()) {
        Some((only, _)) => vec![(*number, only.trim())],
        None => rest.split_last().map(|(_, lines)| lines.to_vec()).unwrap_or_default(),
    };
    let words: Vec<&str> = header.split_whitespace().map(|word| word.trim_matches('"')).collect();
    let used = || {
        let all = arguments(&inner).into_iter();
        all.filter(|argument| !WITHOUT_EFFECT.contains(&argument.name.as_str()))
    };
    let part = |address: String, arguments| vec![Part { address, line: number + 1, arguments }];
    match words.as_slice() {
        ["locals"] => values("local", &inner),
        ["data", kind, name] => {
            // The tags of a data source choose what it finds.
            let whole = used().map(|argument| Argument { name: String::new(), ..argument });
            part(format!("data.{kind}.{name}"), whole.collect())
        }
        ["module", name] => part(format!("module.{name}"), used().collect()),
        ["variable", name] => {
            let default = used().filter(|argument| argument.name == "default");
            let whole = default.map(|argument| Argument { name: String::new(), ..argument });
            part(format!("var.{name}"), whole.collect())
        }
        ["resource", kind, name] => part(format!("{kind}.{name}"), used().collect()),
        _ => Vec::new(),
    }
}

/// The values on the outermost level of some lines.
fn values(kind: &str, lines: &[(usize, &str)]) -> Vec<Part> {
    let part = |argument: Argument| Part {
        address: format!("{kind}.{}", argument.name),
        line: argument.line,
        arguments: vec![Argument { name: String::new(), ..argument }],
    };
    arguments(lines).into_iter().map(part).collect()
}

/// The arguments and blocks on the outermost level of some lines.
fn arguments(lines: &[(usize, &str)]) -> Vec<Argument> {
    let mut found: Vec<(Argument, Spelling)> = Vec::new();
    let mut ends = HereDocuments::default();
    let mut level = 0;
    for (number, line) in lines {
        let is_inside = ends.hold(line);
        let code = if is_inside { "" } else { code(line) };
        if let Some(name) = name_of(code.trim()).filter(|_| level == 0) {
            let argument = Argument { name: name.to_owned(), line: number + 1, text: String::new() };
            found.push((argument, Spelling::default()));
        }
        level += depth(code);
        match found.last_mut() {
            Some((_, spelling)) if is_inside => spelling.add_document(line),
            Some((_, spelling)) => spelling.add(code),
            None => {}
        }
    }
    let of = |(argument, spelling): (Argument, Spelling)| Argument { text: spelling.into_text(), ..argument };
    found.into_iter().map(of).collect()
}

/// The name of the argument or the block that a line starts.
fn name_of(line: &str) -> Option<&str> {
    let end = line.find(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-')))?;
    let (name, rest) = line.split_at_checked(end)?;
    let is_one = rest.trim_start().starts_with(['=', '{', '"']);
    (is_one && !name.is_empty()).then_some(name)
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
        let start = code(line).rsplit_once("<<").map(|(_, word)| word.trim_start_matches('-').trim());
        let is_word = |word: &&str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        self.end = start.filter(is_word);
        false
    }
}

/// A part that an expression refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reference {
    pub(super) address: String,
    /// The attribute of the part; `None` if it is not one.
    pub(super) attribute: Option<String>,
}

/// The parts that an expression refers to.
pub(super) fn references(text: &str) -> Vec<Reference> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
    let text = without_indexes(text);
    let words = text.split(move |char| !is_word(char));
    let reference = |word: &str| {
        let mut parts = word.split('.').filter(|part| !part.is_empty());
        let first = parts.next()?;
        let second = parts.next()?;
        let address = match first {
            "data" => format!("data.{second}.{}", parts.next()?),
            "var" | "local" | "module" => format!("{first}.{second}"),
            // The types of resources have the name of their provider first.
            _ if first.contains('_') => format!("{first}.{second}"),
            _ => return None,
        };
        // An older notation has the index of an instance among the attributes.
        let attribute = parts.find(|part| !part.bytes().all(|byte| byte.is_ascii_digit()));
        Some(Reference { address, attribute: attribute.map(str::to_owned) })
    };
    words.filter_map(reference).collect()
}

/// An expression in which the indexes of instances stand behind everything else: `a.b.arn c` for `a.b[c].arn`.
fn without_indexes(text: &str) -> String {
    let (mut outer, mut indexes) = (String::new(), String::new());
    let mut level = 0_usize;
    for char in text.chars() {
        let is_behind_word = outer.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_');
        match char {
            '[' if level > 0 || is_behind_word => {
                level += 1;
                indexes.push(' ');
            }
            ']' if level > 0 => {
                level -= 1;
                indexes.push(' ');
            }
            _ if level > 0 => indexes.push(char),
            _ => outer.push(char),
        }
    }
    format!("{outer} {indexes}")
}

#[cfg(test)]
mod tests {
    use super::{Part, parts, references, variables};

    #[test]
    fn finds_the_parts_of_configurations_and_of_files_of_variables() {
        let text = "variable \"a\" { default = 1 }\nlocals { one = 1 }\nlocals {\n  # none\n  two = {\n    x = 1\n  }\n  three = var.a\n}\n\n\
                    data \"aws_a\" \"x\" { name = \"/b\" }\nresource \"aws_b\" \"y\" {\n  tags = {\n    a = 1\n  }\n  policy = <<EOF\n{\n # c\n}\nEOF\n  name = \"n\" # {\n}\n\
                    module \"m\" {\n  source = \"x\"\n  depends_on = [aws_b.y]\n}\n";
        let shown = |all: Vec<Part>| -> Vec<(String, usize, String)> {
            let text =
                |part: &Part| part.arguments.iter().map(|one| one.text.replace('\n', ";") + " ").collect();
            all.into_iter().map(|part| (part.address.clone(), part.line, text(&part))).collect()
        };
        let part = |address: &str, line, text: &str| (address.to_owned(), line, text.to_owned());
        assert_eq!(
            shown(parts(text)),
            [
                part("var.a", 1, "default=1 "),
                part("local.one", 2, "one=1 "),
                part("local.two", 5, "two={x=1} "),
                part("local.three", 8, "three=var.a "),
                part("data.aws_a.x", 11, "name=\"/b\" "),
                part("aws_b.y", 12, "tags={a=1} policy=<<EOF;{; # c;};EOF; name=\"n\" "),
                part("module.m", 23, "source=\"x\" "),
            ]
        );
        let given = "a = 1\nlist = [\n  \"b\",\n]\n";
        assert_eq!(shown(variables(given)), [part("var.a", 1, "a=1 "), part("var.list", 2, "list=[\"b\"] ")]);
    }

    #[test]
    fn finds_the_references_of_an_expression() {
        let text = "templatefile(\"${path.module}/a.tpl\", { a = data.aws_a.x[\"b\"].value, b = var.b, c = local.c.d, e = aws_b.y[local.i].arn, f = module.m.out, g = aws_b.z.0.tags })";
        let found: Vec<(String, Option<String>)> =
            references(text).into_iter().map(|one| (one.address, one.attribute)).collect();
        let found: Vec<(&str, Option<&str>)> =
            found.iter().map(|(address, attribute)| (address.as_str(), attribute.as_deref())).collect();
        assert_eq!(
            found,
            [
                ("data.aws_a.x", Some("value")),
                ("var.b", None),
                ("local.c", Some("d")),
                ("aws_b.y", Some("arn")),
                ("module.m", Some("out")),
                ("aws_b.z", Some("tags")),
                ("local.i", None),
            ]
        );
    }

    #[test]
    fn tags_and_addons_feed_only_what_shows_them() {
        let text = "module \"eks\" {\n  name = \"a\"\n  cluster_addons = {\n    coredns = {}\n  }\n  tags = {\n    a = 1\n  }\n}\n";
        let [module]: [Part; 1] = parts(text).try_into().unwrap();
        let feeding = |attribute: Option<&str>| -> Vec<String> {
            let fed = module.arguments.iter().filter(|one| one.feeds(attribute));
            fed.map(|one| one.name.clone()).collect()
        };
        assert_eq!(feeding(Some("node_iam_role_name")), ["name"]);
        assert_eq!(feeding(Some("tags_all")), ["name", "tags"]);
        assert_eq!(feeding(None), ["name", "cluster_addons", "tags"]);
    }
}
