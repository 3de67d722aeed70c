//! Dictionary codes of products: one or several for each product of a set, as narrow as the
//! dictionary allows.

use std::{io, ops::Range};

use super::doc_set::DocSet;
use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::BitSet,
    heap::allocated_slice,
    segment::DocId,
};

/// A dictionary code.
pub(super) type Code = u32;

/// Where fewer products than the dictionary's size divided by this are counted, their codes are
/// sorted instead of counted in a table.
const SPARSE: usize = 8;

/// The longest dictionary whose codes take one byte, and two.
const MAX_NARROW: usize = 1 << u8::BITS;
const MAX_MEDIUM: usize = 1 << u16::BITS;

#[derive(Debug)]
enum Narrow {
    One(Box<[u8]>),
    Two(Box<[u16]>),
    Four(Box<[u32]>),
}

impl Narrow {
    fn of(codes: &[Code], dictionary_len: usize) -> Self {
        if dictionary_len <= MAX_NARROW {
            Self::One(codes.iter().map(|code| *code as u8).collect())
        } else if dictionary_len <= MAX_MEDIUM {
            Self::Two(codes.iter().map(|code| *code as u16).collect())
        } else {
            Self::Four(codes.into())
        }
    }

    #[inline]
    fn get(&self, at: usize) -> Code {
        match self {
            Self::One(codes) => codes[at].into(),
            Self::Two(codes) => codes[at].into(),
            Self::Four(codes) => codes[at],
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::One(codes) => codes.len(),
            Self::Two(codes) => codes.len(),
            Self::Four(codes) => codes.len(),
        }
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::One(codes) => allocated_slice(codes),
            Self::Two(codes) => allocated_slice(codes),
            Self::Four(codes) => allocated_slice(codes),
        }
    }
}

/// The codes of some products of a segment.
#[derive(Debug)]
pub(super) struct Codes {
    docs: DocSet,
    /// By rank, where the codes of each product end; `None` if each product has one.
    ends: Option<Box<[u32]>>,
    codes: Narrow,
    dictionary_len: usize,
}

impl Codes {
    /// The codes of `docs`, which are ascending; those of each product end at `ends`.
    pub(super) fn new(
        docs: &[DocId],
        len: usize,
        ends: Vec<u32>,
        codes: &[Code],
        dictionary_len: usize,
    ) -> Self {
        let is_single = (1..).zip(&ends).all(|(one_each, end)| *end == one_each);
        Self {
            docs: DocSet::of(docs, len),
            ends: (!is_single).then(|| ends.into()),
            codes: Narrow::of(codes, dictionary_len),
            dictionary_len,
        }
    }

    fn range(&self, rank: usize) -> Range<usize> {
        match &self.ends {
            None => rank..rank + 1,
            Some(ends) => {
                let start = rank.checked_sub(1).map_or(0, |before| ends[before]);
                start as usize..ends[rank] as usize
            }
        }
    }

    /// The members.
    pub(super) fn docs(&self) -> &DocSet {
        &self.docs
    }

