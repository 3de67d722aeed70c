//! Formats a search answer for a terminal: the parsed query, then the products, with the
//! components of their scores on request.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    time::Duration,
};

use serde::Deserialize;

/// Letters of a title that are shown; prices stand behind them.
const TITLE_WIDTH: usize = 64;
/// Letters of a facet that are shown.
const FACET_WIDTH: usize = 100;
/// Letters of a whole bar.
const BAR_WIDTH: usize = 10;

/// The parts of an answer that are shown.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    products: Vec<Found>,
    total: usize,
    understood: Understood,
    #[serde(default)]
    facets: BTreeMap<String, Facet>,
    encoder: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Facet {
    Prices(Vec<Prices>),
    Attribute {
        #[serde(default)]
        values: Vec<ValueCount>,
        min: Option<f64>,
        max: Option<f64>,
        missing: usize,
    },
}

#[derive(Debug, Deserialize)]
struct Prices {
    currency: String,
    min: String,
    max: String,
}

#[derive(Debug, Deserialize)]
struct ValueCount {
    #[serde(alias = "label")]
    value: serde_json::Value,
    count: usize,
}

#[derive(Debug, Deserialize)]
struct Found {
    id: u64,
    title: String,
    price: String,
    hidden: bool,
    explanation: Option<Explanation>,
}

#[derive(Debug, Deserialize)]
struct Understood {
    constraints: Vec<Constraint>,
    exclusions: Vec<Exclusion>,
    sort: Option<Sort>,
    #[serde(default)]
    corrections: Vec<Correction>,
    #[serde(default)]
    attributes: Vec<Attribute>,
    category: Option<Category>,
    language: Option<String>,
    residual: String,
}

#[derive(Debug, Deserialize)]
struct Constraint {
    operation: String,
    value: Option<String>,
    min: Option<String>,
    max: Option<String>,
    currency: Option<String>,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Exclusion {
    words: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Sort {
    order: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Correction {
    from: String,
    to: String,
}

#[derive(Debug, Deserialize)]
struct Attribute {
    name: String,
    values: Vec<String>,
    text: String,
    required: bool,
}

#[derive(Debug, Deserialize)]
struct Category {
    path: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Explanation {
    score: f64,
    words: WordsPart,
    meaning: Option<MeaningPart>,
    rerank: Option<RerankPart>,
    #[serde(default)]
    claims: bool,
    #[serde(default)]
    key: bool,
}

#[derive(Debug, Deserialize)]
struct WordsPart {
    matched: f64,
    score: f64,
    weight: f64,
    terms: Vec<Term>,
    bonuses: Vec<Bonus>,
}

#[derive(Debug, Deserialize)]
struct Term {
    term: String,
    #[serde(rename = "as")]
    found_as: String,
    title: u32,
    description: u32,
    #[serde(default)]
    attribute: bool,
    score: f64,
}

#[derive(Debug, Deserialize)]
struct Bonus {
    name: String,
    score: f64,
}

#[derive(Debug, Deserialize)]
struct MeaningPart {
    similarity: f64,
    score: f64,
    weight: f64,
}

#[derive(Debug, Deserialize)]
struct RerankPart {
    contributions: Contributions,
}

#[derive(Debug, Deserialize)]
struct Contributions {
    lexical: f64,
    similarity: f64,
    deep_similarity: f64,
    soft_coverage: f64,
    names: f64,
    category: f64,
    attributes: f64,
    preference: f64,
}

/// An answer as it is printed.
pub(super) struct Page<'a> {
    pub(super) answer: &'a Answer,
    /// The place of the first product.
    pub(super) first: usize,
    pub(super) elapsed: Duration,
    pub(super) colours: bool,
}

impl Display for Page<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Answer { products, total, understood, facets, encoder } = self.answer;
        self.understood(f, understood)?;
        for (name, facet) in facets {
            let name = self.faint(&format!("{:<14}", shortened(name)));
            writeln!(f, "{name}{}", shortened_to(&facet.to_string(), FACET_WIDTH))?;
        }
        let meaning = match encoder {
            Some(encoder) => format!(", meaning by the {encoder} encoder"),
            None => String::new(),
        };
        let milliseconds = self.elapsed.as_secs_f64() * 1e3;
        let found = format!("{total} found in {milliseconds:.1} ms{meaning}");
        writeln!(f, "{}", self.faint(&found))?;
        for (place, found) in (self.first..).zip(products) {
            self.product(f, place, found)?;
        }
        Ok(())
    }
}

impl Page<'_> {
    fn understood(&self, f: &mut Formatter<'_>, understood: &Understood) -> fmt::Result {
        let Understood {
            constraints,
            exclusions,
            sort,
            corrections,
            attributes,
            category,
            language,
            residual,
        } = understood;
        let mut line = |name: &str, value: &str, text: &str| {
            let said = if text.is_empty() { String::new() } else { format!("  \"{text}\"") };
            writeln!(f, "{}{value}{}", self.faint(&format!("{name:<14}")), self.faint(&said))
        };
        if !residual.is_empty() {
            line("searched for", residual, "")?;
        }
        if let Some(language) = language {
            line("language", language, "")?;
        }
        for Correction { from, to } in corrections {
            line("corrected", &format!("{from} → {to}"), "")?;
        }
        for constraint in constraints {
            line("price", &constraint.to_string(), &constraint.text)?;
        }
        for Exclusion { words, text } in exclusions {
            line("without", words, text)?;
        }
        if let Some(Category { path }) = category {
            line("category", &path.join(" > "), "")?;
        }
        for Attribute { name, values, text, required } in attributes {
            let only = if *required { "only " } else { "" };
            line(name, &format!("{only}{}", values.join(" or ")), text)?;
        }
        if let Some(Sort { order, text }) = sort {
            line("order", &order.replace('_', " "), text)?;
        }
        Ok(())
    }

