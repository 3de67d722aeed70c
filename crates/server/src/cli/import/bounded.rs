//! Limits the size of a record: reading fails beyond it, so that a file without line ends or with
//! an unclosed quote does not fill memory.

use std::io::{self, BufRead, Read};

use super::record::MAX_RECORD_BYTES;

/// Counts lines, and the bytes since the last mark.
pub(super) struct Bounded<R> {
    inner: R,
    line: u64,
    since_mark: usize,
}

impl<R: BufRead> Bounded<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, line: 1, since_mark: 0 }
    }

    /// A record begins here.
    pub(super) fn mark(&mut self) {
        self.since_mark = 0;
    }

    /// The line that is read next, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.since_mark > MAX_RECORD_BYTES {
            let message = format!("a record is longer than {MAX_RECORD_BYTES} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // What was filled is there still: nothing is read here.
        let filled = self.inner.fill_buf().unwrap_or_default();
        let lines = filled.iter().take(count).filter(|byte| **byte == b'\n').count();
        self.line += lines as u64;
        self.since_mark += count;
        self.inner.consume(count);
    }
}

impl<R: BufRead> Read for Bounded<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let filled = self.fill_buf()?;
        let count = filled.len().min(target.len());
        target[..count].copy_from_slice(&filled[..count]);
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_they_are_consumed() {
        let mut text = Bounded::new(&b"a\nb\nc"[..]);
        assert_eq!(text.line(), 1);
        text.consume(2);
        assert_eq!(text.line(), 2);
        io::copy(&mut text, &mut io::sink()).unwrap();
        assert_eq!(text.line(), 3);
    }

    #[test]
    fn reading_on_past_the_limit_fails_until_there_is_a_new_mark() {
        let mut text = Bounded::new(io::BufReader::new(io::repeat(b'x')));
        let read = io::copy(&mut text.by_ref().take(2 * MAX_RECORD_BYTES as u64), &mut io::sink());
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::InvalidData);
        text.mark();
        assert!(text.fill_buf().is_ok());
    }
}
