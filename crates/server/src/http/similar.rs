//! The endpoint for products like another one.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use catalog::query;
use engine::SimilarRequest;

use super::{
    App,
    auth::Bearer,
    faults::Faults,
    openapi::{
        SEARCH,
        answers::SimilarFound,
        parameters::{ProductId as ProductIdParameter, SimilarParameters},
        problems::{ApiProblems, IdProblems, RoleProblems},
    },
    path::PathText,
    problem::{ApiError, Fault},
    products::product_id,
    requests::{each_parameter, integer_parameter},
    wire::{ProductBody, SimilarProducts},
};

/// Similar products
///
/// The shop's products that mean nearly the same as this one, nearest first and without itself. A
/// product that nothing is near has none, and neither has any product on a server without a model.
///
/// Hidden products are left out unless `include_hidden` asks for them, which needs the role
/// VIEWER. For a SHOPPER a hidden product does not exist, so there is nothing like it either.
#[utoipa::path(
    get,
    path = "/products/{product_id}/similar",
    operation_id = "similar_products",
    tag = SEARCH,
    params(ProductIdParameter, SimilarParameters),
    responses(SimilarFound, ApiProblems, RoleProblems, IdProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("SHOPPER")))
)]
pub(crate) async fn similar(
    State(app): State<App>,
    caller: Bearer,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
) -> Result<Json<SimilarProducts>, ApiError> {
    // Asking for hidden products without the role is 403 even where other parameters are at fault.
    caller.may_search(asks_for_hidden(query.as_deref()))?;
    let parameters = parameters(query.as_deref()).map_err(ApiError::Validation)?;
    let request = SimilarRequest {
        product: product_id(&id)?,
        limit: parameters.limit,
        include_hidden: parameters.include_hidden,
    };
    let found = app.engine.similar(caller.may_read(), request).await?;
    let found = found.ok_or(ApiError::NotFound("product"))?;
    Ok(Json(SimilarProducts { products: found.iter().map(ProductBody::from).collect() }))
}

/// What may stand behind the address.
#[derive(Debug, PartialEq, Eq)]
struct Parameters {
    limit: usize,
    include_hidden: bool,
}

fn asks_for_hidden(query: Option<&str>) -> bool {
    url::form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .any(|(name, value)| name == "include_hidden" && value == "true")
}

fn parameters(query: Option<&str>) -> Result<Parameters, Faults> {
    let mut read = Parameters { limit: query::DEFAULT_LIMIT, include_hidden: false };
    each_parameter(query, &["limit", "include_hidden"], |name, value| {
        match name {
            "limit" => {
                let limit = integer_parameter(name, value, 1, query::MAX_LIMIT as u64)?;
                read.limit = limit as usize;
            }
            _ => {
                let said = value.parse();
                read.include_hidden =
                    said.map_err(|_| Fault::new(name, "wrong_type", "must be true or false"))?;
            }
        }
        Ok(())
    })?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_defaults_and_are_read_exactly() {
        for (query, limit, include_hidden) in [
            (None, 10, false),
            (Some(""), 10, false),
            (Some("limit=50"), 50, false),
            (Some("include_hidden=true&limit=1"), 1, true),
            (Some("include_hidden=false"), 10, false),
        ] {
            assert_eq!(parameters(query).unwrap(), Parameters { limit, include_hidden });
            assert_eq!(asks_for_hidden(query), include_hidden);
        }
        for bad in ["limit=51", "limit=0", "include_hidden=1", "include_hidden=", "offset=1"] {
            assert_eq!(parameters(Some(bad)).unwrap_err().len(), 1, "{bad}");
        }
    }
}
