//! Lexemes in the textual form of tsvectors and tsqueries.

/// Appends a word, quoted as tsvector and tsquery require it.
pub(super) fn quote(word: &str, text: &mut String) {
    text.push('\'');
    for c in word.chars() {
        if matches!(c, '\'' | '\\') {
            text.push(c);
        }
        text.push(c);
    }
    text.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted() {
        let mut text = String::new();
        quote("o'n\\e", &mut text);
        assert_eq!(text, "'o''n\\\\e'");
    }
}
