//! Strings in one allocation, by number.

use std::io;

use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    heap::{allocated, allocated_slice},
};

/// A list of strings.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    texts: Box<str>,
    /// Where each string ends; it starts where the previous one ends.
    ends: Box<[u32]>,
}

impl Strings {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start as usize..self.ends[at] as usize]
    }

    /// The number of a string, if the list is sorted.
    pub(crate) fn find(&self, wanted: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle).cmp(wanted) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        allocated(self.texts.len()) + allocated_slice(&self.ends)
    }
}

impl<'a> FromIterator<&'a str> for Strings {
    fn from_iter<T: IntoIterator<Item = &'a str>>(strings: T) -> Self {
        let mut texts = String::new();
        let ends = strings.into_iter().map(|string| {
            texts.push_str(string);
            texts.len() as u32
        });
        let ends = ends.collect();
        Self { texts: texts.into(), ends }
    }
}

impl Stored for Strings {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.slice(self.texts.as_bytes())?;
        to.slice(&self.ends)
    }

    fn read(from: &mut ArrayReader<'_>, _: usize) -> Result<Self, Rejected> {
        let texts = String::from_utf8(from.array()?.into_vec());
        let texts = texts.map_err(|_| Rejected::Invalid("a string is not UTF-8"))?;
        let ends = from.ends(texts.len())?;
        let are_whole = ends.iter().all(|end| texts.is_char_boundary(*end as usize));
        Rejected::unless(are_whole, "a string ends within a character")?;
        Ok(Self { texts: texts.into(), ends })
    }
}
