//! The tools and the roles that may use them.

use catalog::product::access::Caller;

use crate::http::traffic::RequestKind;

/// The argument of a create that is not part of the product.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency_key";

/// One tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    SearchProducts,
    GetProduct,
    ListProducts,
    CreateProduct,
    UpdateProduct,
    DeleteProduct,
}

impl Tool {
    pub(super) const ALL: [Self; 6] = [
        Self::SearchProducts,
        Self::GetProduct,
        Self::ListProducts,
        Self::CreateProduct,
        Self::UpdateProduct,
        Self::DeleteProduct,
    ];

    /// The tools that the caller may use.
    pub(super) fn of(caller: Caller) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |tool| !tool.writes() || caller.may_write().is_ok())
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SearchProducts => "search_products",
            Self::GetProduct => "get_product",
            Self::ListProducts => "list_products",
            Self::CreateProduct => "create_product",
            Self::UpdateProduct => "update_product",
            Self::DeleteProduct => "delete_product",
        }
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, Self::CreateProduct | Self::UpdateProduct | Self::DeleteProduct)
    }

    /// The kind of request that a call is counted as in the shop's stats.
    pub(super) fn request_kind(self) -> Option<RequestKind> {
        match self {
            Self::SearchProducts => Some(RequestKind::Search),
            _ if self.writes() => Some(RequestKind::Write),
            _ => None,
        }
    }
}
