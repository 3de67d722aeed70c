//! The input of an import: a file or standard input, decompressed, without byte order mark, with a
//! preview for format detection and a count of the bytes read.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::Context;

use super::inflate::inflate;

/// As much of the text as is looked at to tell what it is.
const SAMPLE_BYTES: usize = 64 << 10;
/// Enough of a file to tell how it is packed.
const MAGIC_BYTES: usize = 16;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A text to import.
pub(super) struct Source {
    /// The text.
    pub(super) text: Box<dyn BufRead>,
    /// Its beginning, at least up to the end of its first line or as far as is looked.
    pub(super) sample: Vec<u8>,
    /// Bytes of the file that were read so far.
    pub(super) taken: Arc<AtomicU64>,
    /// Bytes of the file, where that is known.
    pub(super) total: Option<u64>,
}

impl Source {
    /// Opens a file, or standard input for `-`.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Self::read(io::stdin(), None).context("standard input");
        }
        let named = || path.display().to_string();
        let file = File::open(path).with_context(named)?;
        let about = file.metadata().with_context(named)?;
        let total = about.is_file().then_some(about.len());
        Self::read(file, total).with_context(named)
    }

    pub(super) fn read(file: impl Read + 'static, total: Option<u64>) -> io::Result<Self> {
        let taken = Arc::<AtomicU64>::default();
        let metered = Metered { file, taken: Arc::clone(&taken) };
        let buffered = BufReader::with_capacity(64 << 10, metered);
        let (magic, file) = peek(buffered, |found| found.len() >= MAGIC_BYTES)?;
        let (mut sample, mut text) = peek(inflate(file, &magic, &taken)?, |found| {
            found.len() >= SAMPLE_BYTES || found.trim_ascii_start().contains(&b'\n')
        })?;
        if sample.starts_with(BYTE_ORDER_MARK) {
            text.consume(BYTE_ORDER_MARK.len());
            sample.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Self { text: Box::new(text), sample, taken, total })
    }
}

/// A stream whose beginning was read and is still to come.
type Unread<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// The beginning of a stream, up to where it is enough, and the stream as if nothing was read.
fn peek<R: BufRead>(
    mut stream: R,
    enough: impl Fn(&[u8]) -> bool,
) -> io::Result<(Vec<u8>, Unread<R>)> {
    let mut found = Vec::new();
    while !enough(&found) {
        let more = stream.fill_buf()?;
        let count = more.len();
        if count == 0 {
            break;
        }
        found.extend_from_slice(more);
        stream.consume(count);
    }
    Ok((found.clone(), Cursor::new(found).chain(stream)))
}

/// Counts what was read.
struct Metered<R> {
    file: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(target)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, as a slow pipe would.
    struct Dripping(&'static [u8]);

    impl Read for Dripping {
        fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(target.len()).min(1);
            target[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn the_sample_has_a_whole_line_and_the_text_is_whole() {
        let mut source =
            Source::read(Dripping(b"\xef\xbb\xbf\ntitle,price\nLamp,$5\n"), None).unwrap();
        assert_eq!(source.sample, b"\ntitle,price\n");
        let mut text = String::new();
        source.text.read_to_string(&mut text).unwrap();
        assert_eq!(text, "\ntitle,price\nLamp,$5\n");
        assert_eq!(source.taken.load(Ordering::Relaxed), 24);
    }

    #[test]
    fn an_empty_file_is_an_empty_text() {
        let source = Source::read(Dripping(b""), None).unwrap();
        assert!(source.sample.is_empty());
    }
}
