//! Reads that continue during an outage of the database, from the local replica and the token
//! cache.
//!
//! While the database responds, lists and single products are read from it, so that they show the
//! last commit. The rows of search results always come from the local replica: it shows them as the
//! index does.

use std::{io, ops::ControlFlow, sync::Arc};

use catalog::product::{Product, ProductId, ShopId, access::ReadPass, change::Seq, key::Key};
use embed::{Encoder, ModelId};
use store::{
    Availability, ChangeReads, ChangesExpired, ChangesPage, EmbeddingQueue, ErrorChain, FeedResult,
    FullScan, IndexSource, Page, Position, Postgres, PostgresReaders, ProductReads, ScannedProduct,
    SearchReads, ShopCounts, StoreError, StoreErrorKind, StoreInfo, TokenBatch, TokenLookup,
    TokenPage, TokenReads, TokenRow, Unembedded, VectorRow,
};

use super::{local_replica::LocalReplica, token_lookups::TokenLookups};

/// Reads of a database that fall back to what this node holds of it.
pub(crate) struct FailoverReaders {
    /// Connections for searches, loads and background work.
    database: Arc<PostgresReaders>,
    /// Connections for single products, pages and counts, which never wait for a search.
    point_reads: PostgresReaders,
    /// Tokens, on connections of their own, so that load does not delay authentication.
    tokens: TokenLookups,
    availability: Arc<Availability>,
    replica: Option<Arc<LocalReplica>>,
}

impl FailoverReaders {
    /// Reads of `postgres`. The replica is filled and updated by the
    /// [registry](super::ShopRegistry), which must share it.
    pub(crate) fn start(
        postgres: &Postgres,
        replica: Option<Arc<LocalReplica>>,
    ) -> io::Result<Self> {
        // Searches and loads may hold connections for long, so they get half of them.
        let for_points = (postgres.connections() / 2).max(1);
        let for_searches = (postgres.connections() - for_points).max(1);
        Ok(Self {
            database: Arc::new(postgres.readers_with(for_searches)),
            point_reads: postgres.readers_with(for_points),
            tokens: TokenLookups::start(postgres)?,
            availability: postgres.availability(),
            replica,
        })
    }

    /// The connections for searches, without failover.
    pub(crate) fn database(&self) -> Arc<PostgresReaders> {
        Arc::clone(&self.database)
    }

    /// Reads the local replica; `None` if it cannot serve the read.
    fn read_replica<T>(
        &self,
        read: impl FnOnce(&LocalReplica) -> Result<Option<T>, StoreError>,
    ) -> Option<T> {
        read(self.replica.as_ref()?).unwrap_or_else(|error| {
            let error = ErrorChain(&error);
            tracing::warn!(%error, "local replica cannot be read");
            None
        })
    }

    /// Reads the database, or the fallback while the database does not respond.
    fn with_fallback<T>(
        &self,
        read: impl FnOnce(&PostgresReaders) -> Result<T, StoreError>,
        fallback: impl Fn() -> Option<T>,
    ) -> Result<T, StoreError> {
        if self.availability.is_suspect()
            && let Some(local) = fallback()
        {
            return Ok(local);
        }
        match read(&self.point_reads) {
            Err(error) if is_missing_reply(&error) => {
                self.availability.suspect();
                fallback().ok_or(error)
            }
            replied => replied,
        }
    }
}

/// Whether the database did not reply, rather than reply with an error.
fn is_missing_reply(error: &StoreError) -> bool {
    matches!(
        error.kind(),
        StoreErrorKind::Unavailable | StoreErrorKind::Busy | StoreErrorKind::Conflict
    )
}

impl StoreInfo for FailoverReaders {
    fn is_shared(&self) -> bool {
        self.database.is_shared()
    }

    fn is_local(&self) -> bool {
        self.database.is_local()
    }

    /// During an outage, the node is usable as long as it has a copy of any shop.
    fn check(&self) -> Result<(), StoreError> {
        let has_copies = || self.replica.as_ref().filter(|replica| !replica.is_empty()).map(|_| ());
        self.with_fallback(StoreInfo::check, has_copies)
    }

    fn shops(&self) -> Result<Vec<ShopCounts>, StoreError> {
        self.database.shops()
    }

    fn counts(&self, shop: ShopId) -> Result<ShopCounts, StoreError> {
        self.with_fallback(
            |database| database.counts(shop),
            || self.read_replica(|replica| replica.counts(shop)),
        )
    }
}

impl ProductReads for FailoverReaders {
    fn products(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        self.with_fallback(
            |database| database.products(pass, ids),
            || self.read_replica(|replica| replica.products(pass, ids)),
        )
    }

    fn products_by_key(&self, pass: &ReadPass, keys: &[Key]) -> Result<Vec<Product>, StoreError> {
        self.with_fallback(
            |database| database.products_by_key(pass, keys),
            || self.read_replica(|replica| replica.products_by_key(pass, keys)),
        )
    }

    fn changes(
        &self,
        shop: ShopId,
        since: Seq,
        limit: usize,
    ) -> Result<Result<ChangesPage, ChangesExpired>, StoreError> {
        self.point_reads.changes(shop, since, limit)
    }

    fn page(&self, pass: &ReadPass, limit: usize, offset: usize) -> Result<Page, StoreError> {
        self.with_fallback(
            |database| database.page(pass, limit, offset),
            || self.read_replica(|replica| replica.page(pass, limit, offset)),
        )
    }
}

impl FullScan for FailoverReaders {
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

impl SearchReads for FailoverReaders {
    fn hits(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        match self.read_replica(|replica| replica.products(pass, ids)) {
            Some(products) => Ok(products),
            None => self.database.products(pass, ids),
        }
    }

    fn rejected_by_text(
        &self,
        shop: ShopId,
        ids: &[ProductId],
        allowed: &dyn Fn(&str, &str, &str) -> bool,
    ) -> Result<Vec<ProductId>, StoreError> {
        match self.read_replica(|replica| replica.rejected_by_text(shop, ids, allowed)) {
            Some(rejected) => Ok(rejected),
            None => self.database.rejected_by_text(shop, ids, allowed),
        }
    }
}

impl ChangeReads for FailoverReaders {
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

impl IndexSource for FailoverReaders {
    fn scan(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        visit: &mut dyn FnMut(ScannedProduct<'_>),
    ) -> Result<Position, StoreError> {
        self.database.scan(shop, model, visit)
    }
}

impl TokenReads for FailoverReaders {
    fn token(&self, id: u64) -> Result<Option<TokenRow>, StoreError> {
        match self.find_token(id) {
            TokenLookup::Done(found) => found,
            TokenLookup::Waiting(found) => {
                found.blocking_recv().unwrap_or_else(|_| Err(StoreError::lookup_ended()))
            }
        }
    }

    fn find_token(&self, id: u64) -> TokenLookup {
        self.tokens.find(id)
    }

    fn is_unknown_token(&self, id: u64) -> bool {
        self.tokens.is_unknown(id)
    }

    fn token_issued(&self, id: u64) {
        self.tokens.issued(id);
    }

    fn token_batch(
        &self,
        shop: Option<ShopId>,
        after: u64,
        limit: usize,
    ) -> Result<TokenBatch, StoreError> {
        self.database.token_batch(shop, after, limit)
    }

    fn token_page(
        &self,
        shop: ShopId,
        limit: usize,
        offset: usize,
    ) -> Result<TokenPage, StoreError> {
        self.database.token_page(shop, limit, offset)
    }
}

impl EmbeddingQueue for FailoverReaders {
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
