//! Who may do what? A check yields a *pass*, and the engine's calls ask for one.
//!
//! A pass can be had only from [`Caller`], so code that forgets to check does not compile.

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::product::ShopId;

/// What a token lets its bearer do; each role includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Searches and reads visible products; may ship in a browser.
    Shopper,
    /// Reads everything of its shop, hidden products included.
    Viewer,
    /// Writes products.
    Editor,
    /// Issues and revokes the shop's tokens.
    Admin,
}

impl Role {
    /// Every role, weakest first.
    pub const ALL: [Self; 4] = [Self::Shopper, Self::Viewer, Self::Editor, Self::Admin];

    /// The role as tokens and the wire write it.
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

/// A role that was not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("this needs the role {needed} or higher; the token has {has}")]
pub struct Forbidden {
    /// The weakest role that would do.
    pub needed: Role,
    /// The role the caller has.
    pub has: Role,
}

/// Which products of a shop a reader gets to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// Visible products alone; hidden ones do not exist.
    VisibleOnly,
    /// All products.
    All,
}

/// Someone with a valid token: one shop, one role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    shop: ShopId,
    role: Role,
}

impl Caller {
    /// The bearer of a token of this shop and role. Only authentication makes one.
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

    /// May read what its role gets to see. Every caller may.
    pub fn may_read(self) -> ReadPass {
        let visibility = match self.role {
            Role::Shopper => Visibility::VisibleOnly,
            Role::Viewer | Role::Editor | Role::Admin => Visibility::All,
        };
        ReadPass { shop: self.shop, visibility }
    }

    /// May search; hidden products only for those who may see them at all.
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

/// Proof that the bearer may read a shop, and how much of it.
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

    /// How much of it.
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }
}

/// Proof that the bearer may write a shop's products.
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

/// Proof that the bearer may administer a shop's tokens.
#[derive(Clone, Copy, Debug)]
pub struct AdminPass {
    shop: ShopId,
}

impl AdminPass {
    /// The operator at the command line stands above all roles of all shops.
    pub fn of_operator(shop: ShopId) -> Self {
        Self { shop }
    }

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
