//! Stop words: function words and conversational phrases that say nothing about products.

/// English function words. Words that are also products or features are not in the list: `can`,
/// `over`, `under`, `no`.
#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "also", "am", "an", "and", "any", "anything", "are", "as", "at", "be", "been",
    "but", "by", "could", "did", "do", "does", "every", "for", "from", "had", "has", "have",
    "he", "her", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my",
    "of", "on", "or", "our", "please", "she", "should", "so", "some", "someone", "something",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
    "to", "us", "very", "was", "we", "were", "what", "when", "where", "which", "who", "with",
    "would", "you", "your",
];

/// Conversational phrases. Single words of them may be about products ("looking glass", "want want
/// rice crackers"), so only the whole phrase counts.
const CONVERSATIONAL_PHRASES: &[&[&str]] = &[
    &["looking", "for"],
    &["look", "for"],
    &["looking", "to", "buy"],
    &["searching", "for"],
    &["search", "for"],
    &["in", "search", "of"],
    &["trying", "to", "find"],
    &["i", "want"],
    &["i", "need"],
    &["we", "need"],
    &["i", "like"],
    &["would", "like"],
    &["want", "to", "buy"],
    &["want", "to", "get"],
    &["need", "to", "buy"],
    &["need", "to", "get"],
    &["like", "to", "buy"],
    &["show", "me"],
    &["find", "me"],
    &["find", "a"],
    &["buy", "a"],
    &["give", "me"],
    &["get", "me"],
    &["recommend", "me"],
    &["suggest", "me"],
    &["help", "me", "find"],
    &["can", "you"],
    &["can", "you", "find"],
    &["can", "you", "show"],
    &["could", "you", "find"],
    &["can", "i", "get"],
    &["can", "i", "find"],
    &["can", "i", "buy"],
    &["have", "you", "got"],
    &["do", "you", "sell"],
    &["kind", "of"],
    &["thank", "you"],
    &["money", "is", "no", "object"],
    &["price", "is", "no", "object"],
    &["money", "no", "object"],
    &["budget", "is", "no", "object"],
    &["no", "budget", "limit"],
    &["no", "price", "limit"],
    &["no", "spending", "limit"],
    &["no", "limit", "on", "price"],
    &["ich", "suche"],
    &["ich", "brauche"],
    &["je", "cherche"],
    &["я", "ищу"],
];

/// Whether a form is a function word, which says nothing about a product.
pub(crate) fn is_function_word(form: &str) -> bool {
    FUNCTION_WORDS.binary_search(&form).is_ok()
}

/// For each form, whether it is a function word or part of a conversational phrase.
pub(crate) fn stop_words(forms: &[impl AsRef<str>]) -> Vec<bool> {
    let mut is_stop_word: Vec<bool> =
        forms.iter().map(|form| is_function_word(form.as_ref())).collect();
    for start in 0..forms.len() {
        for phrase in CONVERSATIONAL_PHRASES {
            let rest = &forms[start..];
            if rest.len() >= phrase.len()
                && rest.iter().zip(*phrase).all(|(form, word)| form.as_ref() == *word)
            {
                is_stop_word[start..start + phrase.len()].fill(true);
            }
        }
    }
    is_stop_word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_words_are_sorted() {
        assert!(FUNCTION_WORDS.is_sorted());
    }
}
