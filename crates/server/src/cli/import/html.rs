//! Converts HTML to plain text: removes tags, turns blocks into lines and decodes character
//! references. Runs and fetches nothing.

use quick_xml::escape::{resolve_html5_entity, unescape_with};

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
    while let Some(at) = rest.find('<') {
        lines.add(&rest[..at]);
        rest = &rest[at..];
        rest = match tag(rest) {
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

/// The name of the tag that the text begins with, and what is after the tag.
fn tag(text: &str) -> Option<(String, &str)> {
    if let Some(comment) = text.strip_prefix("<!--") {
        return Some((String::new(), comment.split_once("-->").map_or("", |(_, after)| after)));
    }
    let inside = text.strip_prefix('<')?;
    // "a < b" is no tag.
    inside
        .strip_prefix(['/', '!'])
        .unwrap_or(inside)
        .chars()
        .next()
        .filter(|c| c.is_alphabetic())?;
    let name: String =
        inside.chars().take_while(|c| c.is_alphanumeric() || *c == '/' || *c == '!').collect();
    let mut quote = None;
    for (at, c) in inside.char_indices() {
        match (quote, c) {
            (None, '>') => {
                let name = name.trim_end_matches('/').to_lowercase();
                return Some((name, &inside[at + 1..]));
            }
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    None
}

/// What is after the end of an element whose content is passed over.
fn skip<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return rest.split_once('>').map_or("", |(_, after)| after);
        }
    }
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
        let line = std::mem::take(&mut self.line);
        let said = unescape(&line);
        let mut words = said.split_whitespace().peekable();
        if words.peek().is_some() && !self.done.is_empty() {
            self.done.push('\n');
        }
        let mut first = true;
        for word in words {
            if !std::mem::replace(&mut first, false) {
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
    use super::*;

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
        check("<", "<");
    }
}
