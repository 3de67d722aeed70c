//! Decompresses the input, detected by its first bytes and not by its name; refuses decompression
//! bombs.

use std::{
    io::{self, BufRead, BufReader, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The first bytes of archives and encodings that are not read, and what to do instead.
const OTHERS: [(&[u8], &str); 6] = [
    (b"PK\x03\x04", "is a zip archive (or a spreadsheet): unpack it, or save it as CSV"),
    (b"BZh", "is compressed with bzip2: unpack it, or use gzip or zstd"),
    (b"\xfd7zXZ\0", "is compressed with xz: unpack it, or use gzip or zstd"),
    (b"\xff\xfe", "is UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "is UTF-16: save it as UTF-8"),
    (b"SQLite format 3", "is a database: export it to CSV or JSON first"),
];
/// A file that grows more than this when unpacked is a trap: catalogs grow less than fiftyfold.
const MAX_GROWTH: u64 = 250;
/// Growth is not looked at before this much: short files of one repeated letter are harmless.
const GROWTH_MATTERS_FROM: u64 = 256 << 20;

/// The text in a file, unpacked where it is packed. `taken` counts the file's own bytes.
pub(super) fn inflate(
    file: impl BufRead + 'static,
    beginning: &[u8],
    taken: &Arc<AtomicU64>,
) -> io::Result<Box<dyn BufRead>> {
    if let Some((_, advice)) = OTHERS.iter().find(|(magic, _)| beginning.starts_with(magic)) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, *advice));
    }
    let unpacked: Box<dyn Read> = if beginning.starts_with(&GZIP) {
        Box::new(MultiGzDecoder::new(file))
    } else if beginning.starts_with(&ZSTD) {
        Box::new(ZstdFrames { source: file, decoder: FrameDecoder::new(), inside: false })
    } else {
        return Ok(Box::new(file));
    };
    let guarded = GrowthGuard { unpacked, given: 0, taken: Arc::clone(taken) };
    Ok(Box::new(BufReader::with_capacity(64 << 10, guarded)))
}

/// Refuses to unpack what grows beyond reason.
struct GrowthGuard {
    unpacked: Box<dyn Read>,
    given: u64,
    taken: Arc<AtomicU64>,
}

impl Read for GrowthGuard {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let count = self.unpacked.read(target)?;
        self.given += count as u64;
        let reasonable = self.taken.load(Ordering::Relaxed).saturating_mul(MAX_GROWTH);
        if self.given > reasonable.max(GROWTH_MATTERS_FROM) {
            let message = format!("grows more than {MAX_GROWTH}-fold when unpacked");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(count)
    }
}

/// All frames of a zstd stream, one after the other; each must end as its checksum says.
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    inside: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    /// Begins the next frame; `false` at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.source.by_ref().take(u64::from(length));
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(damaged(error)),
            }
        }
        Ok(false)
    }

    fn end(&mut self) -> io::Result<()> {
        let calculated = self.decoder.get_calculated_checksum();
        match self.decoder.get_checksum_from_data() {
            Some(said) if calculated != Some(said) => Err(damaged("the checksum is wrong")),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.inside {
                self.inside = self.begin()?;
                if !self.inside {
                    return Ok(0);
                }
            }
            let count = self.decoder.read(target)?;
            if count > 0 || target.is_empty() {
                return Ok(count);
            }
            if self.decoder.is_finished() {
                self.end()?;
                self.inside = false;
                continue;
            }
            let one = BlockDecodingStrategy::UptoBlocks(1);
            self.decoder.decode_blocks(&mut self.source, one).map_err(damaged)?;
        }
    }
}

fn damaged(why: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the zstd data is damaged: {why}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn unpack(file: Vec<u8>) -> io::Result<Vec<u8>> {
        let taken = Arc::new(AtomicU64::new(file.len() as u64));
        let beginning = file[..file.len().min(16)].to_vec();
        let mut text = Vec::new();
        inflate(io::Cursor::new(file), &beginning, &taken)?.read_to_end(&mut text)?;
        Ok(text)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    #[test]
    fn packed_files_are_read_to_the_end_of_their_last_part() {
        let text = b"title,price\nLamp,$5\n".repeat(5000);
        assert_eq!(unpack(text.clone()).unwrap(), text);
        for pack in [gzip, zstd] {
            let parts = [pack(&text), pack(b"the end")].concat();
            assert_eq!(unpack(parts).unwrap(), [&text[..], b"the end"].concat());
        }
        // A frame of the format's own that holds no data.
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(&text)].concat();
        let after_data = [zstd(b"first"), skipped].concat();
        assert_eq!(unpack(after_data).unwrap(), [&b"first"[..], &text].concat());
    }

    #[test]
    fn a_truncated_or_damaged_file_is_an_error_not_an_end() {
        let text: Vec<u8> = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
        for packed in [gzip(&text), zstd(&text)] {
            for length in [packed.len() - 1, packed.len() / 2, 5] {
                assert!(unpack(packed[..length].to_vec()).is_err(), "{length}");
            }
        }
        let mut damaged = zstd(&text);
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        assert!(unpack(damaged).is_err());
    }

    #[test]
    fn what_grows_beyond_reason_is_refused() {
        let bomb = zstd(&vec![b' '; GROWTH_MATTERS_FROM as usize / 4]).repeat(5);
        let error = unpack(bomb).unwrap_err();
        assert!(error.to_string().contains("250-fold"), "{error}");
    }

    #[test]
    fn other_kinds_of_files_are_named() {
        let error = unpack(b"PK\x03\x04rest".to_vec()).unwrap_err();
        assert!(error.to_string().contains("zip archive"), "{error}");
    }
}
