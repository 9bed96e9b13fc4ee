//! The values that a `helm_release` of Terraform gives to its chart, one by one.
//!
//! Source: docs/resources/release.md of hashicorp/terraform-provider-helm: `set` is a block, and since 3.0 a list of objects; `values` is a list
//! of texts.

use super::blocks::Argument;
use super::spelling::items;
use super::terraform::{FedPart, RELEASE, TerraformFeeds};

/// Arguments with one value, or with a list of them.
const SETTING: [&str; 2] = ["set", "set_sensitive"];

/// Start of the name of an argument with one key of `values`.
const OF_VALUES: &str = "values.";

/// The arguments of a release with one argument for each value of a list, and for each key of `values` that `yamlencode` or a here-document
/// writes.
pub(super) fn one_by_one(argument: Argument) -> Vec<Argument> {
    let name = argument.name.as_str();
    let apart = if SETTING.contains(&name) {
        let list = argument.text.strip_prefix(name).and_then(|text| text.strip_prefix("=["));
        let all = list.and_then(|list| items(list.strip_suffix(']')?));
        all.map(|all| all.into_iter().map(|item| (name.to_owned(), format!("{name}={item}"))).collect())
    } else if name == "values" {
        let object = argument.text.strip_prefix("values=[yamlencode({");
        let of_document = || of_document(argument.text.strip_prefix("values=[<<")?);
        object.and_then(|object| of_object(object.strip_suffix("})]")?)).or_else(of_document)
    } else {
        None
    };
    let apart: Option<Vec<(String, String)>> = apart;
    let Some(apart) = apart else { return vec![argument] };
    apart.into_iter().map(|(name, text)| Argument { name, text, line: argument.line }).collect()
}

/// The members of an object with plain keys, each with the name of its argument.
fn of_object(members: &str) -> Option<Vec<(String, String)>> {
    let member = |member: &str| {
        let (key, _) = member.split_once('=')?;
        let key = key.trim_matches('"');
        let is_plain = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
        let is_key = !key.is_empty() && key.chars().all(is_plain);
        is_key.then(|| (format!("{OF_VALUES}{key}"), format!("{OF_VALUES}{member}")))
    };
    items(members)?.into_iter().map(member).collect()
}

/// The outermost members of a YAML text in a here-document, behind its start. None for one that directives or a merge may join.
fn of_document(text: &str) -> Option<Vec<(String, String)>> {
    let (end, body) = text.split_once('\n')?;
    let end = end.trim_start_matches('-');
    let body: Vec<&str> = body.strip_suffix("\n]")?.lines().collect();
    let (last, lines) = body.split_last()?;
    let is_open = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("${")
            || line == end
            || ["%{", "<<:", ": *", "- *"].iter().any(|mark| line.contains(mark))
    };
    if last.trim() != end || lines.iter().any(is_open) {
        return None;
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let outer = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line)).min()?;
    let mut found: Vec<(String, String)> = Vec::new();
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        if indent(line) == outer && !line.trim_start().starts_with('#') {
            let (key, _) = line.trim_start().split_once(':')?;
            let is_plain = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
            if key.is_empty() || key.starts_with('-') || !key.chars().all(is_plain) {
                return None;
            }
            found.push((format!("{OF_VALUES}{key}"), OF_VALUES.to_owned()));
        }
        if let Some((_, text)) = found.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    Some(found)
}

/// The first key of the value that an argument sets; `None` for another argument, or a key that is not written.
pub(super) fn first_key(argument: &Argument) -> Option<&str> {
    if let Some(key) = argument.name.strip_prefix(OF_VALUES) {
        return Some(key);
    }
    let is_one = SETTING.contains(&argument.name.as_str()) && argument.text.matches("name=").count() == 1;
    let (_, name) = argument.text.split_once("name=\"").filter(|_| is_one)?;
    let end = name.find(['"', '.', '[', '$', '\\'])?;
    let is_known = !name.get(end..)?.starts_with(['$', '\\']);
    name.get(..end).filter(|_| is_known)
}

impl<'p> TerraformFeeds<'p> {
    /// Whether a release may install the chart in a folder of this name. A repository that is no URL is the folder around the chart.
    ///
    /// Source: `resolveChartName` in `helm/resource_release.go` of hashicorp/terraform-provider-helm.
    fn installs(&self, part: &FedPart<'p>, folder: &str) -> bool {
        let is_of_chart = part.giving("chart");
        let named = part.text_of(|given| given.name == "repository" || is_of_chart(given));
        let text = self.with_values(&named, part.file);
        let mut strings = text.split('"');
        let is_path = |string: &str| string.contains('/') && !string.contains("://");
        let end = format!("/{folder}");
        let has_path = strings.clone().any(is_path);
        strings.any(|string| string.ends_with(&end) || (has_path && string == folder))
    }

