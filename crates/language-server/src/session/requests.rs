//! Answers to the requests of an editor.

use karpenter::release::Release;
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::request::{
    CodeActionRequest, CodeLensRequest, Completion, DocumentDiagnosticRequest, DocumentLinkRequest,
    DocumentSymbolRequest, ExecuteCommand, FoldingRangeRequest, GotoDefinition, HoverRequest,
    InlayHintRequest, References, Request as _, ResolveCompletionItem, Shutdown, WorkspaceSymbolRequest,
};
use lsp_types::{
    CodeActionOrCommand, CodeActionParams, CodeLens, CodeLensParams, CompletionItem, CompletionList,
    CompletionParams, DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentLink, DocumentLinkParams,
    DocumentSymbol, DocumentSymbolParams, Documentation, ExecuteCommandParams, FoldingRange,
    FoldingRangeParams, FullDocumentDiagnosticReport, GotoDefinitionParams, Hover, HoverParams, InlayHint,
    InlayHintParams, Location, MarkupContent, MarkupKind, Position, ReferenceParams,
    RelatedFullDocumentDiagnosticReport, Uri, WorkspaceSymbol, WorkspaceSymbolParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{EditorConnection, Session, Unchecked};
use crate::documents::OpenDocument;
use crate::error::ProtocolError;
use crate::messages::{json, read, show_page};
use crate::navigation::Navigator;
use crate::workspace::{FolderView, Workspace};
use crate::{actions, completion, hover, lens, page_links, symbols};

impl<W: Workspace> Session<W> {
    /// Answers a request. A check for the answer sends its diagnostics first.
    pub(super) fn answer(&mut self, request: Request, editor: &mut dyn EditorConnection) -> Response {
        let Request { id, method, params } = request;
        if self.is_shut_down {
            let message = "the session is shut down; only `exit` may follow".to_owned();
            return Response::new_err(id, ErrorCode::InvalidRequest as i32, message);
        }
        if method == Shutdown::METHOD {
            self.is_shut_down = true;
            return Response::new_ok(id, Value::Null);
        }
        let mut question = Asked { session: self, method: &method, params, editor };
        let result = match method.as_str() {
            CodeActionRequest::METHOD => question.checked(Self::code_actions),
            CodeLensRequest::METHOD => question.checked(Self::code_lenses),
            Completion::METHOD => question.at_once(Self::complete),
            ResolveCompletionItem::METHOD => question.at_once(Self::resolve_completion),
            DocumentDiagnosticRequest::METHOD => question.checked(Self::diagnostic_report),
            DocumentLinkRequest::METHOD => question.at_once(Self::page_links),
            DocumentSymbolRequest::METHOD => question.at_once(Self::symbols),
            ExecuteCommand::METHOD => question.at_once(Self::execute).map(|asked| {
                if let Some(rule) = asked.as_str() {
                    question.open_page(rule);
                }
                Value::Null
            }),
            FoldingRangeRequest::METHOD => question.at_once(Self::folds),
            GotoDefinition::METHOD => question.checked(Self::definition),
            HoverRequest::METHOD => question.checked(Self::hover),
            InlayHintRequest::METHOD => question.checked(Self::hints),
            References::METHOD => question.checked(Self::references),
            WorkspaceSymbolRequest::METHOD => question.checked(Self::workspace_symbols),
            _ => {
                let message = format!("the request `{method}` is not supported");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match result {
            Ok(result) => Response::new_ok(id, result),
            Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        }
    }

    /// The folder of a document, and the release that runs there.
    fn folder_of(&self, document: &OpenDocument) -> (Option<&dyn FolderView>, Release) {
        let folder = self.workspace.folder_of(document);
        let release = folder.map(|folder| folder.release_for(folder.file_of(document)));
        (folder, release.unwrap_or(Release::NEWEST))
    }

    fn code_actions(&self, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
        let uri = &params.text_document.uri;
        let found = self.results_of(uri).zip(self.open.get(uri));
        found.map_or_else(Vec::new, |(results, document)| {
            let suppressions = self.workspace.registry().suppressions;
            actions::in_range(results, suppressions, &self.open, document, params.range, &params.context)
        })
    }

    fn code_lenses(&self, params: &CodeLensParams) -> Vec<CodeLens> {
        self.in_folder(&params.text_document.uri, |folder, document| {
            let file = folder.folder.file_of(document)?;
            Some(lens::lenses(folder.folder, file, &document.lined(folder.unit)))
        })
    }

    fn hints(&self, params: &InlayHintParams) -> Vec<InlayHint> {
        self.in_folder(&params.text_document.uri, |folder, document| {
            let file = folder.folder.file_of(document)?;
            Some(lens::hints(folder.folder, file, &document.lined(folder.unit), params.range))
        })
    }

    fn definition(&self, params: &GotoDefinitionParams) -> Vec<Location> {
        let place = &params.text_document_position_params;
        let uri = &place.text_document.uri;
        let rule = self.rule_page(uri, place.position);
        rule.map_or_else(
            || self.in_folder(uri, |folder, document| Some(folder.definition(document, place.position))),
            |page| vec![page],
        )
    }

    /// The page of the rule that a document names at a position, in an editor that shows these pages as documents.
    fn rule_page(&self, uri: &Uri, position: Position) -> Option<Location> {
        let (scheme, document) = (self.rule_pages.as_deref()?, self.open.get(uri)?);
        let text = document.lined(self.client.unit);
        let byte = text.byte(position);
        page_links::definition(document, text.text(), byte, self.workspace.registry(), scheme)
    }

    fn references(&self, params: &ReferenceParams) -> Vec<Location> {
        let place = &params.text_document_position;
        self.in_folder(&place.text_document.uri, |folder, document| {
            Some(folder.references(document, place.position, params.context.include_declaration))
        })
    }

    fn symbols(&self, params: &DocumentSymbolParams) -> Vec<DocumentSymbol> {
        let document = self.open.get(&params.text_document.uri);
        document.map_or_else(Vec::new, |document| {
            symbols::of_document(&document.name(), &document.lined(self.client.unit))
        })
    }

    fn folds(&self, params: &FoldingRangeParams) -> Vec<FoldingRange> {
        let document = self.open.get(&params.text_document.uri);
        document.map_or_else(Vec::new, |document| {
            symbols::folds(&document.name(), &document.lined(self.client.unit))
        })
    }

    fn page_links(&self, params: &DocumentLinkParams) -> Vec<DocumentLink> {
        let document = self.open.get(&params.text_document.uri);
        document.map_or_else(Vec::new, |document| {
            page_links::of_document(document, &document.lined(self.client.unit), self.workspace.registry())
        })
    }

    fn workspace_symbols(&self, params: &WorkspaceSymbolParams) -> Vec<WorkspaceSymbol> {
        let folders = self.workspace.folders().into_iter().map(|folder| self.navigator(folder));
        symbols::of_folders(&folders.collect::<Vec<_>>(), &params.query)
    }

    /// The rule whose page a command opens.
    fn execute(&self, params: &ExecuteCommandParams) -> Option<String> {
        let rule = params.arguments.first()?.as_str().filter(|_| params.command == actions::OPEN_PAGE)?;
        self.workspace.registry().find(rule).map(|rule| rule.name.to_owned())
    }

    /// Answers with the folder of an open document; an empty list without one.
    fn in_folder<T>(
        &self,
        uri: &Uri,
        answer: impl FnOnce(Navigator<'_>, &OpenDocument) -> Option<Vec<T>>,
    ) -> Vec<T> {
        let found = self.open.get(uri).and_then(|document| {
            let folder = self.workspace.folder_of(document)?;
            answer(self.navigator(folder), document)
        });
        found.unwrap_or_default()
    }

    fn navigator<'n>(&'n self, folder: &'n dyn FolderView) -> Navigator<'n> {
        Navigator { folder, open: &self.open, unit: self.client.unit }
    }

    fn complete(&self, params: &CompletionParams) -> CompletionList {
        let place = &params.text_document_position;
        let Some(document) = self.open.get(&place.text_document.uri) else {
            return CompletionList::default();
        };
        let text = document.lined(self.client.unit);
        if text.is_before(place.position) {
            return CompletionList::default();
        }
        let (folder, release) = self.folder_of(document);
        completion::at(completion::Question {
            byte: text.byte(place.position),
            text: &text,
            name: &document.name(),
            folder,
            file: folder.and_then(|folder| folder.file_of(document)),
            release,
            registry: self.workspace.registry(),
        })
    }

    /// Adds the page of the rule that an item names.
    fn resolve_completion(&self, item: &CompletionItem) -> CompletionItem {
        let page = item.data.as_ref().and_then(Value::as_str).and_then(|rule| self.workspace.page(rule));
        let shown = page
            .map(|value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value }));
        CompletionItem { documentation: shown.or_else(|| item.documentation.clone()), ..item.clone() }
    }

    fn diagnostic_report(&self, params: &DocumentDiagnosticParams) -> DocumentDiagnosticReport {
        let items = self.current(&params.text_document.uri);
        let full_document_diagnostic_report = FullDocumentDiagnosticReport { result_id: None, items };
        RelatedFullDocumentDiagnosticReport { related_documents: None, full_document_diagnostic_report }
            .into()
    }

    fn current(&self, uri: &Uri) -> Vec<lsp_types::Diagnostic> {
        let known = self.pulled.get(uri.as_str()).or_else(|| self.published.get(uri.as_str()));
        known.map(|known| known.diagnostics.clone()).unwrap_or_default()
    }

    fn hover(&self, params: &HoverParams) -> Option<Hover> {
        let place = &params.text_document_position_params;
        let document = self.open.get(&place.text_document.uri)?;
        let results = self.results_of(&document.uri);
        let (folder, release) = self.folder_of(document);
        hover::at(&hover::HoverQuestion {
            results,
            document,
            text: document.lined(self.client.unit),
            position: place.position,
            folder,
            release,
            now: self.workspace.now(),
            registry: self.workspace.registry(),
            page: &|rule| self.workspace.page(rule),
        })
    }
}

/// A request with what its answer needs.
struct Asked<'a, W> {
    session: &'a mut Session<W>,
    method: &'a str,
    params: Value,
    editor: &'a mut dyn EditorConnection,
}

impl<W: Workspace> Asked<'_, W> {
    /// Answers after a check of what has changed.
    fn checked<P: DeserializeOwned, R: Serialize>(
        &mut self,
        answer: impl FnOnce(&Session<W>, &P) -> R,
    ) -> Result<Value, ProtocolError> {
        let params: P = read(self.method, std::mem::take(&mut self.params))?;
        self.session.refresh(self.editor);
        Ok(json(answer(self.session, &params)))
    }

    /// Asks the editor to show the page of a rule in a browser.
    fn open_page(&mut self, rule: &str) {
        let Some(uri) = actions::page_of(rule).filter(|_| self.session.client.shows_documents) else {
            return;
        };
        self.session.requests += 1;
        self.editor.send(show_page(uri, self.session.requests));
    }

    /// Answers while somebody types: other documents count as they were at the last check. A document that has been opened since has none, so
    /// it is checked first.
    fn at_once<P: DeserializeOwned, R: Serialize>(
        &mut self,
        answer: impl FnOnce(&Session<W>, &P) -> R,
    ) -> Result<Value, ProtocolError> {
        let params: P = read(self.method, std::mem::take(&mut self.params))?;
        if self.session.unchecked == Unchecked::NewDocuments {
            self.session.refresh(self.editor);
        }
        Ok(json(answer(self.session, &params)))
    }
}
