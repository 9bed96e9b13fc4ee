//! Settings sent by the page, with the same keys as the policy's settings.

use karpwarden::KARPENTER_OBJECTS;
use karpwarden::answers::CharacterRange;
use karpwarden::answers::page::{CheckedSettings, PlacedProblem};
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use karpwarden::rule::settings::{Date, Settings, SettingsProblem, Target};
use serde_json::{Map, Value as Json};
/// Parses settings, or returns every mistake in them.
pub fn read(text: &str) -> Result<Settings, String> {
    Settings::parse_file(&file(text), &KARPENTER_OBJECTS).map_err(|problems| listed(&problems))
}

/// Converts the settings to JSON as written; an empty text gives an empty object.
pub fn as_json(text: &str) -> Result<Map<String, Json>, String> {
    let file = file(text);
    match Settings::document(&file) {
        Ok(Some(tree)) => match tree.root().to_json() {
            Json::Object(members) => Ok(members),
            _ => Ok(Map::new()),
        },
        Ok(None) => Ok(Map::new()),
        Err(problem) => Err(problem.to_string()),
    }
}

/// Overrides the release range and sets the date.
pub fn set_range_and_date(
    settings: &mut Settings,
    range: Option<&str>,
    today: Option<&str>,
) -> Result<(), String> {
    if let Some(range) = range {
        settings.karpenter = Target::parse(range).map_err(|error| error.to_string())?;
        settings.is_karpenter_version_set = true;
    }
    if let Some(today) = today {
        let date = Date::parse(today);
        settings.today = Some(date.ok_or_else(|| format!("`{today}` is not a date such as 2027-03-31"))?);
    }
    Ok(())
}

/// Reports mistakes with their positions, or the settings as JSON.
pub fn problems(text: &str) -> CheckedSettings {
    let file = file(text);
    match Settings::parse_file(&file, &KARPENTER_OBJECTS) {
        Ok(_) => {
            let settings = as_json(text).unwrap_or_default().into_iter().collect();
            CheckedSettings { problems: Vec::new(), settings: Some(settings) }
        }
        Err(problems) => CheckedSettings {
            problems: problems.iter().map(|problem| placed(&file, problem)).collect(),
            settings: None,
        },
    }
}

fn listed(problems: &[SettingsProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn placed(file: &File, problem: &SettingsProblem) -> PlacedProblem {
    PlacedProblem {
        path: problem.path.clone(),
        message: problem.message.clone(),
        range: CharacterRange::of(&file.source, problem.span),
    }
}

fn file(text: &str) -> File {
    File::read("karpwarden.yaml", text, &Limits::DEFAULT)
}
