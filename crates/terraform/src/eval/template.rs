//! Strings with interpolations and directives.
//!
//! Reference: hashicorp/hcl `hclsyntax/expression_template.go`.

use std::sync::Arc;

use hcl_edit::Span as _;
use hcl_edit::template::{Directive, Element, HeredocTemplate, StringTemplate, Template};

use crate::convert::convert;
use crate::eval::{Evaluation, NameScope, TemplateLayout, derived};
use crate::place::TextPlace;
use crate::session::MAX_TEXT;
use crate::text::{EvaluatedText, TextBuilder};
use crate::types::Type;
use crate::value::{Data, EvaluatedValue, EvaluationFailure, Knowledge, Unknown, placeholder};

/// A string that a template writes.
#[derive(Default)]
struct Output {
    text: TextBuilder,
    knowledge: Option<Knowledge>,
    failure: Option<Arc<EvaluationFailure>>,
    /// Whether the text got too long, so that it was dropped.
    is_dropped: bool,
}

impl Output {
    fn is_not_known(&mut self, value: &EvaluatedValue) {
        self.knowledge = self.knowledge.max(Some(value.knowledge()));
        if self.failure.is_none() {
            self.failure = value.failure().cloned();
        }
    }
}

impl Evaluation<'_> {
    pub(super) fn string_template(&self, template: &StringTemplate, place: TextPlace) -> EvaluatedValue {
        let layout = TemplateLayout::of_string(template, self.source, self.text);
        let elements: Vec<&Element> = template.iter().collect();
        self.template_value(&elements, &layout, place)
    }

    pub(super) fn heredoc(&self, heredoc: &HeredocTemplate, place: TextPlace) -> EvaluatedValue {
        let layout = self.session.layout(place, || TemplateLayout::of_heredoc(heredoc, self.source, place));
        let elements: Vec<&Element> = heredoc.template.iter().collect();
        self.template_value(&elements, &layout, place)
    }

    /// The value of a template file.
    pub(crate) fn template_file(
        &self,
        template: &Template,
        layout: &TemplateLayout,
        place: TextPlace,
    ) -> EvaluatedValue {
        let elements: Vec<&Element> = template.iter().collect();
        self.template_value(&elements, layout, place)
    }

    fn template_value(
        &self,
        elements: &[&Element],
        layout: &TemplateLayout,
        place: TextPlace,
    ) -> EvaluatedValue {
        if !self.session.spend_text(place.span().len()) {
            return EvaluatedValue::failed(place, "The configuration takes too many steps to evaluate.");
        }
        // A template of one interpolation has its value, whatever the type is.
        if let [Element::Interpolation(interpolation)] = elements {
            return self.value(&interpolation.expr);
        }
        let mut output = Output::default();
        self.write(elements.iter().copied(), layout, &mut output);
        let text = output.text.finish();
        if output.knowledge.is_none() {
            return EvaluatedValue::text(text, place);
        }
        let unknown =
            Unknown { of: Type::String, text, failure: output.failure, sources: None, possible: None };
        EvaluatedValue::new(Data::Unknown(unknown), place)
    }

    fn write<'t>(
        &self,
        elements: impl Iterator<Item = &'t Element>,
        layout: &TemplateLayout,
        output: &mut Output,
    ) {
        for element in elements {
            let place = self.place(element.span());
            let before = output.text.len();
            match element {
                Element::Literal(literal) => {
                    let start = literal.span().map_or(0, |span| span.start);
                    if let Some(text) = layout.literal(start) {
                        output.text.push_text(text);
                    }
                }
                Element::Interpolation(interpolation) => {
                    let value = self.value(&interpolation.expr);
                    self.interpolate(&value, place, output);
                }
                Element::Directive(directive) => self.direct(directive, place, layout, output),
            }
            if output.is_dropped {
                return;
            }
            if !self.session.spend_text(output.text.len() - before) || output.text.len() > MAX_TEXT {
                output.is_not_known(&EvaluatedValue::failed(place, "The string is too long."));
                // Strings that refer to this one would all hold its text.
                output.text = TextBuilder::default();
                output.text.push(self.slice(place), place, true);
                output.is_dropped = true;
                return;
            }
        }
    }

    fn interpolate(&self, value: &EvaluatedValue, place: TextPlace, output: &mut Output) {
        let string = if value.is_null() {
            Err("A null value cannot be part of a string.".to_owned())
        } else {
            convert(value, &Type::String)
        };
        match string {
            Ok(EvaluatedValue { data: Data::String(text), .. }) => {
                output.text.push_placed(&text, place);
            }
            Ok(value) => {
                let text = value.as_unknown().map(|unknown| unknown.text.clone()).unwrap_or_default();
                // A failure has no name. The expression is the name.
                match value.failure() {
                    Some(_) if text.as_str() == placeholder("unknown") => {
                        output.text.push(self.slice(place), place, true);
                    }
                    _ => output.text.push_placed(&text, place),
                }
                output.is_not_known(&value);
            }
            Err(message) => {
                output.text.push(self.slice(place), place, true);
                output.is_not_known(&EvaluatedValue::failed(place, message));
            }
        }
    }

    fn direct(&self, directive: &Directive, place: TextPlace, layout: &TemplateLayout, output: &mut Output) {
        match directive {
            Directive::If(directive) => {
                let condition = self.value(&directive.if_expr.cond_expr);
                let otherwise = directive.else_expr.as_ref().map(|otherwise| &otherwise.template);
                match Self::condition(condition.clone()) {
                    Ok(Some(true)) => self.write(directive.if_expr.template.iter(), layout, output),
                    Ok(Some(false)) => {
                        if let Some(otherwise) = otherwise {
                            self.write(otherwise.iter(), layout, output);
                        }
                    }
                    Ok(None) => {
                        let branches = [Some(&directive.if_expr.template), otherwise];
                        let texts = branches.map(|branch| self.branch(branch, layout));
                        self.unresolved(&condition, place, texts.into_iter().collect(), false, output);
                    }
                    Err(failed) => self.unresolved(&failed, place, None, false, output),
                }
            }
            Directive::For(directive) => {
                let intro = &directive.for_expr;
                let collection = self.value(&intro.collection_expr);
                let names = (intro.key_var.as_ref().map(|name| name.as_str()), intro.value_var.as_str());
                let written = self.each(&collection, names, |each| {
                    each.write(intro.template.iter(), layout, output);
                    if output.is_dropped {
                        return Err(EvaluatedValue::failed(place, "The string is too long."));
                    }
                    Ok(())
                });
                match written {
                    Ok(Some(_)) => {}
                    Ok(None) => {
                        let element =
                            |name| (name, EvaluatedValue::unknown(Type::Dynamic, name, collection.place));
                        let names: Vec<_> = names.0.into_iter().chain([names.1]).map(element).collect();
                        let scope = NameScope::within(self.scope, &names);
                        let once =
                            Evaluation { scope: &scope, ..*self }.branch(Some(&intro.template), layout);
                        let branches = once.map(|once| vec![EvaluatedText::default(), once]);
                        self.unresolved(&collection, place, branches, true, output);
                    }
                    Err(failed) => self.unresolved(&failed, place, None, true, output),
                }
            }
        }
    }

    /// The text that a branch of a directive writes; none if a part of it fails.
    fn branch(&self, branch: Option<&Template>, layout: &TemplateLayout) -> Option<EvaluatedText> {
        let elements: Vec<&Element> = branch.into_iter().flat_map(Template::iter).collect();
        // A branch of one interpolation has its text, such as the one of a file.
        if let [Element::Interpolation(only)] = elements.as_slice()
            && let EvaluatedValue { data: Data::String(text), .. } = self.value(&only.expr)
        {
            return Some(text);
        }
        let mut output = Output::default();
        self.write(elements.into_iter(), layout, &mut output);
        output.failure.is_none().then(|| output.text.finish())
    }

    /// Writes a placeholder for a directive whose condition or collection is not known.
    fn unresolved(
        &self,
        cause: &EvaluatedValue,
        place: TextPlace,
        branches: Option<Vec<EvaluatedText>>,
        is_repeated: bool,
        output: &mut Output,
    ) {
        let name = self.session.slice(cause.place);
        let name = self.name_of(cause.place, &name, &[cause]);
        output.text.push_directive(&placeholder(&name), place, branches.unwrap_or_default(), is_repeated);
        output.is_not_known(&derived(place, &name, Type::String, [cause]));
    }
}
