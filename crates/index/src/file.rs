//! Index files: the snapshot of a shop's index on disk, from which a start restores the index in a
//! fraction of the time that indexing all products takes.
//!
//! ```text
//! magic, length and checksum of the header
//! header    format, what the content depends on, id, shop, sequence number, time of writing,
//!           length and checksum of each segment
//! segments  one after the other, as `Stored` writes them
//! ```
//!
//! A file is derived data. A reader accepts exactly the bytes that this program wrote for the same
//! model, and rejects anything else; the shop is then indexed from its rows. Checksums detect
//! damage; whatever a search later relies on is checked as well, so that not even a forged file can
//! cause more than wrong results.
//!
//! Products that were deleted or replaced are left out, so that a file contains no more of them
//! than the rows do.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use catalog::{
    product::{ShopId, change::Seq, inferred::Inferred},
    text::analysis,
};
use embed::ModelId;
use jiff::Timestamp;

use super::{
    ShopIndex, Snapshot,
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    segment::{LiveSegment, merge},
};

/// Increased whenever the layout of a file changes, or what is indexed of the same product: a test
/// compares the checksum of a small catalog.
pub(super) const FORMAT: u32 = 9;
const MAGIC: [u8; 8] = *b"SHOPIDX\n";
/// Bytes that are written between two syncs, so that a commit that syncs the same disk never waits
/// for a whole file.
const SYNC_BYTES: usize = 16 << 20;
/// The most threads that read one file.
const MAX_THREADS: usize = 16;

/// The longest header, far above that of the largest shop.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// Which file it is.
#[derive(Clone, Copy, Debug)]
pub struct FileKey<'a> {
    /// The shop.
    pub shop: ShopId,
    /// Random; identifies the file among all of the shop that were ever written.
    pub id: u64,
    /// The model of the vectors.
    pub model: Option<&'a ModelId>,
}

/// Length and checksum of a segment in the file.
type Section = (u64, u32);

/// Writes a snapshot and syncs it. Returns the length of the file, or `None` if `is_cancelled`,
/// which is asked between segments. An incomplete file remains after a failure.
pub fn write(
    path: &Path,
    key: FileKey<'_>,
    written_at: Timestamp,
    snapshot: &Snapshot,
    is_cancelled: &dyn Fn() -> bool,
) -> io::Result<Option<u64>> {
    let file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    let segments = snapshot.segments();
    let sections = vec![Section::default(); segments.len()];
    let mut header = Header { written_at, seq: snapshot.seq(), sections };
    let mut to = BufWriter::with_capacity(1 << 18, SyncingFile { file, unsynced: 0 });
    write_header(&mut to, key, &header)?;
    for (live, section) in segments.iter().zip(&mut header.sections) {
        if is_cancelled() {
            return Ok(None);
        }
        let mut writer = ArrayWriter::new(&mut to);
        match live.deleted_count() {
            0 => live.write(&mut writer)?,
            _ => merge(std::slice::from_ref(live)).write(&mut writer)?,
        }
        *section = writer.finish();
    }
    let len = to.stream_position()?;
    to.seek(SeekFrom::Start(0))?;
    write_header(&mut to, key, &header)?;
    to.into_inner().map_err(io::IntoInnerError::into_error)?.file.sync_all()?;
    Ok(Some(len))
}

/// Reads the index of the file with this key, on all cores, and when it was written.
pub fn read(path: &Path, key: FileKey<'_>) -> Result<(ShopIndex, Timestamp), Rejected> {
    let mut file = BufReader::new(File::open(path)?);
    let Header { written_at, seq, sections } = read_header(&mut file, key)?;
    let mut next = file.stream_position()?;
    let mut places = Vec::with_capacity(sections.len());
    for (len, checksum) in sections {
        places.push((next, len, checksum));
        next = next.checked_add(len).ok_or(Rejected::Invalid("a segment is too long"))?;
    }
    let is_whole = fs::metadata(path)?.len() == next;
    Rejected::unless(is_whole, "the file has another length")?;
    let mut segments = read_segments(path, &places)?;
    segments.retain(|live| live.live_count() > 0);
    Ok((ShopIndex::with_segments(seq, segments), written_at))
}

