//! The bodies of responses with changes.

use catalog::product::{change::ChangeKind, key::Key};
use serde::Serialize;
use serde_json::json;
use store::{ChangeEntry, ChangesPage};
use utoipa::{ToSchema, openapi::schema::Object};

use super::describe::{api, described_responses};
use crate::http::json_schema::one_of;

/// Changes of a shop, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangesPage)]
pub(crate) struct ChangesPageBody {
    /// The changes, oldest first.
    changes: Vec<ChangeBody>,
    /// What to pass as the next `since`: the last sequence number of this page, or `since` if there is
    /// nothing newer.
    next: u64,
    /// Whether this page reaches the present; `false` if more changes were available.
    complete: bool,
}

/// A change of one product.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangeRecord)]
pub(crate) struct ChangeBody {
    /// Its sequence number.
    seq: u64,
    /// The product's id.
    #[schema(minimum = 1)]
    id: u64,
    /// The product's key: the current one, or in a deletion the last one. Left out if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key: Option<String>,
    /// What happened.
    #[schema(schema_with = change_kind)]
    change: &'static str,
}

impl From<ChangesPage> for ChangesPageBody {
    fn from(page: ChangesPage) -> Self {
        let change = |entry: ChangeEntry| ChangeBody {
            seq: entry.seq.0,
            id: entry.product.get(),
            key: entry.key.as_ref().map(Key::as_str).map(str::to_owned),
            change: match entry.kind {
                ChangeKind::Upserted => "upserted",
                ChangeKind::Deleted => "deleted",
            },
        };
        Self {
            changes: page.changes.into_iter().map(change).collect(),
            next: page.next.0,
            complete: page.is_complete,
        }
    }
}

fn change_kind() -> Object {
    one_of(["upserted", "deleted"])
        .description(Some("What happened: the product was created or updated, or it was deleted."))
        .build()
}

described_responses!(
    ChangesListed,
    "200" => api::<ChangesPageBody>(
        "The changes after `since`, oldest first.",
        json!({"changes": [{"seq": 12, "id": 17, "key": "SOFA-3-GREEN", "change": "upserted"}],
            "next": 12, "complete": true}),
        &[],
    )
);
