//! Files of the folder.
//!
//! Reference: hashicorp/terraform `internal/lang/funcs/filesystem.go`.

use std::sync::Arc;

use hcl_edit::Ident;
use manifest::Encoding;
use manifest::source::{Source, Span};

use super::{Answer, Call};
use crate::eval::{Evaluation, NameScope};
use crate::paths;
use crate::place::{TextNumber, TextPlace};
use crate::set;
use crate::text::{EvaluatedText, TextBuilder};
use crate::types::Type;
use crate::value::{Data, EvaluatedMembers, EvaluatedValue};

/// The message about a file in UTF-16, whose text Terraform does not read.
const NOT_UTF8: &str = "The file is not UTF-8.";

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
    match source.encoding() {
        Encoding::Utf8 => Ok(EvaluatedValue::text(whole_file(number, text), call.place)),
        // Terraform keeps the byte order mark.
        Encoding::MarkedUtf8 => {
            let mut builder = TextBuilder::default();
            builder.push("\u{feff}", call.place, false);
            builder.push_text(&whole_file(number, text));
            Ok(EvaluatedValue::text(builder.finish(), call.place))
        }
        Encoding::Utf16Le | Encoding::Utf16Be => Err(NOT_UTF8.to_owned()),
    }
}

/// The text of a file as a string.
pub(crate) fn whole_file(number: TextNumber, text: &str) -> EvaluatedText {
    let mut builder = TextBuilder::default();
    builder.push(text, TextPlace::new(number, Span::whole(text)), true);
    builder.finish()
}

/// The source of a file; none if the input does not have it.
pub(super) fn source(call: &Call<'_>, index: usize) -> Result<Option<Arc<Source>>, String> {
    let found = path(call, index)?.and_then(|path| call.evaluation.session.text(&path));
    let Some((_, source)) = found else { return Ok(None) };
    call.spend_text(source.text().len())?;
    Ok(Some(source))
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
    if template.source.encoding().is_utf16() {
        return Err(NOT_UTF8.to_owned());
    }
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
