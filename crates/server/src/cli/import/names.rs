//! The names of columns that are understood without `--map`, simplified: without case, spaces and
//! punctuation.

use catalog::product::attributes::AttributeName;

use super::{
    attributes::Kind,
    fields::Shape,
    fields::{Field, simplified},
};

const DESCRIPTION: [&str; 9] = [
    "description",
    "bodyhtml",
    "body",
    "productdescription",
    "longdescription",
    "details",
    "summary",
    "content",
    "text",
];
const PRICE: [&str; 7] = [
    "price",
    "variantprice",
    "productprice",
    "unitprice",
    "regularprice",
    "sellingprice",
    "listprice",
];
const MEDIA: [&str; 14] = [
    "media",
    "imagesrc",
    "productimageurl",
    "imagelink",
    "image",
    "imageurl",
    "images",
    "imageurls",
    "mainimage",
    "picture",
    "pictures",
    "photo",
    "additionalimagelink",
    "additionalimages",
];
/// Keys, the first two surely.
const KEY: [&str; 13] = [
    "key",
    "sku",
    "productkey",
    "productsku",
    "itemsku",
    "articlenumber",
    "itemnumber",
    "partnumber",
    "productnumber",
    "productcode",
    "productid",
    "itemid",
    "externalid",
];

/// Names that are taken to mean a field, the surest first.
pub(super) fn of_field(field: &Field, shape: Shape) -> &'static [&'static str] {
    match (field, shape) {
        (Field::Title, _) => {
            &["title", "name", "producttitle", "productname", "itemname", "itemtitle"]
        }
        (Field::Description, _) => &DESCRIPTION,
        (Field::Price, _) => &PRICE,
        (Field::Currency, _) => &["currency", "pricecurrency", "currencycode"],
        (Field::Hidden, _) => &["hidden"],
        (Field::Published, _) => &["published", "publishedononlinestore", "visible"],
        (Field::Status, Shape::Shopify) => &["status"],
        (Field::Media, _) => &MEDIA,
        (Field::Key, Shape::Shopify) => &["handle", "urlhandle", "variantsku", "sku"],
        (Field::Key, Shape::Merchant) => &["id"],
        (Field::Key, _) => &KEY,
        (Field::Url, Shape::Merchant) => &["link"],
        (Field::Url, Shape::Json | Shape::Table) => {
            &["url", "link", "producturl", "productlink", "permalink"]
        }
        (Field::Attributes, Shape::Json | Shape::Table) => &["attributes"],
        // In other tables it may mean anything.
        (Field::Status | Field::Url | Field::Attributes, _)
        | (Field::Attribute(..) | Field::Option { .. }, _) => &[],
    }
}

/// Whether a column of this name is the key, whatever other columns there are.
pub(super) fn is_surely_key(name: &str, shape: Shape) -> bool {
    match shape {
        Shape::Shopify | Shape::Merchant => true,
        Shape::Json | Shape::Table => KEY[..2].contains(&simplified(name).as_str()),
    }
}

/// Fields of Shopify's product CSV, by their names of then and now.
const SHOPIFY: [(&str, &str, Kind); 14] = [
    ("vendor", "brand", Kind::Text),
    ("type", "product_type", Kind::Text),
    ("customproducttype", "product_type", Kind::Text),
    ("productcategory", "product_category", Kind::Text),
    ("standardproducttype", "product_category", Kind::Text),
    ("tags", "tags", Kind::Separated(',')),
    ("variantsku", "sku", Kind::Text),
    ("sku", "sku", Kind::Text),
    ("googleshoppinggoogleproductcategory", "google_product_category", Kind::Text),
    ("googleshoppinggender", "gender", Kind::Text),
    ("googleshoppingagegroup", "age_group", Kind::Text),
    ("googleshoppingcondition", "condition", Kind::Text),
    ("googleshoppingmpn", "mpn", Kind::Text),
    ("googleshoppingmanufacturerpartnumbermpn", "mpn", Kind::Text),
];

/// Fields of Merchant feeds. Several colours or materials are separated by slashes there.
const MERCHANT: [(&str, &str, Kind); 14] = [
    ("brand", "brand", Kind::Text),
    ("googleproductcategory", "google_product_category", Kind::Text),
    ("producttype", "product_type", Kind::Text),
    ("availability", "availability", Kind::Text),
    ("condition", "condition", Kind::Text),
    ("color", "color", Kind::Separated('/')),
    ("size", "size", Kind::Text),
    ("gender", "gender", Kind::Text),
    ("agegroup", "age_group", Kind::Text),
    ("material", "material", Kind::Separated('/')),
    ("pattern", "pattern", Kind::Text),
    ("gtin", "gtin", Kind::Text),
    ("mpn", "mpn", Kind::Text),
    ("itemgroupid", "item_group_id", Kind::Text),
];

/// The attribute that a column with this name has.
pub(super) fn attribute(simple: &str, shape: Shape) -> Option<Field> {
    let known = match shape {
        Shape::Shopify => &SHOPIFY,
        Shape::Merchant => &MERCHANT,
        Shape::Json | Shape::Table => return None,
    };
    let (_, name, kind) = known.iter().find(|(column, ..)| *column == simple)?;
    Some(Field::Attribute(AttributeName::parse(name).ok()?, *kind))
}
