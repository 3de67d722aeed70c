//! What is in the database, whether or not it is there? Reads that go on while it is away, from
//! what was kept of it: the rows of the shops in memory, and the tokens of late.
//!
//! Lists and single products come from the database for as long as it answers, so that they show
//! the last commit. What an index found is shown as the index knows it, from nearby.

use std::{ops::ControlFlow, path::Path, sync::Arc, time::Instant};

use catalog::{
    access::ReadPass,
    change::Seq,
    product::{Product, ProductId, ShopId},
};

pub use super::known::TOKEN_LEASE;
use super::{
    super::{
        AppliedChange, ChangeReads, EmbeddingQueue, ErrorChain, FeedResult, FullScan, IndexSource,
        Page, Position, ProductReads, ScannedProduct, SearchReads, ShopCounts, StoreError,
        StoreErrorKind, StoreInfo, TokenReads, TokenRow, Unembedded, VectorRow,
    },
    known::KnownTokens,
    nearby::Nearby,
    outlook::Outlook,
    reader::PostgresReaders,
    rows,
};
use crate::embed::{Encoder, ModelId};

/// Readers that do not depend on the database from one moment to the next.
pub struct SteadyReaders {
    /// Connections for searches, loads and what happens in the background.
    database: Arc<PostgresReaders>,
    /// Connections for single products, pages and counts, which never wait for a search.
    points: PostgresReaders,
    /// A connection for tokens alone: who may ask must not depend on how much is asked.
    desk: PostgresReaders,
    outlook: Arc<Outlook>,
    /// Missing where the scratch folder cannot be written.
    nearby: Option<Arc<Nearby>>,
    tokens: KnownTokens,
}

impl SteadyReaders {
    pub(super) fn new(
        database: PostgresReaders,
        points: PostgresReaders,
        desk: PostgresReaders,
        outlook: Arc<Outlook>,
        scratch: &Path,
        readers: usize,
    ) -> Self {
        let nearby = Nearby::new(scratch, readers).inspect_err(|error| {
            let error = ErrorChain(error);
            tracing::warn!(folder = %scratch.display(), %error,
                "no products can be kept nearby; searches will fail while the database is away");
        });
        Self {
            database: Arc::new(database),
            points,
            desk,
            outlook,
            nearby: nearby.ok().map(Arc::new),
            tokens: KnownTokens::new(),
        }
    }

    /// The connections for searches, without what is kept.
    pub(crate) fn database(&self) -> Arc<PostgresReaders> {
        Arc::clone(&self.database)
    }

    /// What is nearby. StoreErrorKind with it is no trouble as long as there is a database.
    fn at_hand<T>(&self, ask: impl FnOnce(&Nearby) -> Result<Option<T>, StoreError>) -> Option<T> {
        ask(self.nearby.as_ref()?).unwrap_or_else(|error| {
            let error = ErrorChain(&error);
            tracing::warn!(%error, "what is kept nearby cannot be read");
            None
        })
    }

    /// What the database says or, while it does not, what is at hand.
    fn newest<T>(
        &self,
        ask: impl FnOnce(&PostgresReaders) -> Result<T, StoreError>,
        at_hand: impl Fn() -> Option<T>,
    ) -> Result<T, StoreError> {
        if self.outlook.is_doubtful()
            && let Some(kept) = at_hand()
        {
            return Ok(kept);
        }
        match ask(&self.points) {
            Err(error) if is_silence(&error) => {
                self.outlook.doubt();
                at_hand().ok_or(error)
            }
            answered => answered,
        }
    }
}

/// Whether there was no answer, rather than a bad one.
fn is_silence(error: &StoreError) -> bool {
    matches!(
        error.kind(),
        StoreErrorKind::Unavailable | StoreErrorKind::Busy | StoreErrorKind::Conflict
    )
}

impl StoreInfo for SteadyReaders {
    fn is_shared(&self) -> bool {
        self.database.is_shared()
    }

    fn is_local(&self) -> bool {
        self.database.is_local()
    }

    /// While the database is away, this is good enough as long as there is something to show.
    fn check(&self) -> Result<(), StoreError> {
        let something =
            || self.nearby.as_ref().is_some_and(|nearby| nearby.holds_any()).then_some(());
        self.newest(StoreInfo::check, something)
    }

    fn shops(&self) -> Result<Vec<ShopCounts>, StoreError> {
        self.database.shops()
    }

