//! Converts HTML to plain text: removes tags, turns blocks into lines and decodes character
//! references. Runs and fetches nothing.

use std::mem;

use quick_xml::escape::{resolve_html5_entity, unescape_with};

use super::work;

/// Elements whose content is not text.
const SILENT: [&str; 4] = ["script", "style", "template", "title"];
/// Elements that begin and end a line.
const BLOCKS: [&str; 25] = [
    "address",
    "article",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "ol",
    "p",
    "section",
    "table",
    "tr",
    "ul",
];

/// The text of a piece of HTML, however badly it is formed.
pub(super) fn text(html: &str) -> String {
    let mut lines = Lines::default();
    let mut rest = html;
    for (at, end) in tag_ends(html).into_iter().rev() {
        // It is part of what was read already, such as a comment.
        let Some(before) = at.checked_sub(html.len() - rest.len()) else { continue };
        lines.add(&rest[..before]);
        rest = &rest[before..];
        rest = match tag(rest, end.map(|end| &html[end + 1..])) {
            None => {
                lines.add("<");
                &rest[1..]
            }
            Some((name, after)) if SILENT.contains(&name.as_str()) => skip(after, &name),
            Some((name, after)) => {
                let block = name.trim_start_matches('/');
                if BLOCKS.contains(&block) {
                    lines.end();
                } else if matches!(block, "td" | "th") {
                    lines.add(" ");
                }
                after
            }
        };
    }
    lines.add(rest);
    lines.finish()
}

/// Every `<`, from the last to the first, with the `>` that ends a tag which begins there: the next
/// one outside of quotes, if there is one.
///
/// Read backwards, a quote swaps where a tag ends that is inside of quotes before it and one that is
/// not: all ends are found in one pass, however many tags there are that do not end.
fn tag_ends(html: &str) -> Vec<(usize, Option<usize>)> {
    let (mut unquoted, mut in_double, mut in_single) = (None, None, None);
    let mut ends = Vec::new();
    for (at, byte) in html.bytes().enumerate().rev() {
        work::step();
        match byte {
            b'>' => unquoted = Some(at),
            b'"' => mem::swap(&mut unquoted, &mut in_double),
            b'\'' => mem::swap(&mut unquoted, &mut in_single),
            b'<' => ends.push((at, unquoted)),
            _ => {}
        }
    }
    ends
}

/// The name of the tag that the text begins with, and what is after the tag; `after_end` is that
/// unless it is a comment.
fn tag<'a>(text: &'a str, after_end: Option<&'a str>) -> Option<(String, &'a str)> {
    if let Some(comment) = text.strip_prefix("<!--") {
        let after = comment.split_once("-->").map_or("", |(_, after)| after);
        work::steps(text.len() - after.len());
        return Some((String::new(), after));
    }
    let inside = text.strip_prefix('<')?;
    // "a < b" is no tag.
    inside
        .strip_prefix(['/', '!'])
        .unwrap_or(inside)
        .chars()
        .next()
        .filter(|c| c.is_alphabetic())?;
    let after = after_end?;
    let name: String =
        inside.chars().take_while(|c| c.is_alphanumeric() || *c == '/' || *c == '!').collect();
    work::steps(name.len());
    Some((name.trim_end_matches('/').to_lowercase(), after))
}

/// What is after the end of an element whose content is passed over.
fn skip<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        work::steps(at + name.len());
        rest = &rest[at + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return rest.split_once('>').map_or("", |(_, after)| after);
        }
    }
    work::steps(rest.len());
    ""
}

/// Lines of words with single spaces between them.
#[derive(Default)]
struct Lines {
    done: String,
    line: String,
}

impl Lines {
    fn add(&mut self, raw: &str) {
        self.line.push_str(raw);
    }

    fn end(&mut self) {
        let line = mem::take(&mut self.line);
        let said = unescape(&line);
        let mut words = said.split_whitespace().peekable();
        if words.peek().is_some() && !self.done.is_empty() {
            self.done.push('\n');
        }
        let mut first = true;
        for word in words {
            if !mem::replace(&mut first, false) {
                self.done.push(' ');
            }
            self.done.push_str(word);
        }
    }

    fn finish(mut self) -> String {
        self.end();
        self.done
    }
}

/// References as characters; a text with one that means nothing is left as it is.
fn unescape(text: &str) -> String {
    unescape_with(text, resolve_html5_entity)
        .map_or_else(|_| text.to_owned(), |said| said.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The end of a tag by its definition, read from its beginning.
    fn end_of_tag(html: &str, begin: usize) -> Option<usize> {
        let mut quote = None;
        for (at, byte) in html.bytes().enumerate().skip(begin + 1) {
            match (quote, byte) {
                (None, b'>') => return Some(at),
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), byte) if byte == open => quote = None,
                _ => {}
            }
        }
        None
    }

    proptest! {
        #[test]
        fn tags_end_at_the_next_bracket_outside_of_quotes(html in "[<>\"'aé]{0,40}") {
            for (at, end) in tag_ends(&html) {
                prop_assert_eq!(end, end_of_tag(&html, at));
            }
        }
    }

    fn check(html: &str, expected: &str) {
        assert_eq!(text(html), expected, "{html}");
    }

    #[test]
    fn html_becomes_lines_of_plain_text() {
        check("plain", "plain");
        check("<p>Soft  <b>wool</b></p>\n<p>Made in&nbsp;Italy</p>", "Soft wool\nMade in Italy");
        check("one<br/>two<BR>three", "one\ntwo\nthree");
        check("<ul><li>red</li><li>blue</li></ul>", "red\nblue");
        check("caf&eacute; &amp; bar &#8364;5 &lt;b&gt;", "café & bar €5 <b>");
        check("<td>a</td><td>b</td>", "a b");
        check("<a href='x>y' title=\"a>b\">link</a>", "link");
    }

    #[test]
    fn what_is_not_text_is_left_out() {
        check("a<script>if (1 < 2) alert('</b>')</script>b", "ab");
        check("a<STYLE>p { }</style >b", "ab");
        check("a<!-- <p>hidden</p> -->b", "ab");
    }

    #[test]
    fn broken_html_loses_no_text() {
        check("5 < 6 and 7 > 3", "5 < 6 and 7 > 3");
        check("wool & silk; &nosuch;", "wool & silk; &nosuch;");
        check("unclosed <b", "unclosed <b");
        check("<p title=\"5' wide>Lamp<br>Rug", "<p title=\"5' wide>Lamp\nRug");
        check("<", "<");
    }
}
