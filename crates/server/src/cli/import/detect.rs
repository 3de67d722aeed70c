//! Detects the format of the input by its first bytes and the columns of its first row; the
//! command line can override it.

use anyhow::bail;
use clap::ValueEnum;

use super::{
    feed::Feed, fields::Shape, fields::simplified, json_array::JsonArray, json_lines::JsonLines,
    record::Records, shopify, source::Source, table::Table,
};

/// The formats that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// One JSON object a line
    Jsonl,
    /// One JSON array of objects
    Json,
    /// Comma- or semicolon-separated, the first row names the columns
    Csv,
    /// Tab-separated, the first row names the columns
    Tsv,
    /// Shopify's product export in CSV
    Shopify,
    /// A Google Merchant feed: RSS 2.0, Atom, or tab-separated
    Merchant,
}

/// A text that is ready to be read record by record.
pub(super) struct Opened {
    pub(super) records: Records,
    pub(super) shape: Shape,
    /// The columns, where the text names them once for all.
    pub(super) names: Option<Vec<String>>,
    /// What it is, for people.
    pub(super) description: &'static str,
}

/// Opens a text in the format that is asked for or that it seems to have.
pub(super) fn open(source: Source, asked: Option<Format>) -> anyhow::Result<Opened> {
    let Source { text, sample, .. } = source;
    let first = sample.trim_ascii_start().first().copied();
    let without_names = |records: Records, shape, description| {
        Ok(Opened { records, shape, names: None, description })
    };
    match (asked, first) {
        (Some(Format::Json), _) | (None, Some(b'[')) => {
            without_names(Box::new(JsonArray::new(text)), Shape::Json, "a JSON array")
        }
        (Some(Format::Jsonl), _) | (None, Some(b'{')) => {
            without_names(Box::new(JsonLines::new(text)), Shape::Json, "JSON Lines")
        }
        (None | Some(Format::Merchant), Some(b'<')) => {
            without_names(Box::new(Feed::new(text)), Shape::Merchant, "a Merchant feed in XML")
        }
        (None, None) => bail!("the file is empty"),
        (asked, _) => {
            let delimiter = match asked {
                Some(Format::Tsv) => b'\t',
                _ => delimiter(&sample),
            };
            open_table(Table::open(text, delimiter)?, delimiter, asked)
        }
    }
}

fn open_table(
    table: Table<Box<dyn std::io::BufRead>>,
    delimiter: u8,
    asked: Option<Format>,
) -> anyhow::Result<Opened> {
    let names = table.names().to_vec();
    let shape = match asked {
        Some(Format::Shopify) => Shape::Shopify,
        Some(Format::Merchant) => Shape::Merchant,
        Some(_) => Shape::Table,
        None if shopify::is_shopify(&names) => Shape::Shopify,
        None if is_merchant(&names) => Shape::Merchant,
        None => Shape::Table,
    };
    let description = match (shape, delimiter) {
        (Shape::Shopify, _) => "Shopify's product CSV",
        (Shape::Merchant, _) => "a Merchant feed in columns",
        (_, b'\t') => "TSV",
        (_, b';') => "CSV with semicolons",
        _ => "CSV",
    };
    let records: Records = match shape {
        Shape::Shopify => shopify::products(Box::new(table), &names),
        _ => Box::new(table),
    };
    Ok(Opened { records, shape, names: Some(names), description })
}

/// Whether a table with these columns is a Merchant feed.
fn is_merchant(names: &[String]) -> bool {
    let has = |wanted: &str| names.iter().any(|name| simplified(name) == wanted);
    ["id", "title", "price", "imagelink"].into_iter().all(has)
        && (has("link") || has("availability"))
}

/// The separator that the first row has most of.
fn delimiter(sample: &[u8]) -> u8 {
    let text = sample.trim_ascii_start();
    let row = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |separator: u8| row.iter().filter(|byte| **byte == separator).count();
    // The first of equals: a single column has none, and is CSV.
    [b',', b'\t', b';'].into_iter().rev().max_by_key(|separator| count(*separator)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &'static str, asked: Option<Format>, expected: &str) {
        let source = Source::read(text.as_bytes(), None).unwrap();
        let said = open(source, asked).map_or_else(|e| e.to_string(), |o| o.description.to_owned());
        assert_eq!(said, expected, "{text}");
    }

    #[test]
    fn the_text_says_what_it_is() {
        check("\n {\"title\": \"A\"}", None, "JSON Lines");
        check(" [\n]", None, "a JSON array");
        check("<?xml version=\"1.0\"?><rss/>", None, "a Merchant feed in XML");
        check("title,price\n", None, "CSV");
        check("title\n", None, "CSV");
        check("title;price, in euros;x\n", None, "CSV with semicolons");
        check("title\tprice\n", None, "TSV");
        check(
            "id\ttitle\tdescription\tlink\tprice\timage_link\n",
            None,
            "a Merchant feed in columns",
        );
        check("id,title,price,image link\n", None, "CSV");
        check("Handle,Title,Body (HTML),Variant Price,Image Src\n", None, "Shopify's product CSV");
        check("URL handle,Title,Price,Product image URL\n", None, "Shopify's product CSV");
        check("", None, "the file is empty");
    }

    #[test]
    fn what_is_asked_for_overrules() {
        check("Handle,Title,Variant Price,Image Src\n", Some(Format::Csv), "CSV");
        check("id,title,price\n", Some(Format::Merchant), "a Merchant feed in columns");
        check("title,price\n", Some(Format::Jsonl), "JSON Lines");
    }
}
