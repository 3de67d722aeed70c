//! Requests that create, change, delete and list products.

use catalog::{
    media::{self, Media, MediaKind},
    price::{self, Price},
    product::{self, Description, Draft, Patch, ProductId, Title},
};
use serde_json::{Value, json};
use utoipa::{
    IntoParams,
    openapi::path::{Parameter, ParameterIn},
};

use super::{
    fields::{
        Fields, Invalid, ObjectDefinition, Rule, boolean, elements, integer, list, object,
        read_integer, request_bodies, text,
    },
    parameters::{self, QueryParameter, is_integer},
};
use crate::http::{
    errors::{ValidationErrors, validation::truncate},
    json_schema::{
        comma_separated, formatted, id, one_of, plain_text, plain_text_not_blank, reference, string,
    },
};

/// The most products in one bulk request.
pub const MAX_BULK: usize = 100;
/// The most products on one page of the catalog.
pub const MAX_PAGE: usize = 100;
/// The products on one page of the catalog by default.
pub const DEFAULT_PAGE: usize = 50;
/// The most characters of an invalid value that a message repeats.
const MAX_QUOTED_CHARS: usize = 40;

/// Fields of a product that a client may set.
pub(crate) const SETTABLE: [&str; 5] = ["title", "description", "price", "hidden", "media"];
/// Fields of a product that a client cannot set. They are ignored, so that a product can be read,
/// edited and sent back.
pub(crate) const READ_ONLY: [&str; 4] = ["id", "shop_id", "created_at", "updated_at"];

/// A product to create.
pub struct NewProduct;
/// Products to create, in one request.
pub struct NewProducts;
/// Changes to one product.
pub struct ProductChanges;
/// A product's id and the changes to it.
pub struct ProductEdit;
/// Changes to several products, in one request.
pub struct ProductEdits;
/// Products to delete, in one request.
pub struct ProductDeletion;
/// A picture of a product.
pub struct NewMedia;
/// A part of the catalog to list, as a JSON object.
pub(crate) struct ListArguments;
/// One product, as a JSON object.
pub(crate) struct ProductArgument;

request_bodies!(
    NewProduct,
    NewProducts,
    ProductChanges,
    ProductEdit,
    ProductEdits,
    ProductDeletion,
    NewMedia,
);

impl<'a> ObjectDefinition<'a> for NewProduct {
    type Value = Draft;

    fn define(fields: &mut Fields<'a>) -> Option<Draft> {
        fields.about("A product to create.", || Some(new_product_example()));
        let title = fields.required("title", title());
        let description = fields.optional("description", description());
        let price = fields.required("price", price());
        let hidden = fields.optional("hidden", hidden(Some(false)));
        let media = fields.optional("media", media());
        fields.ignored(&READ_ONLY);
        Some(Draft {
            description: description.unwrap_or_default(),
            hidden: hidden.unwrap_or(false),
            media: media.unwrap_or_default(),
            ..Draft::new(title?, price?)
        })
    }
}

impl<'a> ObjectDefinition<'a> for ProductChanges {
    type Value = Patch;

    fn define(fields: &mut Fields<'a>) -> Option<Patch> {
        fields.about("The fields to change, at least one; the others stay as they are.", || {
            Some(json!({"price": "$799.00", "hidden": false}))
        });
        let patch = settable(fields);
        fields.ignored(&READ_ONLY);
        fields.at_least_one_of(&SETTABLE);
        Some(patch)
    }
}

impl<'a> ObjectDefinition<'a> for ProductEdit {
    type Value = (ProductId, Patch);

    fn define(fields: &mut Fields<'a>) -> Option<(ProductId, Patch)> {
        fields.about("A product and the fields of it to change, at least one.", || {
            Some(json!({"id": 17, "price": "$799.00"}))
        });
        let id = fields.required("id", product_id("Which product."));
        let patch = settable(fields);
        fields.ignored(&READ_ONLY[1..]);
        fields.at_least_one_of(&SETTABLE);
        Some((id?, patch))
    }
}

impl ProductEdit {
    /// The id in an element of a bulk update, if it is valid: errors of the element name it.
    pub(crate) fn id_of(element: &Value) -> Option<u64> {
        (product_id("").read)(element.get("id")?).ok().map(ProductId::get)
    }
}

impl<'a> ObjectDefinition<'a> for NewProducts {
    type Value = &'a Vec<Value>;

    fn define(fields: &mut Fields<'a>) -> Option<&'a Vec<Value>> {
        fields.about("Products to create.", || {
            Some(json!({"products": [new_product_example(),
                {"title": "Oak side table", "price": "149,00 €"}]}))
        });
        let about = "Each element is taken on its own: one that breaks a rule is answered in \
                     `errors`, the others are created.";
        fields.required("products", elements(about, 1, MAX_BULK, || reference("NewProduct")))
    }
}

impl<'a> ObjectDefinition<'a> for ProductEdits {
    type Value = &'a Vec<Value>;

