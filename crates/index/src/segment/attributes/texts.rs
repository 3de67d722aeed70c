//! The strings of an attribute: a dictionary of written forms, and codes.

use std::io;

use catalog::{query::filter::FoldedText, ranking::facets::AttributeCounts};
use hashbrown::{HashMap, HashSet};

use super::{
    codes::{Code, Codes},
    doc_set::DocSet,
    new_number::NewNumber,
    strings::Strings,
};
use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::BitSet,
    heap::allocated_slice,
    segment::DocId,
};

/// The strings of an attribute. Written forms are sorted by folded form, then by themselves.
#[derive(Debug)]
pub(super) struct TextColumn {
    codes: Codes,
    /// By code; empty for a form that equals its folded form.
    written: Strings,
    /// Distinct and sorted.
    folded: Strings,
    /// By code, the number of the folded form, ascending; `None` if each has one written form.
    folded_of: Option<Box<[u32]>>,
}

impl TextColumn {
    fn folded_of(&self, code: usize) -> usize {
        self.folded_of.as_ref().map_or(code, |numbers| numbers[code] as usize)
    }

    fn folded(&self, code: usize) -> &str {
        self.folded.get(self.folded_of(code))
    }

    fn written(&self, code: usize) -> &str {
        match self.written.get(code) {
            "" => self.folded(code),
            written => written,
        }
    }

    /// The products of a segment of `len` with one of these strings.
    pub(super) fn any_of(&self, len: usize, wanted: &[FoldedText]) -> BitSet {
        let mut is_wanted = vec![false; self.written.len()];
        for folded in wanted.iter().filter_map(|text| self.folded.find(text.as_str())) {
            match &self.folded_of {
                None => is_wanted[folded] = true,
                Some(numbers) => {
                    let first = numbers.partition_point(|number| (*number as usize) < folded);
                    let codes = numbers.iter().zip(&mut is_wanted).skip(first);
                    let codes = codes.take_while(|(number, _)| **number as usize == folded);
                    codes.for_each(|(_, is_wanted)| *is_wanted = true);
                }
            }
        }
        match is_wanted.contains(&true) {
            true => self.codes.select(len, |code| is_wanted[code as usize]),
            false => BitSet::new(len),
        }
    }

    /// Counts the strings of products, and returns how many of them have any.
    pub(super) fn count<'a>(&'a self, docs: &[DocId], counts: &mut AttributeCounts<'a>) -> usize {
        // Forms of one value in the same product: the product counts once.
        let mut repeated = Vec::new();
        let several = |codes: &[Code]| {
            if self.folded_of.is_some() {
                let folded = codes.iter().map(|code| self.folded_of(*code as usize));
                let pairs = folded.clone().zip(folded.skip(1));
                repeated.extend(pairs.filter(|(one, next)| one == next).map(|(one, _)| one));
            }
        };
        let members = self.codes.count(docs, several, |code, count| {
            let code = code as usize;
            counts.add_text(self.folded(code), self.written(code), count);
        });
        repeated.into_iter().for_each(|folded| counts.repeated(self.folded.get(folded)));
        members
    }

    /// The products with a value.
    pub(super) fn docs(&self) -> &DocSet {
        self.codes.docs()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.codes.memory_bytes()
            + self.written.memory_bytes()
            + self.folded.memory_bytes()
            + self.folded_of.as_ref().map_or(0, |numbers| allocated_slice(numbers))
    }
}

/// Collects the strings of an attribute, product by product.
#[derive(Default)]
pub(super) struct TextColumnBuilder {
    docs: Vec<DocId>,
    ends: Vec<u32>,
    codes: Vec<Code>,
    /// Written and folded form, in the order of first occurrence.
    forms: Vec<(Box<str>, Box<str>)>,
    numbers: HashMap<Box<str>, Code>,
}

impl TextColumnBuilder {
    /// Adds the strings of the next product.
    pub(super) fn push(&mut self, doc: DocId, texts: &[Box<str>]) {
        for text in texts {
            let code = self.code(text, || FoldedText::of(text).as_str().into());
            self.codes.push(code);
        }
        self.docs.push(doc);
        self.ends.push(self.codes.len() as u32);
    }

    fn code(&mut self, written: &str, folded: impl FnOnce() -> Box<str>) -> Code {
        if let Some(code) = self.numbers.get(written) {
            return *code;
        }
        let code = self.forms.len() as Code;
        self.forms.push((written.into(), folded()));
        self.numbers.insert(written.into(), code);
        code
    }

