//! Counts what shops take of their limits, in the transaction of each write, the same for every
//! store.

use std::collections::BTreeMap;

use catalog::product::{
    Draft, Patch, Product, ShopId,
    attributes::{AttributeName, Attributes, MAX_SHOP_NAMES},
    http_url::ProductUrl,
    key::Key,
    media::Media,
};

use super::{
    LimitExceeded, Quotas, RowWrites, ShopUsage, StoreError, UsageChange, attributes_column,
    media_column,
};

/// What is counted of a product.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    hidden: bool,
    title: &'a str,
    description: &'a str,
    price: &'a str,
    media: &'a [Media],
    key: Option<&'a Key>,
    url: Option<&'a ProductUrl>,
    attributes: &'a Attributes,
}

impl<'a> From<&'a Draft> for Counted<'a> {
    fn from(draft: &'a Draft) -> Self {
        Self {
            hidden: draft.hidden,
            title: draft.title.as_str(),
            description: draft.description.as_str(),
            price: draft.price.text(),
            media: &draft.media,
            key: draft.key.as_ref(),
            url: draft.url.as_ref(),
            attributes: &draft.attributes,
        }
    }
}

impl<'a> From<&'a Product> for Counted<'a> {
    fn from(product: &'a Product) -> Self {
        Self {
            hidden: product.hidden,
            title: product.title.as_str(),
            description: product.description.as_str(),
            price: product.price.text(),
            media: &product.media,
            key: product.key.as_ref(),
            url: product.url.as_ref(),
            attributes: &product.attributes,
        }
    }
}

impl<'a> Counted<'a> {
    /// What is counted of the product after a patch.
    pub(super) fn with(self, patch: &'a Patch) -> Self {
        Self {
            hidden: patch.hidden.unwrap_or(self.hidden),
            title: patch.title.as_ref().map_or(self.title, |title| title.as_str()),
            description: patch.description.as_ref().map_or(self.description, |text| text.as_str()),
            price: patch.price.as_ref().map_or(self.price, |price| price.text()),
            media: patch.media.as_deref().unwrap_or(self.media),
            key: patch.key.as_ref().map_or(self.key, Option::as_ref),
            url: patch.url.as_ref().map_or(self.url, Option::as_ref),
            attributes: patch.attributes.as_ref().unwrap_or(self.attributes),
        }
    }

    /// The bytes of the product as it is stored.
    fn bytes(&self) -> i64 {
        let bytes = self.title.len()
            + self.description.len()
            + self.price.len()
            + media_column(self.media).len()
            + self.key.map_or(0, |key| key.as_str().len())
            + self.url.map_or(0, |url| url.as_str().len())
            + attributes_column(self.attributes).map_or(0, |attributes| attributes.len());
        bytes as i64
    }
}

/// The counts of a shop that a transaction has changed.
#[derive(Default)]
struct ShopTally {
    /// Before the transaction; `None` until a limit has to be checked.
    before: Option<ShopUsage>,
    change: UsageChange,
    /// The names that had to be looked up.
    names: BTreeMap<AttributeName, NameCount>,
}

/// How many products of the shop have a name.
#[derive(Clone, Copy)]
struct NameCount {
    before: u64,
    now: u64,
}

/// The counts of the shops that a transaction has changed.
#[derive(Default)]
pub(super) struct Tally {
    quotas: Quotas,
    shops: BTreeMap<ShopId, ShopTally>,
}

impl Tally {
    pub(super) fn set_quotas(&mut self, quotas: Quotas) {
        self.quotas = quotas;
    }

    /// What a shop takes, with the earlier writes of this transaction.
    pub(super) fn usage(
        &mut self,
        rows: &mut dyn RowWrites,
        shop: ShopId,
    ) -> Result<ShopUsage, StoreError> {
        let tally = self.shops.entry(shop).or_default();
        tally.usage(rows, shop)
    }

