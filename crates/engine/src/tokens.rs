//! What is a token, and is this one good?
//!
//! A token reads `shk_<number>_<secret>`: the number finds its row, the secret is 256 random
//! bits of which the store keeps only a SHA-256 digest. The digest of a secret with that much
//! entropy cannot be searched backwards, so no slow password hash is needed.

use std::{fmt, path::Path, sync::Arc, thread};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use catalog::{
    access::{AdminPass, Caller, Role},
    product::ShopId,
};
use jiff::Timestamp;
use ring::digest;
use subtle::ConstantTimeEq;

use crate::{
    store::{
        CatalogStore, DataFolder, FolderInUse, Postgres, PostgresSettings, SqliteReaders,
        SqliteStore, StoreError, TOKEN_LEASE, TokenReads, TokenRow,
    },
    writes::{IssueToken, Moment, RevokeToken, Write},
};

/// What every opaque token begins with, so that leaked ones can be recognised.
pub const PREFIX: &str = "shk_";
/// The longest name of a token, in characters.
pub const MAX_NAME_CHARS: usize = 200;

const SECRET_BYTES: usize = 32;

/// Fills a buffer with unpredictable bytes; handed in from the edge.
pub type RandomSource = Arc<dyn Fn(&mut [u8]) + Send + Sync>;

/// The secret part of a token.
#[derive(Clone)]
pub struct Secret([u8; SECRET_BYTES]);

impl Secret {
    /// A new secret.
    pub fn generate(random: &RandomSource) -> Self {
        let mut bytes = [0; SECRET_BYTES];
        random(&mut bytes);
        Self(bytes)
    }

    pub(crate) fn hash(&self) -> Vec<u8> {
        digest::digest(&digest::SHA256, &self.0).as_ref().to_vec()
    }

