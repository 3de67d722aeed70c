//! The codes of validation errors, with their explanations.

use utoipa::openapi::Ref;

use crate::http::json_schema::{described_reference, named_schema, one_of};

/// The codes in `errors` of problems and of bulk responses, in alphabetical order.
pub(crate) const VALIDATION_CODES: [(&str, &str); 28] = [
    (
        "attribute_names_exhausted",
        "The product brings new attribute names, and those of the shop have reached the limit.",
    ),
    ("blank", "It must hold more than white space."),
    ("conflict", "Another product of the shop has this key; the message names it."),
    ("control_character", "It holds a control character other than a newline or a tab."),
    ("empty", "The array must have at least one element."),
    ("exclusive", "It cannot stand beside another parameter; the message names that."),
    ("invalid_amount", "It is not an amount: digits, and decimals after a point."),
    ("invalid_key", "The `Idempotency-Key` must be 1 to 255 visible ASCII characters."),
    ("invalid_name", "It is not the name of an attribute, or the name is reserved."),
    ("invalid_price", "It is not a price; the message shows how to write it."),
    ("invalid_sort", "It names no order; the message lists those there are."),
    ("invalid_url", "It is not an absolute http or https address."),
    ("no_change", "The update names no field that can be changed."),
    ("not_found", "Bulk update: there is no such product."),
    ("out_of_range", "The number is too small or too large; the message has the range."),
    ("precondition_failed", "Bulk update: the product has changed."),
    ("quota_exhausted", "The shop has reached a quota; the message names it."),
    ("repeated", "The parameter or the element is given more than once."),
    ("required", "It must be there."),
    ("too_long", "It has too many characters; the message has the limit."),
    ("too_many", "It has too many elements; the message has the limit."),
    ("unknown_category", "It is neither the id nor the whole path of a category."),
    ("unknown_currency", "It must be an ISO 4217 code."),
    ("unknown_field", "There is no such field here; the message lists those there are."),
    ("unknown_parameter", "There is no such parameter here; the message lists those there are."),
    ("unknown_role", "It must be SHOPPER, VIEWER, EDITOR or ADMIN."),
    ("unknown_type", "It must be `image`."),
    (
        "wrong_type",
        "It is of another JSON type than the field; `null` never stands for leaving it out.",
    ),
];

named_schema!(
    /// The code of a validation error.
    FaultCode,
    one_of(VALIDATION_CODES.map(|(code, _)| code)).description(Some(
        "What can be wrong with a field or an element, for programs. Later versions may know more."
    ))
);

/// Whether a code has an explanation.
pub(super) fn is_explained(code: &str) -> bool {
    VALIDATION_CODES.iter().any(|(known, _)| *known == code)
}

/// The schema of a field that holds the code of a validation error.
pub(super) fn code_field() -> Ref {
    described_reference("FaultCode", "What is wrong, for programs.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_alphabetical_order() {
        assert!(VALIDATION_CODES.is_sorted());
    }
}
