//! Authenticates callers and administers the tokens of a shop.

use catalog::product::access::{AdminPass, Caller, Role};
use jiff::Timestamp;
use store::{StoreError, TokenLookup, TokenPage};

use super::{Engine, EngineError};
use crate::{
    replication::TOKEN_LEASE,
    tokens::{self, BadToken, IssuedToken, Secret, TooManyTokens},
    writes::{IssueToken, RevokeToken},
};

impl Engine {
    /// The caller that an opaque token identifies, and the id of the token.
    ///
    /// A node of a database may use a row it read at most [`TOKEN_LEASE`] ago; revoking a token
    /// takes at least as long.
    pub async fn authenticate(
        &self,
        token: &str,
    ) -> Result<Result<(Caller, u64), BadToken>, StoreError> {
        let Some((id, secret)) = tokens::parse(token) else { return Ok(Err(BadToken::Invalid)) };
        let row = match self.readers.find_token(id) {
            TokenLookup::Done(found) => found?,
            TokenLookup::Waiting(found) => {
                found.await.unwrap_or_else(|_| Err(StoreError::lookup_ended()))?
            }
        };
        Ok(tokens::verify(row.as_ref(), &secret, (self.clock)()))
    }

    /// Whether an opaque token was not used here lately, so that authenticating it takes waiting for
    /// the database, and may show that it is not a token.
    pub fn is_unknown_token(&self, token: &str) -> bool {
        tokens::parse(token).is_some_and(|(id, _)| self.readers.is_unknown_token(id))
    }

    /// Issues a token for the administered shop.
    pub async fn issue_token(
        &self,
        pass: AdminPass,
        role: Role,
        name: String,
        expires_at: Option<Timestamp>,
    ) -> Result<Result<IssuedToken, TooManyTokens>, EngineError> {
        let secret = Secret::generate(&self.random);
        let issued = self.write(IssueToken { pass, role, name, expires_at, secret }).await?;
        if let Ok(issued) = &issued {
            self.readers.token_issued(issued.id);
        }
        Ok(issued)
    }

    /// A page of the tokens of the administered shop, by ascending id.
    pub async fn tokens(
        &self,
        pass: AdminPass,
        limit: usize,
        offset: usize,
    ) -> Result<TokenPage, EngineError> {
        self.read(pass.shop(), move |readers| readers.token_page(pass.shop(), limit, offset)).await
    }

    /// Revokes a token of the administered shop; `false` if no such token is valid.
    pub async fn revoke_token(&self, pass: AdminPass, id: u64) -> Result<bool, EngineError> {
        let revoked = self.write(RevokeToken { pass, id }).await?;
        if self.readers.is_shared() {
            // Until the lease ends, other nodes may accept the token.
            tokio::time::sleep(TOKEN_LEASE).await;
        }
        Ok(revoked)
    }
}
