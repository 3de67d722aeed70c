//! Answers the requests of the protocol for one caller.

use std::time::Instant;

use axum::http::StatusCode;
use catalog::product::access::{Caller, Role};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, Implementation,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
        Tool as ToolDescription,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;
use tracing::Instrument;

use super::{calls, results, tools::Tool};
use crate::http::{
    app::App,
    errors::{
        ApiError,
        validation::{MAX_FIELD_CHARS, truncate},
    },
};

/// The handler of one message, for its verified caller.
#[derive(Clone)]
pub(super) struct Agent {
    app: App,
    caller: Caller,
    request_id: String,
}

impl Agent {
    pub(super) fn new(app: App, caller: Caller, request_id: String) -> Self {
        Self { app, caller, request_id }
    }

    /// Calls a tool, and counts the call like the same request to the API.
    async fn call(
        &self,
        tool: Tool,
        arguments: &Value,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let started = Instant::now();
        let span = tracing::info_span!("tool", name = tool.name());
        // The call is cancelled with the request.
        let done = tokio::select! {
            done = calls::call(&self.app, self.caller, tool, arguments).instrument(span) => done,
            () = context.ct.cancelled() => Err(ApiError::TookTooLong),
        };
        let (status, outcome) = match &done {
            Ok(_) => (StatusCode::OK, "ok"),
            Err(error) => {
                let (status, code, _) = error.table();
                (status, code)
            }
        };
        if let Some(kind) = tool.request_kind() {
            self.app.traffic.record(self.caller.shop(), kind, status, started.elapsed());
        }
        let labels = [("tool", tool.name()), ("outcome", outcome)];
        metrics::counter!("shopkeeper_mcp_calls_total", &labels).increment(1);
        done.unwrap_or_else(|error| results::error(&error, &self.request_id))
    }
}

impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().build();
        let us = Implementation::new("shopkeeper", env!("CARGO_PKG_VERSION"))
            .with_title("Shopkeeper")
            .with_description("A shop's product catalog, with search in shoppers' own words");
        ServerConfig::new(tools).with_server_info(us).with_instructions(instructions(self.caller))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = Tool::of(self.caller).map(Tool::description).collect();
        // Tools depend on the token's role, and the token may be revoked.
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<ToolDescription> {
        Tool::of(self.caller).find(|tool| tool.name() == name).map(Tool::description)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = Tool::named(&request.name) else {
            let known: Vec<_> = Tool::of(self.caller).map(Tool::name).collect();
            let name = truncate(&request.name, MAX_FIELD_CHARS);
            let message = format!("unknown tool {name:?}; expected one of {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        Ok(self.call(tool, &arguments, &context).await.into())
    }

    // The default implementation logs.
    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}

/// The instructions that an agent receives at initialisation.
fn instructions(caller: Caller) -> String {
    let sees = match caller.role() {
        Role::Shopper => "sees visible products and changes nothing",
        Role::Viewer => "sees hidden products too and changes nothing",
        Role::Editor | Role::Admin => "sees hidden products too and may change products",
    };
    format!(
        "The product catalog of shop {}. This token has the role {}: it {sees}.\n\
         To find products, ask search_products in the shopper's own words, with the conditions in \
         them (\"a warm scarf under $40, not wool, cheapest first\"): prices and exclusions are kept \
         exactly, and `understood` in the answer says how the words were read. Products are named by \
         their `id`. A refused call says what was wrong with each argument; correct it and call again.",
        caller.shop(),
        caller.role(),
    )
}
