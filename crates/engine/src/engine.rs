//! What can be done with a catalog? This is the engine's whole surface; every call that
//! touches a shop takes the pass that allows it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::{
    access::{AdminPass, Caller, ReadPass, Role, WritePass},
    change::Seq,
    product::{Draft, Product, ProductId, ShopId},
};
use jiff::Timestamp;
use thiserror::Error;
use tokio::time::timeout_at;

use crate::{
    answers::{Answers, Question},
    background::BackgroundThread,
    embed::{Embedder, Embedding, Encoder, Text},
    embedding::Background,
    follower::Follower,
    housekeeping::{self, Retention},
    large::{LargeShops, Sizes},
    meaning::{QueryEncoder, QueryReader},
    search::{self, SearchRequest, SearchResults},
    shops::{Applier, LoadError, Loader, Shops},
    similar::{self, SimilarRequest},
    store::{
        CatalogReads, CatalogStore, Cleanup, DataFolder, FolderInUse, Outlook, Page, Postgres,
        PostgresSettings, ShopCounts, SqliteReaders, SqliteStore, StoreError, TOKEN_LEASE,
        TokenRow,
    },
    tokens::{self, BadToken, IssuedToken, RandomSource, Secret},
    workers::{Overloaded, Workers},
    writer::{Clock, WriteError, Writer, WriterSettings},
    writes::{
        Create, Created, Delete, Edit, IssueToken, Once, Precondition, Refusal, RevokeToken,
        Update, Write,
    },
};

/// Products whose instant vectors are made without a trip to another thread.
const EMBEDDED_AT_ONCE: usize = 4;

/// Changes kept in a data folder; older ones are in the rows themselves.
const KEEP_CHANGES: u64 = 1_000_000;
/// Changes kept of each shop of a database; a node that is further behind reads the rows.
const KEEP_CHANGES_OF_A_SHOP: u64 = 10_000;

/// How long to wait for news of a shop before the store is asked again.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// What an engine is told when it opens.
#[derive(Clone)]
pub struct Settings {
    /// How writes are grouped and remembered.
    pub writer: WriterSettings,
    /// Threads that search, and as many that read single products and pages.
    pub reader_threads: usize,
    /// Searches that may wait for one, and as many reads.
    pub reader_queue: usize,
    /// Bytes that shop indexes may take together.
    pub index_memory: usize,
    /// Bytes that answers to repeated queries may take.
    pub answer_memory: usize,
    /// What turns texts into vectors; without it, products are found by their words alone.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Whether products get the best vectors that it can make in the background, or keep those
    /// made at once.
    pub background: bool,
    /// Searches under way or waiting beyond which queries are embedded by the instant encoder.
    pub query_budget: usize,
    /// Tells the time.
    pub clock: Clock,
    /// Makes secrets.
    pub random: RandomSource,
}

/// The engine did not open.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The data folder is taken or unusable.
    #[error(transparent)]
    Folder(#[from] FolderInUse),
    /// The database in it is unusable.
    #[error("the database in the data folder {} cannot be opened", .folder.display())]
    Store {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: StoreError,
    },
    /// The database is unusable.
    #[error("the database {address} cannot be used")]
    Database {
        /// Where it is, without its password.
        address: String,
        /// Why.
        source: StoreError,
    },
    /// The operating system gives no more threads.
    #[error("a thread cannot be started")]
    Thread(#[from] std::io::Error),
}

/// A call was not done.
#[derive(Clone, Debug, Error)]
pub enum EngineError {
    /// Too much is being asked at once; nothing was done.
    #[error(transparent)]
    Overloaded(#[from] Overloaded),
    /// A write was not done.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A read failed.
    #[error("the store could not be read")]
    Read(#[from] StoreError),
    /// The shop is not in memory yet.
    #[error("the shop is being loaded into memory")]
    Loading,
}

impl From<LoadError> for EngineError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::StillLoading => Self::Loading,
            LoadError::Failed(error) => Self::Read(error),
        }
    }
}

/// What the engine holds right now.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Shops in memory.
    pub shops: usize,
    /// Products in the indexes in memory.
    pub products: usize,
    /// Bytes these indexes take.
    pub index_bytes: usize,
    /// Bytes that answers to repeated queries take.
    pub answer_bytes: usize,
    /// Writes waiting for the next commit or for their index.
    pub writes_waiting: usize,
}

