//! Negations before a comparison: "can't pay more than", "nothing over".
//!
//! ```text
//! negation = [subject] negator {negator | verb | filler}
//! ```
//!
//! The comparison must follow immediately: any other word ends the negation, so that "not black
//! over 80" excludes black and keeps its floor. Several negators count as one, as in Spanish,
//! Russian and colloquial English ("no quiero nada por encima de 80").

use std::sync::LazyLock;

use super::cues::{Bare, CUE_WORDS, Cue, OVER};
use crate::lexer::Tokens;
use crate::query_parser::lexicon::{Lexicon, WordSet};

/// The most words between a negator and its comparison.
const MAX_BETWEEN: usize = 8;

/// Before "not", these words make it part of a question or an alternative: "leather or not under 50".
const NO_NEGATION_AFTER: &[&str] = &["or", "why", "if", "whether"];

/// The effect of a negator on the comparison after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// "not over 80" is "up to 80".
    Inverts,
    /// "not only under 50", "not much over 80": neither the comparison nor its opposite holds.
    Cancels,
}

use Effect::{Cancels, Inverts};

/// Negators by language, in the folded forms of contractions.
const NEGATORS: &[(&str, Effect)] = &[
    (
        "not|no|nothing|never|none|neither|nor|without|cant|cannot|can not|dont|do not|doesnt|\
         does not|didnt|did not|wont|will not|wouldnt|would not|couldnt|could not|shouldnt|\
         should not|mustnt|must not|may not|isnt|is not|arent|are not|aint|wasnt",
        Inverts,
    ),
    (
        "not only|not just|not necessarily|not strictly|not always|not exactly|not quite|not too|\
         not too much|not too far|not much|not far|not a lot|not way|not really|not significantly|\
         doesnt have to|does not have to|dont have to|do not have to|doesnt need to|\
         does not need to|dont need to|do not need to|neednt|need not|no need to|no need for",
        Cancels,
    ),
    // German
    (
        "nicht|nichts|nie|niemals|kein|keine|keinen|keinesfalls|auf keinen fall|auf gar keinen fall|ohne",
        Inverts,
    ),
    ("nicht nur|nicht unbedingt|nicht viel|nicht weit|nicht ganz|nicht zwingend", Cancels),
    // French
    ("ne|pas|rien|jamais|aucun|aucune|sans", Inverts),
    ("pas seulement|pas forcement|pas beaucoup|pas necessairement|pas trop", Cancels),
    // Spanish ("no" is English, too)
    ("nada|nunca|jamas|sin|ningun|ninguno|ninguna", Inverts),
    ("no solo|no necesariamente|no mucho", Cancels),
    // Portuguese
    ("nao|sem|nenhum|nenhuma", Inverts),
    ("nao so|nao apenas|nao necessariamente|nao muito", Cancels),
    // Italian
    ("non|niente|nulla|mai|senza|nessun|nessuno|nessuna", Inverts),
    ("non solo|non necessariamente|non molto", Cancels),
    // Russian
    ("не|ничего|никогда|нельзя|без", Inverts),
    ("не только|не обязательно|не намного|не сильно|не слишком", Cancels),
];

/// Subjects before a negator. They are part of the condition, so that they are not searched for.
const SUBJECTS: &str = "i|we|id rather|i rather|i would rather|rather|ich|wir|ich kann|ich will|\
    ich mochte|ich darf|wir wollen|wir konnen|darf|durfen|soll|sollte|sollten|je|nous|on|yo|eu|io|\
    я|мы|that|which|qui|que|che|die|der|das";

/// Verbs of spending and words for prices: a number after them needs no currency.
const SPENDING: &str = "pay|paying|pay out|spend|spending|afford|cost|costs|costing|priced|price|\
    prices|shell out|fork out|ausgeben|zahlen|bezahlen|kosten|kostet|payer|depenser|debourser|\
    coute|coutent|coutant|couter|pagar|gastar|gastarme|cueste|cuesten|cuesta|cuestan|costar|\
    custe|custem|custa|custar|pagare|spendere|costi|costino|costa|costare|\
    платить|заплатить|потратить|тратить|стоит|стоить|стоило|стоят|отдать|отдавать";

/// Other words that may stand between a negator and its comparison.
const BETWEEN: &str = "want|wanting|wanna|wish|plan|planning|intend|going|go|gonna|willing|able|\
    ready|prepared|need|have|having|has|got|be|being|is|are|to|that|which|it|i|we|anything|\
    something|things|items|products|stuff|ones|options|results|see|show|show me|suggest|recommend|\
    include|interested|interested in|looking|do|justify|manage|stretch|stretch to|handle|swing|invest|\
    part with|offer|for|at|a|the|any|of|thats|ever|even|rather|like|like to|\
    a penny|a cent|a dime|a single penny|a single cent|a dollar|\
    will|mochte|mochten|wollen|kann|konnen|darf|durfen|soll|sollen|sollte|ich|wir|es|zu|fur|\
    veux|peux|peut|pourrais|voudrais|souhaite|vais|pret|prete|de|que|qui|je|aller|\
    quiero|puedo|podria|quisiera|voy|tengo|ir|sea|sean|me|se|lo|los|por|\
    quero|posso|poderia|gostaria|vou|seja|sejam|tenho|pretendo|\
    voglio|vorrei|potrei|che|di|da|sia|siano|andare|ho|intendo|\
    могу|хочу|хотел бы|хотела бы|буду|готов|готова|планирую|чтобы";

