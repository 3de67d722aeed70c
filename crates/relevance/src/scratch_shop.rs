//! The scratch shop: a catalog file loaded into an engine of its own, in a temporary or a kept
//! folder, or in an empty database.

use std::{
    collections::HashMap,
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use catalog::{
    product::{
        Draft, Product, ProductId, ShopId,
        access::{Caller, Role},
    },
    query::QueryText,
    ranking::tuning::Tuning,
};
use clap::ValueEnum;
use engine::{Engine, SearchRequest, SearchResults, Settings, writes::Created};
use serde::{Deserialize, Serialize};
use store::Postgres;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    EngineUnderTest,
    catalog_file::CatalogFile,
    judgments::{JudgedQueries, JudgedQuery},
    metrics,
    results::{ALL_SHOWN, NDCG_CUT, QueryResult, Shown},
};

/// Products per write.
const BATCH: usize = 500;
/// How often the engine's progress is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The wait for vectors fails after this time without progress.
const STALL_TIMEOUT: Duration = Duration::from_secs(120);
/// The manifest of a kept folder.
const MANIFEST: &str = "scratch-shop.json";

/// Which vectors the products have when the queries run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Vectors {
    /// Those made at once
    Instant,
    /// The deep ones for every other product
    Half,
    /// The deep ones
    #[default]
    Deep,
}

/// Describes what a kept folder holds. Written before the load without ids and after it with them,
/// so that an interrupted load is recognised.
#[derive(Serialize, Deserialize)]
struct Manifest {
    /// The checksum of the catalog file.
    catalog: String,
    vectors: Vectors,
    /// The database that stores the products; `None` if the folder does.
    #[serde(default)]
    database: Option<String>,
    /// The product id of each line of the catalog.
    ids: Vec<u64>,
}

/// A shop loaded with a catalog file.
pub(crate) struct ScratchShop {
    runtime: Runtime,
    engine: Engine,
    description: String,
    /// The position of each product in the catalog file.
    positions: HashMap<ProductId, usize>,
    // Declared last: it is removed after the engine has closed it.
    _temporary: Option<TempDir>,
}

impl ScratchShop {
    /// Loads the catalog into a new shop, or reuses the one of an earlier run in `kept_in`, and waits
    /// until the products have the requested vectors.
    pub(crate) fn open(
        engine: EngineUnderTest,
        catalog: &CatalogFile,
        vectors: Vectors,
        kept_in: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let temporary = if kept_in.is_none() { Some(TempDir::new()?) } else { None };
        let folder = kept_in.or(temporary.as_ref().map(TempDir::path)).unwrap_or(Path::new("."));
        let folder = Folder(folder.to_owned());
        let description = describe(&engine, vectors);
        let loader = Loader {
            engine,
            catalog,
            folder: &folder,
            runtime: tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
        };
        let manifest = match folder.manifest()? {
            Some(manifest) if manifest.matches(catalog, vectors, loader.database()) => manifest,
            _ => loader.load(vectors)?,
        };
        let engine = loader.open(vectors == Vectors::Deep)?;
        if vectors == Vectors::Deep {
            wait_for_vectors(&engine, catalog.products.len())?;
        }
        wait_until_settled(&engine)?;
        let ids = manifest.ids.iter().map(|id| ProductId::new(*id).context("an id is 0"));
        let ids = ids.collect::<anyhow::Result<Vec<_>>>()?;
        let positions = ids.into_iter().enumerate().map(|(position, id)| (id, position)).collect();
        let runtime = loader.runtime;
        Ok(Self { runtime, engine, description, positions, _temporary: temporary })
    }

    /// A description of the vectors and the store, for reports.
    pub(crate) fn description(&self) -> String {
        self.description.clone()
    }

    /// Runs all queries, one after the other, with these ranking parameters.
    pub(crate) fn answer(
        &self,
        catalog: &CatalogFile,
        judged: &JudgedQueries,
        relevant_from: f64,
        tuning: Tuning,
    ) -> anyhow::Result<Vec<QueryResult>> {
        if let Some(first) = judged.queries.first() {
            // The first search loads the index; its time is not the query's.
            self.search(&first.query, NDCG_CUT, tuning)?;
        }
        let answer = |judged| {
            let result = self.answer_one(catalog, judged, relevant_from, tuning)?;
            let precision_of_all = Some(self.precision_of_all(judged, relevant_from, tuning)?);
            Ok(QueryResult { precision_of_all, ..result })
        };
        judged.queries.iter().map(answer).collect()
    }