/// What came of waiting for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Answers show it.
    Seen,
    /// It exists, and answers do not show it yet.
    NotInTime,
    /// The store has no such change.
    NoSuchChange {
        /// The last one that it has.
        last: Seq,
    },
}

/// One data folder, or one node of a database, at work.
pub struct Engine {
    readers: Arc<dyn CatalogReads>,
    shops: Arc<Shops>,
    loader: Arc<Loader>,
    answers: Arc<Answers>,
    embedder: Option<Arc<dyn Embedder>>,
    queries: Option<Arc<QueryEncoder>>,
    // Before the writer, so that it is not left waiting for vectors.
    _embedding: Option<Background>,
    /// Removes what has expired.
    _housekeeping: BackgroundThread,
    writer: Writer,
    /// Where searches run.
    searches: Workers,
    /// Where single products, pages and counts are read: never behind a search.
    reads: Workers,
    clock: Clock,
    random: RandomSource,
    /// Follows other nodes, where there are any.
    _follower: Option<Follower>,
    /// What is believed of the database, where there is one.
    outlook: Option<Arc<Outlook>>,
    /// Shops that are searched in the database, where there is one.
    large: Option<Arc<LargeShops>>,
    // Last, so that the folder is let go only after the writer has finished.
    _folder: Option<DataFolder>,
}

impl Engine {
    /// Opens a data folder, creating or migrating its database where needed.
    pub fn open(folder: &Path, settings: Settings) -> Result<Self, OpenError> {
        let folder = DataFolder::take(folder)?;
        let store = SqliteStore::open(folder.path())
            .map_err(|source| OpenError::Store { folder: folder.path().to_owned(), source })?;
        let readers = Arc::new(SqliteReaders::new(folder.path().to_owned()));
        let cleanup = (SqliteStore::cleanup(folder.path().to_owned()), KEEP_CHANGES);
        let mut engine = Self::on(Box::new(store), readers, cleanup, settings, usize::MAX)?;
        engine._folder = Some(folder);
        Ok(engine)
    }

    /// Becomes a node of a database, whose tables must be up to date.
    pub fn open_database(
        database: &PostgresSettings,
        settings: Settings,
    ) -> Result<Self, OpenError> {
        let postgres = Postgres::new(database).and_then(|postgres| {
            postgres.check_schema()?;
            Ok(postgres)
        });
        let postgres = postgres.map_err(|source| OpenError::Database {
            address: database.address.to_string(),
            source,
        })?;
        let readers = Arc::new(postgres.steady_readers(&database.scratch));
        let direct = readers.database();
        // Shops near that size may be searched in the database.
        let prefetch_limit = database.search_above - database.search_above / 5;
        let cleanup = (postgres.cleanup(), KEEP_CHANGES_OF_A_SHOP);
        let store = Box::new(postgres.store());
        let mut engine = Self::on(store, readers, cleanup, settings, prefetch_limit)?;
        engine.outlook = Some(postgres.outlook());
        let embedder = engine.embedder.as_deref();
        let (shops, sizes) = (Arc::clone(&engine.shops), Sizes::above(database.search_above));
        let large = LargeShops::start(postgres.clone(), direct, shops, embedder, sizes)?;
        engine.large = Some(Arc::new(large));
        engine._follower = Some(Follower::start(postgres, Arc::clone(&engine.shops))?);
        Ok(engine)
    }

    fn on(
        store: Box<dyn CatalogStore>,
        readers: Arc<dyn CatalogReads>,
        (cleanup, changes): (Box<dyn Cleanup>, u64),
        settings: Settings,
        prefetch_limit: usize,
    ) -> Result<Self, OpenError> {
        let retention = Retention { answers: settings.writer.remember_for, changes };
        let housekeeping = housekeeping::start(cleanup, Arc::clone(&settings.clock), retention)?;
        let model = settings.embedder.as_ref().map(|embedder| embedder.model().clone());
        let shops = Shops::new(readers.clone(), model, settings.index_memory)
            .with_prefetch_limit(prefetch_limit);
        let shops = Arc::new(shops);
        let loader = Arc::new(Loader::start(Arc::clone(&shops))?);
        let writer = Writer::start(
            store,
            Applier::start(Arc::clone(&shops), Some(Arc::clone(&loader)))?,
            settings.embedder.clone(),
            Arc::clone(&settings.clock),
            settings.writer,
        )?;
        let background = |embedder: &Arc<dyn Embedder>| {
            let (readers, embedder) = (Arc::clone(&readers), Arc::clone(embedder));
            Background::start(embedder, readers, writer.entrance(), writer.bell())
        };
        let improving = settings.embedder.as_ref().filter(|_| settings.background);
        let embedding = improving.map(background).transpose()?;
        let encoder = |embedder: &Arc<dyn Embedder>| {
            Arc::new(QueryEncoder::new(Arc::clone(embedder), settings.query_budget))
        };
        Ok(Self {
            readers,
            shops,
            loader,
            answers: Arc::new(Answers::new(settings.answer_memory)),
            queries: settings.embedder.as_ref().map(encoder),
            embedder: settings.embedder,
            _embedding: embedding,
            _housekeeping: housekeeping,
            writer,
            searches: Workers::new(settings.reader_threads, settings.reader_queue),
            reads: Workers::new(settings.reader_threads, settings.reader_queue),
            clock: settings.clock,
            random: settings.random,
            _follower: None,
            outlook: None,
            large: None,
            _folder: None,
        })
    }

