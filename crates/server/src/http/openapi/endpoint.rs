//! Serves the OpenAPI document at `/openapi.json`.

use std::sync::{Arc, OnceLock};

use axum::{
    Extension,
    http::{HeaderMap, HeaderValue},
    response::Response,
};
use serde_json::json;
use utoipa::openapi::{
    OpenApi,
    schema::{AdditionalProperties, ObjectBuilder, Type},
};

use crate::http::{
    errors::responses::AnyProblems,
    json_schema::reference,
    openapi::tags::OPERATION,
    requests::headers::IfNoneMatch,
    response_headers::{CACHE_CONTROL, ETAG},
    responses::{
        describe::{JSON, content, described_responses, not_modified, open},
        static_content::StaticContent,
    },
};

/// The OpenAPI document of a running server, and the content that is built from it at the first
/// request.
pub(crate) struct ApiDocument {
    pub(crate) openapi: OpenApi,
    json: OnceLock<StaticContent>,
    pub(crate) page: OnceLock<StaticContent>,
}

impl ApiDocument {
    pub(crate) fn new(openapi: OpenApi) -> Arc<Self> {
        Arc::new(Self { openapi, json: OnceLock::new(), page: OnceLock::new() })
    }

    fn json(&self) -> &StaticContent {
        self.json.get_or_init(|| {
            let text = serde_json::to_string(&self.openapi)
                .unwrap_or_else(|_| unreachable!("a document always serialises"));
            StaticContent::new(HeaderValue::from_static(JSON), text)
        })
    }
}

/// The schema of the document, which its own standard defines in full.
pub(super) fn document_schema() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("A document of OpenAPI 3.1."))
        .required("openapi")
        .required("paths")
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
}

described_responses!(
    Document,
    "200" => {
        let info = json!({"title": "Shopkeeper", "version": "…"});
        let example = json!({"openapi": "3.1.0", "info": info, "paths": {}});
        let document = content(reference("OpenApiDocument"), example);
        open("The OpenAPI document.", JSON, document, &[ETAG, CACHE_CONTROL])
    },
    "304" => not_modified(&[ETAG, CACHE_CONTROL]),
);

/// This document
///
/// The description of every address of the service, made from its code.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "get_openapi",
    tag = OPERATION,
    params(IfNoneMatch),
    responses(Document, AnyProblems),
    security(()),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn openapi(
    Extension(document): Extension<Arc<ApiDocument>>,
    headers: HeaderMap,
) -> Response {
    document.json().respond(&headers)
}