    fn product(&self, f: &mut Formatter<'_>, place: usize, found: &Found) -> fmt::Result {
        let title = shortened(&found.title);
        let gap = " ".repeat(TITLE_WIDTH.saturating_sub(title.chars().count()));
        let hidden = if found.hidden { "  hidden" } else { "" };
        let behind = self.faint(&format!("#{}{hidden}", found.id));
        writeln!(f, "{place:>4}  {}{gap}  {}  {behind}", self.strong(&title), found.price)?;
        match &found.explanation {
            Some(explanation) => self.explanation(f, explanation),
            None => Ok(()),
        }
    }

    fn explanation(&self, f: &mut Formatter<'_>, explanation: &Explanation) -> fmt::Result {
        let Explanation { score, words, meaning, rerank, claims, key } = explanation;
        let first = match (key, claims) {
            (true, _) => self.faint("  its key, comes first"),
            (false, true) => self.faint("  claims it, comes first"),
            (false, false) => String::new(),
        };
        writeln!(f, "      score    {} {score:.3}{first}", bar(*score))?;
        let WordsPart { matched, score, weight, terms, bonuses } = words;
        let terms = terms.iter().map(Term::to_string);
        let bonuses = bonuses.iter().map(|bonus| format!("{} {:.2}", bonus.name, bonus.score));
        let parts: Vec<String> = terms.chain(bonuses).collect();
        let how = self.faint(&format!("match {matched:.2}: {}", parts.join(", ")));
        writeln!(f, "      words    {} {score:.3} × {weight:.2}  {how}", bar(*score))?;
        if let Some(MeaningPart { similarity, score, weight }) = meaning {
            let how = self.faint(&format!("similarity {similarity:.2}"));
            writeln!(f, "      meaning  {} {score:.3} × {weight:.2}  {how}", bar(*score))?;
        }
        if let Some(RerankPart { contributions }) = rerank {
            writeln!(f, "      {}", self.faint(&contributions.to_string()))?;
        }
        Ok(())
    }

    fn strong(&self, text: &str) -> String {
        self.painted("1", text)
    }

    fn faint(&self, text: &str) -> String {
        self.painted("2", text)
    }

    fn painted(&self, code: &str, text: &str) -> String {
        match self.colours && !text.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}

impl Display for Constraint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let operation = self.operation.replace('_', " ");
        match (&self.value, &self.min, &self.max) {
            (Some(value), ..) => write!(f, "{operation} {value}")?,
            (None, Some(min), Some(max)) => write!(f, "{operation} {min} to {max}")?,
            _ => write!(f, "{operation}")?,
        }
        match &self.currency {
            Some(currency) => write!(f, " {currency}"),
            None => Ok(()),
        }
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { term, found_as, title, description, attribute, score } = self;
        write!(f, "{term}")?;
        if found_as != term {
            write!(f, " as {found_as}")?;
        }
        let attribute = if *attribute { ", attribute" } else { "" };
        write!(f, " {score:.2} (title {title}, description {description}{attribute})")
    }
}

/// `sum of words 0.30, meaning 0.21`, without the parts that add nothing.
impl Display for Contributions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let parts = [
            ("words", self.lexical),
            ("meaning", self.similarity),
            ("deep meaning", self.deep_similarity),
            ("coverage", self.soft_coverage),
            ("names", self.names),
            ("category", self.category),
            ("attributes", self.attributes),
            ("preference", self.preference),
        ];
        let part = |(name, value): (&str, f64)| format!("{name} {value:.3}");
        let parts: Vec<_> =
            parts.into_iter().filter(|(_, value)| *value != 0.0).map(part).collect();
        write!(f, "sum of {}", parts.join(", "))
    }
}

