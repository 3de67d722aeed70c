//! Where is the catalog put, and how are its queries answered? A shop of its own in a folder of
//! its own, with the engine that serves requests.

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
    access::{Caller, Role},
    product::{Draft, ProductId, ShopId},
    tuning::{TUNING, Tuning},
};
use clap::ValueEnum;
use engine::{Engine, SearchRequest, SearchResults, Settings, embed::Embedder, writes::Created};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{
    judgments::{JudgedQueries, JudgedQuery},
    products::CatalogFile,
    results::{NDCG_CUT, QueryResult, Shown},
};
use crate::{config::Config, http::requests, serving};

/// Products in one write.
const BATCH: usize = 500;
/// How often the engine is asked how far it is.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Vectors that have not become more for so long are not coming.
const PATIENCE: Duration = Duration::from_secs(120);
/// The file that says what a kept folder holds.
const LABEL: &str = "scratch-shop.json";

/// Which vectors the products have when the queries come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::cli) enum Vectors {
    /// Those made at once
    Instant,
    /// The deep ones for every other product
    Half,
    /// The deep ones
    #[default]
    Deep,
}

/// What a kept folder holds. Written before and after it is filled: without ids it is not whole.
#[derive(Serialize, Deserialize)]
struct Label {
    /// The checksum of the catalog's file.
    catalog: String,
    vectors: Vectors,
    /// The database that the products are in, if they are not in the folder.
    #[serde(default)]
    database: Option<String>,
    /// The product that each line of the catalog became.
    ids: Vec<u64>,
}

/// A shop that holds a catalog.
pub(in crate::cli) struct ScratchShop {
    runtime: Runtime,
    engine: Engine,
    description: String,
    /// Where in the catalog a product stands.
    places: HashMap<ProductId, usize>,
    // Last, so that it is removed after the engine has let go of it.
    _temporary: Option<TempDir>,
}

impl ScratchShop {
    /// The catalog in a new shop, or in that of an earlier run, with the vectors asked for.
    pub(in crate::cli) fn fill(
        config: &Config,
        catalog: &CatalogFile,
        vectors: Vectors,
        kept_in: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let temporary = if kept_in.is_none() { Some(TempDir::new()?) } else { None };
        let folder = kept_in.or(temporary.as_ref().map(TempDir::path)).unwrap_or(Path::new("."));
        let folder = Folder(folder.to_owned());
        let embedder = serving::embedder(&config.model)?;
        let description = match (&embedder, vectors) {
            (None, _) => "no vectors".to_owned(),
            (Some(model), Vectors::Instant) => format!("vectors made at once by {}", model.model()),
            (Some(model), Vectors::Half) => {
                format!("half of the vectors deep by {}", model.model())
            }
            (Some(model), Vectors::Deep) => format!("deep vectors by {}", model.model()),
        };
        let description = match &config.database {
            Some(_) => format!("{description}, in PostgreSQL"),
            None => description,
        };
        let filling = Filling {
            config,
            catalog,
            folder: &folder,
            embedder,
            runtime: tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
        };
        let label = match folder.label()? {
            Some(label) if label.holds(catalog, vectors, filling.database()) => label,
            _ => filling.fill(vectors)?,
        };
        let engine = filling.open(vectors == Vectors::Deep)?;
        if vectors == Vectors::Deep {
            wait_for_vectors(&engine, catalog.products.len())?;
        }
        wait_until_settled(&engine)?;
        let ids = label.ids.iter().map(|id| ProductId::new(*id).context("an id is 0"));
        let ids = ids.collect::<anyhow::Result<Vec<_>>>()?;
        let places = ids.into_iter().enumerate().map(|(place, id)| (id, place)).collect();
        let runtime = filling.runtime;
        Ok(Self { runtime, engine, description, places, _temporary: temporary })
    }

    /// Which vectors the products have, in words.
    pub(super) fn description(&self) -> String {
        self.description.clone()
    }

    /// Answers every query as a request would be answered, one after the other.
    pub(super) fn answer(
        &self,
        catalog: &CatalogFile,
        judged: &JudgedQueries,
        relevant_from: f64,
    ) -> anyhow::Result<Vec<QueryResult>> {
        if let Some(first) = judged.queries.first() {
            // The shop comes into memory with the first search; that is not the query's time.
            self.search(&first.query, TUNING)?;
        }
        let answer = |judged| self.answer_one(catalog, judged, relevant_from, TUNING);
        judged.queries.iter().map(answer).collect()
    }

    /// Answers one query by these numbers.
    pub(in crate::cli) fn answer_one(
        &self,
        catalog: &CatalogFile,
        judged: &JudgedQuery,
        relevant_from: f64,
        tuning: Tuning,
    ) -> anyhow::Result<QueryResult> {
        let JudgedQuery { query, grades } = judged;
        let started = Instant::now();
        let found = self.search(query, tuning)?;
        let milliseconds = started.elapsed().as_secs_f64() * 1e3;
        let shown = found.products.iter().map(|product| {
            let place = self.places.get(&product.id);
            let place = place.with_context(|| format!("product {} is new", product.id))?;
            let title = catalog.products[*place].draft.title.as_str().to_owned();
            Ok(Shown { title, grade: grades.get(place).copied() })
        });
        let shown = shown.collect::<anyhow::Result<Vec<_>>>()?;
        let all: Vec<f64> = grades.values().copied().collect();
        let measured = QueryResult::measure(query.clone(), shown, &all, relevant_from);
        Ok(QueryResult { total: found.total, milliseconds, ..measured })
    }

