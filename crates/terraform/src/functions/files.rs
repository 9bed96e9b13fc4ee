//! Files of the folder.
//!
//! Reference: hashicorp/terraform `internal/lang/funcs/filesystem.go`.

use hcl_edit::Ident;
use manifest::source::Span;

use super::encoding::encoded;
use super::{Answer, Call};
use crate::eval::{Evaluation, NameScope};
use crate::paths;
use crate::place::{TextNumber, TextPlace};
use crate::set;
use crate::text::{EvaluatedText, TextBuilder};
use crate::types::Type;
use crate::value::{Data, EvaluatedMembers, EvaluatedValue};

/// The path of an argument from the root of the input; none if it is outside.
fn path(call: &Call<'_>, index: usize) -> Result<Option<String>, String> {
    let path = call.str(index)?;
    Ok(paths::join(call.evaluation.session.root, path))
}

/// `file`. A file that the input does not have may exist, so that it is no failure.
pub(super) fn file(call: &Call<'_>) -> Answer {
    let found = path(call, 0)?.and_then(|path| call.evaluation.session.text(&path));
    let Some((number, source)) = found else { return call.unknown(Type::String) };
    let text = source.text();
    call.spend_text(text.len())?;
    Ok(EvaluatedValue::text(whole_file(number, text), call.place))
}

/// The text of a file as a string.
pub(crate) fn whole_file(number: TextNumber, text: &str) -> EvaluatedText {
    let mut builder = TextBuilder::default();
    builder.push(text, TextPlace::new(number, Span::whole(text)), true);
    builder.finish()
}

pub(super) fn filebase64(call: &Call<'_>) -> Answer {
    match text(call, 0)? {
        Some(text) => call.string(encoded(text.as_bytes())),
        None => call.unknown(Type::String),
    }
}

/// The text of a file; none if the input does not have it.
pub(super) fn text(call: &Call<'_>, index: usize) -> Result<Option<String>, String> {
    let found = path(call, index)?.and_then(|path| call.evaluation.session.text(&path));
    let Some((_, source)) = found else { return Ok(None) };
    call.spend_text(source.text().len())?;
    Ok(Some(source.text().to_owned()))
}

pub(super) fn fileexists(call: &Call<'_>) -> Answer {
    let found = path(call, 0)?.and_then(|path| call.evaluation.session.text(&path));
    if found.is_some() { call.bool(true) } else { call.unknown(Type::Bool) }
}

pub(super) fn fileset(call: &Call<'_>) -> Answer {
    let Some(folder) = path(call, 0)? else { return call.unknown(Type::set(Type::String)) };
    let pattern = call.str(1)?;
    // Groups and classes are rare; `..` leaves the folder.
    if pattern.contains(['[', '{', '\\']) || pattern.split('/').any(|part| part == "..") {
        return call.unknown(Type::set(Type::String));
    }
    let pattern: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let mut found = Vec::new();
    for path in call.evaluation.session.input.files.paths() {
        call.spend_text(path.len())?;
        let within = if folder.is_empty() {
            Some(path.as_str())
        } else {
            path.strip_prefix(&folder).and_then(|path| path.strip_prefix('/'))
        };
        if let Some(within) = within
            && paths::matches(&pattern, &within.split('/').collect::<Vec<_>>())
        {
            found.push(EvaluatedValue::string(within, call.place));
        }
    }
    call.value(set::of(Type::String, found))
}

pub(super) fn basename(call: &Call<'_>) -> Answer {
    let path = call.str(0)?;
    if path.is_empty() {
        return call.string(".");
    }
    let trimmed = path.trim_end_matches('/');
    call.string(if trimmed.is_empty() { "/" } else { trimmed.rsplit('/').next().unwrap_or_default() })
}

pub(super) fn dirname(call: &Call<'_>) -> Answer {
    let path = call.str(0)?;
    let folder = path.rfind('/').map_or("", |slash| path.get(..=slash).unwrap_or_default());
    call.string(paths::clean(folder))
}

pub(super) fn templatefile(call: &Call<'_>) -> Answer {
    let evaluation = call.evaluation;
    let variables = call.argument(1)?;
    if evaluation.references.is_none() {
        return Err("A template cannot call templatefile.".to_owned());
    }
    let members: &EvaluatedMembers = match &variables.data {
        Data::Map(_, members) | Data::Object(members) => members,
        Data::Unknown(_) => return call.unknown(Type::Dynamic),
        _ => return Err("The variables must be a map.".to_owned()),
    };
    if call.argument(0)?.as_unknown().is_some() {
        return call.unknown(Type::Dynamic);
    }
    if let Some(wrong) = members.as_map().keys().find(|name| Ident::try_new(name.as_ref()).is_err()) {
        return Err(format!("\"{wrong}\" is not the name of a variable."));
    }
    let found = path(call, 0)?.and_then(|path| evaluation.session.template(&path));
    let Some(template) = found else { return call.unknown(Type::Dynamic) };
    let (parsed, layout) = match &template.parsed {
        Ok((parsed, layout)) => (parsed, layout),
        Err(message) => return Err(format!("The template is not valid: {message}")),
    };
    let names: Vec<(&str, EvaluatedValue)> =
        members.as_map().iter().map(|(name, member)| (name.as_ref(), member.value.clone())).collect();
    let scope = NameScope::within(&NameScope::ROOT, &names);
    let inner = Evaluation {
        scope: &scope,
        references: None,
        text: template.text,
        source: &template.source,
        ..*evaluation
    };
    let whole = Span::whole(template.source.text());
    let value = inner.template_file(parsed, layout, TextPlace::new(template.text, whole));
    if value.is_null() {
        return Err("The template has no value.".to_owned());
    }
    Ok(value.at(call.place))
}