/// `green 12, red 3; 2 to 4; missing 5`
impl Display for Facet {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = match self {
            Self::Prices(prices) => {
                let range =
                    |Prices { currency, min, max }: &Prices| format!("{min} to {max} {currency}");
                prices.iter().map(range).collect()
            }
            Self::Attribute { values, min, max, missing } => {
                let value = |one: &ValueCount| match &one.value {
                    serde_json::Value::String(text) => format!("{text} {}", one.count),
                    other => format!("{other} {}", one.count),
                };
                let values: Vec<_> = values.iter().map(value).collect();
                let range = min.zip(*max).map(|(min, max)| format!("{min} to {max}"));
                let missing = (*missing > 0).then(|| format!("missing {missing}"));
                let values = (!values.is_empty()).then(|| values.join(", "));
                [values, range, missing].into_iter().flatten().collect()
            }
        };
        f.write_str(&parts.join("; "))
    }
}

/// A share of 1 as a bar.
fn bar(share: f64) -> String {
    let full = (share.clamp(0.0, 1.0) * BAR_WIDTH as f64).round() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(BAR_WIDTH - full))
}

/// A title that fits its column. A catalog's texts are others': nothing in them may steer the
/// terminal, and line breaks become spaces.
fn shortened(text: &str) -> String {
    shortened_to(text, TITLE_WIDTH)
}

fn shortened_to(text: &str, width: usize) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match plain.char_indices().nth(width) {
        Some(_) => format!("{}…", plain.chars().take(width - 1).collect::<String>()),
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Long because the answer has everything that a page can show.
    #[test]
    fn an_answer_shows_what_was_understood_and_the_parts_of_each_score() {
        let answer = serde_json::from_value(json!({
            "products": [{
                "id": 17, "title": format!("Linen sofa\u{1b}[31m {}", "x".repeat(80)), "price": "$899.00", "hidden": true,
                "explanation": {
                    "score": 0.63,
                    "words": {"matched": 0.65, "score": 0.42, "weight": 0.7, "bonuses": [{"name": "phrase", "score": 0.05}], "terms": [
                        {"term": "sofas", "as": "sofa", "title": 1, "description": 2, "attribute": true, "score": 0.6}]},
                    "meaning": {"similarity": 0.58, "score": 0.58, "weight": 0.3},
                    "rerank": {"semantic_weight": 0.5, "evidence": {}, "contributions": {"lexical": 0.3,
                        "similarity": 0.2, "deep_similarity": 0, "soft_coverage": 0.18, "names": 0, "category": 0, "attributes": -0.05, "preference": 0}}
                }
            }],
            "query": "sofas about $900 no lether", "total": 41, "encoder": "deep",
            "facets": {
                "color": {"values": [{"value": "green", "count": 12}, {"value": true, "count": 1}], "missing": 3},
                "price": [{"currency": "USD", "min": "720", "max": "1080", "histogram": []}],
                "category": {"values": [{"id": "fr-22-1", "label": "Loveseats", "count": 2}], "missing": 1},
                "seats": {"min": 2, "max": 3.5, "histogram": [], "missing": 0}
            },
            "understood": {
                "constraints": [{"field": "price", "operation": "about", "min": "720", "max": "1080",
                    "currency": "USD", "text": "about $900"}],
                "exclusions": [{"words": "leather", "text": "no lether"}],
                "corrections": [{"from": "lether", "to": "leather"}],
                "sort": {"order": "price_ascending", "text": "cheapest"},
                "attributes": [{"name": "color", "values": ["blue"], "text": "navy", "required": true}],
                "category": {"id": "fr-22", "path": ["Furniture", "Sofas"]},
                "language": "de",
                "residual": "sofas"
            }
        }))
        .unwrap();
        let page = Page {
            answer: &answer,
            first: 11,
            elapsed: Duration::from_micros(1250),
            colours: false,
        };
        insta::assert_snapshot!(page, @r#"
        searched for  sofas
        language      de
        corrected     lether → leather
        price         about 720 to 1080 USD  "about $900"
        without       leather  "no lether"
        category      Furniture > Sofas
        color         only blue  "navy"
        order         price ascending  "cheapest"
        category      Loveseats 2; missing 1
        color         green 12, true 1; missing 3
        price         720 to 1080 USD
        seats         2 to 3.5
        41 found in 1.2 ms, meaning by the deep encoder
          11  Linen sofa [31m xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  $899.00  #17  hidden
              score    ██████░░░░ 0.630
              words    ████░░░░░░ 0.420 × 0.70  match 0.65: sofas as sofa 0.60 (title 1, description 2, attribute), phrase 0.05
              meaning  ██████░░░░ 0.580 × 0.30  similarity 0.58
              sum of words 0.300, meaning 0.200, coverage 0.180, attributes -0.050
        "#);
        let coloured = Page { colours: true, ..page };
        assert!(coloured.to_string().contains("\u{1b}[1mLinen sofa"));
    }
}