    /// Adds the products of several columns whose new numbers are given; `None` for a deleted one.
    pub(super) fn merge<'a>(
        columns: impl Iterator<Item = (&'a TextColumn, NewNumber<'a>)>,
    ) -> Self {
        let mut builder = Self::default();
        let mut found: Vec<(DocId, Vec<Code>)> = Vec::new();
        for (column, new_number) in columns {
            let translated: Vec<Code> = (0..column.written.len())
                .map(|code| builder.code(column.written(code), || column.folded(code).into()))
                .collect();
            column.codes.for_each(|doc, places| {
                if let Some(doc) = new_number(doc) {
                    let codes = places.map(|at| translated[column.codes.get(at) as usize]);
                    found.push((doc, codes.collect()));
                }
            });
        }
        found.sort_unstable_by_key(|(doc, _)| *doc);
        for (doc, codes) in found {
            builder.codes.extend(codes);
            builder.docs.push(doc);
            builder.ends.push(builder.codes.len() as u32);
        }
        builder
    }

    /// The column of a segment of `len` products; `None` without any string.
    pub(super) fn finish(self, len: usize) -> Option<TextColumn> {
        if self.docs.is_empty() {
            return None;
        }
        let used: HashSet<Code> = self.codes.iter().copied().collect();
        let mut sorted: Vec<Code> = used.into_iter().collect();
        let form = |code: &Code| &self.forms[*code as usize];
        sorted.sort_unstable_by_key(|code| {
            let (written, folded) = form(code);
            (folded, written)
        });
        let mut position = vec![0; self.forms.len()];
        (0..).zip(&sorted).for_each(|(at, code)| position[*code as usize] = at);
        let written = sorted.iter().map(form).map(|(written, folded)| match written == folded {
            true => "",
            false => &**written,
        });
        let written: Strings = written.collect();
        let values: Vec<_> = sorted.chunk_by(|one, other| form(one).1 == form(other).1).collect();
        let folded: Strings = values.iter().map(|codes| &*form(&codes[0]).1).collect();
        let folded_of = (0_u32..).zip(&values);
        let folded_of = folded_of.flat_map(|(at, codes)| std::iter::repeat_n(at, codes.len()));
        let folded_of = (values.len() < sorted.len()).then(|| folded_of.collect());
        let (ends, codes) = self.sorted_codes(&position);
        let codes = Codes::new(&self.docs, len, ends, &codes, sorted.len());
        Some(TextColumn { codes, written, folded, folded_of })
    }

    /// The codes by their final position, ascending and distinct for each product, and where those
    /// of each product end.
    fn sorted_codes(&self, position: &[Code]) -> (Vec<u32>, Vec<Code>) {
        let mut ends = Vec::with_capacity(self.ends.len());
        let mut sorted: Vec<Code> = Vec::with_capacity(self.codes.len());
        let mut start = 0;
        for end in self.ends.iter().map(|end| *end as usize) {
            let mut own: Vec<Code> =
                self.codes[start..end].iter().map(|code| position[*code as usize]).collect();
            own.sort_unstable();
            own.dedup();
            sorted.extend(own);
            ends.push(sorted.len() as u32);
            start = end;
        }
        (ends, sorted)
    }
}

impl Stored for TextColumn {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        self.codes.write(to)?;
        self.written.write(to)?;
        self.folded.write(to)?;
        to.number(u8::from(self.folded_of.is_some()))?;
        self.folded_of.as_ref().map_or(Ok(()), |numbers| to.slice(numbers))
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let codes = Codes::read(from, len)?;
        let (written, folded) = (Strings::read(from, len)?, Strings::read(from, len)?);
        let folded_of: Option<Box<[u32]>> = match from.number()? {
            0_u8 => None,
            _ => Some(from.array_of_len(codes.dictionary_len())?),
        };
        let are_known = match &folded_of {
            None => folded.len() == codes.dictionary_len(),
            Some(numbers) => numbers.iter().all(|number| (*number as usize) < folded.len()),
        };
        let is_whole = written.len() == codes.dictionary_len() && are_known;
        Rejected::unless(is_whole, "the strings of an attribute do not fit")?;
        Ok(Self { codes, written, folded, folded_of })
    }
}
