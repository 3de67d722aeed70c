//! Decodes stored rows leniently, without validating them again.
//!
//! Input is validated when it is written, by the rules of the version that writes it. Rows outlive
//! those rules: another version, a restore or an operator's SQL may have written them. So a value
//! that cannot be decoded affects that value only, never its row, its shop or the request:
//!
//! - invalid UTF-8 in texts is replaced;
//! - a price that cannot be parsed keeps its text and satisfies no condition on prices;
//! - media and attributes that are not JSON, and vectors and tokens that cannot be decoded, count
//!   as absent, and so does an attribute with an invalid name or value;
//! - what was inferred by another version, or cannot be decoded, is inferred from the texts;
//! - times out of range become the first or last representable time.
//!
//! A row without a valid id is skipped. Replacements and skipped rows are logged with their shop
//! and product, at a limited rate.

use std::{
    borrow::Cow,
    collections::HashSet,
    time::{Duration, Instant},
};

use catalog::product::{
    Description, Product, ProductId, ShopId, Title,
    attributes::Attributes,
    change::Seq,
    http_url::ProductUrl,
    key::Key,
    price::{Money, Price},
};
use embed::{StoredVector, StoredVectors, inference::stored_or_inferred};
use jiff::Timestamp;
use parking_lot::Mutex;

use super::columns::{attributes_from_column, media_from_column};

/// The vectors of a product, of which `deep` is in its bytes; `None` if one cannot be decoded.
pub(super) fn vectors(vector: Option<StoredVector>, deep: Option<&[u8]>) -> Option<StoredVectors> {
    let deep = match deep {
        Some(bytes) => Some(StoredVector::from_bytes(bytes)?),
        None => None,
    };
    Some(StoredVectors { vector: vector?, deep })
}

/// The columns of a product's row.
pub(super) struct ProductColumns<'row> {
    pub(super) id: i64,
    pub(super) shop: i64,
    pub(super) title: Cow<'row, str>,
    pub(super) description: Cow<'row, str>,
    pub(super) price: Cow<'row, str>,
    pub(super) hidden: bool,
    pub(super) media: Cow<'row, str>,
    pub(super) created_at: i64,
    pub(super) updated_at: i64,
    pub(super) version: i64,
    pub(super) key: Option<Cow<'row, str>>,
    pub(super) url: Option<Cow<'row, str>>,
    pub(super) attributes: Option<Cow<'row, str>>,
    pub(super) inferred: Option<&'row [u8]>,
}

impl ProductColumns<'_> {
    /// The product; `None` if the row has no valid id.
    pub(super) fn decode(self) -> Option<Product> {
        let (shop, id) = (self.shop, self.id);
        let price = Price::from_stored(self.price.into_owned());
        if price.money().is_none() {
            report(shop, id, "the price cannot be parsed");
        }
        let media = media_from_column(&self.media).unwrap_or_else(|| {
            report(shop, id, "the media cannot be parsed");
            Vec::new()
        });
        if [self.created_at, self.updated_at].iter().any(|at| !is_valid_time(*at)) {
            report(shop, id, "a time is out of range");
        }
        let attributes = attributes(shop, id, self.attributes.as_deref());
        let inferred =
            stored_or_inferred(self.inferred, &self.title, &self.description, &attributes);
        Some(Product {
            id: product_id(shop, id)?,
            shop: shop_id(shop)?,
            title: Title::from_stored(self.title.into_owned()),
            description: Description::from_stored(self.description.into_owned()),
            price,
            hidden: self.hidden,
            media,
            key: self.key.map(|key| Key::from_stored(&key)),
            url: self.url.map(|url| ProductUrl::from_stored(&url)),
            attributes,
            inferred,
            created_at: time(self.created_at),
            updated_at: time(self.updated_at),
            version: seq(self.version),
        })
    }
}

/// The id of a product of this shop; `None` if it is out of range.
pub(super) fn product_id(shop: i64, number: i64) -> Option<ProductId> {
    let id = u64::try_from(number).ok().and_then(ProductId::new);
    if id.is_none() {
        report(shop, number, "the product id is out of range; the row is skipped");
    }
    id
}

/// The id of a shop; `None` if it is out of range.
pub(super) fn shop_id(number: i64) -> Option<ShopId> {
    let id = u64::try_from(number).ok().and_then(ShopId::new);
    if id.is_none() {
        report(number, 0, "the shop id is out of range; the row is skipped");
    }
    id
}

