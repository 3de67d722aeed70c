//! Administration of tokens by the operator, directly on a store, whether or not a server runs on
//! it.

use std::{ops::ControlFlow, path::Path, sync::Arc, thread};

use catalog::product::{
    ShopId,
    access::{Operator, Role},
};
use jiff::Timestamp;
use store::{
    CatalogStore, DataFolder, FolderInUse, Postgres, PostgresSettings, SqliteReaders, SqliteStore,
    StoreError, TokenReads, TokenRow,
};

use crate::{
    replication::TOKEN_LEASE,
    system::RandomSource,
    tokens::{IssuedToken, Secret, TooManyTokens},
    writes::{IssueToken, RevokeToken, TxContext, Write},
};

/// Issues, lists and revokes the tokens of a store.
pub struct TokenAdmin {
    store: Box<dyn CatalogStore>,
    readers: Arc<dyn TokenReads>,
}

/// Why the store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum TokenAdminError {
    /// The folder does not exist and cannot be created.
    #[error(transparent)]
    Folder(#[from] FolderInUse),
    /// The database could not be opened.
    #[error("the database cannot be used")]
    Store(#[from] StoreError),
}

impl TokenAdmin {
    /// Opens a data folder. A server may be running on it: its schema is not migrated then.
    pub fn open(folder: &Path) -> Result<Self, TokenAdminError> {
        DataFolder::prepare(folder)?;
        let store = SqliteStore::open_beside(folder)?;
        let readers = Arc::new(SqliteReaders::new(folder.to_owned()));
        Ok(Self { store: Box::new(store), readers })
    }

    /// Connects to a database. With `create`, an empty database gets its tables; an existing schema
    /// is not migrated.
    pub fn open_database(
        database: &PostgresSettings,
        create: bool,
    ) -> Result<Self, TokenAdminError> {
        let postgres = Postgres::new(database)?;
        if create {
            postgres.create_tables()?;
        }
        postgres.check_schema()?;
        Ok(Self { store: Box::new(postgres.store()), readers: Arc::new(postgres.readers()) })
    }

    /// Issues a token for any shop and role.
    pub fn issue(
        &mut self,
        shop: ShopId,
        role: Role,
        name: &str,
        expires_at: Option<Timestamp>,
        now: Timestamp,
        random: &RandomSource,
    ) -> Result<Result<IssuedToken, TooManyTokens>, StoreError> {
        self.run(
            &IssueToken {
                pass: Operator.may_administer(shop),
                role,
                name: name.to_owned(),
                expires_at,
                secret: Secret::generate(random),
            },
            now,
        )
    }

    /// Calls `visit` with every token of one shop or of all, by ascending id, until it breaks.
    pub fn for_each(
        &self,
        shop: Option<ShopId>,
        visit: &mut dyn FnMut(TokenRow) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.readers.for_each_token(shop, visit)
    }

    /// Revokes a token of any shop; `false` if it does not exist or was revoked before.
    pub fn revoke(&mut self, id: u64, now: Timestamp) -> Result<bool, StoreError> {
        let Some(row) = self.readers.token(id)? else { return Ok(false) };
        let revoked =
            self.run(&RevokeToken { pass: Operator.may_administer(row.shop), id }, now)?;
        if self.readers.is_shared() {
            // Other nodes may accept the token from their cache until then.
            thread::sleep(TOKEN_LEASE);
        }
        Ok(revoked)
    }

    fn run<W: Write>(&mut self, write: &W, now: Timestamp) -> Result<W::Outcome, StoreError> {
        let mut transaction = self.store.begin()?;
        for shop in write.shops() {
            transaction.lock_shop(shop)?;
        }
        let outcome = write.run(&mut transaction, TxContext { now, responses_since: now })?;
        transaction.commit()?;
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use catalog::product::access::Caller;
    use store::{NewToken, WriteTransaction};

    use super::*;
    use crate::tokens::{BadToken, MAX_WORKING_TOKENS, parse, verify};

    fn counting() -> RandomSource {
        Arc::new(|bytes| bytes.iter_mut().enumerate().for_each(|(i, b)| *b = i as u8))
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_token_is_accepted_until_it_expires_or_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let mut admin = TokenAdmin::open(folder.path()).unwrap();
        let shop = ShopId::new(7).unwrap();
        let issued =
            admin.issue(shop, Role::Editor, "ci", Some(at(100)), at(0), &counting()).unwrap();
        let issued = issued.unwrap();
        let check = |admin: &TokenAdmin, token: &str, second| {
            let (id, secret) = parse(token).unwrap();
            let row = admin.readers.token(id).unwrap();
            verify(row.as_ref(), &secret, at(second)).map(|(caller, _)| caller)
        };
        assert_eq!(check(&admin, &issued.token, 99), Ok(Caller::new(shop, Role::Editor)));
        assert_eq!(check(&admin, &issued.token, 100), Err(BadToken::Expired));
        let forged = issued.token.replace("shk_1_AA", "shk_1_AB");
        assert_eq!(check(&admin, &forged, 0), Err(BadToken::Invalid));
        assert!(admin.revoke(issued.id, at(5)).unwrap());
        assert!(!admin.revoke(issued.id, at(6)).unwrap());
        assert_eq!(check(&admin, &issued.token, 50), Err(BadToken::Invalid));
    }

    #[test]
    fn a_shop_has_a_limited_number_of_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let mut admin = TokenAdmin::open(folder.path()).unwrap();
        let shop = ShopId::new(7).unwrap();
        let mut transaction = admin.store.begin().unwrap();
        let insert = |transaction: &mut WriteTransaction<'_>, expires_at| {
            let (role, name, secret_hash, created_at) = (Role::Viewer, "", &[1][..], at(0));
            let token = NewToken { shop, role, name, secret_hash, created_at, expires_at };
            transaction.insert_token(&token).unwrap()
        };
        let first = insert(&mut transaction, Some(at(50)));
        (2..MAX_WORKING_TOKENS).for_each(|_| _ = insert(&mut transaction, None));
        transaction.commit().unwrap();
        let mut issue = |of, second| {
            let shop = ShopId::new(of).unwrap();
            let issued = admin.issue(shop, Role::Viewer, "", None, at(second), &counting());
            issued.unwrap().map(|issued| issued.id).ok()
        };
        let last = issue(7, 1).unwrap();
        assert_eq!(issue(7, 2), None);
        assert!(issue(8, 2).is_some());
        assert_eq!(issue(7, 49), None);
        assert!(issue(7, 50).is_some(), "one has expired");
        assert_eq!(issue(7, 51), None);
        assert!(admin.revoke(last, at(52)).unwrap());
        let issued = admin.issue(shop, Role::Viewer, "", None, at(53), &counting());
        assert!(issued.unwrap().is_ok());
        // Those that no longer work are listed until they are removed.
        let mut listed = Vec::new();
        let visit = &mut |row: TokenRow| {
            listed.push(row.id);
            ControlFlow::Continue(())
        };
        admin.for_each(Some(shop), visit).unwrap();
        assert_eq!((listed.len(), listed[0]), (MAX_WORKING_TOKENS + 2, first));
        assert!(listed.is_sorted() && listed.contains(&last));
    }
}