    /// Looks names up at once, which [`change`](Self::change) would do product by product.
    pub(super) fn prefetch_names<'a>(
        &mut self,
        rows: &mut dyn RowWrites,
        shop: ShopId,
        names: impl Iterator<Item = &'a AttributeName>,
    ) -> Result<(), StoreError> {
        self.shops.entry(shop).or_default().look_up(rows, shop, names)
    }

    /// Counts that a product is created, updated or deleted, unless the shop would exceed a limit.
    pub(super) fn change(
        &mut self,
        rows: &mut dyn RowWrites,
        shop: ShopId,
        before: Option<Counted<'_>>,
        after: Option<Counted<'_>>,
    ) -> Result<Result<(), LimitExceeded>, StoreError> {
        let tally = self.shops.entry(shop).or_default();
        let old = before.map_or(Attributes::none(), |counted| counted.attributes);
        let new = after.map_or(Attributes::none(), |counted| counted.attributes);
        let (removed, added) = (missing_in(old, new), missing_in(new, old));
        tally.look_up(rows, shop, removed.iter().chain(&added).copied())?;
        let freed = removed.iter().filter(|name| tally.count(name) == 1).count() as i64;
        let brought = added.iter().filter(|name| tally.count(name) == 0).count() as i64;
        let visible =
            |counted: Option<Counted<'_>>| i64::from(counted.is_some_and(|it| !it.hidden));
        let change = UsageChange {
            products: i64::from(after.is_some()) - i64::from(before.is_some()),
            visible: visible(after) - visible(before),
            bytes: after.map_or(0, |it| it.bytes()) - before.map_or(0, |it| it.bytes()),
            attribute_names: brought - freed,
        };
        if let Some(limit) = tally.exceeds(rows, shop, self.quotas, change, brought > 0)? {
            return Ok(Err(limit));
        }
        tally.change = tally.change.and(change);
        for name in removed {
            tally.add(name, -1);
        }
        for name in added {
            tally.add(name, 1);
        }
        Ok(Ok(()))
    }

    /// Writes the counts.
    pub(super) fn write(self, rows: &mut dyn RowWrites) -> Result<(), StoreError> {
        for (shop, tally) in self.shops {
            if tally.change != UsageChange::default() {
                rows.add_usage(shop, tally.change)?;
            }
            let changed = tally.names.iter().filter(|(_, count)| count.before != count.now);
            let changed: Vec<_> = changed.map(|(name, count)| (name, count.now)).collect();
            if !changed.is_empty() {
                rows.set_name_counts(shop, &changed)?;
            }
        }
        Ok(())
    }
}

impl ShopTally {
    fn usage(&mut self, rows: &mut dyn RowWrites, shop: ShopId) -> Result<ShopUsage, StoreError> {
        let before = match self.before {
            Some(before) => before,
            None => *self.before.insert(rows.usage(shop)?),
        };
        Ok(before.after(self.change))
    }

    /// The limit that a change exceeds. What does not grow is never refused.
    fn exceeds(
        &mut self,
        rows: &mut dyn RowWrites,
        shop: ShopId,
        quotas: Quotas,
        change: UsageChange,
        brings_names: bool,
    ) -> Result<Option<LimitExceeded>, StoreError> {
        let products = quotas.products.filter(|_| change.products > 0);
        let bytes = quotas.bytes.filter(|_| change.bytes > 0);
        if products.is_none() && bytes.is_none() && !brings_names {
            return Ok(None);
        }
        let after = self.usage(rows, shop)?.after(change);
        let products = products.filter(|limit| after.products > *limit);
        let bytes = bytes.filter(|limit| after.bytes > *limit);
        Ok(match (products, bytes) {
            (Some(limit), _) => Some(LimitExceeded::Products { limit }),
            (None, Some(limit)) => Some(LimitExceeded::Bytes { limit }),
            (None, None) if brings_names && after.attribute_names > MAX_SHOP_NAMES => {
                Some(LimitExceeded::AttributeNames)
            }
            (None, None) => None,
        })
    }

    /// Reads the counts of names that are not known yet.
    fn look_up<'a>(
        &mut self,
        rows: &mut dyn RowWrites,
        shop: ShopId,
        names: impl Iterator<Item = &'a AttributeName>,
    ) -> Result<(), StoreError> {
        let mut unknown: Vec<_> = names.filter(|name| !self.names.contains_key(*name)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        unknown.sort_unstable();
        unknown.dedup();
        let counts = rows.name_counts(shop, &unknown)?;
        let known = unknown.into_iter().cloned().zip(counts);
        self.names
            .extend(known.map(|(name, count)| (name, NameCount { before: count, now: count })));
        Ok(())
    }

    fn count(&self, name: &AttributeName) -> u64 {
        self.names.get(name).map_or(0, |count| count.now)
    }

    fn add(&mut self, name: &AttributeName, products: i64) {
        if let Some(count) = self.names.get_mut(name) {
            count.now = count.now.saturating_add_signed(products);
        }
    }
}

/// The names of `all` that `others` lacks.
fn missing_in<'a>(all: &'a Attributes, others: &Attributes) -> Vec<&'a AttributeName> {
    all.names().filter(|name| others.get(name.as_str()).is_none()).collect()
}