    fn define(fields: &mut Fields<'a>) -> Option<&'a Vec<Value>> {
        fields.about("Products to change.", || {
            Some(json!({"products": [{"id": 17, "price": "$799.00"}, {"id": 18, "hidden": true}]}))
        });
        let about = "Each element is taken on its own and in order: one that breaks a rule is \
                     answered in `errors`, the others are applied.";
        fields.required("products", elements(about, 1, MAX_BULK, || reference("ProductEdit")))
    }
}

impl<'a> ObjectDefinition<'a> for ProductDeletion {
    type Value = Vec<ProductId>;

    fn define(fields: &mut Fields<'a>) -> Option<Vec<ProductId>> {
        fields.about("Products to delete.", || Some(json!({"product_ids": [17, 18]})));
        let about = "Unknown ids are no error; they are not counted.";
        fields.required("product_ids", list(about, 1, MAX_BULK, product_id("")))
    }
}

impl<'a> ObjectDefinition<'a> for NewMedia {
    type Value = Media;

    fn define(fields: &mut Fields<'a>) -> Option<Media> {
        fields.about("A picture of a product.", || None);
        fields.schema_order(&["url", "type"]);
        let unknown_type = || Invalid::new("unknown_type", "must be \"image\"");
        let kind = fields.required(
            "type",
            text(move |raw| MediaKind::parse(raw).ok_or_else(unknown_type), || one_of(["image"])),
        );
        let url = move |raw: &str| {
            let kind = kind.clone().unwrap_or(MediaKind::Image);
            Media::new(raw, kind).map_err(|why| Invalid::new("invalid_url", why))
        };
        let about = "An absolute http or https address, kept as written and never fetched.";
        let url = text(url, move || {
            formatted("http-url", about)
                .max_length(Some(media::MAX_URL_CHARS))
                .examples(["https://example.com/sofa.jpg"])
        });
        fields.required("url", url)
    }
}

/// The fields of a product that a client may set.
fn settable(fields: &mut Fields<'_>) -> Patch {
    Patch {
        title: fields.optional("title", title()),
        description: fields.optional("description", description()),
        price: fields.optional("price", price()),
        // Without a default: a client that fills in defaults would unhide what it changes.
        hidden: fields.optional("hidden", hidden(None)),
        media: fields.optional("media", media()),
        ..Patch::default()
    }
}

fn title<'a>() -> Rule<'a, Title> {
    let about = "Not blank, without control characters; spaces around it do not count, up to 1000 \
                 characters with them.";
    text(Title::parse, move || {
        string(about)
            .min_length(Some(1))
            .max_length(Some(product::MAX_TITLE_CHARS))
            .pattern(Some(plain_text_not_blank()))
            .examples(["Linen sofa"])
    })
}

fn description<'a>() -> Rule<'a, Description> {
    text(Description::parse, || {
        string("Without control characters, newlines and tabs apart.")
            .max_length(Some(product::MAX_DESCRIPTION_CHARS))
            .pattern(Some(plain_text()))
            .examples(["Three seats, washable covers."])
    })
}

fn price<'a>() -> Rule<'a, Price> {
    let about = "An amount with its currency before or after it, as a sign or an ISO 4217 code: \
                 `$19.99`, `19,99 €`, `EUR 1.299,00`, `£1,299`, `¥1500`, `1 299 ₽`. Kept as written.";
    let schema = move || {
        formatted("price", about)
            .min_length(Some(2))
            .max_length(Some(price::MAX_CHARS))
            .examples(["$899.00"])
    };
    let parse = |raw: &str| Price::parse(raw).map_err(|why| Invalid::new("invalid_price", why));
    let Rule { read: read_text, schema } = text(parse, schema);
    let read = move |value: &'a Value| match value {
        Value::Number(number) => {
            let with_currency =
                Some(format!("${number}")).filter(|text| Price::parse(text).is_ok());
            let example = with_currency.as_deref().unwrap_or("$19.99");
            let message = format!("must be a string with a currency, such as \"{example}\"");
            Err(Invalid::new("invalid_price", message).into())
        }
        other => read_text(other),
    };
    Rule { read: Box::new(read), schema }
}

fn hidden<'a>(default: Option<bool>) -> Rule<'a, bool> {
    boolean("Whether search leaves it out.", default)
}

fn media<'a>() -> Rule<'a, Vec<Media>> {
    let about = "Its pictures, in place of all that were there.";
    list(about, 0, media::MAX_ITEMS, object::<NewMedia>("NewMedia"))
}

fn product_id(about: &str) -> Rule<'_, ProductId> {
    let read = |value: &Value| {
        let out_of_range = || Invalid::new("out_of_range", "must be a positive integer").into();
        ProductId::new(read_integer(value, 1, i64::MAX as u64)?).ok_or_else(out_of_range)
    };
    Rule::new(read, move || id(about))
}