    pub(crate) fn as_token(&self, id: u64) -> String {
        format!("{PREFIX}{id}_{}", URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A token that was just issued: the only time its text is seen.
pub struct IssuedToken {
    /// Its number.
    pub id: u64,
    /// The token itself.
    pub token: String,
    /// The shop it belongs to.
    pub shop: ShopId,
    /// What it lets its bearer do.
    pub role: Role,
    /// What its owner called it.
    pub name: String,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it stops working, if ever.
    pub expires_at: Option<Timestamp>,
}

/// Why a token was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadToken {
    /// Not one of ours, or revoked.
    Invalid,
    /// Its time is over.
    Expired,
}

/// A token's number and secret as its text says them.
fn parse(token: &str) -> Option<(u64, Secret)> {
    let (id, secret) = token.strip_prefix(PREFIX)?.split_once('_')?;
    let bytes = URL_SAFE_NO_PAD.decode(secret).ok()?;
    Some((id.parse().ok()?, Secret(bytes.try_into().ok()?)))
}

/// Whether a text claims to be one of our opaque tokens.
pub fn looks_like_ours(token: &str) -> bool {
    token.starts_with(PREFIX)
}

/// Who bears this token, by the row the store has for it at this moment.
pub(crate) fn verify(
    readers: &dyn TokenReads,
    token: &str,
    now: Timestamp,
) -> Result<Result<(Caller, u64), BadToken>, StoreError> {
    let Some((id, secret)) = parse(token) else { return Ok(Err(BadToken::Invalid)) };
    let Some(row) = readers.token(id)? else { return Ok(Err(BadToken::Invalid)) };
    Ok(judge(&row, &secret, now).map(|()| (Caller::new(row.shop, row.role), id)))
}

fn judge(row: &TokenRow, secret: &Secret, now: Timestamp) -> Result<(), BadToken> {
    if !bool::from(row.secret_hash.ct_eq(&secret.hash())) {
        return Err(BadToken::Invalid);
    }
    if row.revoked_at.is_some() {
        return Err(BadToken::Invalid);
    }
    match row.expires_at {
        Some(end) if end <= now => Err(BadToken::Expired),
        _ => Ok(()),
    }
}

/// The operator's own hands on a store's tokens, whether or not a server runs on it.
pub struct TokenDesk {
    store: Box<dyn CatalogStore>,
    readers: Arc<dyn TokenReads>,
}

/// The tokens could not be reached.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// The folder is not there and cannot be made.
    #[error(transparent)]
    Folder(#[from] FolderInUse),
    /// The database refused.
    #[error("the database cannot be used")]
    Store(#[from] StoreError),
}

impl TokenDesk {
    /// Opens the folder's database beside a server that may be running on it, whose tables are
    /// left alone.
    pub fn open(folder: &Path) -> Result<Self, DeskError> {
        DataFolder::prepare(folder)?;
        let store = SqliteStore::open_beside(folder)?;
        let readers = Arc::new(SqliteReaders::new(folder.to_owned()));
        Ok(Self { store: Box::new(store), readers })
    }

    /// Connects to a database beside the nodes that use it. With `create`, an empty database gets
    /// its tables; existing ones are left alone.
    pub fn open_database(database: &PostgresSettings, create: bool) -> Result<Self, DeskError> {
        let postgres = Postgres::new(database)?;
        if create {
            postgres.create_tables()?;
        }
        postgres.check_schema()?;
        Ok(Self { store: Box::new(postgres.store()), readers: Arc::new(postgres.readers()) })
    }

    /// Issues a token for any role of any shop.
    pub fn issue(
        &mut self,
        shop: ShopId,
        role: Role,
        name: &str,
        expires_at: Option<Timestamp>,
        now: Timestamp,
        random: &RandomSource,
    ) -> Result<IssuedToken, StoreError> {
        self.run(
            &IssueToken {
                pass: AdminPass::of_operator(shop),
                role,
                name: name.to_owned(),
                expires_at,
                secret: Secret::generate(random),
            },
            now,
        )
    }

    /// The tokens of one shop or of all.
    pub fn list(&self, shop: Option<ShopId>) -> Result<Vec<TokenRow>, StoreError> {
        self.readers.tokens(shop)
    }

    /// Revokes a token of any shop; `false` if there is none that still works.
    pub fn revoke(&mut self, id: u64, now: Timestamp) -> Result<bool, StoreError> {
        let Some(row) = self.readers.token(id)? else { return Ok(false) };
        let revoked = self.run(&RevokeToken { pass: AdminPass::of_operator(row.shop), id }, now)?;
        if self.readers.is_shared() {
            // Until then nodes may go by what they know of it.
            thread::sleep(TOKEN_LEASE);
        }
        Ok(revoked)
    }

    fn run<W: Write>(&mut self, write: &W, now: Timestamp) -> Result<W::Outcome, StoreError> {
        let mut transaction = self.store.begin()?;
        let outcome = write.run(&mut transaction, Moment { now, remember_since: now })?;
        transaction.commit()?;
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting() -> RandomSource {
        Arc::new(|bytes| bytes.iter_mut().enumerate().for_each(|(i, b)| *b = i as u8))
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_token_reads_what_it_writes() {
        let secret = Secret::generate(&counting());
        let token = secret.as_token(17);
        assert!(token.starts_with("shk_17_"));
        let (id, read) = parse(&token).unwrap();
        assert_eq!((id, read.0), (17, secret.0));
    }

    #[test]
    fn what_is_not_a_token_is_refused_without_looking_further() {
        let good = Secret::generate(&counting()).as_token(1);
        for bad in ["", "shk_", "shk_1", "shk_1_", "shk_x_abc", &good[4..], &good[..good.len() - 1]]
        {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_token_works_until_it_expires_or_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let mut desk = TokenDesk::open(folder.path()).unwrap();
        let shop = ShopId::new(7).unwrap();
        let issued =
            desk.issue(shop, Role::Editor, "ci", Some(at(100)), at(0), &counting()).unwrap();
        let check = |desk: &TokenDesk, token: &str, second| {
            verify(&*desk.readers, token, at(second)).unwrap().map(|(caller, _)| caller)
        };
        assert_eq!(check(&desk, &issued.token, 99), Ok(Caller::new(shop, Role::Editor)));
        assert_eq!(check(&desk, &issued.token, 100), Err(BadToken::Expired));
        let forged = issued.token.replace("shk_1_AA", "shk_1_AB");
        assert_eq!(check(&desk, &forged, 0), Err(BadToken::Invalid));
        assert!(desk.revoke(issued.id, at(5)).unwrap());
        assert!(!desk.revoke(issued.id, at(6)).unwrap());
        assert_eq!(check(&desk, &issued.token, 50), Err(BadToken::Invalid));
    }
}
