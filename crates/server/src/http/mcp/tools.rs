//! Which tools are there, what do they say of themselves, and who may use them?

use std::sync::{Arc, LazyLock};

use catalog::access::Caller;
use rmcp::model::{Tool as ToolDescription, ToolAnnotations};

use super::schemas;
use crate::http::traffic::Work;

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

    fn writes(self) -> bool {
        matches!(self, Self::CreateProduct | Self::UpdateProduct | Self::DeleteProduct)
    }

    /// What a call is counted as among the shop's figures.
    pub(super) fn work(self) -> Option<Work> {
        match self {
            Self::SearchProducts => Some(Work::Search),
            _ if self.writes() => Some(Work::Write),
            _ => None,
        }
    }

    /// The tool as it is listed.
    pub(super) fn description(self) -> ToolDescription {
        static MADE: LazyLock<[ToolDescription; 6]> = LazyLock::new(|| Tool::ALL.map(Tool::made));
        MADE[self as usize].clone()
    }

    fn made(self) -> ToolDescription {
        let (arguments, result) = schemas::of(self);
        ToolDescription::new(self.name(), self.about(), Arc::new(arguments))
            .with_title(self.title())
            .with_raw_output_schema(Arc::new(result))
            .with_annotations(self.hints())
    }

    fn title(self) -> &'static str {
        match self {
            Self::SearchProducts => "Search products",
            Self::GetProduct => "Get a product",
            Self::ListProducts => "List products",
            Self::CreateProduct => "Create a product",
            Self::UpdateProduct => "Update a product",
            Self::DeleteProduct => "Delete a product",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::SearchProducts => {
                "Find products of the shop by what a shopper says and means, best first. Pass the \
                 whole wish in natural language, as it was said: synonyms and typos are no trouble, and \
                 conditions in the words are kept exactly, such as a price (\"under $40\", \"between 20 \
                 and 30 euros\", \"at least £100\"), what is not wanted (\"without leather\", \"not \
                 black\", \"nickel-free\") and an order (\"cheapest first\", \"newest\"). A query that only has conditions \
                 (\"under $20\") works too. `understood` in the result says how the query was read: check \
                 it, and reword the query where it was read wrongly. `total` counts every product found; \
                 use `limit` and `offset` to see more of them. Nothing found means that the shop has no \
                 such product: loosen a condition or use other words."
            }
            Self::GetProduct => {
                "Read one product by its id: title, full description, price as written, pictures, \
                 whether it is hidden, and when it was created and changed."
            }
            Self::ListProducts => {
                "Read the catalog in pages, by ascending id, or the products that `ids` names, in that \
                 order; ids that name no product are left out. To find products for a wish, use \
                 search_products instead: it is faster than paging through the catalog."
            }
            Self::CreateProduct => {
                "Add a product to the shop. It needs a title and a price with its currency, such as \
                 \"$19.99\" or \"19,99 €\". It is stored for good and found by search_products at once; \
                 the result has its id. Where a call might be repeated, send an `idempotency_key`, so that \
                 the product is created once."
            }
            Self::UpdateProduct => {
                "Change a product: only the fields that are sent change, `media` as a whole. Send \
                 `hidden` to take it out of search or to bring it back. The change is seen by \
                 search_products at once."
            }
            Self::DeleteProduct => {
                "Delete a product for good; it cannot be brought back, and its id is never used again. \
                 To only take it out of search, use update_product with `hidden`."
            }
        }
    }

    fn hints(self) -> ToolAnnotations {
        // The catalog is all that a tool can reach.
        let hints = ToolAnnotations::new().read_only(!self.writes()).open_world(false);
        match self {
            Self::SearchProducts | Self::GetProduct | Self::ListProducts => hints,
            Self::CreateProduct => hints.destructive(false).idempotent(false),
            Self::UpdateProduct | Self::DeleteProduct => hints.destructive(true).idempotent(true),
        }
    }
}
