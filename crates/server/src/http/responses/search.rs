//! The bodies of responses to searches.

use catalog::product::Product;
use embed::Encoder;
use engine::SearchResults;
use serde::Serialize;
use serde_json::json;
use utoipa::{
    ToSchema,
    openapi::schema::{ObjectBuilder, OneOfBuilder, Type},
};

use super::{
    describe::{api, described_responses},
    explanation::ExplanationBody,
    facets::{FacetsBody, facets_example, facets_field},
    products::{ProductBody, product_example},
    understood::Understood,
};
use crate::http::json_schema::reference;

/// What a search found.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchAnswer {
    /// The products, best first or in the requested order.
    pub products: Vec<ProductBody>,
    /// The query as it was sent; empty without one.
    pub query: String,
    /// The number of results on all pages: exact unless `total_is_exact` says otherwise.
    pub total: usize,
    /// `false` where there may be more, as in shops that are searched inside the database; left out where `total` is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub total_is_exact: Option<bool>,
    /// The requested facets, by name. Counts are over all results, not over a page. A condition of
    /// `filter` does not restrict the facet of its own attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = facets_field, required = false)]
    pub facets: Option<FacetsBody>,
    /// Whether the counts of `facets` are exact, as `total` is; in responses with facets.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub facets_are_exact: Option<bool>,
    /// How the query was read.
    pub understood: Understood,
    /// Which encoder told what the query means.
    #[schema(schema_with = encoder, required)]
    pub encoder: Option<&'static str>,
}

impl SearchAnswer {
    /// The response to a query.
    pub fn of(query: &str, found: &SearchResults) -> Self {
        let product = |product: &Product| {
            let explanation = found.explanations.get(&product.id).map(ExplanationBody::from);
            ProductBody::from(product).explained(explanation)
        };
        let has_facets = !found.facets.0.is_empty();
        Self {
            products: found.products.iter().map(product).collect(),
            total: found.total,
            total_is_exact: (!found.is_total_exact).then_some(false),
            facets: has_facets.then(|| FacetsBody::from(&found.facets)),
            facets_are_exact: has_facets.then_some(found.is_total_exact),
            understood: Understood::of(query, &found.parsed).in_category(found.category),
            encoder: found.encoder.map(Encoder::as_str),
            query: query.to_owned(),
        }
    }
}

/// Products like another one.
#[derive(Debug, Serialize, ToSchema)]
pub struct SimilarProducts {
    /// The products, nearest first.
    pub products: Vec<ProductBody>,
}

/// The schema of the encoder of a query, if it had one.
fn encoder() -> OneOfBuilder {
    OneOfBuilder::new()
        .item(reference("Encoder"))
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some(
            "Which encoder told what the query means. `null` where meaning took no part.",
        ))
}

described_responses!(
    ProductsMatched,
    "200" => api::<SearchAnswer>(
        "What was found, best first or in the requested order.",
        json!({"products": [product_example()], "query": "a linnen sofa under $900", "total": 1,
            "facets": facets_example(), "facets_are_exact": true,
            "understood": {"constraints": [{"field": "price", "operation": "below",
                "value": "900", "currency": "USD", "text": "under $900",
                "span": {"start": 14, "end": 24}}],
                "exclusions": [], "sort": null,
                "corrections": [{"from": "linnen", "to": "linen", "span": {"start": 2, "end": 8}}],
                "attributes": [{"name": "material", "values": ["linen"], "text": "linnen",
                    "span": {"start": 2, "end": 8}, "required": false}],
                "category": {"id": "fr-22", "path": ["Furniture", "Sofas"]},
                "residual": "linen sofa"},
            "encoder": "deep"}),
        &[],
    )
);

described_responses!(
    SimilarFound,
    "200" => api::<SimilarProducts>(
        "The products like this one, nearest first.",
        json!({"products": [product_example()]}),
        &[],
    )
);
