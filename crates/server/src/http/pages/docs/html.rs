//! Builds HTML. Elements contain escaped text and other elements; markup cannot be added as a
//! string.

use std::fmt;

/// Elements without content.
const VOID: [&str; 3] = ["meta", "link", "br"];

/// An element with its attributes and content.
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    content: String,
}

pub(super) fn element(name: &'static str) -> Element {
    Element { name, attributes: Vec::new(), content: String::new() }
}

impl Element {
    /// Adds an attribute.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    pub(super) fn class(self, name: &str) -> Self {
        self.with("class", name)
    }

    /// Appends text.
    pub(super) fn text(mut self, text: &str) -> Self {
        escape(&mut self.content, text);
        self
    }

    /// Appends text in which backquotes mark code.
    pub(super) fn prose(mut self, text: &str) -> Self {
        for (nth, part) in text.split('`').enumerate() {
            self = match nth % 2 {
                0 => self.text(part),
                _ => self.add(element("code").text(part)),
            };
        }
        self
    }

    /// Appends a style sheet. It is not escaped, so it must be a constant.
    pub(super) fn style(mut self, sheet: &'static str) -> Self {
        self.content.push_str(sheet);
        self
    }

    /// Appends an element.
    pub(super) fn add(mut self, child: Element) -> Self {
        self.content.push_str(&child.to_string());
        self
    }

    /// Appends elements.
    pub(super) fn add_all(self, children: impl IntoIterator<Item = Element>) -> Self {
        children.into_iter().fold(self, Element::add)
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}", self.name)?;
        for (name, value) in &self.attributes {
            let mut escaped = String::new();
            escape(&mut escaped, value);
            write!(f, " {name}=\"{escaped}\"")?;
        }
        f.write_str(">")?;
        if VOID.contains(&self.name) {
            return Ok(());
        }
        write!(f, "{}</{}>", self.content, self.name)
    }
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_never_markup() {
        let page = element("p").with("title", "\"'><script>").text("<b>&").add(element("br"));
        assert_eq!(
            page.to_string(),
            "<p title=\"&quot;&#39;&gt;&lt;script&gt;\">&lt;b&gt;&amp;<br></p>"
        );
    }

    #[test]
    fn backquotes_mark_code() {
        let page = element("p").prose("send `<a>` twice");
        assert_eq!(page.to_string(), "<p>send <code>&lt;a&gt;</code> twice</p>");
    }
}
