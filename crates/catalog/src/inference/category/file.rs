//! Reads the files of the category model.

/// Why a file is not a category model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenCategoryModel {
    /// Another kind of file.
    #[error("is no category model")]
    Magic,
    /// The header contradicts the file's length or the taxonomy.
    #[error("has a header that makes no sense")]
    Header,
    /// It was trained with another edition of the taxonomy.
    #[error("is for another taxonomy")]
    Taxonomy,
    /// A number is not finite, or hashes are not ascending.
    #[error("has numbers that make no sense")]
    Numbers,
}

/// Reads numbers of a file whose length was checked; zero beyond its end.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> File<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    pub(super) fn take<const N: usize>(&mut self) -> [u8; N] {
        let start = self.skip(N);
        self.bytes.get(start..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }

    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub(super) fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.take())
    }

    /// A float of which only the upper half is stored.
    pub(super) fn half(&mut self) -> f32 {
        f32::from_bits(u32::from(self.u16()) << 16)
    }

    /// Where the next bytes begin.
    pub(super) fn skip(&mut self, bytes: usize) -> usize {
        let start = self.at;
        self.at += bytes;
        start
    }
}