    fn counts(&self, shop: ShopId) -> Result<ShopCounts, StoreError> {
        self.newest(|database| database.counts(shop), || self.at_hand(|nearby| nearby.counts(shop)))
    }
}

impl ProductReads for SteadyReaders {
    fn products(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        self.newest(
            |database| database.products(pass, ids),
            || self.at_hand(|nearby| nearby.products(pass, ids)),
        )
    }

    fn page(&self, pass: &ReadPass, limit: usize, offset: usize) -> Result<Page, StoreError> {
        self.newest(
            |database| database.page(pass, limit, offset),
            || self.at_hand(|nearby| nearby.page(pass, limit, offset)),
        )
    }
}

impl FullScan for SteadyReaders {
    fn for_each_product(
        &self,
        pass: &ReadPass,
        visit: &mut dyn FnMut(Product) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.database.for_each_product(pass, visit)
    }

    fn scan_vectors(
        &self,
        shop: ShopId,
        visit: &mut dyn FnMut(VectorRow),
    ) -> Result<(), StoreError> {
        self.database.scan_vectors(shop, visit)
    }
}

impl SearchReads for SteadyReaders {
    fn hits(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        match self.at_hand(|nearby| nearby.products(pass, ids)) {
            Some(kept) => Ok(kept),
            None => self.database.products(pass, ids),
        }
    }

    fn rejected_by_text(
        &self,
        shop: ShopId,
        ids: &[ProductId],
        allowed: &dyn Fn(&str, &str) -> bool,
    ) -> Result<Vec<ProductId>, StoreError> {
        match self.at_hand(|nearby| nearby.refused(shop, ids, allowed)) {
            Some(refused) => Ok(refused),
            None => self.database.rejected_by_text(shop, ids, allowed),
        }
    }
}

impl ChangeReads for SteadyReaders {
    fn changes_since(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        since: Position,
    ) -> Result<FeedResult, StoreError> {
        self.database.changes_since(shop, model, since)
    }

    fn positions(&self, shops: &[ShopId]) -> Result<Vec<(ShopId, Position)>, StoreError> {
        self.database.positions(shops)
    }

    fn last_change(&self, shop: ShopId) -> Result<Seq, StoreError> {
        self.database.last_change(shop)
    }
}

impl IndexSource for SteadyReaders {
    fn scan(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        visit: &mut dyn FnMut(ScannedProduct<'_>),
    ) -> Result<Position, StoreError> {
        let Some(nearby) = &self.nearby else { return self.database.scan(shop, model, visit) };
        let mut filling = nearby.fill(shop);
        let read_at = self.database.scan_rows(shop, model, &mut |scanned, row| {
            filling.add(rows::read_raw(row)?);
            visit(scanned);
            Ok(())
        })?;
        filling.finish();
        Ok(read_at)
    }

    fn replicate(&self, shop: ShopId, changes: &[&AppliedChange]) {
        if let Some(nearby) = &self.nearby {
            nearby.keep_up(shop, changes);
        }
    }

    fn drop_replica(&self, shop: ShopId) {
        if let Some(nearby) = &self.nearby {
            nearby.let_go(shop);
        }
    }
}

impl TokenReads for SteadyReaders {
    fn token(&self, id: u64) -> Result<Option<TokenRow>, StoreError> {
        if let Some(row) = self.tokens.get(id) {
            return Ok(Some(row));
        }
        let in_need = || self.tokens.get_in_need(id).map(Some);
        if self.outlook.is_lost()
            && let Some(known) = in_need()
        {
            return Ok(known);
        }
        let asked = Instant::now();
        match self.desk.token(id) {
            Ok(row) => {
                self.tokens.learn(id, row.as_ref(), asked);
                Ok(row)
            }
            // Not where it is merely slow: then a token that was revoked would work for longer.
            Err(error) if error.kind() == StoreErrorKind::Unavailable => {
                self.outlook.doubt();
                in_need().ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    fn tokens(&self, shop: Option<ShopId>) -> Result<Vec<TokenRow>, StoreError> {
        self.database.tokens(shop)
    }
}

impl EmbeddingQueue for SteadyReaders {
    fn lease_unembedded(
        &self,
        model: &str,
        encoder: Encoder,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        self.database.lease_unembedded(model, encoder, limit)
    }

    fn unembedded_count(&self, model: &str, encoder: Encoder) -> Result<usize, StoreError> {
        self.database.unembedded_count(model, encoder)
    }
}
