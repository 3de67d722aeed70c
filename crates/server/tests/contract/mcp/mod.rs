//! Agents: the Model Context Protocol at `/mcp`, message by message.

mod protocol;
mod tools;

use reqwest::blocking::RequestBuilder;
use serde_json::{Value, json};
use testkit::{Answer, Client, RequestExt};

/// The address of the protocol.
const MCP: &str = "/mcp";
/// A version in which a client first says hello.
const VERSION: &str = "2025-06-18";
/// The version in which every message stands for itself.
const MODERN: &str = "2026-07-28";

/// A request of the protocol.
fn message(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

/// Any message, as a client sends it.
fn post(client: &Client, message: &Value) -> RequestBuilder {
    client
        .request("POST", MCP)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", VERSION)
        .json(message)
}

/// The answer to a request: one JSON document that answers this request.
#[track_caller]
fn ask(client: &Client, method: &str, params: Value) -> Answer {
    let answer = post(client, &message(method, params)).answer().expect(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.body["jsonrpc"], "2.0");
    assert_eq!(answer.body["id"], 7);
    answer
}

/// The result of a request.
#[track_caller]
fn result(client: &Client, method: &str, params: Value) -> Value {
    let mut answer = ask(client, method, params);
    assert_eq!(answer.body.get("error"), None, "{}", answer.text);
    answer.body["result"].take()
}

/// What a tool says, whether it is good or not.
#[track_caller]
fn call(client: &Client, tool: &str, arguments: Value) -> Value {
    result(client, "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// What a tool does for the caller: its result for programs, and for people.
#[track_caller]
fn done(client: &Client, tool: &str, arguments: Value) -> (Value, String) {
    let mut result = call(client, tool, arguments);
    assert_eq!(result["isError"], false, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (result["structuredContent"].take(), text)
}

/// Why a tool refuses: the problem, which is that of the API.
#[track_caller]
pub(crate) fn refused(client: &Client, tool: &str, arguments: Value, code: &str) -> Value {
    let mut result = call(client, tool, arguments);
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result.get("structuredContent"), None, "clients hold it to the output schema");
    let problem = result["_meta"]["problem"].take();
    assert_eq!(problem["code"], code, "{problem}");
    let text = result["content"][0]["text"].as_str().unwrap();
    for piece in [&problem["title"], &problem["code"], &problem["detail"]] {
        assert!(text.contains(piece.as_str().unwrap()), "{text}");
    }
    problem
}
