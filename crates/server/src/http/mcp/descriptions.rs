//! The descriptions of tools, as agents receive them.

use std::sync::{Arc, LazyLock};

use rmcp::model::{Tool as ToolDescription, ToolAnnotations};

use super::{schemas, tools::Tool};

impl Tool {
    /// The tool as it is listed.
    pub(super) fn description(self) -> ToolDescription {
        static ALL: LazyLock<[ToolDescription; 6]> =
            LazyLock::new(|| Tool::ALL.map(Tool::describe));
        ALL[self as usize].clone()
    }

    fn describe(self) -> ToolDescription {
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
                 black\", \"nickel-free\"), what must be (\"only cotton\") and an order (\"cheapest first\", \"newest\"). A query that only has conditions \
                 (\"under $20\") works too. `understood` in the result says how the query was read: check \
                 it, and reword the query where it was read wrongly. Conditions that are data, such as \
                 values that a user picked from `facets` of an earlier result, go into `filter` instead, \
                 and an order by `price`, `-price`, `newest`, `oldest` or a numeric attribute into `sort`; \
                 with a `filter`, `query` may be left out. `facets` counts categories, the values of attributes and \
                 the prices over all results: use it to learn which values there are. `total` counts every product found; \
                 use `limit` and `offset` to see more of them. Nothing found means that the shop has no \
                 such product: loosen a condition or use other words."
            }
            Self::GetProduct => {
                "Read one product by its id: title, full description, price as written, pictures, \
                 key, page and attributes, the category and attributes inferred from its texts, \
                 whether it is hidden, and when it was created and changed."
            }
            Self::ListProducts => {
                "Read the catalog in pages, by ascending id or as `sort` says, or the products that `ids` \
                 or `keys` name, in that order; those that name no product are left out. To find products for a wish, use \
                 search_products instead: it is faster than paging through the catalog."
            }
            Self::CreateProduct => {
                "Add a product to the shop. It needs a title and a price with its currency, such as \
                 \"$19.99\" or \"19,99 €\". It is stored for good and found by search_products at once; \
                 the result has its id. `key` is the merchant's own identifier, unique within the shop; \
                 `attributes` are facts by name, such as {\"color\": \"green\", \"seats\": 3}. Where a call might be repeated, send an `idempotency_key`, so that \
                 the product is created once."
            }
            Self::UpdateProduct => {
                "Change a product: only the fields that are sent change, `media` and `attributes` as a whole. Send \
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
        // A tool can reach nothing but the catalog.
        let hints = ToolAnnotations::new().read_only(!self.writes()).open_world(false);
        match self {
            Self::SearchProducts | Self::GetProduct | Self::ListProducts => hints,
            Self::CreateProduct => hints.destructive(false).idempotent(false),
            Self::UpdateProduct | Self::DeleteProduct => hints.destructive(true).idempotent(true),
        }
    }
}
