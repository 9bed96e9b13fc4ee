//! The handler of the requests of a client.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assistant::bounded::{AnswerStore, WholeAnswer};
use assistant::prompt::{self, PROMPTS};
use assistant::query::{ToolQuery, ToolRequest};
use assistant::resource::{self, ResourceEntry, RuleLine, RulePages};
use assistant::tool::ToolName;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::reference::page;
use karpwarden::reference::symptoms::{page_of_symptom, with_symptoms};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Reference, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::{Semaphore, oneshot};
use values::spelling::did_you_mean_name;

use super::answering;
use super::limits::{AT_ONCE, WAITING};
use super::roots::{self, ClientRoots, Roots};

/// Instructions for the model, which it reads first.
const INSTRUCTIONS: &str = "\
Karpwarden knows what Karpenter on AWS does with NodePools, EC2NodeClasses, pods and nodes in each release. Call `check` after every \
change of such a manifest, `plan` before a change of one that is in use, `simulate` to see where pods would be placed, `upgrade` before an \
upgrade of Karpenter, `disruption` and `diagnose` for a running cluster, and `explain` with the rule of a finding. Pass content as text, or \
paths below the roots. An answer has a summary and the first findings; `more` lists what was left out, each with a cursor: call the same tool \
with `cursor` alone to read on. Messages may name flags of the command line: `--karpenter-version` is the argument `karpenterVersion`.";

/// A server for one client.
pub(super) struct McpServer {
    /// The folders of `--root`.
    granted: Roots,
    /// The roots of the client, if it has named them in this session.
    client_roots: Mutex<Option<Roots>>,
    answers: Mutex<AnswerStore>,
    slots: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// The pages of the registry.
struct Pages;

impl RulePages for Pages {
    fn entries(&self) -> Vec<RuleLine> {
        let line = |entry: answers::catalog::CatalogEntry| RuleLine {
            name: entry.name,
            severity: entry.severity.name(),
            summary: entry.summary,
        };
        with_symptoms().into_iter().map(line).collect()
    }

    fn page(&self, name: &str) -> Option<String> {
        REGISTRY.find(name).map(page).or_else(|| symptoms::find(name).map(page_of_symptom))
    }
}

impl McpServer {
    pub(super) fn new(granted: Roots) -> Self {
        // A cursor of another process must not find an answer of this one.
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let session = format!("{:x}", since.as_millis() ^ u128::from(std::process::id()));
        Self {
            granted,
            client_roots: Mutex::new(None),
            answers: Mutex::new(AnswerStore::new(session)),
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            waiting: Arc::new(Semaphore::new(WAITING)),
        }
    }

    /// The folders that may be read, or what the client has to answer first. `needs_them` is whether the call reads files.
    async fn roots(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        needs_them: bool,
    ) -> Result<Roots, InputRequiredResult> {
        let known = lock(&self.client_roots).clone();
        let client = match known {
            Some(known) => known,
            None => match roots::ask(context, request.input_responses.as_ref(), needs_them).await {
                ClientRoots::Asked(request) => return Err(request),
                ClientRoots::Unknown => Roots::default(),
                ClientRoots::Named(roots) => {
                    // Without a session, each call has its own roots.
                    if context.peer.peer_info().is_some() {
                        *lock(&self.client_roots) = Some(roots.clone());
                    }
                    roots
                }
            },
        };
        Ok(client.and(&self.granted))
    }

    /// Computes an answer on a new thread, unless the call is cancelled before its turn.
    async fn computed(&self, query: ToolQuery, roots: Roots) -> Result<WholeAnswer, String> {
        let busy = || {
            format!("more than {WAITING} calls wait; call the tool again after the others have been answered")
        };
        let waiting = Arc::clone(&self.waiting).try_acquire_owned().map_err(|_| busy())?;
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| busy())?;
        drop(waiting);
        let (send, receive) = oneshot::channel();
        let thread = std::thread::Builder::new().spawn(move || {
            let answer = answering::answer(&query, &roots);
            drop(slot);
            // The call may be cancelled.
            let _ = send.send(answer);
        });
        thread.map_err(|error| format!("the system refuses a thread: {error}"))?;
        // Only a build that unwinds goes on after a panic; a release ends, and the client starts it again.
        receive.await.unwrap_or_else(|_| {
            Err("the call ended with an internal error; report it with its arguments".to_owned())
        })
    }

