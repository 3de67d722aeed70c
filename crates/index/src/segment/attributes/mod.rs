//! The attributes of a segment's products: a column for each name and type of value.
//!
//! Columns are immutable: a product with other attributes is indexed again. Strings and numbers are
//! dictionary codes. The products that have a value are all, a bit set or a list, whichever is
//! smallest ([`doc_set`]), so that a name that few products have costs little.

mod codes;
mod doc_set;
mod new_number;
mod numbers;
mod strings;
mod texts;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use catalog::{
    product::attributes::{AttributeName, AttributeValue, Attributes, Number},
    query::filter::AttributeTest,
    ranking::facets::AttributeCounts,
};

pub(super) use self::{doc_set::DocSet, strings::Strings};
use self::{
    new_number::NewNumber,
    numbers::NumberColumn,
    texts::{TextColumn, TextColumnBuilder},
};
use super::DocId;
use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::BitSet,
    heap::{allocated, allocated_slice},
};

/// The attributes of a segment's products, by name.
#[derive(Debug, Default)]
pub(crate) struct AttributeColumns(Box<[(AttributeName, AttributeColumn)]>);

/// The values of one attribute. A product has a value of one type.
#[derive(Debug)]
pub(crate) struct AttributeColumn {
    /// Products of the segment, with a value or without.
    len: usize,
    texts: Option<Box<TextColumn>>,
    numbers: Option<Box<NumberColumn>>,
    booleans: Option<Box<BooleanColumn>>,
}

#[derive(Debug)]
struct BooleanColumn {
    yes: DocSet,
    no: DocSet,
}

impl AttributeColumns {
    /// The column of an attribute; `None` if no product has it.
    pub(crate) fn get(&self, name: &str) -> Option<&AttributeColumn> {
        let found = self.0.binary_search_by(|(one, _)| one.as_str().cmp(name)).ok()?;
        Some(&self.0[found].1)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let column = |(name, column): &(AttributeName, AttributeColumn)| {
            allocated(name.as_str().len()) + column.memory_bytes()
        };
        allocated_slice(&self.0) + self.0.iter().map(column).sum::<usize>()
    }

    /// The live products of several segments of attributes, by their new numbers.
    pub(super) fn merge(sources: &[MergeSource<'_>], len: usize) -> Self {
        let names = sources.iter().flat_map(|(columns, _)| columns.0.iter().map(|(name, _)| name));
        let names: BTreeSet<&AttributeName> = names.collect();
        let column = |name: &AttributeName| {
            let columns = sources.iter().filter_map(|(columns, new_number)| {
                Some((columns.get(name.as_str())?, *new_number))
            });
            AttributeColumn::merge(&columns.collect::<Vec<_>>(), len)
        };
        let merged = names.into_iter().filter_map(|name| Some((name.clone(), column(name)?)));
        Self(merged.collect())
    }
}

/// The columns of a segment that is merged.
pub(super) type MergeSource<'a> = (&'a AttributeColumns, NewNumber<'a>);

impl AttributeColumn {
    /// The products whose value satisfies a test.
    pub(crate) fn select(&self, test: &AttributeTest) -> BitSet {
        let len = self.len;
        let found = match test {
            AttributeTest::AnyOf(wanted) => {
                self.texts.as_ref().map(|texts| texts.any_of(len, wanted))
            }
            AttributeTest::Between { min, max } => {
                self.numbers.as_ref().map(|numbers| numbers.between(len, *min, *max))
            }
            AttributeTest::Is(wanted) => {
                let docs = |both: &BooleanColumn| match wanted {
                    true => both.yes.to_bits(len),
                    false => both.no.to_bits(len),
                };
                self.booleans.as_deref().map(docs)
            }
        };
        found.unwrap_or_else(|| BitSet::new(len))
    }

    /// The numbers, if there are any.
    pub(crate) fn numbers(&self) -> Option<&NumberColumn> {
        self.numbers.as_deref()
    }

    /// Whether a product has a value.
    pub(crate) fn contains(&self, doc: usize) -> bool {
        self.sets().any(|docs| docs.contains(doc))
    }

    /// The products with a value.
    pub(crate) fn members(&self) -> BitSet {
        let mut members = BitSet::new(self.len);
        self.sets().for_each(|docs| members.union(&docs.to_bits(self.len)));
        members
    }

