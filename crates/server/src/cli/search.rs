//! `shopkeeper search`: searches through a running server, or directly in a data folder or database,
//! even while a server is running on it.

mod page;

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Context;
use catalog::{
    product::access::{Caller, Role},
    query,
};
use clap::Args;
use engine::OfflineSearcher;
use serde_json::{Value, json};
use ureq::http::StatusCode;

use self::page::{Answer, Page};
use super::{
    remote::Remote,
    target::{self, Environment, Target},
};
use crate::{
    config::{Config, Flags},
    http::{
        errors::ValidationError,
        requests::{ObjectDefinition, search::SearchRequest},
        responses::search::SearchAnswer,
    },
    serving,
};

#[derive(Args)]
pub(super) struct SearchCommand {
    /// Query, as a shopper would type it
    #[arg(required_unless_present = "filter")]
    query: Option<String>,
    /// Conditions on price and attributes, as JSON: '{"color": ["green"]}'
    #[arg(long, value_name = "JSON", value_parser = parse_json)]
    filter: Option<Value>,
    /// Attributes to count over all results, or price, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    facets: Vec<String>,
    /// Order: relevance, price, -price, newest, oldest or a numeric attribute
    #[arg(long, value_name = "ORDER", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Number of products to show, at most 50
    #[arg(long, value_name = "NUMBER", default_value_t = query::DEFAULT_LIMIT)]
    limit: usize,
    /// Number of products to skip
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    offset: usize,
    /// Include hidden products
    #[arg(long)]
    include_hidden: bool,
    /// Show the components of each score
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    target: Target,
}

impl SearchCommand {
    pub(super) fn run(
        &self,
        load: impl FnOnce(&Flags) -> anyhow::Result<Config>,
        environment: &Environment,
    ) -> anyhow::Result<ExitCode> {
        let mut body = json!({"limit": self.limit, "offset": self.offset});
        let facets = (!self.facets.is_empty()).then(|| json!(self.facets));
        for (name, value) in [
            ("query", self.query.as_ref().map(|query| json!(query))),
            ("filter", self.filter.clone()),
            ("facets", facets),
            ("sort", self.sort.as_ref().map(|sort| json!(sort))),
        ] {
            if let Some(value) = value {
                body[name] = value;
            }
        }
        for (name, asked) in [("include_hidden", self.include_hidden), ("explain", self.explain)] {
            if asked {
                body[name] = true.into();
            }
        }
        let (answer, elapsed) = match self.target.remote(environment)? {
            Some(server) => search_server(&server, &body)?,
            None => self.search_store(&load(&self.target.flags)?, &body)?,
        };
        let answer: Answer = serde_json::from_value(answer).context("cannot parse the answer")?;
        let mut out = io::stdout().lock();
        let plain = environment.iter().any(|(name, value)| name == "NO_COLOR" && !value.is_empty());
        let colours = out.is_terminal() && !plain;
        write!(out, "{}", Page { answer: &answer, first: self.offset + 1, elapsed, colours })?;
        Ok(ExitCode::SUCCESS)
    }

    /// Searches the store directly; the answer is the one that a server on it would give.
    fn search_store(&self, config: &Config, body: &Value) -> anyhow::Result<(Value, Duration)> {
        let request = SearchRequest::read(body).map_err(|errors| {
            let line = |error: &ValidationError| match error.field.as_deref() {
                None => error.message.clone(),
                Some("query") => format!("the query {}", error.message),
                Some(field) => format!("{field} {}", error.message),
            };
            anyhow::anyhow!("{}", errors.iter().map(line).collect::<Vec<_>>().join(", "))
        })?;
        let in_folder = || target::name_of_store(config);
        let embedder = serving::embedder(&config.model)?;
        let searcher = OfflineSearcher::new(target::readers(config)?, embedder);
        let pass =
            Caller::new(self.target.shop()?, Role::Viewer).may_search(self.include_hidden)?;
        // The first search loads the index; its time is not the query's.
        searcher.search(pass, &request).with_context(in_folder)?;
        let started = Instant::now();
        let found = searcher.search(pass, &request).with_context(in_folder)?;
        let elapsed = started.elapsed();
        Ok((
            serde_json::to_value(SearchAnswer::of(
                self.query.as_deref().unwrap_or_default(),
                &found,
            ))?,
            elapsed,
        ))
    }
}

fn parse_json(raw: &str) -> serde_json::Result<Value> {
    serde_json::from_str(raw)
}

/// Searches through a running server.
fn search_server(server: &Remote, body: &Value) -> anyhow::Result<(Value, Duration)> {
    let started = Instant::now();
    let answer = server.post_once("/api/v1/search", body)?.expect(StatusCode::OK)?;
    Ok((answer.body, started.elapsed()))
}
