//! The signs and abbreviations that denote currencies.

use unicode_normalization::UnicodeNormalization;

use super::{Currency, listed};

/// A sign or local abbreviation that people write for a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    text: &'static str,
    meaning: MarkMeaning,
}

/// What a [`Mark`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkMeaning {
    /// One currency and no other.
    One(Currency),
    /// One currency when it stands alone; next to a code, any of the family.
    Mostly {
        /// What it means with no code beside it.
        alone: Currency,
        /// All it may mean where a code decides, `alone` included.
        family: &'static [Currency],
    },
    /// Several currencies, none more than the others.
    Shared(&'static [Currency]),
}

impl Mark {
    /// The mark written this way, in any letter case.
    ///
    /// As with codes, some are other things in running text (`ft`, `km`).
    pub fn find(text: &str) -> Option<&'static Mark> {
        // Composed first: some systems send "č" as "c" and a combining caron.
        let wanted: String = text.nfc().flat_map(char::to_lowercase).collect();
        MARKS.iter().find(|mark| {
            let known = mark.text.chars().flat_map(char::to_lowercase);
            known.eq(wanted.chars())
        })
    }

    /// Every mark there is, signs first.
    pub fn all() -> &'static [Mark] {
        MARKS
    }

    /// The mark as it is usually written.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// What it stands for.
    pub fn meaning(&self) -> MarkMeaning {
        self.meaning
    }

    /// Whether the mark and the code of `currency` may stand in one price.
    pub fn may_denote(&self, currency: Currency) -> bool {
        match self.meaning {
            MarkMeaning::One(only) => only == currency,
            MarkMeaning::Mostly { family, .. } | MarkMeaning::Shared(family) => {
                family.contains(&currency)
            }
        }
    }
}

/// What `$` may mean next to a code: the dollars, and the pesos that are
/// written with a plain `$` at home.
const DOLLARS: &[Currency] = &all_listed([
    "ARS", "AUD", "BBD", "BMD", "BND", "BSD", "BZD", "CAD", "CLP", "COP", "CUP", "DOP", "FJD",
    "GYD", "HKD", "JMD", "KYD", "LRD", "MXN", "NAD", "NZD", "SBD", "SGD", "SRD", "TTD", "TWD",
    "USD", "UYU", "XCD",
]);

const POUNDS: &[Currency] =
    &all_listed(["EGP", "FKP", "GBP", "GIP", "LBP", "SDG", "SHP", "SSP", "SYP"]);

const YEN_AND_YUAN: &[Currency] = &all_listed(["CNY", "JPY"]);
const WONS: &[Currency] = &all_listed(["KPW", "KRW"]);
const C_DOLLARS: &[Currency] = &all_listed(["CAD", "NIO"]);
const B_DOLLARS: &[Currency] = &all_listed(["BBD", "BMD", "BND", "BSD"]);
const BIRR_AND_ROUBLE: &[Currency] = &all_listed(["BYN", "ETB"]);
const BOLIVIANO_AND_BOLIVAR: &[Currency] = &all_listed(["BOB", "VES"]);
const CROWNS: &[Currency] = &all_listed(["DKK", "ISK", "NOK", "SEK"]);
const DIRHAMS: &[Currency] = &all_listed(["AED", "MAD"]);
const FLORINS: &[Currency] = &all_listed(["AWG", "XCG"]);
const FRANCS: &[Currency] = &all_listed(["CHF", "XAF", "XOF", "XPF"]);
const LEI: &[Currency] = &all_listed(["MDL", "RON"]);
const RIALS: &[Currency] = &all_listed(["IRR", "OMR", "QAR", "SAR", "YER"]);
const RUPEES: &[Currency] = &all_listed(["INR", "LKR", "MUR", "NPR", "PKR", "SCR"]);
const SHILLINGS: &[Currency] = &all_listed(["KES", "SOS", "TZS", "UGX"]);
const SOMS: &[Currency] = &all_listed(["KGS", "UZS"]);

