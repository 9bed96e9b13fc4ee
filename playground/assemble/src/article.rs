//! Markdown of a rule or symptom → HTML.

use std::collections::BTreeSet;

use karpwarden::answers::report::HOMEPAGE;
use maud::{Markup, html};
use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream,
};
use regex::Regex;

use crate::example;

/// Addresses and references to issues, such as `aws/karpenter-provider-aws#8072`. A number alone (`#8312`) belongs to
/// the repository named before it.
const REFERENCE: &str =
    r"https://[^\s)>\]]*[^\s)>\].,;:]|(?:\b(?<repository>[A-Za-z0-9-]+/[A-Za-z0-9._-]+))?#(?<issue>\d+)\b";

/// Reader of an article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// A static page: examples link to the playground.
    Page,
    /// The panel of the playground: no title, smaller headings, examples have a button.
    Panel,
}

/// Renders the Markdown of the reference.
pub(crate) struct Renderer {
    /// Rules and symptoms that have a page.
    names: BTreeSet<&'static str>,
    reference: Regex,
}

impl Renderer {
    pub(crate) fn new(names: impl Iterator<Item = &'static str>) -> Result<Self, regex::Error> {
        Ok(Self { names: names.collect(), reference: Regex::new(REFERENCE)? })
    }

    /// The article of a rule or symptom. Names of other rules in back-ticks, issues and addresses become links; raw
    /// HTML is shown as text.
    pub(crate) fn article(&self, name: &str, markdown: &str, surface: Surface) -> String {
        let mut events = Vec::new();
        let mut parser = TextMergeStream::new(Parser::new_ext(markdown, Options::ENABLE_TABLES));
        let mut in_link = false;
        let mut repository = None;
        while let Some(event) = parser.next() {
            match event {
                Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) if surface == Surface::Panel => {
                    parser.by_ref().find(|event| *event == Event::End(TagEnd::Heading(HeadingLevel::H1)));
                }
                Event::Start(Tag::Heading { level: HeadingLevel::H2, id, classes, attrs })
                    if surface == Surface::Panel =>
                {
                    events.push(Event::Start(Tag::Heading { level: HeadingLevel::H3, id, classes, attrs }));
                }
                Event::End(TagEnd::Heading(HeadingLevel::H2)) if surface == Surface::Panel => {
                    events.push(Event::End(TagEnd::Heading(HeadingLevel::H3)));
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let info = match kind {
                        CodeBlockKind::Fenced(info) => info,
                        CodeBlockKind::Indented => CowStr::Borrowed(""),
                    };
                    events.push(block(&example::block(name, &info, &code_of(&mut parser), surface)));
                }
                Event::Start(Tag::Table(alignment)) => {
                    events.push(Event::Html(
                        r#"<div class="block wrap" tabindex="0" role="group" aria-label="Table">"#.into(),
                    ));
                    events.push(Event::Start(Tag::Table(alignment)));
                }
                Event::End(TagEnd::Table) => {
                    events.push(Event::End(TagEnd::Table));
                    events.push(Event::Html("</div>\n".into()));
                }
                Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                    in_link = true;
                    let page = dest_url.strip_prefix(HOMEPAGE).and_then(|path| path.strip_prefix("/rules/"));
                    let dest_url = page.map(address).unwrap_or(dest_url.clone());
                    events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
                Event::End(TagEnd::Link) => {
                    in_link = false;
                    events.push(Event::End(TagEnd::Link));
                }
                Event::Start(tag @ (Tag::Paragraph | Tag::Item)) => {
                    repository = None;
                    events.push(Event::Start(tag));
                }
                Event::Code(code) if !in_link && *code != *name && self.names.contains(&*code) => {
                    events.push(inline(&html! { a href=(address(&code)) { code { (*code) } } }));
                }
                Event::Text(text) if !in_link => events.push(inline(&self.text(&text, &mut repository))),
                Event::Html(text) | Event::InlineHtml(text) => events.push(Event::Text(text)),
                other => events.push(other),
            }
        }
        let mut article = String::new();
        pulldown_cmark::html::push_html(&mut article, events.into_iter());
        article
    }

    /// Text with its addresses and issues as links.
    fn text(&self, text: &str, repository: &mut Option<String>) -> Markup {
        let mut end = 0;
        let mut parts = Vec::new();
        for captures in self.reference.captures_iter(text) {
            let Some(whole) = captures.get(0) else { continue };
            if let Some(named) = captures.name("repository") {
                *repository = Some(named.as_str().to_owned());
            }
            let target = match (captures.name("issue"), &repository) {
                (Some(issue), Some(repository)) => {
                    format!("https://github.com/{repository}/issues/{}", issue.as_str())
                }
                (Some(_), None) => continue,
                (None, _) => whole.as_str().to_owned(),
            };
            parts.push((text.get(end..whole.start()).unwrap_or_default(), target, whole.as_str()));
            end = whole.end();
        }
        html! {
            @for (before, target, label) in parts { (before) a href=(target) { (label) } }
            (text.get(end..).unwrap_or_default())
        }
    }
}

