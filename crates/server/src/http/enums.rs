//! String enums that several requests and responses share, each described once.

use catalog::product::access;
use embed;
use utoipa::openapi::Ref;

use super::json_schema::{described_reference, named_schema, one_of};

named_schema!(
    /// The role of a token.
    Role,
    one_of(access::Role::ALL.map(access::Role::as_str)).description(Some(
        "What a token lets its bearer do; each role includes the ones before."
    ))
);

named_schema!(
    /// The encoder that embedded a query.
    Encoder,
    one_of([embed::Encoder::Deep, embed::Encoder::Instant].map(embed::Encoder::as_str))
        .description(Some(
            "What tells what a query means: `deep`, or `instant` where the server is too busy for it."
        ))
);

/// The schema of a field that holds a role.
pub(crate) fn role() -> Ref {
    described_reference("Role", "What it lets its bearer do.")
}
