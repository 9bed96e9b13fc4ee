//! Answers of the tools, by the commands of the same names.

use answers::disruption::DisruptionAnswer;
use answers::report::Report;
use assistant::bounded::{ExplainAnswer, ExplainedName, WholeAnswer};
use assistant::query::{ExplainQuery, ToolQuery};
use render::human;
use serde::Serialize;

use super::limits::MAX_ERROR;
use super::reading;
use super::roots::Roots;
use crate::error::CommandError;
use crate::messages::CollectedMessages;
use crate::{check, diagnose, disruption, explain, plan, simulate};

/// Computes an answer. An error names the argument or the file, and what to do.
pub(super) fn answer(query: &ToolQuery, roots: &Roots) -> Result<WholeAnswer, String> {
    let messages = CollectedMessages::default();
    let result = match query {
        ToolQuery::Check(query) => reading::check(roots, query)
            .and_then(|options| check::report(&options, &messages))
            .and_then(|report| of_report(&report)),
        ToolQuery::Upgrade(query) => reading::upgrade(roots, query)
            .and_then(|options| check::report(&options, &messages))
            .and_then(|report| of_report(&report)),
        ToolQuery::Diagnose(query) => reading::diagnose(roots, query)
            .and_then(|options| diagnose::report(&options, &messages))
            .and_then(|report| of_report(&report)),
        ToolQuery::Explain(query) => explained(query),
        ToolQuery::Simulate(query) => reading::simulate(roots, query)
            .and_then(|options| simulate::answer(&options, &messages))
            .and_then(|answer| whole(answer.verdict.clone(), &answer)),
        ToolQuery::Plan(query) => reading::plan(roots, query)
            .and_then(|run| plan::answer(&run, &messages))
            .and_then(|answer| whole(answer.verdict.clone(), &answer)),
        ToolQuery::Disruption(query) => reading::disruption(roots, query)
            .and_then(|options| disruption::answer_and_assumptions(&options, &messages))
            .and_then(|(answer, assumptions)| {
                let notes = assumptions.iter().map(|assumption| format!("assumed: {assumption}")).collect();
                Ok(WholeAnswer { notes, ..whole(summary_of(&answer), &answer)? })
            }),
    };
    let texts = messages.into_texts();
    match result {
        Ok(mut answer) => {
            answer.notes.splice(..0, texts);
            Ok(answer)
        }
        Err(error) => Err(shown(&error, texts)),
    }
}

fn shown(error: &CommandError, mut texts: Vec<String>) -> String {
    if !matches!(error, CommandError::Printed) {
        texts.push(error.to_string());
    }
    texts.join("\n").chars().take(MAX_ERROR).collect()
}

fn whole(summary: String, answer: &impl Serialize) -> Result<WholeAnswer, CommandError> {
    let answer = answers::sorted(answer).map_err(std::io::Error::from)?;
    Ok(WholeAnswer { summary, notes: Vec::new(), answer })
}

fn of_report(report: &Report) -> Result<WholeAnswer, CommandError> {
    whole(human::summary(report), report)
}

fn explained(query: &ExplainQuery) -> Result<WholeAnswer, CommandError> {
    let page = |name: &String| Ok(ExplainedName { name: name.clone(), text: explain::page_of(name)? });
    let pages = query.names.iter().map(page).collect::<Result<Vec<_>, CommandError>>()?;
    whole(format!("documentation of {}", query.names.join(", ")), &ExplainAnswer { pages })
}

/// The state of a cluster in a sentence.
fn summary_of(answer: &DisruptionAnswer) -> String {
    let candidates = answer.nodes.iter().filter(|node| node.candidate).count();
    let acts = serde_json::to_value(answer.acts).ok().and_then(|acts| acts.as_str().map(str::to_owned));
    let acts = match acts.filter(|acts| !acts.is_empty()) {
        Some(method) => format!("{method} acts"),
        None => "no method acts".to_owned(),
    };
    let (nodes, pools, at) = (answer.nodes.len(), answer.node_pools.len(), answer.at.as_str());
    format!(
        "Karpenter {} at {at}: {acts}; nodes: {nodes}, of which candidates: {candidates}; NodePools: {pools}",
        answer.karpenter_version
    )
}