    /// Who bears this opaque token, and the token's number.
    ///
    /// The store is asked each time, or has answered so short a while ago that whoever revokes a
    /// token in another process still waits for it to stop working.
    pub async fn authenticate(
        &self,
        token: &str,
    ) -> Result<Result<(Caller, u64), BadToken>, StoreError> {
        let (token, now) = (token.to_owned(), (self.clock)());
        self.look_up(move |readers| tokens::verify(readers, &token, now)).await
    }

    /// Asks the store for something small.
    async fn look_up<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn CatalogReads) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.readers.is_local() {
            // A small row of a file nearby is not worth a trip to another thread.
            return question(&*self.readers);
        }
        let readers = Arc::clone(&self.readers);
        let answered = tokio::task::spawn_blocking(move || question(&*readers)).await;
        answered.unwrap_or_else(|_| Err(StoreError::damaged("a read panicked")))
    }

    /// The last change of a shop that answers from now on show at the least.
    pub async fn seen(&self, shop: ShopId) -> Result<Seq, StoreError> {
        if self.shops.seen(shop).is_none() {
            self.look(shop).await?;
        }
        Ok(self.shops.seen(shop).unwrap_or_default())
    }

    /// Waits until answers show this change of the shop, if there is such a change: the
    /// store has every change before its number appears in a response.
    pub async fn wait_for(
        &self,
        shop: ShopId,
        seq: Seq,
        patience: Duration,
    ) -> Result<Awaited, StoreError> {
        let deadline = Instant::now() + patience;
        let mut progress = self.shops.progress();
        let is_seen = || self.shops.seen(shop) >= Some(seq);
        while !is_seen() {
            match timeout_at(deadline.into(), self.look(shop)).await {
                Ok(Ok(last)) if last < seq => return Ok(Awaited::NoSuchChange { last }),
                // The one node there is shows every change that it has answered.
                Ok(Ok(_)) if !self.readers.is_shared() => return Ok(Awaited::Seen),
                // One question that fails is no reason to give up: others ask too.
                Ok(Err(error)) if self.is_away() || !error.trouble().may_pass() => {
                    return Err(error);
                }
                _ => {}
            }
            let again = Instant::now() + LOOK_AGAIN;
            while !is_seen()
                && timeout_at(again.min(deadline).into(), progress.changed()).await.is_ok()
            {
            }
            if Instant::now() >= deadline {
                break;
            }
        }
        Ok(if is_seen() { Awaited::Seen } else { Awaited::NotInTime })
    }

    /// Asks the store how far a shop has come.
    async fn look(&self, shop: ShopId) -> Result<Seq, StoreError> {
        let shops = Arc::clone(&self.shops);
        if self.readers.is_local() {
            return shops.look(shop);
        }
        let looked = tokio::task::spawn_blocking(move || shops.look(shop)).await;
        looked.unwrap_or_else(|_| Err(StoreError::damaged("a read panicked")))
    }

    /// Whether there is a database that does not answer.
    pub fn is_away(&self) -> bool {
        self.outlook.as_ref().is_some_and(|outlook| outlook.is_lost())
    }

    /// How old answers may be, where the database does not confirm that they are up to date.
    pub fn age(&self) -> Option<Duration> {
        self.outlook.as_ref()?.age()
    }

    /// Creates products, all or none.
    pub async fn create(
        &self,
        pass: WritePass,
        drafts: Vec<Draft>,
        once: Option<Once>,
    ) -> Result<Created, EngineError> {
        let drafts = self.embedded(drafts).await?;
        self.write(Create { pass, drafts, once }).await
    }

    /// Makes the products' instant vectors here, so that the one writer need not.
    async fn embedded(
        &self,
        drafts: Vec<Draft>,
    ) -> Result<Vec<(Draft, Option<Embedding>)>, EngineError> {
        let Some(embedder) = self.embedder.clone() else {
            return Ok(drafts.into_iter().map(|draft| (draft, None)).collect());
        };
        let few = drafts.len() <= EMBEDDED_AT_ONCE;
        let embed = move || {
            let embed = |draft: Draft| {
                let (title, description) = (draft.title.as_str(), draft.description.as_str());
                let embedding = embedder.instant(Text::Product { title, description });
                (draft, embedding)
            };
            drafts.into_iter().map(embed).collect::<Vec<_>>()
        };
        if few {
            return Ok(embed());
        }
        match tokio::task::spawn_blocking(embed).await {
            Ok(embedded) => Ok(embedded),
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The process is ending.
                Err(_) => Err(Overloaded.into()),
            },
        }
    }

    /// Updates products in order; each succeeds or is refused on its own.
    pub async fn update(
        &self,
        pass: WritePass,
        edits: Vec<Edit>,
    ) -> Result<Vec<Result<Product, Refusal>>, EngineError> {
        self.write(Update { pass, edits }).await
    }

    /// Deletes products; each succeeds or is refused on its own.
    pub async fn delete(
        &self,
        pass: WritePass,
        ids: Vec<ProductId>,
        precondition: Precondition,
    ) -> Result<Vec<Result<(), Refusal>>, EngineError> {
        self.write(Delete { pass, ids, precondition }).await
    }

    /// One product.
    pub async fn product(
        &self,
        pass: ReadPass,
        id: ProductId,
    ) -> Result<Option<Product>, EngineError> {
        self.read(move |readers| readers.product(&pass, id)).await
    }

    /// The products with these ids, in this order; unknown ones are left out.
    pub async fn products(
        &self,
        pass: ReadPass,
        ids: Vec<ProductId>,
    ) -> Result<Vec<Product>, EngineError> {
        self.read(move |readers| readers.products(&pass, &ids)).await
    }

    /// A page of the catalog, by ascending id.
    pub async fn page(
        &self,
        pass: ReadPass,
        limit: usize,
        offset: usize,
    ) -> Result<Page, EngineError> {
        self.read(move |readers| readers.page(&pass, limit, offset)).await
    }

    /// How many products the shop has.
    pub async fn counts(&self, pass: ReadPass) -> Result<ShopCounts, EngineError> {
        self.read(move |readers| readers.counts(pass.shop())).await
    }

    /// The products that answer a query, best first.
    pub async fn search(
        &self,
        pass: ReadPass,
        request: SearchRequest,
    ) -> Result<Arc<SearchResults>, EngineError> {
        // Here and now, without a trip to another thread, if it was asked before.
        if let Some(index) = self.shops.in_memory(pass.shop()) {
            let question = Question::of(index.snapshot().id(), pass.visibility(), &request);
            if let Some(answer) = question.and_then(|question| self.answers.get(&question)) {
                return Ok(answer);
            }
        }
        let (queries, searches) = (self.queries.clone(), self.searches.clone());
        if let Some(large) = self.large_shops(pass.shop()) {
            let request = request.clone();
            let found = self.run_search(move |_| {
                let reader = QueryReader::new(queries.as_deref(), searches.busy());
                large.search(&reader, &pass, &request)
            });
            if let Some(answer) = found.await? {
                return Ok(Arc::new(answer));
            }
        }
        // Before a search has a thread: others go on meanwhile.
        let index = self.loader.index(pass.shop()).await?;
        let answers = Arc::clone(&self.answers);
        let (queries, searches) = (self.queries.clone(), self.searches.clone());
        self.run_search(move |readers| {
            let snapshot = index.snapshot();
            let reader = QueryReader::new(queries.as_deref(), searches.busy());
            let reader = reader.beside_idle(searches.idle_cores());
            let answer = search::search(&snapshot, readers, &reader, &pass, &request)?;
            let answer = Arc::new(answer);
            // What was answered in a hurry may be answered better next time.
            let question = Question::of(snapshot.id(), pass.visibility(), &request);
            if let Some(question) = question.filter(|_| !reader.was_hurried()) {
                answers.put(question, &answer);
            }
            Ok(answer)
        })
        .await
    }

    /// The products that are like another one, nearest first; `None` if there is no such product
    /// or the reader does not get to see it.
    pub async fn similar(
        &self,
        pass: ReadPass,
        request: SimilarRequest,
    ) -> Result<Option<Vec<Product>>, EngineError> {
        if let Some(large) = self.large_shops(pass.shop()) {
            let found = self.run_search(move |_| large.similar(&pass, &request));
            if let Some(answer) = found.await? {
                return Ok(answer);
            }
        }
        let index = self.loader.index(pass.shop()).await?;
        self.run_search(move |readers| {
            similar::similar(&index.snapshot(), readers, &pass, &request)
        })
        .await
    }

    /// Issues a token of the administered shop.
    pub async fn issue_token(
        &self,
        pass: AdminPass,
        role: Role,
        name: String,
        expires_at: Option<Timestamp>,
    ) -> Result<IssuedToken, EngineError> {
        let secret = Secret::generate(&self.random);
        self.write(IssueToken { pass, role, name, expires_at, secret }).await
    }

    /// The tokens of the administered shop.
    pub async fn tokens(&self, pass: AdminPass) -> Result<Vec<TokenRow>, EngineError> {
        self.read(move |readers| readers.tokens(Some(pass.shop()))).await
    }

    /// Revokes a token of the administered shop; `false` if there is none that still works.
    pub async fn revoke_token(&self, pass: AdminPass, id: u64) -> Result<bool, EngineError> {
        let revoked = self.write(RevokeToken { pass, id }).await?;
        if self.readers.is_shared() {
            // Until then nodes may go by what they know of it.
            tokio::time::sleep(TOKEN_LEASE).await;
        }
        Ok(revoked)
    }

    /// Has something written. While the database is away nobody waits for it in vain.
    async fn write<W: Write>(&self, write: W) -> Result<W::Outcome, EngineError> {
        if self.is_away() {
            return Err(WriteError::Store(StoreError::away("it does not answer")).into());
        }
        Ok(self.writer.submit(write).await?)
    }

    pub(crate) fn readers(&self) -> &dyn CatalogReads {
        &*self.readers
    }

    pub(crate) fn shops(&self) -> &Shops {
        &self.shops
    }

    pub(crate) fn large(&self) -> Option<&LargeShops> {
        self.large.as_deref()
    }

    /// Whether the store can be read right now, and the writer is there.
    pub async fn check(&self) -> Result<(), EngineError> {
        self.check_writer()?;
        Ok(self.look_up(|readers| readers.check()).await?)
    }

    /// Whether the writer is there. If not, only a restart helps.
    pub fn check_writer(&self) -> Result<(), EngineError> {
        Ok(self.writer.check()?)
    }

    /// What the engine holds right now.
    pub fn figures(&self) -> Figures {
        let held = self.shops.holdings();
        Figures {
            shops: held.shops,
            products: held.products,
            index_bytes: held.bytes,
            answer_bytes: self.answers.bytes(),
            writes_waiting: self.writer.waiting(),
        }
    }

    /// Whether a model tells what texts mean.
    pub fn has_model(&self) -> bool {
        self.embedder.is_some()
    }

    /// How many products still wait for the best vector that the model can make of them; none
    /// without a model.
    pub fn waiting_for_vectors(&self) -> Result<usize, StoreError> {
        let Some(embedder) = &self.embedder else { return Ok(0) };
        self.readers.unembedded_count(embedder.model().as_str(), Encoder::Deep)
    }

    /// Whether a shop is searched where it will be: a large one is got ready in the database
    /// meanwhile.
    pub fn has_settled(&self, shop: ShopId) -> Result<bool, StoreError> {
        let Some(large) = &self.large else { return Ok(true) };
        Ok(large.has_settled(shop, self.readers.counts(shop)?.products))
    }

    /// The time, as the engine's writes bear it.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Those who search a shop in the database, if it may be there.
    fn large_shops(&self, shop: ShopId) -> Option<Arc<LargeShops>> {
        self.large.clone().filter(|large| large.may_hold(shop))
    }

    /// Runs a search on a thread, when its turn comes.
    async fn run_search<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn CatalogReads) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let readers = Arc::clone(&self.readers);
        Ok(self.searches.run(move || work(&*readers)).await??)
    }

    /// Reads something small from the store, which does not wait for searches.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn CatalogReads) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let readers = Arc::clone(&self.readers);
        Ok(self.reads.run(move || work(&*readers)).await??)
    }
}
