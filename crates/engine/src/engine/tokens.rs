//! Authenticates callers and administers the tokens of a shop.

use catalog::access::{AdminPass, Caller, Role};
use jiff::Timestamp;

use super::{Engine, EngineError};
use crate::{
    replication::TOKEN_LEASE,
    store::{StoreError, TokenRow},
    tokens::{self, BadToken, IssuedToken, Secret},
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
        let (token, now) = (token.to_owned(), (self.clock)());
        self.look_up(move |readers| tokens::verify(readers, &token, now)).await
    }

    /// Issues a token for the administered shop.
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
