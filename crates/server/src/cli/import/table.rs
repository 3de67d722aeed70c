//! Reads CSV and TSV: a row becomes an object by the names in the first row.

use std::io::BufRead;

use anyhow::{Context, bail};
use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};

use super::{
    bounded::Bounded,
    record::{Object, Record, RecordError, add_text},
};

/// The rows of a table.
pub(super) struct Table<R: BufRead> {
    rows: Reader<Bounded<R>>,
    names: Vec<String>,
    delimiter: u8,
}

impl<R: BufRead> Table<R> {
    /// Reads the first row.
    pub(super) fn open(text: R, delimiter: u8) -> anyhow::Result<Self> {
        let mut rows = ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            // A line break of two characters would be counted as a line late.
            .terminator(Terminator::Any(b'\n'))
            .from_reader(Bounded::new(text));
        let header = rows.headers().context("the first row, which must name the columns")?;
        let names: Vec<_> = header.iter().map(|name| name.trim().to_owned()).collect();
        if names.iter().all(String::is_empty) {
            bail!("the file has no first row that names the columns");
        }
        Ok(Self { rows, names, delimiter })
    }

    /// The columns, as the first row names them.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    fn advance(&mut self) -> anyhow::Result<Option<Record>> {
        let mut row = ByteRecord::new();
        loop {
            self.rows.get_mut().mark();
            if !self.rows.read_byte_record(&mut row)? {
                return Ok(None);
            }
            if row.len() > 1 || row.get(0) != Some(b"\r") {
                break;
            }
        }
        Ok(Some(self.read(self.first_line(&row), &row)))
    }

    /// The line a row begins in. The reader's own position lies before the empty lines that come
    /// before it.
    fn first_line(&self, row: &ByteRecord) -> u64 {
        let earliest = row.position().map_or(0, csv::Position::line);
        let breaks: usize =
            row.iter().map(|cell| cell.iter().filter(|byte| **byte == b'\n').count()).sum();
        let after = self.rows.position().line();
        // The last row may have no line break after it.
        after.saturating_sub(1 + breaks as u64).max(earliest)
    }

    fn read(&self, line: u64, row: &ByteRecord) -> Record {
        if row.len() != self.names.len() {
            let (has, named) = (row.len(), self.names.len());
            let message = format!("has {has} columns where the first row has {named}");
            return self.unreadable(line, row, RecordError::of_whole("ragged_row", message));
        }
        let mut object = Object::new();
        for (name, cell) in self.names.iter().zip(row) {
            // No text of a product ends so: it is half of the row's line break.
            let cell = cell.strip_suffix(b"\r").unwrap_or(cell);
            let Ok(cell) = std::str::from_utf8(cell) else {
                let error = RecordError::of_field(name, "not_utf8", "is not UTF-8 text");
                return self.unreadable(line, row, error);
            };
            if !name.is_empty() {
                add_text(&mut object, name, cell);
            }
        }
        Record::read(line, object)
    }

    fn unreadable(&self, line: u64, row: &ByteRecord, error: RecordError) -> Record {
        let cells: Vec<_> = row.iter().collect();
        Record::unreadable(line, &cells.join(&self.delimiter), error)
    }
}

impl<R: BufRead> Iterator for Table<R> {
    type Item = anyhow::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use serde_json::{Value, json};

    use super::*;

    fn rows(text: &[u8]) -> Vec<(u64, Value)> {
        Table::open(text, b',')
            .unwrap()
            .map(|record| {
                let Record { line, content } = record.unwrap();
                let said = content.map_or_else(
                    |unreadable| json!([unreadable.error.code, unreadable.original]),
                    Value::Object,
                );
                (line, said)
            })
            .collect()
    }

    #[test]
    fn quotes_line_breaks_and_line_ends_are_read_as_written() {
        let text =
            b"title, price\r\n\"Lamp, \"\"big\"\"\r\nand red\",$5\r\n\r\n5\" pipe,$1\r\n\nRug,$9\n";
        assert_eq!(
            rows(text),
            [
                (2, json!({"title": "Lamp, \"big\"\r\nand red", "price": "$5"})),
                (5, json!({"title": "5\" pipe", "price": "$1"})),
                (7, json!({"title": "Rug", "price": "$9"})),
            ]
        );
    }

    #[test]
    fn ragged_rows_and_other_encodings_are_reported_and_the_others_read() {
        let text = b"title,price\nLamp\nLamp,$5,red\nM\xf6bel,$5\nRug,$9\n";
        assert_eq!(
            rows(text),
            [
                (2, json!(["ragged_row", "Lamp"])),
                (3, json!(["ragged_row", "Lamp,$5,red"])),
                (4, json!(["not_utf8", "M\u{fffd}bel,$5"])),
                (5, json!({"title": "Rug", "price": "$9"})),
            ]
        );
    }

    #[test]
    fn a_column_that_is_named_twice_has_all_its_cells() {
        let found = rows(b"title,image,image,image,\nLamp,a,b,c,x\n");
        assert_eq!(found, [(2, json!({"title": "Lamp", "image": ["a", "b", "c"]}))]);
    }

    #[test]
    fn a_quote_that_is_never_closed_ends_the_import_before_memory_does() {
        let endless = std::io::BufReader::new(b"title\n\"".chain(std::io::repeat(b'x')));
        let mut table = Table::open(endless, b',').unwrap();
        let error = table.next().unwrap().unwrap_err();
        assert!(error.to_string().contains("longer than"), "{error}");
    }

    #[test]
    fn a_table_needs_names() {
        assert!(Table::open(&b""[..], b',').is_err());
        assert!(Table::open(&b",,\n"[..], b',').is_err());
    }
}
