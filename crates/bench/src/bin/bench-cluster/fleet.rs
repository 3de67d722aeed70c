//! The nodes under measurement: all on one database, each with every shop in memory.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use bench::{
    client::{Connection, Target},
    service::{Installation, Service},
};
use hyper::{StatusCode, body::Bytes};

/// The interval at which readiness is polled.
const READY_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// A node must be ready within this time.
const READY_TIMEOUT: Duration = Duration::from_secs(180);
/// Instant vectors only: background embedding would distort the measurement.
const SETTINGS: [(&str, &str); 2] =
    [("SHOPKEEPER_MODEL_BACKGROUND", "false"), ("SHOPKEEPER_MODEL_QUERY_BUDGET", "0")];

/// The nodes, and a token for each shop.
pub(crate) struct Fleet {
    services: Vec<Service>,
    tokens: Vec<Arc<str>>,
}

impl Fleet {
    /// Starts the nodes and waits until they are ready.
    pub(crate) async fn start(
        binary: &Path,
        folder: &Path,
        url: &str,
        nodes: usize,
        shops: u64,
        search_above: Option<&'static str>,
    ) -> anyhow::Result<Self> {
        let mut settings = SETTINGS.to_vec();
        settings.extend(search_above.map(|above| ("SHOPKEEPER_DATABASE_SEARCH_ABOVE", above)));
        let (mut services, mut tokens) = (Vec::with_capacity(nodes), Vec::new());
        for node in 0..nodes {
            let name = format!("{nodes}-nodes-{node}");
            let mut installation = Installation::on_database(binary, folder, &name, url)?;
            installation.configure(&settings);
            services.push(installation.start()?);
            if node == 0 {
                tokens = (1..=shops).map(|shop| installation.token(shop)).collect();
            }
        }
        let fleet = Self { services, tokens };
        for service in &fleet.services {
            ready(&service.target).await?;
        }
        Ok(fleet)
    }

    pub(crate) fn len(&self) -> usize {
        self.services.len()
    }

    /// A shop on a node; both numbers wrap around.
    pub(crate) fn target(&self, node: usize, shop: usize) -> Target {
        let address = self.services[node % self.services.len()].target.address;
        Target { address, token: Arc::clone(&self.tokens[shop % self.tokens.len()]) }
    }

    /// Targets of this many connections, distributed over the nodes and shops.
    pub(crate) fn targets(&self, connections: usize) -> Vec<Target> {
        let nodes = self.services.len();
        (0..connections).map(|number| self.target(number, number + number / nodes)).collect()
    }

    /// Targets of this many connections, all to one shop.
    pub(crate) fn targets_of_one_shop(&self, connections: usize) -> Vec<Target> {
        (0..connections).map(|number| self.target(number, 0)).collect()
    }

    /// Loads every shop on every node, by a first search.
    pub(crate) async fn warm_up(&self, search: &Bytes) -> anyhow::Result<()> {
        for node in 0..self.services.len() {
            for shop in 0..self.tokens.len() {
                let mut connection = Connection::open(&self.target(node, shop)).await?;
                let answer = connection.post("/api/v1/search", search.clone()).await?;
                answer.expect(StatusCode::OK).context("the first search")?;
            }
        }
        Ok(())
    }

    /// Searches until every node searches every shop inside the database; nodes learn of it with some
    /// delay.
    pub(crate) async fn search_until_in_database(&self, searches: &[Bytes]) -> anyhow::Result<()> {
        let mut searches = searches.iter().cycle();
        for node in 0..self.services.len() {
            for shop in 0..self.tokens.len() {
                let mut connection = Connection::open(&self.target(node, shop)).await?;
                let before = self.database_searches().await?;
                while self.database_searches().await? == before {
                    let search = searches.next().context("there are no queries")?;
                    let answer = connection.post("/api/v1/search", search.clone()).await?;
                    answer.expect(StatusCode::OK)?;
                }
            }
        }
        Ok(())
    }

    async fn database_searches(&self) -> anyhow::Result<f64> {
        let exact = self.metric("shopkeeper_database_searches_total{path=\"exact\"}").await?;
        let others = self.metric("shopkeeper_database_searches_total{path=\"candidates\"}").await?;
        Ok(exact + others)
    }

    /// The processor time of all nodes.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        self.services.iter().map(Service::cpu).sum()
    }

    /// The sum of a metric over all nodes; 0 before it is first recorded.
    pub(crate) async fn metric(&self, name: &str) -> anyhow::Result<f64> {
        let mut sum = 0.0;
        for service in &self.services {
            let mut connection = Connection::open(&service.target).await?;
            let page = connection.get("/metrics").await?.expect(StatusCode::OK)?;
            let page = String::from_utf8_lossy(&page);
            let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            sum += value.map(str::parse).transpose()?.unwrap_or(0.0);
        }
        Ok(sum)
    }

    pub(crate) fn stop(self) -> anyhow::Result<()> {
        self.services.into_iter().try_for_each(Service::stop)
    }
}

/// Waits until a node is ready.
async fn ready(target: &Target) -> anyhow::Result<()> {
    let mut connection = Connection::open(target).await?;
    let started = Instant::now();
    while connection.get("/health/ready").await?.status != StatusCode::OK {
        if started.elapsed() > READY_TIMEOUT {
            bail!("a node did not become ready");
        }
        tokio::time::sleep(READY_POLL_INTERVAL).await;
    }
    Ok(())
}