/// Address of the page of a rule, relative to the other pages.
fn address(name: &str) -> CowStr<'static> {
    format!("{name}.html").into()
}

fn block(markup: &Markup) -> Event<'static> {
    Event::Html(markup.0.clone().into())
}

fn inline(markup: &Markup) -> Event<'static> {
    Event::InlineHtml(markup.0.clone().into())
}

/// The text of a code block whose start was just read.
fn code_of<'a>(parser: &mut impl Iterator<Item = Event<'a>>) -> String {
    let mut code = String::new();
    for event in parser {
        match event {
            Event::End(TagEnd::CodeBlock) => break,
            Event::Text(text) => code.push_str(&text),
            _ => {}
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::{Renderer, Surface};

    fn article(markdown: &str) -> String {
        Renderer::new(["api-enum", "api-type"].into_iter()).unwrap().article(
            "api-enum",
            markdown,
            Surface::Page,
        )
    }

    #[test]
    fn links_other_rules_but_not_the_rule_itself() {
        assert_eq!(
            article("`api-enum`, `api-type`, `spec`"),
            "<p><code>api-enum</code>, <a href=\"api-type.html\"><code>api-type</code></a>, <code>spec</code></p>\n"
        );
    }

    #[test]
    fn links_issues_to_the_repository_named_before_them() {
        assert_eq!(
            article("#1, aws/karpenter#2, #3; https://example.com/a_b.\n"),
            "<p>#1, <a href=\"https://github.com/aws/karpenter/issues/2\">aws/karpenter#2</a>, \
             <a href=\"https://github.com/aws/karpenter/issues/3\">#3</a>; \
             <a href=\"https://example.com/a_b\">https://example.com/a_b</a>.</p>\n"
        );
    }

    #[test]
    fn turns_published_addresses_into_relative_ones() {
        assert_eq!(
            article("[api-type](https://karpwarden.github.io/karpwarden/rules/api-type)"),
            "<p><a href=\"api-type.html\">api-type</a></p>\n"
        );
    }

    #[test]
    fn escapes_raw_html() {
        assert_eq!(
            article("a <script>b</script> & `<c>`"),
            "<p>a &lt;script&gt;b&lt;/script&gt; &amp; <code>&lt;c&gt;</code></p>\n"
        );
        assert!(article("```text\n<b>\n```").contains("<pre><code>&lt;b&gt;\n</code></pre>"));
    }

    #[test]
    fn leaves_out_the_title_in_the_panel() {
        let renderer = Renderer::new(std::iter::empty()).unwrap();
        let article =
            renderer.article("a", "# a\n\nText\n\n## Example\n\n```yaml\nb: 1\n```\n", Surface::Panel);
        assert!(article.starts_with("<p>Text</p>\n<h3>Example</h3>\n"), "{article}");
        assert!(article.contains("<button") && !article.contains("../#"), "{article}");
    }
}