/// The one table of signs and abbreviations. None is also a code, none holds a
/// digit, a space or a minus, and none begins with a separator of numbers.
const MARKS: &[Mark] = &[
    // Signs that several currencies use, one of them by far the most.
    mostly("$", "USD", DOLLARS),
    mostly("＄", "USD", DOLLARS),
    mostly("﹩", "USD", DOLLARS),
    mostly("£", "GBP", POUNDS),
    mostly("￡", "GBP", POUNDS),
    mostly("¥", "JPY", YEN_AND_YUAN),
    mostly("￥", "JPY", YEN_AND_YUAN),
    mostly("₩", "KRW", WONS),
    mostly("￦", "KRW", WONS),
    // Signs of one currency.
    one("€", "EUR"),
    one("₹", "INR"),
    one("₽", "RUB"),
    one("₺", "TRY"),
    one("₴", "UAH"),
    one("₪", "ILS"),
    one("₫", "VND"),
    one("฿", "THB"),
    one("₦", "NGN"),
    one("₱", "PHP"),
    one("₸", "KZT"),
    one("₾", "GEL"),
    one("₼", "AZN"),
    one("₲", "PYG"),
    one("₡", "CRC"),
    one("₵", "GHS"),
    one("৳", "BDT"),
    one("₭", "LAK"),
    one("₮", "MNT"),
    one("៛", "KHR"),
    one("֏", "AMD"),
    one("؋", "AFN"),
    one("\u{20c0}", "KGS"), // som sign
    one("\u{20c1}", "SAR"), // riyal sign
    // Dollars with their country.
    one("US$", "USD"),
    one("U$S", "USD"),
    one("CA$", "CAD"),
    one("CAN$", "CAD"),
    one("CDN$", "CAD"),
    mostly("C$", "CAD", C_DOLLARS),
    one("AU$", "AUD"),
    one("A$", "AUD"),
    one("NZ$", "NZD"),
    one("HK$", "HKD"),
    one("S$", "SGD"),
    one("SG$", "SGD"),
    one("NT$", "TWD"),
    one("TW$", "TWD"),
    one("MX$", "MXN"),
    one("Mex$", "MXN"),
    one("R$", "BRL"),
    one("AR$", "ARS"),
    one("CL$", "CLP"),
    one("COL$", "COP"),
    one("RD$", "DOP"),
    one("$U", "UYU"),
    one("J$", "JMD"),
    one("JA$", "JMD"),
    one("TT$", "TTD"),
    one("BZ$", "BZD"),
    one("Bds$", "BBD"),
    one("EC$", "XCD"),
    one("FJ$", "FJD"),
    one("G$", "GYD"),
    one("GY$", "GYD"),
    one("CI$", "KYD"),
    one("N$", "NAD"),
    one("SI$", "SBD"),
    one("Sr$", "SRD"),
    one("MOP$", "MOP"),
    one("T$", "TOP"),
    one("WS$", "WST"),
    // Other signs with their country.
    one("UK£", "GBP"),
    one("E£", "EGP"),
    one("CN¥", "CNY"),
    one("JP¥", "JPY"),
    one("GH₵", "GHS"),
    // Abbreviations and names, by script.
    one("元", "CNY"),
    one("人民币", "CNY"),
    one("RMB", "CNY"),
    one("円", "JPY"),
    one("원", "KRW"),
    one("บาท", "THB"),
    one("zł", "PLN"),
    one("zl", "PLN"),
    one("Kč", "CZK"),
    one("Kc", "CZK"),
    one("Ft", "HUF"),
    one("Fr.", "CHF"),
    one("SFr.", "CHF"),
    one("KM", "BAM"),
    one("TL", "TRY"),
    one("RM", "MYR"),
    one("Rp", "IDR"),
    one("Rp.", "IDR"),
    one("Rf", "MVR"),
    one("R", "ZAR"),
    one("S/", "PEN"),
    one("S/.", "PEN"),
    one("B/.", "PAB"),
    one("Gs", "PYG"),
    one("Gs.", "PYG"),
    one("KSh", "KES"),
    one("TSh", "TZS"),
    one("USh", "UGX"),
    one("руб", "RUB"),
    one("руб.", "RUB"),
    one("р", "RUB"),
    one("р.", "RUB"),
    one("грн", "UAH"),
    one("грн.", "UAH"),
    one("лв", "BGN"),
    one("лв.", "BGN"),
    one("дин", "RSD"),
    one("дин.", "RSD"),
    one("ден", "MKD"),
    one("ден.", "MKD"),
    one("тг", "KZT"),
    one("тг.", "KZT"),
    one("сўм", "UZS"),
    one("د.إ", "AED"),
    one("ر.س", "SAR"),
    one("ر.ق", "QAR"),
    one("ر.ع.", "OMR"),
    one("د.ك", "KWD"),
    one("د.ب", "BHD"),
    one("د.ا", "JOD"),
    one("د.ع", "IQD"),
    one("د.ت", "TND"),
    one("د.م.", "MAD"),
    one("د.ج", "DZD"),
    one("ج.م", "EGP"),
    one("ل.ل", "LBP"),
    // Known, but to no single currency: the code has to be written instead.
    shared("kr", CROWNS),
    shared("kr.", CROWNS),
    shared("₨", RUPEES),
    shared("Rs", RUPEES),
    shared("Rs.", RUPEES),
    shared("﷼", RIALS),
    shared("lei", LEI),
    shared("leu", LEI),
    shared("Dh", DIRHAMS),
    shared("Dhs", DIRHAMS),
    shared("Fr", FRANCS),
    shared("F", FRANCS),
    shared("ƒ", FLORINS),
    shared("Sh", SHILLINGS),
    shared("Br", BIRR_AND_ROUBLE),
    shared("Bs", BOLIVIANO_AND_BOLIVAR),
    shared("Bs.", BOLIVIANO_AND_BOLIVAR),
    shared("B$", B_DOLLARS),
    shared("BD$", B_DOLLARS),
    shared("сом", SOMS),
];