    async fn called(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = ToolName::find(&request.name) else {
            let hint = did_you_mean_name(&request.name, ToolName::ALL.map(ToolName::name));
            let name: String = request.name.chars().take(200).collect();
            let text = format!("there is no tool `{name}`{hint}; `tools/list` names them");
            return Err(ErrorData::invalid_params(text, None));
        };
        let refused = |text: String| Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into());
        let query = match ToolRequest::parse(tool, request.arguments.clone().unwrap_or_default()) {
            Ok(ToolRequest::Query(query)) => *query,
            Ok(ToolRequest::Continue(cursor)) => {
                return match lock(&self.answers).continued(tool, &cursor) {
                    Ok(part) => Ok(CallToolResult::structured(part).into()),
                    Err(error) => refused(error.to_string()),
                };
            }
            Err(error) => return refused(error.to_string()),
        };
        // A text has the settings of the first root.
        let needs_roots = !matches!(query, ToolQuery::Explain(_));
        let roots = match self.roots(&request, context, needs_roots).await {
            Ok(roots) => roots,
            Err(request) => return Ok(request.into()),
        };
        match self.computed(query, roots).await {
            Ok(answer) => Ok(CallToolResult::structured(lock(&self.answers).present(tool, answer)).into()),
            Err(text) => refused(text),
        }
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

fn declared(tool: ToolName) -> Tool {
    let annotations = ToolAnnotations::from_raw(None, Some(true), Some(false), Some(true), Some(false));
    Tool::new(tool.name(), tool.description(), Arc::new(tool.input_schema()))
        .with_title(tool.title())
        .with_raw_output_schema(Arc::new(tool.output_schema()))
        .with_annotations(annotations)
}

fn listed(entry: ResourceEntry) -> Resource {
    let ResourceEntry { uri, name, description, media_type } = entry;
    Resource::new(uri, name).with_description(description).with_mime_type(media_type)
}

fn template(entry: ResourceEntry) -> ResourceTemplate {
    let ResourceEntry { uri, name, description, media_type } = entry;
    ResourceTemplate::new(uri, name).with_description(description).with_mime_type(media_type)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions();
        let server = Implementation::new("karpwarden", env!("CARGO_PKG_VERSION")).with_title("Karpwarden");
        ServerConfig::new(capabilities.build()).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(ToolName::ALL.map(declared).to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tokio::select! {
            biased;
            // The client expects no answer.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
            response = self.called(request, &context) => response,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let (entries, next_cursor) = resource::resources(&Pages, cursor.as_deref())
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let all = ListResourcesResult::with_all_items(entries.into_iter().map(listed).collect());
        Ok(ListResourcesResult { next_cursor, ..all })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resource::templates().map(template).to_vec()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let content = resource::read(&Pages, &request.uri)
            .map_err(|error| ErrorData::resource_not_found(error.to_string(), None))?;
        let text = ResourceContents::text(content.text, request.uri).with_mime_type(content.media_type);
        Ok(ReadResourceResponse::Complete(ReadResourceResult::new(vec![text])))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = PROMPTS.map(|entry| {
            let argument = |(name, description, is_required): &(&str, &str, bool)| {
                PromptArgument::new(*name).with_description(*description).with_required(*is_required)
            };
            let arguments = entry.arguments.iter().map(argument).collect();
            Prompt::new(entry.name, Some(entry.description), Some(arguments)).with_title(entry.title)
        });
        Ok(ListPromptsResult::with_all_items(prompts.to_vec()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut arguments = BTreeMap::new();
        for (name, value) in request.arguments.unwrap_or_default() {
            let Value::String(value) = value else {
                let name: String = name.chars().take(200).collect();
                return Err(ErrorData::invalid_params(format!("`{name}`: write a string"), None));
            };
            arguments.insert(name, value);
        }
        let text = prompt::prompt(&request.name, &arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        Ok(GetPromptResponse::Complete(result))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (argument, start) = (&request.argument.name, &request.argument.value);
        let values = match &request.r#ref {
            Reference::Prompt(reference) => prompt::completions(&reference.name, argument, start),
            Reference::Resource(reference) => resource::completions(&Pages, &reference.uri, start),
            _ => Vec::new(),
        };
        let completion = CompletionInfo::with_all_values(values)
            .map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(completion))
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        *lock(&self.client_roots) = None;
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A request of the protocol whose parameters have another shape arrives here.
        let method: String = request.method.chars().take(200).collect();
        let is_known =
            ["tools/call", "resources/read", "prompts/get", "completion/complete"].contains(&method.as_str());
        let text = format!("`{method}`: the parameters do not have the shape of the protocol");
        Err(if is_known {
            ErrorData::invalid_params(text, None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None)
        })
    }
}
