//! The bodies of responses to bulk requests.

use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::describe::{api, body_link, described_responses, parameter_link};
use crate::http::errors::validation::ElementError;

/// What became of a bulk create.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BulkCreated {
    /// How many products were created.
    pub(crate) created_count: usize,
    /// Their ids, in the order of the request.
    pub(crate) created_ids: Vec<u64>,
    /// What was wrong with the others, by place in the request: at least one fault of each, and
    /// at most 100 in all.
    #[schema(max_items = 100)]
    pub(crate) errors: Vec<ElementError>,
    /// How many faults there are beside those in `errors`, where there are more.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false, minimum = 1)]
    pub(crate) errors_omitted: usize,
}

/// What became of a bulk update.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BulkUpdated {
    /// How many elements were applied.
    pub(crate) updated_count: usize,
    /// Their ids, in the order of the request.
    pub(crate) updated_ids: Vec<u64>,
    /// What was wrong with the others, by place in the request: at least one fault of each, and
    /// at most 100 in all.
    #[schema(max_items = 100)]
    pub(crate) errors: Vec<ElementError>,
    /// How many faults there are beside those in `errors`, where there are more.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false, minimum = 1)]
    pub(crate) errors_omitted: usize,
}

/// What became of an upsert.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BulkUpserted {
    /// How many products were created.
    pub(crate) created_count: usize,
    /// Their ids, in the order of the request.
    pub(crate) created_ids: Vec<u64>,
    /// How many elements changed a product.
    pub(crate) updated_count: usize,
    /// The ids of these products, in the order of the request.
    pub(crate) updated_ids: Vec<u64>,
    /// What was wrong with the others, by place in the request: at least one fault of each, and
    /// at most 100 in all.
    #[schema(max_items = 100)]
    pub(crate) errors: Vec<ElementError>,
    /// How many faults there are beside those in `errors`, where there are more.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false, minimum = 1)]
    pub(crate) errors_omitted: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What became of a bulk delete.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BulkDeleted {
    /// How many products were there and are gone now.
    pub(crate) deleted_count: usize,
}

described_responses!(
    ProductsCreated,
    "201" => api::<BulkCreated>(
        "Which elements were created, and what was wrong with the others.",
        json!({"created_count": 1, "created_ids": [17], "errors": [{"index": 1,
            "code": "required", "message": "is required", "field": "price"}]}),
        &[],
    )
    .link("update_first", body_link("bulk_update_products", json!({
        "products": [{"id": "$response.body#/created_ids/0", "hidden": true}]})))
    .link("delete_all", body_link("bulk_delete_products", json!({
        "product_ids": "$response.body#/created_ids"})))
    .link("get_first", parameter_link("get_product", "product_id", "$response.body#/created_ids/0"))
);

described_responses!(
    ProductsUpdated,
    "200" => api::<BulkUpdated>(
        "Which elements were applied, and what was wrong with the others.",
        json!({"updated_count": 1, "updated_ids": [17], "errors": [{"index": 1, "id": 99,
            "code": "not_found", "message": "there is no such product"}]}),
        &[],
    )
);

described_responses!(
    ProductsUpserted,
    "200" => api::<BulkUpserted>(
        "Which products were created and changed, and what was wrong with the other elements.",
        json!({"created_count": 1, "created_ids": [18], "updated_count": 1, "updated_ids": [17],
            "errors": [{"index": 2, "key": "LAMP-1", "code": "required",
                "message": "is required", "field": "price"}]}),
        &[],
    )
    .link("delete_created", body_link("bulk_delete_products", json!({
        "product_ids": "$response.body#/created_ids"})))
);

described_responses!(
    ProductsDeleted,
    "200" => api::<BulkDeleted>(
        "How many products were there and are gone now.",
        json!({"deleted_count": 2}),
        &[],
    )
);