    /// The codes of a product, ascending; `None` if it is not a member.
    pub(super) fn of(&self, doc: usize) -> Option<impl Iterator<Item = Code> + '_> {
        let rank = self.docs.rank(doc)?;
        Some(self.range(rank).map(|at| self.codes.get(at)))
    }

    /// Calls `f` with every product and where its codes are.
    pub(super) fn for_each(&self, mut f: impl FnMut(usize, Range<usize>)) {
        let mut rank = 0;
        self.docs.for_each(|doc| {
            f(doc, self.range(rank));
            rank += 1;
        });
    }

    /// The code at a place that [`Self::for_each`] gave.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Code {
        self.codes.get(at)
    }

    /// The products of a segment of `len` with a wanted code. The compiler vectorises a comparison.
    pub(super) fn select(&self, len: usize, is_wanted: impl Fn(Code) -> bool + Copy) -> BitSet {
        match (&self.ends, &self.docs, &self.codes) {
            (None, DocSet::All(_), Narrow::One(codes)) => select_all(codes, is_wanted),
            (None, DocSet::All(_), Narrow::Two(codes)) => select_all(codes, is_wanted),
            _ => {
                let mut selected = BitSet::new(len);
                self.for_each(|doc, mut places| {
                    if places.any(|at| is_wanted(self.get(at))) {
                        selected.set(doc);
                    }
                });
                selected
            }
        }
    }

    /// Counts the codes of `docs`, and returns how many of these products are members. `several`
    /// is called with all codes of a product that has several.
    pub(super) fn count(
        &self,
        docs: &[DocId],
        mut several: impl FnMut(&[Code]),
        mut counted: impl FnMut(Code, usize),
    ) -> usize {
        let mut members = 0;
        let mut each = |f: &mut dyn FnMut(Code)| {
            let mut codes_of_one = Vec::new();
            for doc in docs {
                let Some(rank) = self.docs.rank(usize::from(*doc)) else { continue };
                members += 1;
                let range = self.range(rank);
                if range.len() > 1 {
                    codes_of_one.clear();
                    codes_of_one.extend(range.clone().map(|at| self.codes.get(at)));
                    several(&codes_of_one);
                }
                range.for_each(|at| f(self.codes.get(at)));
            }
        };
        if docs.len() * SPARSE < self.dictionary_len {
            let mut codes = Vec::with_capacity(docs.len());
            each(&mut |code| codes.push(code));
            codes.sort_unstable();
            codes.chunk_by(|one, other| one == other).for_each(|same| counted(same[0], same.len()));
        } else {
            let mut counts = vec![0_u32; self.dictionary_len];
            each(&mut |code| counts[code as usize] += 1);
            let counts = (0..).zip(counts).filter(|(_, count)| *count > 0);
            counts.for_each(|(code, count)| counted(code, count as usize));
        }
        members
    }

    /// Number of values that the codes stand for.
    pub(super) fn dictionary_len(&self) -> usize {
        self.dictionary_len
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let ends = self.ends.as_ref().map_or(0, |ends| allocated_slice(ends));
        self.docs.memory_bytes() + ends + self.codes.memory_bytes()
    }
}

/// Selects among products that all have one code.
fn select_all<T: Copy + Into<Code>>(codes: &[T], is_wanted: impl Fn(Code) -> bool) -> BitSet {
    BitSet::from_flags(codes.iter().map(|code| is_wanted((*code).into())))
}

impl Stored for Narrow {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        match self {
            Self::One(codes) => to.slice(codes),
            Self::Two(codes) => to.slice(codes),
            Self::Four(codes) => to.slice(codes),
        }
    }

    /// `len`: that of the dictionary.
    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        fn below<T: Copy + Into<Code>>(len: usize) -> impl Fn(T) -> Option<T> {
            move |code| ((code.into() as usize) < len).then_some(code)
        }
        Ok(if len <= MAX_NARROW {
            Self::One(from.array_of(below(len))?)
        } else if len <= MAX_MEDIUM {
            Self::Two(from.array_of(below(len))?)
        } else {
            Self::Four(from.array_of(below(len))?)
        })
    }
}

impl Stored for Codes {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.number(self.dictionary_len as u64)?;
        self.codes.write(to)?;
        self.docs.write(to)?;
        to.number(u8::from(self.ends.is_some()))?;
        self.ends.as_ref().map_or(Ok(()), |ends| to.slice(ends))
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let dictionary_len = from.number::<u64>()? as usize;
        let codes = Narrow::read(from, dictionary_len)?;
        let docs = DocSet::read(from, len)?;
        let ends = match from.number()? {
            0_u8 => None,
            _ => Some(from.ends(codes.len())?),
        };
        let members = ends.as_ref().map_or(codes.len(), |ends| ends.len());
        Rejected::unless(members == docs.len(), "the codes are those of other products")?;
        Ok(Self { docs, ends, codes, dictionary_len })
    }
}
