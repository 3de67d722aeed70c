//! Reads a JSON array element by element: scans for the end of each, then parses it with the
//! strict parser of the HTTP API.

use std::io::BufRead;

use anyhow::bail;

use super::{
    bounded::Bounded,
    record::{MAX_RECORD_BYTES, Record},
};

/// The elements of a JSON array.
pub(super) struct JsonArray<R> {
    text: Bounded<R>,
    position: Position,
}

#[derive(Clone, Copy, PartialEq)]
enum Position {
    Before,
    Inside,
    After,
}

/// Where in an element the scan is.
#[derive(Default)]
struct Scan {
    bytes: Vec<u8>,
    too_long: bool,
    depth: u32,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    fn take(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => self.in_string = true,
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.too_long |= self.bytes.len() >= MAX_RECORD_BYTES;
        if !self.too_long {
            self.bytes.push(byte);
        }
    }

    /// Whether this byte is not the element's any more.
    fn ends_before(&self, byte: u8) -> bool {
        !self.in_string && self.depth == 0 && matches!(byte, b',' | b']')
    }
}

impl<R: BufRead> JsonArray<R> {
    pub(super) fn new(text: R) -> Self {
        Self { text: Bounded::new(text), position: Position::Before }
    }

    fn peek(&mut self) -> anyhow::Result<Option<u8>> {
        self.text.mark();
        Ok(self.text.fill_buf()?.first().copied())
    }

    fn skip_spaces(&mut self) -> anyhow::Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(byte) if byte.is_ascii_whitespace() => self.text.consume(1),
                other => return Ok(other),
            }
        }
    }

    fn advance(&mut self) -> anyhow::Result<Option<Record>> {
        if self.position == Position::Before {
            if self.skip_spaces()? != Some(b'[') {
                bail!("the file does not begin with a JSON array");
            }
            self.text.consume(1);
            self.position = Position::Inside;
            if self.skip_spaces()? == Some(b']') {
                self.text.consume(1);
                self.position = Position::After;
            }
        }
        if self.position == Position::After {
            return match self.skip_spaces()? {
                None => Ok(None),
                Some(_) => bail!("line {}: there is more after the array", self.text.line()),
            };
        }
        self.skip_spaces()?;
        let line = self.text.line();
        let mut scan = Scan::default();
        let after = self.scan(&mut scan)?;
        let Some(after) = after else {
            bail!("line {line}: the array does not end; the file is truncated");
        };
        if after == b']' {
            self.position = Position::After;
        }
        Ok(Some(match scan.too_long {
            true => Record::too_large(line, &scan.bytes),
            false => Record::from_json(line, scan.bytes.trim_ascii_end()),
        }))
    }

    /// Reads one element and the byte that ends it, which is `None` at the end of the file.
    fn scan(&mut self, scan: &mut Scan) -> anyhow::Result<Option<u8>> {
        loop {
            self.text.mark();
            let found = self.text.fill_buf()?;
            if found.is_empty() {
                return Ok(None);
            }
            for (at, byte) in found.iter().enumerate() {
                if scan.ends_before(*byte) {
                    let byte = *byte;
                    self.text.consume(at + 1);
                    return Ok(Some(byte));
                }
                scan.take(*byte);
            }
            let count = found.len();
            self.text.consume(count);
        }
    }
}

impl<R: BufRead> Iterator for JsonArray<R> {
    type Item = anyhow::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line numbers with titles or codes; the last is the error that ends the import, if one does.
    fn read(text: &str) -> Vec<String> {
        let mut said = Vec::new();
        for record in JsonArray::new(text.as_bytes()) {
            match record {
                Err(error) => {
                    said.push(error.to_string());
                    break;
                }
                Ok(Record { line, content: Ok(object) }) => {
                    said.push(format!("{line} {}", object["title"].as_str().unwrap()))
                }
                Ok(Record { line, content: Err(unreadable) }) => {
                    said.push(format!("{line} {}", unreadable.error.code))
                }
            }
        }
        said
    }

    #[test]
    fn elements_end_where_they_end() {
        let text = r#" [ {"title": "A, ]} \" \\"},
            {"title": "B", "media": [{"url": "x,y"}]} ,
            7, {"title": }, {"title": "C"} ] "#;
        assert_eq!(read(text), ["1 A, ]} \" \\", "2 B", "3 wrong_type", "3 malformed_json", "3 C"]);
        assert_eq!(read("[]"), [""; 0]);
    }

    #[test]
    fn an_array_that_does_not_end_ends_the_import() {
        let said = read("[{\"title\": \"A\"},\n{\"title\": \"B");
        assert_eq!(said, ["1 A", "line 2: the array does not end; the file is truncated"]);
        assert_eq!(
            read("[{\"title\": \"A\"}] x"),
            ["1 A", "line 1: there is more after the array"]
        );
        assert_eq!(read("{}"), ["the file does not begin with a JSON array"]);
    }

    #[test]
    fn an_element_that_is_too_long_is_passed_over() {
        let long = "x".repeat(MAX_RECORD_BYTES);
        let said = read(&format!("[\"{long}\", {{\"title\": \"B\"}}]"));
        assert_eq!(said, ["1 record_too_large", "1 B"]);
    }
}
