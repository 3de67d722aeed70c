//! Reads JSON Lines, and skips lines that are too long.

use std::io::BufRead;

use super::{
    bounded::Bounded,
    record::{MAX_RECORD_BYTES, Record},
};

/// The records of a JSON Lines text.
pub(super) struct JsonLines<R> {
    text: Bounded<R>,
}

impl<R: BufRead> JsonLines<R> {
    pub(super) fn new(text: R) -> Self {
        Self { text: Bounded::new(text) }
    }

    /// The next line without its end, and whether it was too long to keep.
    fn line(&mut self) -> std::io::Result<Option<(Vec<u8>, bool)>> {
        let (mut line, mut too_long, mut begun) = (Vec::new(), false, false);
        loop {
            self.text.mark();
            let found = self.text.fill_buf()?;
            if found.is_empty() {
                return Ok(begun.then_some((line, too_long)));
            }
            begun = true;
            let end = found.iter().position(|byte| *byte == b'\n');
            let piece = &found[..end.unwrap_or(found.len())];
            too_long |= line.len() + piece.len() > MAX_RECORD_BYTES;
            if !too_long {
                line.extend_from_slice(piece);
            }
            let count = piece.len() + usize::from(end.is_some());
            self.text.consume(count);
            if end.is_some() {
                return Ok(Some((line, too_long)));
            }
        }
    }
}

impl<R: BufRead> Iterator for JsonLines<R> {
    type Item = anyhow::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let number = self.text.line();
            match self.line() {
                Err(error) => return Some(Err(error.into())),
                Ok(None) => return None,
                Ok(Some((line, true))) => return Some(Ok(Record::too_large(number, &line))),
                Ok(Some((line, _))) if line.trim_ascii().is_empty() => {}
                Ok(Some((line, _))) => return Some(Ok(Record::from_json(number, &line))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    /// Line numbers, with the title of what could be read and the code of what could not.
    fn read(text: impl BufRead) -> Vec<(u64, String)> {
        JsonLines::new(text)
            .map(|record| {
                let Record { line, content } = record.unwrap();
                let said = match content {
                    Ok(object) => object["title"].as_str().unwrap().to_owned(),
                    Err(unreadable) => unreadable.error.code.into_owned(),
                };
                (line, said)
            })
            .collect()
    }

    #[test]
    fn bad_lines_are_reported_and_the_others_read() {
        let text = b"{\"title\": \"A\"}\r\n\n  \nnot json\n[1]\n{\"title\": \"\xff\"}\n\
            {\"title\": \"a\", \"title\": \"b\"}\n{\"title\": \"B\"}";
        let expected = [
            (1, "A"),
            (4, "malformed_json"),
            (5, "wrong_type"),
            (6, "malformed_json"),
            (7, "malformed_json"),
            (8, "B"),
        ];
        assert_eq!(read(&text[..]), expected.map(|(line, said)| (line, said.to_owned())));
    }

    #[test]
    fn a_line_without_an_end_is_passed_over_in_bounded_memory() {
        let endless = std::io::repeat(b'x').take(8 * MAX_RECORD_BYTES as u64);
        let text = BufReader::new(endless.chain(&b"\n{\"title\": \"B\"}\n"[..]));
        let expected = [(1, "record_too_large"), (2, "B")];
        assert_eq!(read(text), expected.map(|(line, said)| (line, said.to_owned())));
    }
}
