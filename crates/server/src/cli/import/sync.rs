//! Makes a shop equal to a feed, by the products' keys: `import --sync`.
//!
//! The catalog is read first, and of every product with a key a digest of each field is kept. A
//! record whose product has the same fields is not written. Once the whole feed was read and
//! stored, products whose key it lacks are hidden or deleted. Nothing depends on what an earlier
//! run did, so an interrupted run is completed by another one.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{DefaultHasher, Hasher},
    str::FromStr,
};

use anyhow::bail;
use clap::ValueEnum;
use ring::digest::{self, SHA256};
use serde_json::{Value, json};

use super::{
    mapped_record::MappedRecord,
    plan::{Action, BadRecord, Read, Row, checked, for_creation},
    record::{Object, RecordError},
    sink::Sink,
};
use crate::http::requests::{
    MAX_BULK,
    products::{NewProduct, ProductUpsert, SETTABLE},
};

/// What happens to products whose key the feed lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Missing {
    /// Hide them; a product that is in the feed again is shown again
    Hide,
    /// Delete them
    Delete,
    /// Leave them as they are
    Keep,
}

/// A share of products.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share(f64);

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        let number = raw.trim().trim_end_matches('%').trim_end().parse::<f64>();
        match number {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self(percent)),
            _ => Err("must be a share from 0% to 100%"),
        }
    }
}

/// A product with a key, as the shop has it.
struct Known {
    id: u64,
    hidden: bool,
    /// Digests of [`SETTABLE`].
    fields: [u64; SETTABLE.len()],
}

/// A key in memory takes the same space, whatever its length.
type KeyDigest = [u8; 16];

/// A synchronisation.
pub(super) struct SyncPlan {
    missing: Missing,
    max_removed: Share,
    shop: HashMap<KeyDigest, Known>,
    /// The keys of the feed and the lines that state them first.
    feed: HashMap<KeyDigest, u64>,
    /// Records without fields: whose products they are is not known.
    unreadable: u64,
}

impl SyncPlan {
    pub(super) fn new(missing: Missing, max_removed: Share) -> Self {
        let (shop, feed) = (HashMap::new(), HashMap::new());
        Self { missing, max_removed, shop, feed, unreadable: 0 }
    }

    /// Adds a product of the shop, as the API returns it.
    pub(super) fn add_known(&mut self, product: &Object) {
        let Some(key) = product.get("key").and_then(Value::as_str) else { return };
        let known = Known {
            id: product.get("id").and_then(Value::as_u64).unwrap_or_default(),
            hidden: product.get("hidden") == Some(&Value::Bool(true)),
            fields: SETTABLE.map(|name| digest_of_field(name, product.get(name))),
        };
        self.shop.insert(digest_of_key(key), known);
    }

    /// The number of products that were added.
    pub(super) fn known(&self) -> usize {
        self.shop.len()
    }

