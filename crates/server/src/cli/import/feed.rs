//! Reads Google Merchant feeds in XML (RSS 2.0 or Atom): an item becomes an object by the names of
//! its elements. Entities that the document declares are never expanded.

use std::{collections::HashSet, io::BufRead};

use anyhow::{Context, bail};
use quick_xml::{
    Reader, XmlVersion,
    escape::resolve_xml_entity,
    events::{BytesRef, BytesStart, Event},
};
use serde_json::Value;

use super::{
    bounded::Bounded,
    record::{Object, Record, RecordError, add_text},
    work,
};

/// The most elements of an item, those inside of its elements aside.
const MAX_ELEMENTS: usize = 1000;

/// The items of a feed.
pub(super) struct Feed<R: BufRead> {
    xml: Reader<Bounded<R>>,
    buffer: Vec<u8>,
    depth: usize,
}

/// What was found in an item so far.
#[derive(Default)]
struct Item {
    /// Name, whether it has the prefix of the feed's own fields, text.
    elements: Vec<(String, bool, String)>,
    error: Option<RecordError>,
}

impl Item {
    fn begin(&mut self, name: &str, prefixed: bool) {
        if self.elements.len() == MAX_ELEMENTS {
            let message = format!("has more than {MAX_ELEMENTS} elements");
            self.error.get_or_insert(RecordError::of_whole("too_many", message));
            return;
        }
        self.elements.push((name.to_owned(), prefixed, String::new()));
    }

    fn add(&mut self, text: &str) {
        if let Some((_, _, so_far)) = self.elements.last_mut() {
            so_far.push_str(text);
        }
    }

    fn refer(&mut self, reference: &BytesRef<'_>) {
        let text = match reference.resolve_char_ref() {
            Ok(Some(character)) => Some(character.to_string()),
            Ok(None) => resolve_xml_entity(reference).map(str::to_owned),
            Err(_) => None,
        };
        match text {
            Some(text) => self.add(&text),
            None => {
                let message = format!("&{};", &**reference) + " is not a reference that XML knows";
                let field = self.elements.last().map(|(name, ..)| name.clone());
                let error =
                    RecordError { field, ..RecordError::of_whole("unknown_entity", message) };
                self.error.get_or_insert(error);
            }
        }
    }

    /// `g:title` counts more than `title`; what is said several times has all its texts.
    fn finish(self, line: u64) -> Record {
        let own = self.elements.iter().filter(|(_, prefixed, _)| *prefixed);
        let own: HashSet<_> = own.map(|(name, ..)| work::Name(name)).collect();
        let mut object = Object::new();
        for (name, prefixed, text) in &self.elements {
            work::step();
            let outdone = !prefixed && own.contains(&work::Name(name));
            if !outdone {
                add_text(&mut object, name, text.trim());
            }
        }
        match self.error {
            None => Record::read(line, object),
            Some(error) => {
                Record::unreadable(line, Value::Object(object).to_string().as_bytes(), error)
            }
        }
    }
}

impl<R: BufRead> Feed<R> {
    pub(super) fn new(text: R) -> Self {
        let mut xml = Reader::from_reader(Bounded::new(text));
        xml.config_mut().expand_empty_elements = true;
        Self { xml, buffer: Vec::new(), depth: 0 }
    }

    fn line(&self) -> u64 {
        self.xml.get_ref().line()
    }

    fn advance(&mut self) -> anyhow::Result<Option<Record>> {
        let mut item: Option<(u64, usize, Item)> = None;
        loop {
            if item.is_none() {
                self.xml.get_mut().mark();
            }
            self.buffer.clear();
            let event = self.xml.read_event_into(&mut self.buffer);
            match event.with_context(|| format!("line {}", self.xml.get_ref().line()))? {
                Event::Start(start) => {
                    self.depth += 1;
                    let name = start.local_name().into_inner().to_owned();
                    let prefixed = start.name().prefix().is_some();
                    match &mut item {
                        // What is in an element of the item belongs to that element alone.
                        Some((_, depth, item)) if self.depth == *depth + 1 => {
                            item.begin(&name, prefixed);
                            if let Some(link) = atom_link(&start) {
                                item.add(&link);
                            }
                        }
                        Some(_) => {}
                        None if matches!(name.as_str(), "item" | "entry") => {
                            item = Some((self.line(), self.depth, Item::default()));
                        }
                        None => {}
                    }
                }
                Event::End(_) => {
                    let ends = item.take_if(|(_, depth, _)| *depth == self.depth);
                    self.depth = self.depth.saturating_sub(1);
                    if let Some((line, _, item)) = ends {
                        return Ok(Some(item.finish(line)));
                    }
                }
                Event::Text(text) => add(&mut item, self.depth, &text.xml10_content()),
                Event::CData(text) => add(&mut item, self.depth, &text.xml10_content()),
                Event::GeneralRef(reference) => {
                    if let Some((_, depth, item)) = &mut item
                        && self.depth == *depth + 1
                    {
                        item.refer(&reference);
                    }
                }
                Event::Decl(declaration) => {
                    if let Some(encoding) = declaration.encoding() {
                        let encoding = encoding.context("the encoding of the feed")?;
                        if !encoding.eq_ignore_ascii_case("utf-8") {
                            bail!("the feed is written in {encoding}; save it as UTF-8");
                        }
                    }
                }
                Event::Eof if self.depth > 0 => {
                    bail!("line {}: the feed does not end; the file is truncated", self.line())
                }
                Event::Eof => return Ok(None),
                Event::Comment(_) | Event::PI(_) | Event::DocType(_) | Event::Empty(_) => {}
            }
        }
    }
}