    /// The file with the changed release of a chart in a folder of this name, or with a part that feeds it. Of the values that are set one by
    /// one, those count that the chart reads. `changed_text` finds the changed file that a text in a folder names.
    pub(super) fn of_chart(
        &self,
        folder: &str,
        is_read: impl Fn(&str) -> bool,
        changed_text: impl Fn(&str, &str) -> Option<&'p str>,
    ) -> Option<&'p str> {
        let releases = self.parts.iter().filter(|(address, _)| address.starts_with(RELEASE));
        let mut own = releases.flat_map(|(_, all)| all).filter(|part| self.installs(part, folder));
        let is_meant = |argument: &Argument| first_key(argument).is_none_or(&is_read);
        own.find_map(|part| {
            if part.differs(is_meant) {
                return Some(part.file);
            }
            let whole = self.with_locals(part);
            let text = if whole.differs(is_meant) { part } else { &whole }.text_of(is_meant);
            let found = self.of_expression(&text, part.file).map(|(_, file)| file);
            found.or_else(|| self.read_by(part, &text, &changed_text))
        })
    }

    /// A release with the keys of a local one by one if its `values` are all of the local.
    fn with_locals(&self, part: &FedPart<'p>) -> FedPart<'p> {
        let mut whole = part.clone();
        for (side, arguments) in whole.sides.iter_mut().enumerate() {
            let apart = |one: Argument| self.local_values(&one, (part, side)).unwrap_or_else(|| vec![one]);
            *arguments = arguments.take().map(|all| all.into_iter().flat_map(apart).collect());
        }
        whole
    }

    /// The values of a side that are a local, one by one.
    fn local_values(
        &self,
        argument: &Argument,
        (part, side): (&FedPart<'p>, usize),
    ) -> Option<Vec<Argument>> {
        let name = argument.text.strip_prefix("values=[yamlencode(local.")?.strip_suffix(")]")?;
        let local =
            self.parts.get(&format!("local.{name}"))?.iter().find(|local| local.place == part.place)?;
        let [value] = local.sides.get(side)?.as_deref()? else { return None };
        let object = value.text.strip_prefix(name)?.strip_prefix('=').filter(|text| text.starts_with('{'))?;
        let text = format!("values=[yamlencode({object})]");
        Some(one_by_one(Argument { text, ..argument.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_release_are_told_apart_by_their_first_key() {
        let keys = |name: &str, text: &str| -> Vec<Option<String>> {
            let argument = Argument { name: name.to_owned(), line: 1, text: text.to_owned() };
            one_by_one(argument).iter().map(|one| first_key(one).map(str::to_owned)).collect()
        };
        let some = |keys: &[&str]| keys.iter().map(|key| Some((*key).to_owned())).collect::<Vec<_>>();
        assert_eq!(keys("set", "set{name=\"a.b\",value=\"c\"}"), some(&["a"]));
        assert_eq!(
            keys("set", "set=[{name=\"a.b\",value=\"c\"},{name=\"d\",value=var.e}]"),
            some(&["a", "d"])
        );
        assert_eq!(keys("values", "values=[yamlencode({a={b=\",\"},\"c-d\"=var.e})]"), some(&["a", "c-d"]));
        let document = "values=[<<-EOT\n  # one\n  a:\n    b: ${var.c}\n\n  d: [1]\n  EOT\n]";
        assert_eq!(keys("values", document), some(&["a", "d"]));
        for text in [
            "values=[file(\"a\")]",
            "values=[yamlencode({a=1}),yamlencode({b=2})]",
            "values=[yamlencode({for a,b in var.c:a=>b})]",
            "values=[yamlencode({(var.a)=1})]",
            "values=[<<EOT\n${yamlencode(var.a)}\nEOT\n]",
            "values=[<<EOT\na: 1\n%{ if var.b }\nc: 1\n%{ endif }\nEOT\n]",
            "values=[<<EOT\na: &x 1\nb: *x\nEOT\n]",
            "values=[<<EOT\na: 1\nEOT\n,<<EOT\nb: 1\nEOT\n]",
        ] {
            assert_eq!(keys("values", text), [None], "{text}");
        }
    }
}
