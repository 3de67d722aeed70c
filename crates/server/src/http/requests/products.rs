//! Requests that create, change and delete products.

use catalog::product::{
    self, Description, Draft, Patch, ProductId, Title,
    key::Key,
    media::{self, Media, MediaKind},
    price::{self, Price},
};
use serde_json::{Value, json};

use super::{
    fields::{
        Fields, Invalid, ObjectDefinition, Rule, boolean, elements, list, object, read_integer,
        request_bodies, text,
    },
    merchant_data::{attributes, attributes_example, changed_key, changed_url, key, url},
};
use crate::http::json_schema::{
    formatted, id, one_of, plain_text, plain_text_not_blank, reference, string,
};

/// The most products in one bulk request.
pub const MAX_BULK: usize = 100;

/// Fields of a product that a client may set.
pub(crate) const SETTABLE: [&str; 8] =
    ["title", "description", "price", "hidden", "media", "key", "url", "attributes"];
/// Fields of a product that a client cannot set. They are ignored, so that a product can be read,
/// edited and sent back.
pub(crate) const READ_ONLY: [&str; 6] =
    ["id", "shop_id", "created_at", "updated_at", "category", "inferred_attributes"];

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
/// A product to create or to change, by its key.
pub struct ProductUpsert;
/// Products to create or to change, in one request.
pub struct ProductUpserts;
/// Products to delete, in one request.
pub struct ProductDeletion;
/// A picture of a product.
pub struct NewMedia;
/// One product, as a JSON object.
pub(crate) struct ProductArgument;

request_bodies!(
    NewProduct,
    NewProducts,
    ProductChanges,
    ProductEdit,
    ProductEdits,
    ProductUpsert,
    ProductUpserts,
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
        let key = fields.optional("key", key());
        let url = fields.optional("url", url());
        let attributes = fields.optional("attributes", attributes());
        fields.ignored(&READ_ONLY);
        Some(Draft {
            description: description.unwrap_or_default(),
            hidden: hidden.unwrap_or(false),
            media: media.unwrap_or_default(),
            key,
            url,
            attributes: attributes.unwrap_or_default(),
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
        let patch = changes(fields);
        fields.ignored(&READ_ONLY);
        fields.changes_one_of(&SETTABLE);
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
        let patch = changes(fields);
        fields.ignored(&READ_ONLY[1..]);
        fields.changes_one_of(&SETTABLE);
        Some((id?, patch))
    }
}

impl ProductEdit {
    /// The id in an element of a bulk update, if it is valid: errors of the element name it.
    pub(crate) fn id_of(element: &Value) -> Option<u64> {
        (product_id("").read)(element.get("id")?).ok().map(ProductId::get)
    }
}

impl<'a> ObjectDefinition<'a> for ProductUpsert {
    type Value = (Key, Patch);

    fn define(fields: &mut Fields<'a>) -> Option<(Key, Patch)> {
        let about = "A product by its key: created if the shop has no such key, and then `title` and \
                     `price` are needed; otherwise the fields that are sent are changed.";
        fields.about(about, || Some(json!({"key": "SOFA-3-GREEN", "price": "$799.00"})));
        let key = fields.required("key", key());
        let patch = changes_besides_key(fields);
        fields.ignored(&READ_ONLY);
        Some((key?, patch))
    }
}

impl ProductUpsert {
    /// The key in an element of an upsert, if it is valid: errors of the element name it.
    pub(crate) fn key_of(element: &Value) -> Option<String> {
        (key().read)(element.get("key")?).ok().map(|key| key.as_str().to_owned())
    }
}

impl<'a> ObjectDefinition<'a> for ProductUpserts {
    type Value = &'a Vec<Value>;

    fn define(fields: &mut Fields<'a>) -> Option<&'a Vec<Value>> {
        fields.about("Products to create or change, by key.", || {
            Some(json!({"products": [
                {"key": "SOFA-3-GREEN", "title": "Linen sofa", "price": "$899.00",
                    "attributes": attributes_example()},
                {"key": "TABLE-OAK", "price": "149,00 €"}]}))
        });
        let about = "Each element is taken on its own and in order: one that breaks a rule is \
                     listed in `errors`, the others are applied.";
        fields.required("products", elements(about, 1, MAX_BULK, || reference("ProductUpsert")))
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

/// The fields of a product that an update may set.
fn changes(fields: &mut Fields<'_>) -> Patch {
    let patch = changes_besides_key(fields);
    Patch { key: fields.optional("key", changed_key()), ..patch }
}

fn changes_besides_key(fields: &mut Fields<'_>) -> Patch {
    Patch {
        title: fields.optional("title", title()),
        description: fields.optional("description", description()),
        price: fields.optional("price", price()),
        // Without a default: a client that fills in defaults would unhide what it changes.
        hidden: fields.optional("hidden", hidden(None)),
        media: fields.optional("media", media()),
        url: fields.optional("url", changed_url()),
        attributes: fields.optional("attributes", attributes()),
        key: None,
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

pub(super) fn product_id(about: &str) -> Rule<'_, ProductId> {
    let read = |value: &Value| {
        let out_of_range = || Invalid::new("out_of_range", "must be a positive integer").into();
        ProductId::new(read_integer(value, 1, i64::MAX as u64)?).ok_or_else(out_of_range)
    };
    Rule::new(read, move || id(about))
}

fn new_product_example() -> Value {
    json!({"title": "Linen sofa", "description": "Three seats, washable covers.",
        "price": "$899.00", "media": [{"url": "https://example.com/sofa.jpg", "type": "image"}],
        "key": "SOFA-3-GREEN", "url": "https://example.com/linen-sofa",
        "attributes": attributes_example()})
}

impl<'a> ObjectDefinition<'a> for ProductArgument {
    type Value = ProductId;

    fn define(fields: &mut Fields<'a>) -> Option<ProductId> {
        fields.about("", || None);
        fields.required("id", product_id("Which product."))
    }
}