    /// The share of relevant products among all results of a query, on any page.
    fn precision_of_all(
        &self,
        judged: &JudgedQuery,
        relevant_from: f64,
        tuning: Tuning,
    ) -> anyhow::Result<f64> {
        let found = self.search(&judged.query, ALL_SHOWN, tuning)?;
        let ranked = found.products.iter().map(|product| self.grade(judged, product));
        let ranked: Vec<f64> = ranked.collect();
        Ok(metrics::precision_of_shown(&ranked, relevant_from, ALL_SHOWN))
    }

    fn answer_one(
        &self,
        catalog: &CatalogFile,
        judged: &JudgedQuery,
        relevant_from: f64,
        tuning: Tuning,
    ) -> anyhow::Result<QueryResult> {
        let JudgedQuery { query, grades } = judged;
        let started = Instant::now();
        let found = self.search(query, NDCG_CUT, tuning)?;
        let milliseconds = started.elapsed().as_secs_f64() * 1e3;
        let shown = found.products.iter().map(|product| {
            let position = self.positions.get(&product.id);
            let position = position.with_context(|| format!("product {} is new", product.id))?;
            let title = catalog.products[*position].draft.title.as_str().to_owned();
            Ok(Shown { title, grade: grades.get(position).copied() })
        });
        let shown = shown.collect::<anyhow::Result<Vec<_>>>()?;
        let all: Vec<f64> = grades.values().copied().collect();
        let measured = QueryResult::measure(query.clone(), shown, &all, relevant_from);
        Ok(QueryResult { total: found.total, milliseconds, ..measured })
    }

    /// The grade of a product; 0 if it was not judged.
    fn grade(&self, judged: &JudgedQuery, product: &Product) -> f64 {
        let position = self.positions.get(&product.id);
        position.and_then(|position| judged.grades.get(position)).copied().unwrap_or(0.0)
    }

    fn search(
        &self,
        query: &str,
        limit: usize,
        tuning: Tuning,
    ) -> anyhow::Result<Arc<SearchResults>> {
        let request = SearchRequest { tuning, ..SearchRequest::new(parse(query)?, limit) };
        let pass = caller(Role::Shopper).may_search(false)?;
        Ok(self.runtime.block_on(self.engine.search(pass, request))?)
    }
}

fn parse(query: &str) -> anyhow::Result<QueryText> {
    QueryText::parse(query).with_context(|| format!("the query {query:?}"))
}

fn shop() -> ShopId {
    ShopId::new(1).expect("1 is a shop id")
}

/// A caller with this role in the scratch shop.
fn caller(role: Role) -> Caller {
    Caller::new(shop(), role)
}

/// A description of the vectors and the store.
fn describe(engine: &EngineUnderTest, vectors: Vectors) -> String {
    let model = engine.settings.embedder.as_ref().map(|embedder| embedder.model());
    let description = match (model, vectors) {
        (None, _) => "no vectors".to_owned(),
        (Some(model), Vectors::Instant) => format!("vectors made at once by {model}"),
        (Some(model), Vectors::Half) => format!("half of the vectors deep by {model}"),
        (Some(model), Vectors::Deep) => format!("deep vectors by {model}"),
    };
    match &engine.database {
        Some(_) => format!("{description}, in PostgreSQL"),
        None => description,
    }
}

impl Manifest {
    fn matches(&self, catalog: &CatalogFile, vectors: Vectors, database: Option<String>) -> bool {
        self.catalog == catalog.checksum
            && self.database == database
            && self.vectors == vectors
            && self.ids.len() == catalog.products.len()
    }
}

/// The folder of a scratch shop.
struct Folder(PathBuf);

impl Folder {
    fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    /// Reads the manifest; `None` if the folder is new or empty. Refuses a folder with other content.
    fn manifest(&self) -> anyhow::Result<Option<Manifest>> {
        let shown = self.0.display();
        match fs::read(self.0.join(MANIFEST)) {
            Ok(bytes) => {
                let manifest = serde_json::from_slice(&bytes);
                Ok(Some(manifest.with_context(|| format!("{shown}/{MANIFEST} cannot be read"))?))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut inside = fs::read_dir(&self.0).into_iter().flatten();
                if inside.next().is_some() {
                    bail!("{shown} holds something that is not a scratch shop");
                }
                Ok(None)
            }
            Err(error) => Err(error).with_context(|| format!("{shown} cannot be read")),
        }
    }

