//! Access control. A check yields a *pass*, and the engine's calls require one.
//!
//! The fields of a pass are private to this module, so only the checks of [`Caller`] and
//! [`Operator`] create one. Code that forgets to check does not compile:
//!
//! ```compile_fail,E0451
//! use catalog::{access::WritePass, product::ShopId};
//!
//! let pass = WritePass { shop: ShopId::new(1).unwrap() };
//! ```
//!
//! ```compile_fail,E0451
//! use catalog::{access::{ReadPass, Visibility}, product::ShopId};
//!
//! let pass = ReadPass { shop: ShopId::new(1).unwrap(), visibility: Visibility::All };
//! ```
//!
//! ```compile_fail,E0451
//! use catalog::{access::AdminPass, product::ShopId};
//!
//! let pass = AdminPass { shop: ShopId::new(1).unwrap() };
//! ```

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::product::id::ShopId;

/// The permissions of a token; each role includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Searches and reads visible products; such tokens may be public.
    Shopper,
    /// Reads all products of its shop, including hidden ones.
    Viewer,
    /// Writes products.
    Editor,
    /// Issues and revokes the shop's tokens.
    Admin,
}

impl Role {
    /// Every role, weakest first.
    pub const ALL: [Self; 4] = [Self::Shopper, Self::Viewer, Self::Editor, Self::Admin];

    /// The name of the role in tokens and in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shopper => "SHOPPER",
            Self::Viewer => "VIEWER",
            Self::Editor => "EDITOR",
            Self::Admin => "ADMIN",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Not the name of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("must be one of SHOPPER, VIEWER, EDITOR, ADMIN")]
pub struct UnknownRole;

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(raw: &str) -> Result<Self, UnknownRole> {
        Self::ALL
            .into_iter()
            .find(|role| role.as_str().eq_ignore_ascii_case(raw))
            .ok_or(UnknownRole)
    }
}

/// The caller's role is too weak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("this needs the role {needed} or higher; the token has {has}")]
pub struct Forbidden {
    /// The weakest sufficient role.
    pub needed: Role,
    /// The role the caller has.
    pub has: Role,
}

/// Which products of a shop a caller can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// Visible products only; hidden ones do not exist for the caller.
    VisibleOnly,
    /// All products.
    All,
}

/// An authenticated caller: one shop, one role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    shop: ShopId,
    role: Role,
}

impl Caller {
    /// The bearer of a token with this shop and role. Only authentication creates one.
    pub fn new(shop: ShopId, role: Role) -> Self {
        Self { shop, role }
    }

    /// The shop the caller belongs to.
    pub fn shop(self) -> ShopId {
        self.shop
    }

    /// The caller's role.
    pub fn role(self) -> Role {
        self.role
    }

    /// Every caller may read what its role can see.
    pub fn may_read(self) -> ReadPass {
        let visibility = match self.role {
            Role::Shopper => Visibility::VisibleOnly,
            Role::Viewer | Role::Editor | Role::Admin => Visibility::All,
        };
        ReadPass { shop: self.shop, visibility }
    }

    /// Every caller may search; hidden products need the role VIEWER.
    pub fn may_search(self, include_hidden: bool) -> Result<ReadPass, Forbidden> {
        if !include_hidden {
            return Ok(ReadPass { shop: self.shop, visibility: Visibility::VisibleOnly });
        }
        self.at_least(Role::Viewer)?;
        Ok(ReadPass { shop: self.shop, visibility: Visibility::All })
    }

    /// May write products.
    pub fn may_write(self) -> Result<WritePass, Forbidden> {
        self.at_least(Role::Editor)?;
        Ok(WritePass { shop: self.shop })
    }

    /// May issue, list and revoke the shop's tokens.
    pub fn may_administer(self) -> Result<AdminPass, Forbidden> {
        self.at_least(Role::Admin)?;
        Ok(AdminPass { shop: self.shop })
    }

    fn at_least(self, needed: Role) -> Result<(), Forbidden> {
        if self.role < needed {
            return Err(Forbidden { needed, has: self.role });
        }
        Ok(())
    }
}

/// The operator of the service, who uses its command line and may administer every shop.
#[derive(Clone, Copy, Debug)]
pub struct Operator;

impl Operator {
    /// The operator may issue, list and revoke the tokens of any shop.
    pub fn may_administer(self, shop: ShopId) -> AdminPass {
        AdminPass { shop }
    }
}

/// Proof that the caller may read a shop.
#[derive(Clone, Copy, Debug)]
pub struct ReadPass {
    shop: ShopId,
    visibility: Visibility,
}

impl ReadPass {
    /// The shop that may be read.
    pub fn shop(&self) -> ShopId {
        self.shop
    }

    /// Which of its products.
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }
}

/// Proof that the caller may write a shop's products.
#[derive(Clone, Copy, Debug)]
pub struct WritePass {
    shop: ShopId,
}

impl WritePass {
    /// The shop that may be written.
    pub fn shop(&self) -> ShopId {
        self.shop
    }
}

/// Proof that the caller may administer a shop's tokens.
#[derive(Clone, Copy, Debug)]
pub struct AdminPass {
    shop: ShopId,
}

impl AdminPass {
    /// The shop that may be administered.
    pub fn shop(&self) -> ShopId {
        self.shop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(role: Role) -> Caller {
        Caller::new(ShopId::new(1).unwrap(), role)
    }

    #[test]
    fn each_role_includes_the_ones_before() {
        let granted: Vec<_> = Role::ALL
            .into_iter()
            .map(|role| {
                let caller = caller(role);
                (
                    caller.may_read().visibility() == Visibility::All,
                    caller.may_search(true).is_ok(),
                    caller.may_write().is_ok(),
                    caller.may_administer().is_ok(),
                )
            })
            .collect();
        assert_eq!(
            granted,
            [
                (false, false, false, false),
                (true, true, false, false),
                (true, true, true, false),
                (true, true, true, true),
            ]
        );
    }

    #[test]
    fn a_search_sees_hidden_products_only_when_asked_to() {
        let pass = caller(Role::Admin).may_search(false).unwrap();
        assert_eq!(pass.visibility(), Visibility::VisibleOnly);
    }

    #[test]
    fn roles_read_what_they_write() {
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
            assert_eq!(role.as_str().to_lowercase().parse(), Ok(role));
        }
        assert_eq!("OWNER".parse::<Role>(), Err(UnknownRole));
    }
}