/// The address in Atom's `<link href="…"/>` to the product's page.
fn atom_link(start: &BytesStart<'_>) -> Option<String> {
    let attribute = |name: &str| {
        let value =
            start.try_get_attribute(name).ok()??.normalized_value(XmlVersion::Implicit1_0).ok()?;
        Some(value.into_owned())
    };
    let is_link = start.local_name().into_inner() == "link";
    let is_page = attribute("rel").is_none_or(|rel| rel == "alternate");
    if is_link && is_page { attribute("href") } else { None }
}

/// Text counts directly inside an element of the item.
fn add(item: &mut Option<(u64, usize, Item)>, at: usize, text: &str) {
    if let Some((_, depth, item)) = item
        && at == *depth + 1
    {
        item.add(text);
    }
}

impl<R: BufRead> Iterator for Feed<R> {
    type Item = anyhow::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Vec<Value> {
        let mut said = Vec::new();
        for record in Feed::new(text.as_bytes()) {
            match record {
                Err(error) => {
                    said.push(json!(format!("{error:#}")));
                    break;
                }
                Ok(Record { line, content: Ok(object) }) => said.push(json!([line, object])),
                Ok(Record { line, content: Err(unreadable) }) => {
                    said.push(json!([line, unreadable.error.code]))
                }
            }
        }
        said
    }

    #[test]
    fn an_rss_item_is_the_text_of_its_elements() {
        let feed = r#"<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>
<title>The shop</title>
<item>
  <title>outdone</title><g:title>Lamp &amp; shade &#8364; &lt;new&gt;</g:title>
  <g:description><![CDATA[Warm <light> & soft]]></g:description>
  <g:price> 15.00 USD </g:price>
  <g:shipping><g:price>9.99 USD</g:price></g:shipping>
  <g:image_link>https://example.com/1.jpg</g:image_link>
  <g:additional_image_link>https://example.com/2.jpg</g:additional_image_link>
  <g:additional_image_link>https://example.com/3.jpg</g:additional_image_link>
  <g:empty/>
</item>
</channel></rss>"#;
        assert_eq!(
            read(feed),
            [json!([4, {
                "title": "Lamp & shade € <new>",
                "description": "Warm <light> & soft",
                "price": "15.00 USD",
                "shipping": "",
                "image_link": "https://example.com/1.jpg",
                "additional_image_link": ["https://example.com/2.jpg", "https://example.com/3.jpg"],
                "empty": "",
            }])]
        );
    }

    #[test]
    fn an_atom_feed_has_entries() {
        let feed = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Shop</title>\
            <entry><title>Lamp</title><link rel=\"self\" href=\"https://a.example/feed\"/>\
            <link href=\"https://a.example/?a=1&amp;b=2\"/></entry>\n\
            <entry><title>Rug</title></entry></feed>";
        assert_eq!(
            read(feed),
            [
                json!([1, {"title": "Lamp", "link": ["", "https://a.example/?a=1&b=2"]}]),
                json!([2, {"title": "Rug"}])
            ]
        );
    }

    #[test]
    fn an_item_of_too_many_elements_is_refused_and_the_others_read() {
        let item = |count: usize| {
            let elements: String = (0..count).map(|n| format!("<x{n}>a<b/></x{n}>")).collect();
            format!("<item>{elements}</item>")
        };
        let (most, more) = (item(MAX_ELEMENTS), item(MAX_ELEMENTS + 1));
        let said = read(&format!("<rss>{most}{more}<item><title>Rug</title></item></rss>"));
        assert_eq!(said[0][1].as_object().unwrap().len(), MAX_ELEMENTS);
        assert_eq!(said[1..], [json!([1, "too_many"]), json!([1, {"title": "Rug"}])]);
    }

    #[test]
    fn declared_entities_are_not_expanded() {
        let feed = "<!DOCTYPE rss [<!ENTITY x SYSTEM \"file:///etc/passwd\">\
            <!ENTITY lol \"lol\">]><rss><item><title>&x;</title></item>\
            <item><title>&lol;&lol;</title></item><item><title>Rug</title></item></rss>";
        assert_eq!(
            read(feed),
            [
                json!([1, "unknown_entity"]),
                json!([1, "unknown_entity"]),
                json!([1, {"title": "Rug"}])
            ]
        );
    }

    #[test]
    fn a_feed_that_is_broken_ends_the_import() {
        let said = read("<rss>\n<item><title>Lamp</title></item>\n<item><title>Ru");
        assert_eq!(said[0], json!([2, {"title": "Lamp"}]));
        assert!(said[1].as_str().unwrap().starts_with("line 3"), "{said:?}");
        let said = read("<rss><item><title>Lamp</item></rss>");
        assert!(said[0].as_str().unwrap().starts_with("line 1"), "{said:?}");
        let said = read("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><rss/>");
        assert_eq!(said, [json!("the feed is written in ISO-8859-1; save it as UTF-8")]);
    }
}