    /// The products with a value of each type; no product is in two of them.
    fn sets(&self) -> impl Iterator<Item = &DocSet> {
        let texts = self.texts.iter().map(|texts| texts.docs());
        let numbers = self.numbers.iter().map(|numbers| numbers.docs());
        let booleans = self.booleans.iter().flat_map(|both| [&both.yes, &both.no]);
        texts.chain(numbers).chain(booleans)
    }

    /// Counts the values of products, and returns how many of them have one.
    pub(crate) fn count<'a>(&'a self, docs: &[DocId], counts: &mut AttributeCounts<'a>) -> usize {
        let texts = self.texts.as_ref().map_or(0, |texts| texts.count(docs, counts));
        let numbers = self.numbers.as_ref().map_or(0, |numbers| numbers.count(docs, counts));
        let booleans = self.booleans.as_ref().map_or(0, |both| {
            let (yes, no) = (both.yes.count_among(docs), both.no.count_among(docs));
            counts.add_boolean(true, yes);
            counts.add_boolean(false, no);
            yes + no
        });
        texts + numbers + booleans
    }

    /// `None` if no live product has a value.
    fn merge(sources: &[(&Self, NewNumber<'_>)], len: usize) -> Option<Self> {
        let mut builder = ColumnBuilder::default();
        let texts =
            sources.iter().filter_map(|(column, new)| Some((&**column.texts.as_ref()?, *new)));
        builder.texts = TextColumnBuilder::merge(texts);
        for (column, new_number) in sources {
            if let Some(numbers) = &column.numbers {
                numbers.for_each(|doc, number| {
                    builder.numbers.extend(new_number(doc).map(|doc| (doc, number)));
                });
            }
            if let Some(both) = &column.booleans {
                both.yes.for_each(|doc| builder.yes.extend(new_number(doc)));
                both.no.for_each(|doc| builder.no.extend(new_number(doc)));
            }
        }
        builder.numbers.sort_unstable_by_key(|(doc, _)| *doc);
        builder.yes.sort_unstable();
        builder.no.sort_unstable();
        builder.finish(len)
    }

    fn memory_bytes(&self) -> usize {
        let texts = |texts: &TextColumn| allocated(size_of::<TextColumn>()) + texts.memory_bytes();
        let numbers =
            |numbers: &NumberColumn| allocated(size_of::<NumberColumn>()) + numbers.memory_bytes();
        let booleans = |both: &BooleanColumn| {
            allocated(size_of::<BooleanColumn>()) + both.yes.memory_bytes() + both.no.memory_bytes()
        };
        self.texts.as_deref().map_or(0, texts)
            + self.numbers.as_deref().map_or(0, numbers)
            + self.booleans.as_deref().map_or(0, booleans)
    }
}

/// Collects the attributes of a segment, product by product.
#[derive(Default)]
pub(super) struct AttributesBuilder(BTreeMap<AttributeName, ColumnBuilder>);

#[derive(Default)]
struct ColumnBuilder {
    texts: TextColumnBuilder,
    numbers: Vec<(DocId, Number)>,
    yes: Vec<DocId>,
    no: Vec<DocId>,
}

impl AttributesBuilder {
    /// Adds the attributes of a product with a greater number than all before.
    pub(super) fn push(&mut self, doc: DocId, attributes: &Attributes) {
        for (name, value) in attributes.iter() {
            let column = match self.0.get_mut(name) {
                Some(column) => column,
                None => self.0.entry(name.clone()).or_default(),
            };
            match value {
                AttributeValue::Text(_) | AttributeValue::Texts(_) => {
                    column.texts.push(doc, value.texts());
                }
                AttributeValue::Number(number) => column.numbers.push((doc, *number)),
                AttributeValue::Boolean(true) => column.yes.push(doc),
                AttributeValue::Boolean(false) => column.no.push(doc),
            }
        }
    }

    /// The columns of a segment of `len` products.
    pub(super) fn finish(self, len: usize) -> AttributeColumns {
        let columns = self.0.into_iter();
        let columns = columns.filter_map(|(name, column)| Some((name, column.finish(len)?)));
        AttributeColumns(columns.collect())
    }
}

impl ColumnBuilder {
    /// `None` without any value.
    fn finish(self, len: usize) -> Option<AttributeColumn> {
        let has_booleans = !self.yes.is_empty() || !self.no.is_empty();
        let booleans = has_booleans.then(|| {
            Box::new(BooleanColumn {
                yes: DocSet::of(&self.yes, len),
                no: DocSet::of(&self.no, len),
            })
        });
        let texts = self.texts.finish(len).map(Box::new);
        let numbers = NumberColumn::of_products(&self.numbers, len).map(Box::new);
        let has_any = texts.is_some() || numbers.is_some() || booleans.is_some();
        has_any.then_some(AttributeColumn { len, texts, numbers, booleans })
    }
}

impl Stored for AttributeColumns {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        self.0.iter().map(|(name, _)| name.as_str()).collect::<Strings>().write(to)?;
        self.0.iter().try_for_each(|(_, column)| column.write(to))
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let names = Strings::read(from, len)?;
        let columns = (0..names.len()).map(|at| {
            let name = AttributeName::parse_any(names.get(at));
            let name =
                name.map_err(|_| Rejected::Invalid("the name of an attribute is invalid"))?;
            Ok((name, AttributeColumn::read(from, len)?))
        });
        let columns: Box<[_]> = columns.collect::<Result<_, Rejected>>()?;
        let is_sorted = columns.is_sorted_by(|(one, _), (next, _)| one < next);
        Rejected::unless(is_sorted, "the attributes are not sorted")?;
        Ok(Self(columns))
    }
}

impl Stored for AttributeColumn {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        write_optional(self.texts.as_deref(), to)?;
        write_optional(self.numbers.as_deref(), to)?;
        write_optional(self.booleans.as_deref(), to)
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let column = Self {
            len,
            texts: read_optional(from, len)?,
            numbers: read_optional(from, len)?,
            booleans: read_optional(from, len)?,
        };
        let values = column.sets().map(DocSet::len).sum::<usize>();
        let is_valid = values == column.members().count();
        Rejected::unless(is_valid, "a product has values of two types in one attribute")?;
        Ok(column)
    }
}

