//! Roles of tokens.

/// The role of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Searches visible products.
    Shopper,
    /// Reads everything.
    Viewer,
    /// Writes products.
    Editor,
    /// Manages tokens.
    Admin,
}

impl Role {
    /// All roles, from the least to the most powerful.
    pub const ALL: [Self; 4] = [Self::Shopper, Self::Viewer, Self::Editor, Self::Admin];

    /// Its name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shopper => "SHOPPER",
            Self::Viewer => "VIEWER",
            Self::Editor => "EDITOR",
            Self::Admin => "ADMIN",
        }
    }
}