const fn one(text: &'static str, code: &str) -> Mark {
    let meaning = MarkMeaning::One(listed(code));
    Mark { text, meaning }
}

const fn mostly(text: &'static str, alone: &str, family: &'static [Currency]) -> Mark {
    let alone = listed(alone);
    let meaning = MarkMeaning::Mostly { alone, family };
    Mark { text, meaning }
}

const fn shared(text: &'static str, among: &'static [Currency]) -> Mark {
    let meaning = MarkMeaning::Shared(among);
    Mark { text, meaning }
}

const fn all_listed<const N: usize>(codes: [&str; N]) -> [Currency; N] {
    let mut currencies = [Currency::USD; N];
    let mut at = 0;
    while at < N {
        currencies[at] = listed(codes[at]);
        at += 1;
    }
    currencies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mark: &str, code: &str) {
        let found = Mark::find(mark).map(Mark::meaning);
        let (Some(MarkMeaning::One(currency)) | Some(MarkMeaning::Mostly { alone: currency, .. })) =
            found
        else {
            panic!("{mark:?} means {found:?}");
        };
        assert_eq!(currency.code(), code);
    }

    #[test]
    fn signs_and_abbreviations_mean_their_currency() {
        check("$", "USD");
        check("¥", "JPY");
        check("￥", "JPY");
        check("£", "GBP");
        check("ca$", "CAD");
        check("R$", "BRL");
        check("R", "ZAR");
        check("KČ", "CZK");
        check("Kc\u{30c}", "CZK");
        check("ZŁ", "PLN");
        check("Руб.", "RUB");
    }

    #[test]
    fn a_plain_sign_may_denote_its_family() {
        let may_denote = |mark, code| {
            let mark = Mark::find(mark).expect("a mark");
            mark.may_denote(Currency::from_code(code).expect("a code"))
        };
        assert!(may_denote("$", "CAD") && may_denote("$", "MXN") && !may_denote("$", "EUR"));
        assert!(may_denote("¥", "CNY") && may_denote("£", "EGP") && may_denote("US$", "USD"));
        assert!(!may_denote("US$", "CAD") && !may_denote("CN¥", "JPY"));
    }

    #[test]
    fn no_mark_can_be_mistaken_for_something_else() {
        for mark in Mark::all() {
            let text = mark.text();
            assert_eq!(Mark::find(text), Some(mark), "{text} is listed twice");
            let is_code = Currency::from_code(text).is_some();
            assert!(!is_code, "{text} is a code");
            let odd = |c: char| c.is_numeric() || c.is_whitespace() || "-+−'’,".contains(c);
            assert!(!text.contains(odd) && !text.starts_with('.'), "{text}");
        }
    }

    #[test]
    fn a_family_holds_its_first_choice() {
        for mark in Mark::all() {
            if let MarkMeaning::Mostly { alone, .. } = mark.meaning() {
                assert!(mark.may_denote(alone), "{}", mark.text());
            }
        }
    }
}