fn new_product_example() -> Value {
    json!({"title": "Linen sofa", "description": "Three seats, washable covers.",
        "price": "$899.00", "media": [{"url": "https://example.com/sofa.jpg", "type": "image"}]})
}

/// A part of the catalog to list.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// Only these products, each once; all of the catalog where `None`.
    pub ids: Option<Vec<ProductId>>,
    /// The most products to return; where `None`, all of `ids` or a page of the default size.
    pub limit: Option<usize>,
    /// How many products to skip.
    pub offset: usize,
}

impl<'a> ObjectDefinition<'a> for ListArguments {
    type Value = ListRequest;

    fn define(fields: &mut Fields<'a>) -> Option<ListRequest> {
        fields.about("", || None);
        let about = "These products and no others, in this order and each once.";
        let ids = fields.optional("ids", list(about, 0, MAX_BULK, product_id("")));
        let (max, default) = (MAX_PAGE as u64, DEFAULT_PAGE as u64);
        let limit = fields.optional("limit", integer(LIMIT, 1, max, Some(default)));
        let offset = fields.optional("offset", integer(OFFSET, 0, i64::MAX as u64, Some(0)));
        Some(ListRequest {
            ids: ids.map(without_duplicates),
            limit: limit.map(|limit| limit as usize),
            offset: offset.unwrap_or(0) as usize,
        })
    }
}

impl<'a> ObjectDefinition<'a> for ProductArgument {
    type Value = ProductId;

    fn define(fields: &mut Fields<'a>) -> Option<ProductId> {
        fields.about("", || None);
        fields.required("id", product_id("Which product."))
    }
}

const LIMIT: &str =
    "How many products to return at most; with `ids`, all of them unless this is given.";
const OFFSET: &str = "How many products to skip.";

/// The query parameters of a list.
pub(crate) struct ListParameters;

impl ListParameters {
    fn define() -> [QueryParameter<ListRequest>; 3] {
        let ids = "Comma-separated product ids: those products in that order, each once, unknown \
                   ones left out. At most 100.";
        [
            QueryParameter {
                name: "ids",
                about: ids,
                schema: string("").pattern(Some(comma_separated(MAX_BULK))),
                example: json!("17,18"),
                read: Box::new(|request: &mut ListRequest, raw| {
                    request.ids = Some(comma_separated_ids(raw)?);
                    Ok(())
                }),
            },
            parameters::integer(
                "limit",
                LIMIT,
                1..=MAX_PAGE,
                |request: &mut ListRequest, value| {
                    request.limit = Some(value);
                },
            )
            .default(DEFAULT_PAGE, 20),
            parameters::integer(
                "offset",
                OFFSET,
                0..=i64::MAX as usize,
                |request: &mut ListRequest, value| request.offset = value,
            )
            .default(0, 0),
        ]
    }
}

impl IntoParams for ListParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::describe(Self::define())
    }
}

/// Reads the query parameters of a list.
pub fn list_parameters(query: Option<&str>) -> Result<ListRequest, ValidationErrors> {
    parameters::read(query, &ListParameters::define())
}

fn comma_separated_ids(raw: &str) -> Result<Vec<ProductId>, Invalid> {
    let mut ids = Vec::new();
    // An empty list selects no product, not the whole catalog.
    if raw.trim().is_empty() {
        return Ok(ids);
    }
    for part in raw.split(',').map(str::trim) {
        match part.parse::<ProductId>() {
            Ok(id) => ids.push(id),
            // An integer that is no valid id cannot name a product, like an unknown id.
            Err(_) if is_integer(part) => {}
            Err(why) => {
                let part = truncate(part, MAX_QUOTED_CHARS);
                let message = format!("must be comma-separated product ids; {part:?} {why}");
                return Err(Invalid::new("wrong_type", message));
            }
        }
    }
    if raw.split(',').count() > MAX_BULK {
        return Err(Invalid::new("too_many", format!("must have at most {MAX_BULK} ids")));
    }
    Ok(without_duplicates(ids))
}

fn without_duplicates(mut ids: Vec<ProductId>) -> Vec<ProductId> {
    let mut seen = std::collections::HashSet::new();
    ids.retain(|id| seen.insert(*id));
    ids
}
