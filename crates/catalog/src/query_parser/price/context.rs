//! The words around a number that make it a count, a measure or part of a name instead of a price.

use std::sync::LazyLock;

use crate::analysis::{is_function_word, singular};

use super::cues::{CUE_WORDS, SUFFIX_WORDS};
use crate::lexer::{TokenKind, Tokens};
use crate::query_parser::lexicon::WordSet;
use crate::query_parser::negators::NEGATOR_WORDS;

/// Units of measure, in the singular where it is English.
const UNITS: &str = "inch in inche ft foot feet yard yd mm cm m km meter metre mile centimeter \
    centimetre millimeter millimetre kilometer kilometre sq sqft acre w watt kw kilowatt wh kwh v \
    volt amp a ah mah milliamp hz khz mhz ghz bit byte kb mb gb tb megabyte gigabyte terabyte mp \
    megapixel mbps gbps fps dpi lumen lm kelvin lux db decibel degree celsius fahrenheit c f °c \
    percent pct g gram kg kilo kilogram lb lbs oz ounce mg mcg iu ton tonne stone ml cl dl l liter \
    litre gallon gal quart qt pint cup tbsp tsp cc ci hp psi bar rpm mph kmh btu gsm denier tpi \
    carat karat ct kt cal kcal calorie calory carb spf abv proof nm micron gauge grit t";

/// Times and ages.
const TIMES: &str = "year yr y yo month mo week wk day hour hr h minute min second sec s ms night \
    yrs mos am pm o'clock oclock century decade st nd rd th d";

/// Things that numbers count. Things that shops sell on their own are not in the list: "under 50
/// monitor" asks for a monitor.
const COUNTED: &str = "piece pc pcs pack pk count ply set pair person people player seat seater \
    user guest adult kid child man woman drawer tier shelf burner blade speed gear port outlet \
    pin way slot bay channel string step stage level pocket compartment hole page sheet capsule \
    pill serving dose portion slice gang wire core thread star review point mode program song \
    device bedroom room floor story storey axis button layer row column digit size times fold x \
    item product thing of word line tooth teeth leg cell charge cycle lap rep shade color colour \
    cylinder arm";

/// Units and counted things of the other languages, inflected as after numbers.
const FOREIGN: &str = "zoll jahr jahre jahren monat monate monaten tag tage tagen woche wochen \
    stunde stunden minuten stuck stucke teile teilig personen person liter grad seiten kalorien \
    zentimeter pouce pouces an ans mois jour jours semaine semaines heure heures pieces piece \
    personne personnes litre litres degres places pages metres pulgada pulgadas ano anos mes meses \
    dia dias hora horas minutos pieza piezas persona personas litro litros grado grados plazas \
    paginas metros polegada polegadas peca pecas pessoa pessoas graus lugares pollice pollici anno \
    anni mese mesi giorno giorni ora ore minuti pezzi persone litri gradi posti pagine metri дюим \
    дюима дюимов см мм м км кг г гр грамм л литр литра литров вт ватт квт в вольт мач гб тб год \
    года лет месяц месяца месяцев дня днеи час часа часов минут шт штук штуки человек персон \
    градусов детали деталеи страниц";

/// Before a cue, these words name a measure: "size under 10".
const MEASURES: &str = "size sizes age ages aged gauge grit grade model number chapter level \
    temperature temp weight height width length depth diameter screen diagonal power wattage \
    voltage capacity waist chest bust inseam spf version volume speed range radius thickness \
    resolution iso year years gewicht grosse alter breite hohe lange taille poids largeur talla \
    peso ancho altura tamanho taglia altezza размер вес высота ширина длина возраст возрасте";

/// Before a cue, these words make a small number an age: "kids under 5", "women over 50".
const PEOPLE: &str = "kid kids child children toddler toddlers baby babies infant infants boy boys \
    girl girls teen teens teenager teenagers junior juniors youth youths student students people \
    person adult adults senior seniors man men woman women lady ladies someone anyone everyone \
    those player players squad team teams grandma grandpa mom dad mum mother father him her old \
    kinder kindern jungen madchen frauen manner menschen enfants enfant filles garcons femmes \
    hommes ninos ninas mujeres hombres criancas meninas mulheres homens bambini bambine donne \
    uomini детеи дети детям ребенка мужчин женщин мальчиков девочек";

/// Function words of the other languages, which numbers do not count.
const FOREIGN_FUNCTION_WORDS: &str = "fur mit und oder im von zum pour avec et ou dans en para con \
    y o com e per da di il la le les un une une los las для с и в на или euro";

static COUNTABLE_WORDS: LazyLock<WordSet> =
    LazyLock::new(|| WordSet::of(&[UNITS, TIMES, COUNTED, FOREIGN]));
static MEASURE_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[MEASURES]));
static PEOPLE_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[PEOPLE]));
static FREE_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[FOREIGN_FUNCTION_WORDS]));

/// What follows a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Following {
    /// Nothing that the number could count or measure.
    Nothing,
    /// A word that the number may count.
    Noun,
    /// A unit, a counted thing, or the rest of a name.
    Measured,
}

/// Classifies the token after a number without a currency.
pub(super) fn following(tokens: &Tokens, at: usize) -> Following {
    let word = tokens.word(at);
    if at >= tokens.len() {
        return Following::Nothing;
    }
    if tokens.is(at, TokenKind::Sign) {
        return match word {
            "," | ";" | "!" | "?" | ")" | "]" | "(" | "…" => Following::Nothing,
            "." | ":" | "-" | "–" | "—" | "/" | "|" | "&" if !tokens.is_glued(at + 1) => {
                Following::Nothing
            }
            _ => Following::Measured,
        };
    }
    if tokens.is_glued(at) {
        return Following::Measured;
    }
    let is_last = at + 1 == tokens.len()
        || matches!(tokens.word(at + 1), "." | "x" | "×" | "," | "\"") && word == "in";
    let is_neutral = is_function_word(word)
        || FREE_WORDS.contains(word)
        || NEGATOR_WORDS.longest_at(tokens, at).is_some()
        || CUE_WORDS.longest_at(tokens, at).is_some()
        || SUFFIX_WORDS.longest_at(tokens, at).is_some();
    if matches!(word, "in" | "a" | "m" | "c") && is_last || !is_neutral && takes_number(word) {
        return Following::Measured;
    }
    if is_neutral { Following::Nothing } else { Following::Noun }
}

/// Whether a word is a unit or a counted thing.
pub(in crate::query_parser) fn takes_number(word: &str) -> bool {
    COUNTABLE_WORDS.contains(word) || COUNTABLE_WORDS.contains(&singular(word))
}

/// Whether the word before a cue names a measure other than a price.
pub(super) fn is_measure(word: &str) -> bool {
    MEASURE_WORDS.contains(word)
}

/// Whether the word before a cue names people.
pub(super) fn is_person(word: &str) -> bool {
    PEOPLE_WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_counted_things_take_a_number() {
        let what = |text| following(&Tokens::of(text), 1);
        for text in
            ["50 inches", "50\"", "50%", "5x8", "50-inch", "5 drawers", "50s", "6 ft", "40 in"]
        {
            assert_eq!(what(text), Following::Measured, "{text}");
        }
        for text in ["50", "50, red", "50 for her", "50 in red", "50 without", "50 - red", "50."] {
            assert_eq!(what(text), Following::Nothing, "{text}");
        }
        for text in ["50 shoes", "50 iphone", "50 5"] {
            assert_eq!(what(text), Following::Noun, "{text}");
        }
    }
}