/// The amount and currency of a stored price; `None` if it cannot be parsed.
pub(super) fn money(shop: i64, product: i64, text: &str) -> Option<Money> {
    let money = Money::parse(text).ok();
    if money.is_none() {
        report(shop, product, "the price cannot be parsed");
    }
    money
}

/// The attributes in a column, without those that cannot be decoded.
pub(super) fn attributes(shop: i64, product: i64, column: Option<&str>) -> Attributes {
    let (attributes, is_complete) = attributes_from_column(column);
    if !is_complete {
        report(shop, product, "the attributes cannot be parsed");
    }
    attributes
}

pub(super) fn seq(number: i64) -> Seq {
    Seq(number.cast_unsigned())
}

/// A count that the database stores as a signed integer.
pub(super) fn count(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// A time in microseconds since 1970, clamped to the representable range.
pub(super) fn time(microseconds: i64) -> Timestamp {
    let nearest = if microseconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_microsecond(microseconds).unwrap_or(nearest)
}

fn is_valid_time(microseconds: i64) -> bool {
    Timestamp::from_microsecond(microseconds).is_ok()
}

/// How long a logged value is not logged again.
const WINDOW: Duration = Duration::from_secs(60);
/// The most values that are logged in this time.
const LINES: usize = 20;

/// What was logged recently.
#[derive(Default)]
struct Reported {
    since: Option<Instant>,
    values: HashSet<(i64, i64, &'static str)>,
    suppressed: u64,
}

static REPORTED: Mutex<Option<Reported>> = Mutex::new(None);

/// Logs a value that was replaced, or a row that was skipped.
pub(super) fn report(shop: i64, product: i64, what: &'static str) {
    metrics::counter!("shopkeeper_undecodable_values_total").increment(1);
    let mut reported = REPORTED.lock();
    let reported = reported.get_or_insert_default();
    if reported.since.is_none_or(|since| since.elapsed() >= WINDOW) {
        reported.since = Some(Instant::now());
        reported.values.clear();
    }
    if reported.values.contains(&(shop, product, what)) {
        return;
    }
    if reported.values.len() >= LINES {
        reported.suppressed += 1;
        return;
    }
    reported.values.insert((shop, product, what));
    let suppressed = std::mem::take(&mut reported.suppressed);
    tracing::warn!(shop, product, suppressed, "a stored row cannot be decoded: {what}");
}

#[cfg(test)]
mod tests {
    use catalog::product::media::Media;

    use super::*;

    fn row() -> ProductColumns<'static> {
        ProductColumns {
            id: 7,
            shop: 1,
            title: "Lamp".into(),
            description: "".into(),
            price: "$5".into(),
            hidden: false,
            media: "[]".into(),
            created_at: 0,
            updated_at: 0,
            version: 3,
            key: None,
            url: None,
            attributes: None,
            inferred: None,
        }
    }

    #[test]
    fn invalid_values_do_not_affect_others() {
        let odd = ProductColumns {
            title: " ".into(),
            price: "5 ZZZ".into(),
            media: "nonsense".into(),
            created_at: i64::MAX,
            updated_at: i64::MIN,
            key: Some("".into()),
            url: Some("nowhere".into()),
            attributes: Some("[".into()),
            ..row()
        };
        let product = odd.decode().unwrap();
        assert_eq!((product.title.as_str(), product.price.text()), (" ", "5 ZZZ"));
        assert_eq!((product.price.money(), product.media), (None, vec![]));
        assert_eq!((product.created_at, product.updated_at), (Timestamp::MAX, Timestamp::MIN));
        assert_eq!(product.key, Some(Key::from_stored("")));
        assert_eq!(product.url, Some(ProductUrl::from_stored("nowhere")));
        assert_eq!(product.attributes, Attributes::default());
        assert_eq!(row().decode().unwrap().price, Price::parse("$5").unwrap());
        assert_eq!(ProductColumns { id: 0, ..row() }.decode(), None);
    }

    #[test]
    fn media_of_an_unknown_kind_are_kept() {
        let media = r#"[{"url":"https://a.example/x","type":"hologram"}]"#;
        let product = ProductColumns { media: media.into(), ..row() }.decode().unwrap();
        assert_eq!(product.media, [Media::from_stored("https://a.example/x".into(), "hologram")]);
        assert_eq!(super::super::columns::media_column(&product.media), media);
    }
}