impl Stored for BooleanColumn {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        self.yes.write(to)?;
        self.no.write(to)
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        Ok(Self { yes: DocSet::read(from, len)?, no: DocSet::read(from, len)? })
    }
}

fn write_optional<T: Stored>(part: Option<&T>, to: &mut ArrayWriter<'_>) -> io::Result<()> {
    to.number(u8::from(part.is_some()))?;
    part.map_or(Ok(()), |part| part.write(to))
}

fn read_optional<T: Stored>(
    from: &mut ArrayReader<'_>,
    len: usize,
) -> Result<Option<Box<T>>, Rejected> {
    match from.number()? {
        0_u8 => Ok(None),
        _ => Ok(Some(Box::new(T::read(from, len)?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least that any allocation takes: its header, and what it is rounded up to.
    const BLOCK: usize = 32;
    const NAMES: usize = 1_000;

    /// The counted bytes of columns of one product each.
    fn counted(value: &AttributeValue) -> usize {
        let mut builder = AttributesBuilder::default();
        for doc in 0..NAMES {
            let name = AttributeName::parse(&format!("name_{doc:04}")).unwrap();
            builder.push(doc as DocId, &Attributes::new(vec![(name, value.clone())]));
        }
        builder.finish(NAMES).memory_bytes()
    }

    /// Names that few products have are made of many small allocations.
    #[test]
    fn every_allocation_of_a_name_is_counted() {
        let entry = size_of::<(AttributeName, AttributeColumn)>();
        // The name and the members; strings have codes and two lists of strings, of which one is
        // empty but for its ends; numbers have codes and values.
        let text = size_of::<TextColumn>() + (2 + 1 + 3) * BLOCK;
        let number = size_of::<NumberColumn>() + (2 + 1 + 1) * BLOCK;
        let boolean = size_of::<BooleanColumn>() + 2 * BLOCK;
        for (value, column) in [
            (AttributeValue::Text("red".into()), text),
            (AttributeValue::Number(Number::new(7.0).unwrap()), number),
            (AttributeValue::Boolean(true), boolean),
        ] {
            let (counted, least) = (counted(&value), NAMES * (entry + column));
            assert!((least..least + least / 4).contains(&counted), "{value:?}: {counted}, {least}");
        }
    }
}