    /// Decides what is to be done with the next record: nothing if its product is as it says.
    pub(super) fn plan(&mut self, read: Read) -> Option<Result<Row, BadRecord>> {
        self.unreadable += u64::from(read.is_unreadable);
        let digest = read.key.as_deref().map(digest_of_key);
        let first = digest.and_then(|digest| match self.feed.entry(digest) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(new) => {
                new.insert(read.line);
                None
            }
        });
        let known = digest.and_then(|digest| self.shop.get(&digest));
        let is_exported = read.is_exported();
        let planned = read.decide(|mapped| {
            if let Some(first) = first {
                let message = format!("is the key of line {first} already");
                return Err(vec![RecordError::of_field("key", "duplicate_key", message)]);
            }
            self.decide(mapped, known, is_exported)
        });
        let is_unchanged = |row: &Row| known.is_some_and(|known| known.is_as(&row.body));
        (!planned.as_ref().is_ok_and(is_unchanged)).then_some(planned)
    }

    fn decide(
        &self,
        mapped: MappedRecord,
        known: Option<&Known>,
        is_exported: bool,
    ) -> Result<(Action, Value), Vec<RecordError>> {
        let mut fields = mapped.fields;
        if self.missing == Missing::Hide {
            fields.entry("hidden").or_insert(false.into());
        }
        if is_exported {
            // An export leaves out what a product lacks.
            fields.entry("url").or_insert("".into());
            fields.entry("attributes").or_insert(json!({}));
        }
        if fields.get("key").is_none_or(|key| key == "") {
            let message = "says which product it is, and must not be empty";
            return Err(vec![RecordError::of_field("key", "required", message)]);
        }
        match known {
            None => checked::<NewProduct>(Action::Upsert { is_new: true }, for_creation(fields)),
            Some(_) => checked::<ProductUpsert>(Action::Upsert { is_new: false }, fields),
        }
    }

    /// The ids of the products to hide or delete, ascending. An error if they are too many.
    pub(super) fn removed(&self) -> anyhow::Result<Removal> {
        let can_be_removed = |known: &&Known| match self.missing {
            Missing::Hide => !known.hidden,
            Missing::Delete => true,
            Missing::Keep => false,
        };
        let total = self.shop.values().filter(can_be_removed).count();
        let is_missing = |(digest, _): &(&KeyDigest, &Known)| !self.feed.contains_key(*digest);
        let missing = self.shop.iter().filter(is_missing).map(|(_, known)| known);
        let mut ids: Vec<u64> = missing.filter(can_be_removed).map(|known| known.id).collect();
        ids.sort_unstable();
        let Share(max) = self.max_removed;
        if self.unreadable > 0 && !ids.is_empty() {
            return Ok(Removal::Withheld { missing: ids.len(), unreadable: self.unreadable });
        }
        if ids.len() as f64 * 100.0 > total as f64 * max {
            let done = if self.missing == Missing::Delete { "deleted" } else { "hidden" };
            bail!(
                "{} of {total} products with a key are not in the feed, more than {max}%: none was \
                 {done}; if the feed is right, repeat the command with a larger --max-removed",
                ids.len()
            );
        }
        Ok(Removal::Of(ids))
    }

    /// Hides or deletes products.
    pub(super) fn remove(&self, sink: &dyn Sink, ids: &[u64]) -> anyhow::Result<()> {
        for ids in ids.chunks(MAX_BULK) {
            if self.missing == Missing::Delete {
                sink.delete(ids)?;
                continue;
            }
            let hidden: Vec<_> = ids.iter().map(|id| json!({"id": id, "hidden": true})).collect();
            for stored in sink.update(&hidden.iter().collect::<Vec<_>>())? {
                match stored {
                    // Deleted meanwhile.
                    Err(error) if error.code != "not_found" => bail!("{}", error.message),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// What happens to missing products, in the past tense.
    pub(super) fn removed_as(&self) -> Option<&'static str> {
        match self.missing {
            Missing::Hide => Some("hidden"),
            Missing::Delete => Some("deleted"),
            Missing::Keep => None,
        }
    }
}

/// What is to be removed.
#[derive(Debug, PartialEq)]
pub(super) enum Removal {
    /// These products.
    Of(Vec<u64>),
    /// None: any of the unreadable records may be one of the missing products.
    Withheld { missing: usize, unreadable: u64 },
}

impl Known {
    /// Whether the product has the fields of a request already.
    fn is_as(&self, body: &Value) -> bool {
        let same = |(name, known): (&&str, &u64)| {
            body.get(name).is_none_or(|value| digest_of_field(name, Some(value)) == *known)
        };
        SETTABLE.iter().zip(&self.fields).all(same)
    }
}

fn digest_of_key(key: &str) -> KeyDigest {
    let mut short = [0; 16];
    short.copy_from_slice(&digest::digest(&SHA256, key.as_bytes()).as_ref()[..16]);
    short
}

/// A digest of a field that is the same for all ways to state the same value.
fn digest_of_field(name: &str, value: Option<&Value>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match (name, value) {
        ("url", None) => add(&mut hasher, &"".into()),
        ("attributes", None) => add(&mut hasher, &json!({})),
        (_, value) => add(&mut hasher, value.unwrap_or(&Value::Null)),
    }
    hasher.finish()
}

fn add(hasher: &mut DefaultHasher, value: &Value) {
    let text = |hasher: &mut DefaultHasher, text: &str| {
        hasher.write_usize(text.len());
        hasher.write(text.as_bytes());
    };
    match value {
        Value::Null => hasher.write_u8(0),
        Value::Bool(truth) => hasher.write(&[1, u8::from(*truth)]),
        Value::Number(number) => {
            hasher.write_u8(2);
            // There is one zero.
            hasher.write_u64((number.as_f64().unwrap_or_default() + 0.0).to_bits());
        }
        Value::String(string) => {
            hasher.write_u8(3);
            text(hasher, string);
        }
        Value::Array(items) => {
            hasher.write_u8(4);
            hasher.write_usize(items.len());
            items.iter().for_each(|item| add(hasher, item));
        }
        Value::Object(fields) => {
            hasher.write_u8(5);
            hasher.write_usize(fields.len());
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            for (name, item) in fields {
                text(hasher, name);
                add(hasher, item);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::import::{fields::Shape, mapping::Mapping, record::Record};

    fn sync(missing: Missing, max_removed: &str) -> SyncPlan {
        let mut sync = SyncPlan::new(missing, max_removed.parse().unwrap());
        for (id, key) in ["a", "b", "c", "d"].iter().enumerate() {
            let product = json!({"id": id + 1, "key": key, "title": "Lamp", "price": "$5",
                "description": "", "media": [], "hidden": *key == "d",
                "attributes": {"width": 5}, "shop_id": 1});
            sync.add_known(product.as_object().unwrap());
        }
        let without_key = json!({"id": 9, "title": "Rug", "price": "$5", "hidden": false});
        sync.add_known(without_key.as_object().unwrap());
        sync
    }

    fn plan(sync: &mut SyncPlan, line: u64, record: &Value) -> String {
        let record = match record {
            Value::Object(object) => Record::read(line, object.clone()),
            other => Record::from_json(line, other.as_str().unwrap().as_bytes()),
        };
        match sync.plan(Read::new(record, &Mapping::new(Shape::Json))) {
            None => "unchanged".to_owned(),
            Some(Ok(row)) => format!("{:?} {}", row.action, row.body),
            Some(Err(bad)) => bad.errors.iter().map(|error| format!("{} ", error.code)).collect(),
        }
    }

    #[test]
    fn only_what_differs_is_written() {
        let mut sync = sync(Missing::Delete, "20%");
        let same = json!({"key": "a", "title": "Lamp", "attributes": {"width": 5.0}, "url": ""});
        assert_eq!(plan(&mut sync, 1, &same), "unchanged");
        assert_eq!(plan(&mut sync, 2, &json!({"key": "b"})), "unchanged");
        let other = json!({"key": "c", "title": "Lamp", "price": "$6"});
        let said = plan(&mut sync, 3, &other);
        assert!(said.starts_with("Upsert { is_new: false }") && said.contains("$6"), "{said}");
        let new = json!({"key": "n", "title": "Lamp", "price": "$6", "url": ""});
        let said = r#"Upsert { is_new: true } {"key":"n","price":"$6","title":"Lamp"}"#;
        assert_eq!(plan(&mut sync, 4, &new), said);
        assert_eq!(plan(&mut sync, 5, &json!({"key": "m", "title": "Lamp"})), "required ");
        assert_eq!(plan(&mut sync, 6, &json!({"title": "Lamp", "price": "$5"})), "required ");
        assert_eq!(plan(&mut sync, 7, &json!({"key": "d", "price": "5"})), "invalid_price ");
        assert_eq!(sync.removed().unwrap(), Removal::Of(Vec::new()), "refused ones are present");
    }

    #[test]
    fn of_several_records_with_one_key_the_first_counts() {
        let mut sync = sync(Missing::Delete, "20%");
        assert!(plan(&mut sync, 4, &json!({"key": "a", "price": "$6"})).starts_with("Upsert"));
        assert_eq!(plan(&mut sync, 9, &json!({"key": "a", "price": "$7"})), "duplicate_key ");
    }

    #[test]
    fn a_product_that_is_in_the_feed_again_is_shown_again() {
        let record = json!({"key": "d", "title": "Lamp"});
        assert!(plan(&mut sync(Missing::Hide, "0"), 1, &record).contains("\"hidden\":false"));
        assert_eq!(plan(&mut sync(Missing::Delete, "0"), 1, &record), "unchanged");
        let hidden = json!({"key": "d", "hidden": true});
        assert_eq!(plan(&mut sync(Missing::Hide, "0"), 1, &hidden), "unchanged");
    }

    #[test]
    fn an_exported_line_states_that_there_is_nothing_else() {
        let line = json!({"id": 7, "key": "a", "title": "Lamp", "shop_id": 1, "created_at": "x"});
        let said = plan(&mut sync(Missing::Keep, "0"), 1, &line);
        assert!(said.contains(r#""attributes":{}"#) && said.contains(r#""url":"""#), "{said}");
    }

    #[test]
    fn what_the_feed_lacks_is_removed_up_to_the_share() {
        let mut hide = sync(Missing::Hide, "50%");
        plan(&mut hide, 1, &json!({"key": "a"}));
        // Two of the three that are visible.
        let said = hide.removed().unwrap_err().to_string();
        assert!(said.contains("2 of 3") && said.contains("--max-removed"), "{said}");
        plan(&mut hide, 2, &json!({"key": "b"}));
        assert_eq!(hide.removed().unwrap(), Removal::Of(vec![3]));
        plan(&mut hide, 3, &json!("{"));
        assert_eq!(hide.removed().unwrap(), Removal::Withheld { missing: 1, unreadable: 1 });
        assert_eq!(sync(Missing::Keep, "0").removed().unwrap(), Removal::Of(Vec::new()));
        let all = sync(Missing::Delete, "100%").removed().unwrap();
        assert_eq!(all, Removal::Of(vec![1, 2, 3, 4]));
        for bad in ["101%", "-1", "many", ""] {
            assert!(bad.parse::<Share>().is_err(), "{bad}");
        }
    }
}