/// Verbs that compare, but only after a negation: "must not exceed 80", "que no superen los 80".
const EXCEEDING: &str = "exceed|exceeds|exceeding|surpass|surpassing|depasser|depasse|depassent|\
    depassant|exceder|excede|excedent|excedant|\
    supere|superen|supera|superan|superar|superando|exceda|excedan|pase de|pasen de|pasar de|\
    pasando de|sobrepase|sobrepasen|\
    passe de|passem de|passar de|passando de|ultrapasse|ultrapassem|ultrapassar|ultrapassando|\
    superi|superino|superare|superando|ecceda|eccedere|\
    превышает|превышают|превышая|превышать|превысит|превышала|превышали";

/// Words that may stand between a negator and a sort order: "doesn't have to be the cheapest".
const ARTICLES: &str = "the be to necessarily only just der die das den dem le la les el los las lo \
    o a os as il i gli want need";

/// How many words before a sort order its negator may begin.
const MAX_BEFORE_ORDER: usize = 6;

static ARTICLE_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[ARTICLES]));
static NEGATOR_WORDS: LazyLock<Lexicon<Effect>> = LazyLock::new(|| Lexicon::of_lists(NEGATORS));
static SUBJECT_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::of_lists(&[(SUBJECTS, ())]));
static BETWEEN_WORDS: LazyLock<Lexicon<bool>> =
    LazyLock::new(|| Lexicon::of_lists(&[(BETWEEN, false), (SPENDING, true)]));
static EXCEEDING_WORDS: LazyLock<Lexicon<Cue>> =
    LazyLock::new(|| Lexicon::of_lists(&[(EXCEEDING, OVER)]));

/// A negation before a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Negation {
    /// Whether the comparison becomes its opposite; otherwise it has no definite meaning.
    pub(super) inverts: bool,
    /// Whether it mentions spending: a number then needs no currency.
    pub(super) is_price: bool,
    /// Its exclusive end, where the comparison must begin.
    pub(super) end: usize,
}

/// The negation that begins at a token.
pub(super) fn negation_at(tokens: &Tokens, at: usize) -> Option<Negation> {
    let negator = SUBJECT_WORDS.longest_at(tokens, at).map_or(at, |(_, end)| end);
    let (effect, end) = NEGATOR_WORDS
        .longest_at(tokens, negator)
        .or_else(|| NEGATOR_WORDS.longest_at(tokens, at))?;
    let before = tokens.word_before(end - 1);
    if end == negator + 1 && NO_NEGATION_AFTER.contains(&before) {
        return None;
    }
    Some(after_negator(tokens, end, effect))
}

/// The negation that continues in an alternative: "over 80" in "not under 20 or over 80".
pub(super) fn continued_at(tokens: &Tokens, at: usize) -> Option<Negation> {
    let is_alternative =
        matches!(tokens.word(at), "or" | "nor" | "oder" | "ou" | "o" | "или" | "ni");
    is_alternative.then(|| after_negator(tokens, at + 1, Inverts))
}

fn after_negator(tokens: &Tokens, at: usize, effect: Effect) -> Negation {
    let mut negation = Negation { inverts: effect == Inverts, is_price: false, end: at };
    for _ in 0..MAX_BETWEEN {
        let at = negation.end;
        if comparison_at(tokens, at).is_some() {
            break;
        }
        if let Some((effect, end)) = NEGATOR_WORDS.longest_at(tokens, at) {
            negation.inverts &= effect == Inverts;
            negation.end = end;
        } else if let Some((is_price, end)) = BETWEEN_WORDS.longest_at(tokens, at) {
            negation.is_price |= is_price;
            negation.end = end;
        } else {
            break;
        }
    }
    negation
}

/// The comparison after a negation. Words that only begin a range ("de 20 à 50") are fillers here.
pub(super) fn comparison_at(tokens: &Tokens, at: usize) -> Option<(Cue, usize)> {
    let cue = CUE_WORDS.longest_at(tokens, at).filter(|(cue, _)| cue.bare != Bare::Never);
    cue.or_else(|| EXCEEDING_WORDS.longest_at(tokens, at))
}

/// The start of a negator before a token, with only articles and the like between them: "not the
/// cheapest".
pub(in crate::query_parser) fn negator_before(tokens: &Tokens, at: usize) -> Option<usize> {
    let ends_here = |start: &usize| {
        NEGATOR_WORDS.longest_at(tokens, *start).is_some_and(|(_, end)| {
            end <= at && (end..at).all(|between| ARTICLE_WORDS.contains(tokens.word(between)))
        })
    };
    (at.saturating_sub(MAX_BEFORE_ORDER)..at).find(ends_here)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_parser::lexicon::assert_folded;

    #[test]
    fn the_phrases_are_folded() {
        assert_folded(NEGATOR_WORDS.phrases());
        assert_folded(SUBJECT_WORDS.phrases());
        assert_folded(BETWEEN_WORDS.phrases());
        assert_folded(EXCEEDING_WORDS.phrases());
    }

    #[test]
    fn a_negation_ends_at_the_comparison() {
        let read = |text| negation_at(&Tokens::of(text), 0);
        let inverts = |is_price, end| Some(Negation { inverts: true, is_price, end });
        assert_eq!(read("not over 80"), inverts(false, 1));
        assert_eq!(read("can't pay more than 80"), inverts(true, 2));
        assert_eq!(read("I don't want to spend more than 80"), inverts(true, 5));
        assert_eq!(read("no quiero nada por encima de 80"), inverts(false, 3));
        assert_eq!(
            read("not only under 50"),
            Some(Negation { inverts: false, is_price: false, end: 2 })
        );
        assert_eq!(read("under 50"), None);
        assert_eq!(read("or not under 50"), None);
    }
}
