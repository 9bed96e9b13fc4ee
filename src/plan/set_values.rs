//! The values that a `helm_release` of Terraform gives to its chart, one by one.
//!
//! Source: docs/resources/release.md of hashicorp/terraform-provider-helm: `set` is a block, and since 3.0 a list of objects; `values` is a list
//! of texts.

use super::blocks::Argument;
use super::spelling::items;

/// Arguments with one value, or with a list of them.
const SETTING: [&str; 2] = ["set", "set_sensitive"];

/// Start of the name of an argument with one key of `values`.
const OF_VALUES: &str = "values.";

/// The arguments of a release with one argument for each value of a list, and for each key of `values` that `yamlencode` writes.
pub(super) fn one_by_one(argument: Argument) -> Vec<Argument> {
    let name = argument.name.as_str();
    let apart = if SETTING.contains(&name) {
        let list = argument.text.strip_prefix(name).and_then(|text| text.strip_prefix("=["));
        let all = list.and_then(|list| items(list.strip_suffix(']')?));
        all.map(|all| all.into_iter().map(|item| (name.to_owned(), format!("{name}={item}"))).collect())
    } else if name == "values" {
        let object = argument.text.strip_prefix("values=[yamlencode({");
        object.and_then(|object| of_object(object.strip_suffix("})]")?))
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
        for text in [
            "values=[file(\"a\")]",
            "values=[yamlencode({a=1}),yamlencode({b=2})]",
            "values=[yamlencode({for a,b in var.c:a=>b})]",
            "values=[yamlencode({(var.a)=1})]",
        ] {
            assert_eq!(keys("values", text), [None], "{text}");
        }
    }
}