    fn search(&self, query: &str, tuning: Tuning) -> anyhow::Result<Arc<SearchResults>> {
        let body = json!({"query": query, "limit": NDCG_CUT});
        let request = requests::search(&body).map_err(|faults| {
            let faults: Vec<_> = faults.iter().map(|fault| fault.message.as_str()).collect();
            anyhow::anyhow!("the query {query:?} {}", faults.join(", "))
        })?;
        let request = SearchRequest { tuning, ..request };
        let pass = owner(Role::Shopper).may_search(false)?;
        Ok(self.runtime.block_on(self.engine.search(pass, request))?)
    }
}

/// The scratch shop.
fn shop() -> ShopId {
    ShopId::new(1).expect("it is not 0")
}

/// Whoever does things to the scratch shop.
fn owner(role: Role) -> Caller {
    Caller::new(shop(), role)
}

impl Label {
    fn holds(&self, catalog: &CatalogFile, vectors: Vectors, database: Option<String>) -> bool {
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

    /// What the folder says it holds; nothing if it is new. Refuses a folder that is not ours.
    fn label(&self) -> anyhow::Result<Option<Label>> {
        let shown = self.0.display();
        match fs::read(self.0.join(LABEL)) {
            Ok(bytes) => {
                let label = serde_json::from_slice(&bytes);
                Ok(Some(label.with_context(|| format!("{shown}/{LABEL} cannot be read"))?))
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

    /// Writes the label whole or not at all.
    fn put_label(&self, label: &Label) -> anyhow::Result<()> {
        fs::create_dir_all(&self.0)?;
        let new = self.0.join(format!("{LABEL}.new"));
        fs::write(&new, serde_json::to_vec(label)?)?;
        Ok(fs::rename(new, self.0.join(LABEL))?)
    }
}

/// What is needed to fill a folder.
struct Filling<'a> {
    config: &'a Config,
    catalog: &'a CatalogFile,
    folder: &'a Folder,
    embedder: Option<Arc<dyn Embedder>>,
    runtime: Runtime,
}

impl Filling<'_> {
    /// The database that holds the shop in place of the folder.
    fn database(&self) -> Option<String> {
        self.config.database.as_ref().map(|database| database.settings.address.to_string())
    }

    fn fill(&self, vectors: Vectors) -> anyhow::Result<Label> {
        let catalog = self.catalog.checksum.clone();
        if let Some(database) = self.database() {
            let engine = self.open(false)?;
            let counts = engine.counts(owner(Role::Viewer).may_read());
            if self.runtime.block_on(counts)?.products > 0 {
                bail!("{database} holds products already; measure on an empty database");
            }
        }
        let mut label = Label { catalog, vectors, database: self.database(), ids: Vec::new() };
        self.folder.put_label(&label)?;
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
        label.ids = ids;
        self.folder.put_label(&label)?;
        Ok(label)
    }

    fn open(&self, deep: bool) -> anyhow::Result<Engine> {
        let settings = serving::engine_settings(self.config, self.embedder.clone());
        let settings = Settings { background: deep, ..settings };
        let Some(database) = &self.config.database else {
            return Ok(Engine::open(&self.folder.data(), settings)?);
        };
        serving::migrate(&database.settings)?;
        Ok(Engine::open_database(&database.settings, settings)?)
    }

    /// Creates these products of the catalog and notes their ids.
    fn write(
        &self,
        engine: &Engine,
        places: impl Iterator<Item = usize>,
        ids: &mut [u64],
    ) -> anyhow::Result<()> {
        let places: Vec<usize> = places.collect();
        let pass = owner(Role::Editor).may_write()?;
        for batch in places.chunks(BATCH) {
            let drafts: Vec<Draft> =
                batch.iter().map(|at| self.catalog.products[*at].draft.clone()).collect();
            match self.runtime.block_on(engine.create(pass, drafts, None))? {
                Created::Now(products) => {
                    for (at, product) in batch.iter().zip(products) {
                        ids[*at] = product.id.get();
                    }
                }
                Created::Before(_) | Created::KeyTaken => bail!("the products were not created"),
            }
        }
        Ok(())
    }
}

/// Returns when the shop is searched where the settings say.
fn wait_until_settled(engine: &Engine) -> anyhow::Result<()> {
    while !engine.has_settled(shop())? {
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Returns when every product has the best vector there is.
fn wait_for_vectors(engine: &Engine, products: usize) -> anyhow::Result<()> {
    let (mut fewest, mut since) = (usize::MAX, Instant::now());
    let shows_progress = io::stderr().is_terminal();
    loop {
        let waiting = engine.waiting_for_vectors()?;
        if shows_progress && fewest < usize::MAX {
            // Nobody may be reading; that is no reason not to go on.
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
        } else if since.elapsed() > PATIENCE {
            bail!("{waiting} products have no vector, and none came for {PATIENCE:?}");
        }
        thread::sleep(LOOK_EVERY);
    }
}
