//! Compression of exports. The file is written under another name and renamed when it is complete.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::ValueEnum;
use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Bytes in one frame of a zstd file. Frames follow each other; every reader takes them as one.
const FRAME_BYTES: usize = 4 << 20;

/// How an export is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Packing {
    /// Not at all
    None,
    /// With gzip
    Gz,
    /// With zstd
    Zst,
}

/// Where an export is written.
pub(super) struct Output {
    stream: Stream,
    /// The file under its name while it is written, and the name it gets.
    place: Option<(PathBuf, PathBuf)>,
}

type Plain = BufWriter<Box<dyn Write>>;

enum Stream {
    Plain(Plain),
    Gzip(GzEncoder<Plain>),
    Zstd(Frames),
}

/// A zstd stream, frame by frame.
struct Frames {
    file: Plain,
    waiting: Vec<u8>,
}

impl Frames {
    fn end(&mut self) -> io::Result<()> {
        let frame = compress_to_vec(self.waiting.as_slice(), CompressionLevel::Fastest);
        self.waiting.clear();
        self.file.write_all(&frame)
    }
}

impl Output {
    /// A file, or standard output for `-`.
    pub(super) fn open(path: &Path, packing: Packing) -> anyhow::Result<Self> {
        let (file, place): (Box<dyn Write>, _) = if path == Path::new("-") {
            (Box::new(io::stdout()), None)
        } else {
            let unfinished = PathBuf::from(format!("{}.unfinished", path.display()));
            let file =
                File::create(&unfinished).with_context(|| unfinished.display().to_string())?;
            (Box::new(file), Some((unfinished, path.to_owned())))
        };
        let file = BufWriter::with_capacity(64 << 10, file);
        let stream = match packing {
            Packing::None => Stream::Plain(file),
            Packing::Gz => Stream::Gzip(GzEncoder::new(file, Compression::default())),
            Packing::Zst => Stream::Zstd(Frames { file, waiting: Vec::new() }),
        };
        Ok(Self { stream, place })
    }

    /// Ends the stream, makes it durable and gives the file its name.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let mut file = match self.stream {
            Stream::Plain(file) => file,
            Stream::Gzip(packed) => packed.finish()?,
            Stream::Zstd(mut frames) => {
                frames.end()?;
                frames.file
            }
        };
        file.flush()?;
        drop(file);
        if let Some((unfinished, path)) = self.place {
            File::open(&unfinished)?.sync_all()?;
            fs::rename(&unfinished, &path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Plain(file) => file.write(bytes),
            Stream::Gzip(packed) => packed.write(bytes),
            Stream::Zstd(frames) => {
                frames.waiting.extend_from_slice(bytes);
                if frames.waiting.len() >= FRAME_BYTES {
                    frames.end()?;
                }
                Ok(bytes.len())
            }
        }
    }

    /// Nothing is flushed before the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
