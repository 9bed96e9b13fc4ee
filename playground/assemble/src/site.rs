//! The reference as static pages: readable without scripts, styled by the stylesheet of the playground.
//!
//! `build.mjs` fills in what it alone knows: `%STYLE%` and `%ICON%` (names that change with the content) and `%CSP%`.

use std::collections::BTreeMap;
use std::path::Path;

use karpwarden::REGISTRY;
use karpwarden::answers::catalog::CatalogEntry;
use karpwarden::answers::report::HOMEPAGE;
use karpwarden::reference::symptoms::pages;
use karpwarden::reference::symptoms::with_symptoms;
use karpwarden::rule::Fixes;
use karpwarden::rule::finding::Family;
use karpwarden::symptoms;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::json;

use crate::Problem;
use crate::article::{Renderer, Surface};

/// Writes the pages and `articles.json`: `{"NAME": {"summary", "html", "symptom"}}`.
pub(crate) fn write(folder: &Path) -> Result<(), Problem> {
    let entries = with_symptoms();
    let renderer = Renderer::new(entries.iter().map(|entry| entry.name))?;
    let texts: BTreeMap<String, String> = pages().into_iter().collect();
    std::fs::create_dir_all(folder)?;
    let mut articles = BTreeMap::new();
    for entry in &entries {
        let markdown = texts.get(&format!("{}.md", entry.name)).ok_or("a rule without a page")?;
        let page = page(entry, &entries, &renderer.article(entry.name, markdown, Surface::Page));
        std::fs::write(folder.join(format!("{}.html", entry.name)), page.into_string())?;
        let panel = renderer.article(entry.name, markdown, Surface::Panel);
        let is_symptom = REGISTRY.find(entry.name).is_none();
        let article = json!({"summary": sentence(entry.summary), "html": panel, "symptom": is_symptom});
        articles.insert(entry.name, article);
    }
    std::fs::write(folder.join("index.html"), index(&entries, &renderer).into_string())?;
    Ok(std::fs::write(folder.join("articles.json"), serde_json::to_string(&articles)?)?)
}

/// The page of a rule or symptom.
fn page(entry: &CatalogEntry, entries: &[CatalogEntry], article: &str) -> Markup {
    let family = entry.family.name();
    let symptoms: Vec<&str> = symptoms::all()
        .filter(|symptom| symptom.rules.contains(&entry.name))
        .map(|symptom| symptom.name)
        .collect();
    let body = html! {
        div.reference-columns {
            main #content {
                nav.crumbs aria-label="Breadcrumb" {
                    a href="index.html" { "Rules and symptoms" }
                    a href={ "index.html#" (family) } { (family) }
                }
                article.doc {
                    (PreEscaped(article))
                    @if !symptoms.is_empty() {
                        h2 { "Symptoms in a running cluster" }
                        ul { @for name in symptoms { li { a href={ (name) ".html" } { (name) } } } }
                    }
                }
            }
            nav.siblings aria-label={ "Family " (family) } {
                h2 { (family) }
                ul {
                    @for other in entries.iter().filter(|other| other.family == entry.family) {
                        li {
                            a href={ (other.name) ".html" } aria-current=[(other.name == entry.name).then_some("page")] {
                                (other.name)
                            }
                        }
                    }
                }
            }
        }
    };
    layout(entry.name, &sentence(entry.summary), entry.name, &body)
}

/// The list of all rules and symptoms, by family.
fn index(entries: &[CatalogEntry], renderer: &Renderer) -> Markup {
    let families: Vec<(&str, Vec<&CatalogEntry>)> = Family::ALL
        .into_iter()
        .map(|family| {
            (family.name(), entries.iter().filter(|entry| entry.family == family).collect::<Vec<_>>())
        })
        .filter(|(_, entries)| !entries.is_empty())
        .collect();
    let description = "Every rule and symptom of Karpwarden by family: what is wrong with a Karpenter manifest, what \
                       happens in the cluster, and what to write instead.";
    let body = html! {
        main.doc.reference-index #content {
            h1 { "Rules and symptoms" }
            p {
                "Rules check manifests before they are applied. Symptoms are found in logs, events and status by "
                code { "karpwarden diagnose" } "."
            }
            nav.chips aria-label="Families" {
                ul {
                    @for (family, entries) in &families {
                        li { a href={ "#" (family) } { (family) } " " span.facts { (entries.len()) } }
                    }
                }
            }
            @for (family, entries) in &families {
                section aria-labelledby=(family) {
                    h2 #(family) { (family) }
                    ul.entries { @for entry in entries { li { (summary(entry, renderer)) } } }
                }
            }
        }
    };
    layout("Rules and symptoms", description, "", &body)
}

/// An entry of the index: name, severity, fix and summary.
fn summary(entry: &CatalogEntry, renderer: &Renderer) -> Markup {
    html! {
        a.mono href={ (entry.name) ".html" } { (entry.name) }
        span.facts {
            (entry.severity)
            @if entry.fix != Fixes::None { ", " (entry.fix.name()) " fix" }
        }
        (PreEscaped(renderer.article(entry.name, &sentence(entry.summary), Surface::Page)))
    }
}

/// The frame of every page.
fn layout(title: &str, description: &str, address: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="%CSP%";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                meta name="description" content=(description);
                title { (title) " · Karpwarden" }
                @if !HOMEPAGE.is_empty() {
                    link rel="canonical" href={ (HOMEPAGE) "/rules/" (address) };
                }
                link rel="icon" href="../%ICON%" type="image/svg+xml";
                link rel="stylesheet" href="../%STYLE%";
            }
            body.reference {
                a.skip href="#content" { "Skip to the content" }
                header.bar {
                    a.brand href="../" { img src="../%ICON%" alt="" width="20" height="20"; "Karpwarden" }
                    nav aria-label="Site" {
                        a href="../" { "Playground" }
                        a href="index.html" aria-current=[address.is_empty().then_some("page")] { "Rules and symptoms" }
                        a href=(env!("CARGO_PKG_REPOSITORY")) { "GitHub" }
                    }
                }
                (body)
                footer.foot {
                    span { "Karpwarden " (env!("CARGO_PKG_VERSION")) }
                    span { "checks Karpenter (AWS) manifests" }
                }
            }
        }
    }
}

/// A summary as a sentence.
fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