    /// Replaces the manifest atomically.
    fn put_manifest(&self, manifest: &Manifest) -> anyhow::Result<()> {
        fs::create_dir_all(&self.0)?;
        let new = self.0.join(format!("{MANIFEST}.new"));
        fs::write(&new, serde_json::to_vec(manifest)?)?;
        Ok(fs::rename(new, self.0.join(MANIFEST))?)
    }
}

/// Loads a catalog into a folder or a database.
struct Loader<'a> {
    engine: EngineUnderTest,
    catalog: &'a CatalogFile,
    folder: &'a Folder,
    runtime: Runtime,
}

impl Loader<'_> {
    /// The address of the database; `None` if the folder stores the products.
    fn database(&self) -> Option<String> {
        self.engine.database.as_ref().map(|database| database.address.to_string())
    }

    fn load(&self, vectors: Vectors) -> anyhow::Result<Manifest> {
        let catalog = self.catalog.checksum.clone();
        if let Some(database) = self.database() {
            let engine = self.open(false)?;
            let counts = engine.counts(caller(Role::Viewer).may_read());
            if self.runtime.block_on(counts)?.products > 0 {
                bail!("{database} holds products already; measure on an empty database");
            }
        }
        let mut manifest =
            Manifest { catalog, vectors, database: self.database(), ids: Vec::new() };
        self.folder.put_manifest(&manifest)?;
        match fs::remove_dir_all(self.folder.data()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error)?,
            _ => {}
        }
        let count = self.catalog.products.len();
        let mut ids = vec![0; count];
        match vectors {
            Vectors::Instant => self.write(&self.open(false)?, 0..count, &mut ids)?,
            Vectors::Deep => self.write(&self.open(true)?, 0..count, &mut ids)?,
            Vectors::Half => {
                let engine = self.open(true)?;
                self.write(&engine, (0..count).step_by(2), &mut ids)?;
                wait_for_vectors(&engine, count.div_ceil(2))?;
                drop(engine);
                self.write(&self.open(false)?, (1..count).step_by(2), &mut ids)?;
            }
        }
        manifest.ids = ids;
        self.folder.put_manifest(&manifest)?;
        Ok(manifest)
    }

    fn open(&self, background: bool) -> anyhow::Result<Engine> {
        let settings = Settings { background, ..self.engine.settings.clone() };
        let Some(database) = &self.engine.database else {
            return Ok(Engine::open(&self.folder.data(), settings)?);
        };
        let migrated = Postgres::new(database).and_then(|postgres| postgres.migrate());
        migrated.with_context(|| format!("the database {}", database.address))?;
        Ok(Engine::open_database(database, settings)?)
    }

    /// Creates the products at these positions of the catalog and records their ids.
    fn write(
        &self,
        engine: &Engine,
        positions: impl Iterator<Item = usize>,
        ids: &mut [u64],
    ) -> anyhow::Result<()> {
        let positions: Vec<usize> = positions.collect();
        let pass = caller(Role::Editor).may_write()?;
        for batch in positions.chunks(BATCH) {
            let drafts: Vec<Draft> =
                batch.iter().map(|at| self.catalog.products[*at].draft.clone()).collect();
            match self.runtime.block_on(engine.create(pass, drafts, None))? {
                Created::New(products) => {
                    for (at, product) in batch.iter().zip(products.into_iter().flatten()) {
                        ids[*at] = product.id.get();
                    }
                }
                Created::Replayed(_) | Created::KeyReused => bail!("the products were not created"),
            }
        }
        Ok(())
    }
}

/// Waits until the shop is searched where the settings say: in memory or inside PostgreSQL.
fn wait_until_settled(engine: &Engine) -> anyhow::Result<()> {
    while !engine.has_settled(shop())? {
        thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// Waits until every product has its deep vector.
fn wait_for_vectors(engine: &Engine, products: usize) -> anyhow::Result<()> {
    let (mut fewest, mut since) = (usize::MAX, Instant::now());
    let shows_progress = io::stderr().is_terminal();
    loop {
        let waiting = engine.pending_vectors()?;
        if shows_progress && fewest < usize::MAX {
            // A closed standard error does not end the run.
            let _ =
                write!(io::stderr(), "\r{} of {products} vectors are made ", products - waiting);
        }
        if waiting == 0 {
            if shows_progress && fewest < usize::MAX {
                let _ = writeln!(io::stderr());
            }
            return Ok(());
        }
        if waiting < fewest {
            (fewest, since) = (waiting, Instant::now());
        } else if since.elapsed() > STALL_TIMEOUT {
            bail!("{waiting} products have no vector, and none came for {STALL_TIMEOUT:?}");
        }
        thread::sleep(POLL_INTERVAL);
    }
}