/// Reads segments at these places, in parallel.
fn read_segments(path: &Path, places: &[(u64, u64, u32)]) -> Result<Vec<LiveSegment>, Rejected> {
    let next = AtomicUsize::new(0);
    let read_some = || {
        let mut file = File::open(path)?;
        let mut segments = Vec::new();
        while let Some(&(at, len, checksum)) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
            file.seek(SeekFrom::Start(at))?;
            let mut buffered = BufReader::with_capacity(1 << 16, &file);
            let mut reader = ArrayReader::new(&mut buffered, len);
            segments.push(LiveSegment::read(&mut reader, 0)?);
            reader.finish(checksum)?;
        }
        Ok(segments)
    };
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = cores.min(MAX_THREADS).min(places.len());
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(read_some)).collect();
        // A panic would mean that a check is missing: the rows are still there.
        let joined = threads.into_iter().map(|thread| {
            thread.join().unwrap_or(Err(Rejected::Invalid("reading the file panicked")))
        });
        let parts: Vec<Result<Vec<LiveSegment>, Rejected>> = joined.collect();
        let parts: Vec<Vec<LiveSegment>> = parts.into_iter().collect::<Result<_, Rejected>>()?;
        Ok(parts.into_iter().flatten().collect())
    })
}

/// The part of a header that is not known in advance.
struct Header {
    written_at: Timestamp,
    seq: Seq,
    sections: Vec<Section>,
}

/// All that the content of an index depends on besides the rows.
fn dependencies(model: Option<&ModelId>) -> String {
    format!(
        "format {FORMAT}, program {}, analysis {}, inference {}, model {}",
        env!("CARGO_PKG_VERSION"),
        analysis::VERSION,
        Inferred::VERSION,
        model.map_or("none", ModelId::as_str),
    )
}

/// Writes the header with its length and checksum before it.
fn write_header(to: &mut dyn Write, key: FileKey<'_>, header: &Header) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut writer = ArrayWriter::new(&mut bytes);
    writer.slice(dependencies(key.model).as_bytes())?;
    writer.number(key.shop.get())?;
    writer.number(key.id)?;
    writer.number(header.written_at.as_microsecond().cast_unsigned())?;
    writer.number(header.seq.0)?;
    writer.array(header.sections.iter().map(|(len, _)| *len))?;
    writer.array(header.sections.iter().map(|(_, checksum)| *checksum))?;
    let (len, checksum) = writer.finish();
    to.write_all(&MAGIC)?;
    to.write_all(&len.to_le_bytes())?;
    to.write_all(&checksum.to_le_bytes())?;
    to.write_all(&bytes)
}

/// Reads the header of the file with this key.
fn read_header(from: &mut dyn Read, key: FileKey<'_>) -> Result<Header, Rejected> {
    let (mut magic, mut len, mut checksum) = ([0; MAGIC.len()], [0; 8], [0; 4]);
    from.read_exact(&mut magic)?;
    Rejected::unless(magic == MAGIC, "the file is not an index")?;
    from.read_exact(&mut len)?;
    from.read_exact(&mut checksum)?;
    let len = u64::from_le_bytes(len);
    Rejected::unless(len <= MAX_HEADER_BYTES, "the header is too long")?;
    let mut reader = ArrayReader::new(from, len);
    let written_with: Box<[u8]> = reader.array()?;
    let is_same = *written_with == *dependencies(key.model).as_bytes();
    Rejected::unless(is_same, "another version or another model wrote the file")?;
    let (shop, id): (u64, u64) = (reader.number()?, reader.number()?);
    let is_same = shop == key.shop.get() && id == key.id;
    Rejected::unless(is_same, "the file is another one than its name says")?;
    let written_at = Timestamp::from_microsecond(reader.number::<u64>()?.cast_signed());
    let written_at = written_at.map_err(|_| Rejected::Invalid("the time is invalid"))?;
    let seq = Seq(reader.number()?);
    let lens: Box<[u64]> = reader.array()?;
    let checksums: Box<[u32]> = reader.array_of_len(lens.len())?;
    reader.finish(u32::from_le_bytes(checksum))?;
    Ok(Header { written_at, seq, sections: lens.into_iter().zip(checksums).collect() })
}

/// A file that is synced every [`SYNC_BYTES`] bytes.
struct SyncingFile {
    file: File,
    unsynced: usize,
}

impl Write for SyncingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.unsynced += written;
        if self.unsynced >= SYNC_BYTES {
            self.file.sync_data()?;
            self.unsynced = 0;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for SyncingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
pub(super) mod tests;
