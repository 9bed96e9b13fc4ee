//! Settings sent by the page, with the same keys as the policy's settings.

use karpwarden::REGISTRY;
use karpwarden::lint::settings::{Date, Problem, Settings, Target};
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::source::Span;
use karpwarden::manifest::tree::Tree;
use karpwarden::manifest::{Document, File};
use serde_json::{Value as Json, json};

/// Parses settings, or returns every mistake in them.
pub(crate) fn read(text: &str) -> Result<Settings, String> {
    let file = file(text);
    let read = tree(&file)
        .and_then(|tree| tree.map_or(Ok(Settings::default()), |tree| Settings::read(tree.root(), &REGISTRY)));
    read.map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// Converts the settings to JSON as written; an empty text gives an empty object.
pub(crate) fn as_json(text: &str) -> Result<Json, String> {
    let file = file(text);
    match tree(&file) {
        Ok(Some(tree)) if tree.root().is_mapping() => Ok(crate::outline::value_of(tree.root())),
        Ok(_) => Ok(json!({})),
        Err(problems) => Err(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    }
}

/// Overrides the release range and sets the date.
pub(crate) fn aim(settings: &mut Settings, range: Option<&str>, today: Option<&str>) -> Result<(), String> {
    if let Some(range) = range {
        settings.karpenter = Target::parse(range)?;
    }
    if let Some(today) = today {
        let date = Date::parse(today);
        settings.today = Some(date.ok_or_else(|| format!("`{today}` is not a date such as 2027-03-31"))?);
    }
    Ok(())
}

/// Reports mistakes with their positions, or the settings as JSON if there are none.
pub(crate) fn look_at(text: &str) -> Json {
    let file = file(text);
    let read = tree(&file)
        .and_then(|tree| tree.map_or(Ok(Settings::default()), |tree| Settings::read(tree.root(), &REGISTRY)));
    match read {
        Ok(_) => json!({"problems": [], "settings": as_json(text).unwrap_or_default()}),
        Err(problems) => {
            let problems: Vec<Json> = problems.iter().map(|problem| placed(&file, problem)).collect();
            json!({"problems": problems, "settings": Json::Null})
        }
    }
}

fn placed(file: &File, problem: &Problem) -> Json {
    let (from, to) = (file.source.position(problem.span.start), file.source.position(problem.span.end));
    json!({
        "path": problem.path,
        "message": problem.message,
        "line": from.line,
        "column": from.column,
        "offset": from.offset,
        "endOffset": to.offset,
    })
}

fn file(text: &str) -> File {
    File::read("karpwarden.yaml", text, &Limits::DEFAULT)
}

/// Returns the single document of the settings; nothing if the text is empty.
fn tree(file: &File) -> Result<Option<&Tree>, Vec<Problem>> {
    let problem =
        |span, message: &str| Err(vec![Problem { path: String::new(), message: message.to_owned(), span }]);
    match file.documents.as_slice() {
        [] => Ok(None),
        [Document::Read(tree)] => Ok(Some(tree)),
        [Document::Unreadable { at, message }] => problem(Span::new(*at, *at), message),
        [Document::Template(span)] => problem(*span, "the settings are a template; render it first"),
        [..] => problem(Span::default(), "the settings must be a single YAML document"),
    }
}
