//! Arrays of plain numbers in a file: little-endian, each with its length before it, under a
//! running checksum.
//!
//! An [`ArrayReader`] reads bytes that may be anything: it never allocates more than the file has,
//! and every reader of a [`Stored`] type checks whatever the type later relies on, so that no file
//! can make a search panic.

use std::io::{self, Read, Write};

use crc32fast::Hasher;
use thiserror::Error;

/// Bytes that are converted at a time: they stay in the processor's cache between their checksum and
/// their conversion.
const STEP: usize = 1 << 14;

/// Part of a segment that can be written to a file.
pub(crate) trait Stored: Sized {
    /// Writes it.
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()>;

    /// Reads what [`write`](Self::write) wrote for a segment of `len` products, and checks it.
    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected>;
}

/// Why a file is not used.
#[derive(Debug, Error)]
pub enum Rejected {
    /// It cannot be read, or ends early.
    #[error("the file cannot be read")]
    Io(#[from] io::Error),
    /// It is not what this program wrote for this state.
    #[error("{0}")]
    Invalid(&'static str),
}

impl Rejected {
    /// `Ok` if a condition holds that the data of an undamaged file satisfies.
    pub(crate) fn unless(holds: bool, problem: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::Invalid(problem)) }
    }
}

/// A number of fixed size, or some of them.
pub(crate) trait Plain: Copy {
    const BYTES: usize;

    /// Writes the number into [`Self::BYTES`] bytes.
    fn put(self, bytes: &mut [u8]);

    /// The number in [`Self::BYTES`] bytes.
    fn of(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($number:ty),+) => {
        $(impl Plain for $number {
            const BYTES: usize = size_of::<Self>();

            #[inline]
            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn of(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap_or_default())
            }
        })+
    };
}

plain!(u8, i8, u16, u32, u64, u128, f32, f64);

impl<T: Plain, const N: usize> Plain for [T; N] {
    const BYTES: usize = N * T::BYTES;

    #[inline]
    fn put(self, bytes: &mut [u8]) {
        bytes.chunks_exact_mut(T::BYTES).zip(self).for_each(|(place, number)| number.put(place));
    }

    #[inline]
    fn of(bytes: &[u8]) -> Self {
        std::array::from_fn(|at| T::of(&bytes[at * T::BYTES..(at + 1) * T::BYTES]))
    }
}

/// Writes arrays.
pub(crate) struct ArrayWriter<'a> {
    to: &'a mut dyn Write,
    buffer: Box<[u8]>,
    checksum: Hasher,
    len: u64,
}

impl<'a> ArrayWriter<'a> {
    pub(crate) fn new(to: &'a mut dyn Write) -> Self {
        let buffer = vec![0; STEP].into_boxed_slice();
        Self { to, buffer, checksum: Hasher::new(), len: 0 }
    }

    /// Writes one number.
    pub(crate) fn number<T: Plain>(&mut self, number: T) -> io::Result<()> {
        self.step(&mut std::iter::once(number))
    }

    /// Writes an array.
    pub(crate) fn array<T: Plain>(
        &mut self,
        mut numbers: impl ExactSizeIterator<Item = T>,
    ) -> io::Result<()> {
        self.number(numbers.len() as u64)?;
        while numbers.len() > 0 {
            self.step(&mut numbers)?;
        }
        Ok(())
    }

    /// Writes an array of numbers as they are.
    pub(crate) fn slice<T: Plain>(&mut self, numbers: &[T]) -> io::Result<()> {
        self.array(numbers.iter().copied())
    }

    /// Writes as many numbers as fit into the buffer.
    fn step<T: Plain>(&mut self, numbers: &mut impl ExactSizeIterator<Item = T>) -> io::Result<()> {
        let bytes = numbers.len().min(STEP / T::BYTES) * T::BYTES;
        let bytes = &mut self.buffer[..bytes];
        let places = bytes.chunks_exact_mut(T::BYTES);
        places.zip(numbers).for_each(|(place, number)| number.put(place));
        self.checksum.update(bytes);
        self.len += bytes.len() as u64;
        self.to.write_all(bytes)
    }

    /// The length and the checksum of all that was written.
    pub(crate) fn finish(self) -> (u64, u32) {
        (self.len, self.checksum.finalize())
    }
}

/// Reads arrays.
pub(crate) struct ArrayReader<'a> {
    from: &'a mut dyn Read,
    buffer: Box<[u8]>,
    checksum: Hasher,
    /// Bytes that are left.
    left: u64,
}

impl<'a> ArrayReader<'a> {
    /// Reads `len` bytes at most.
    pub(crate) fn new(from: &'a mut dyn Read, len: u64) -> Self {
        let buffer = vec![0; STEP].into_boxed_slice();
        Self { from, buffer, checksum: Hasher::new(), left: len }
    }

    /// Reads one number.
    pub(crate) fn number<T: Plain>(&mut self) -> Result<T, Rejected> {
        self.fill(T::BYTES).map(T::of)
    }

    /// Reads an array.
    pub(crate) fn array<T: Plain>(&mut self) -> Result<Box<[T]>, Rejected> {
        self.array_of(Some)
    }

    /// Reads an array whose numbers stand for values; `None` for one that stands for no value.
    pub(crate) fn array_of<T: Plain, V>(
        &mut self,
        value: impl Fn(T) -> Option<V>,
    ) -> Result<Box<[V]>, Rejected> {
        let len: u64 = self.number()?;
        let is_there = len.checked_mul(T::BYTES as u64).is_some_and(|bytes| bytes <= self.left);
        Rejected::unless(is_there, "an array is longer than the file")?;
        let len = len as usize;
        let mut values = Vec::with_capacity(len);
        while values.len() < len {
            let count = (len - values.len()).min(STEP / T::BYTES);
            let bytes = self.fill(count * T::BYTES)?;
            let before = values.len();
            values.extend(bytes.chunks_exact(T::BYTES).map_while(|bytes| value(T::of(bytes))));
            Rejected::unless(values.len() == before + count, "a number stands for no value")?;
        }
        Ok(values.into_boxed_slice())
    }

    /// Reads an array of `len` numbers.
    pub(crate) fn array_of_len<T: Plain>(&mut self, len: usize) -> Result<Box<[T]>, Rejected> {
        let array = self.array()?;
        Rejected::unless(array.len() == len, "an array has another length")?;
        Ok(array)
    }

    /// Reads where the parts of an array of `total` values end, each where the next one starts.
    pub(crate) fn ends(&mut self, total: usize) -> Result<Box<[u32]>, Rejected> {
        let ends: Box<[u32]> = self.array()?;
        let last = ends.last().map_or(0, |end| *end as usize);
        Rejected::unless(ends.is_sorted() && last == total, "the parts of an array do not fit")?;
        Ok(ends)
    }

    fn fill(&mut self, len: usize) -> Result<&[u8], Rejected> {
        Rejected::unless(len as u64 <= self.left, "the file ends early")?;
        self.left -= len as u64;
        let bytes = &mut self.buffer[..len];
        self.from.read_exact(bytes)?;
        self.checksum.update(bytes);
        Ok(bytes)
    }

    /// Checks that all bytes were read and have this checksum.
    pub(crate) fn finish(self, checksum: u32) -> Result<(), Rejected> {
        Rejected::unless(self.left == 0, "there is more than was expected")?;
        Rejected::unless(self.checksum.finalize() == checksum, "the checksum differs")
    }
}
