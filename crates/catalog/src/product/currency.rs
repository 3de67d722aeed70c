//! Currencies, and the signs and abbreviations that denote them.
//!
//! [`Currency`] is an active ISO 4217 code. [`Mark`] is anything else people write beside an amount:
//! `€`, `CA$`, `zł`, `руб.`. These are the only tables, so that a price in the catalog and a price in a
//! query are parsed alike.

mod marks;

use std::{fmt, num::NonZeroU8};

pub use self::marks::{Mark, MarkMeaning};

/// A currency with an ISO 4217 alphabetic code; currencies are in the order of their codes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency(
    /// Its place in [`ACTIVE`], from 1 on.
    NonZeroU8,
);

const _: () = assert!(ACTIVE.len() <= u8::MAX as usize);

impl Currency {
    /// US dollar.
    pub const USD: Currency = listed("USD");
    /// Euro.
    pub const EUR: Currency = listed("EUR");
    /// Pound sterling.
    pub const GBP: Currency = listed("GBP");
    /// Russian ruble.
    pub const RUB: Currency = listed("RUB");
    /// Japanese yen.
    pub const JPY: Currency = listed("JPY");
    /// Chinese yuan.
    pub const CNY: Currency = listed("CNY");

    /// The currency with this code, in any letter case.
    ///
    /// Several codes are also English words (`ALL`, `TRY`, `TOP`, `MAD`): in
    /// running text the caller has to decide whether a code is meant.
    pub fn from_code(code: &str) -> Option<Currency> {
        let mut code: [u8; 3] = code.as_bytes().try_into().ok()?;
        code.make_ascii_uppercase();
        let before = ACTIVE.binary_search_by(|active| active.as_bytes().cmp(&code)).ok()?;
        Some(Currency(NonZeroU8::MIN.saturating_add(before as u8)))
    }

    /// Every currency, in the order of its code.
    pub fn all() -> impl Iterator<Item = Currency> {
        ACTIVE.iter().filter_map(|code| Currency::from_code(code))
    }

    /// The code in capitals, such as `EUR`.
    pub fn code(&self) -> &'static str {
        ACTIVE[usize::from(self.0.get()) - 1]
    }

    /// Its number, which is never 0. Other versions of the program may number currencies otherwise.
    pub(crate) fn number(self) -> u8 {
        self.0.get()
    }

    /// The currency with a number.
    #[inline]
    pub(crate) fn from_number(number: u8) -> Option<Currency> {
        NonZeroU8::new(number).filter(|_| usize::from(number) <= ACTIVE.len()).map(Currency)
    }

    /// How many decimals the smallest unit takes: 2 for USD, 0 for JPY, 3 for KWD.
    pub fn minor_digits(self) -> u8 {
        let code = self.code();
        if NO_MINOR_DIGITS.contains(&code) {
            0
        } else if THREE_MINOR_DIGITS.contains(&code) {
            3
        } else if FOUR_MINOR_DIGITS.contains(&code) {
            4
        } else {
            2
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The active codes of ISO 4217 that have a minor unit, sorted. Left out are
/// the codes nothing is sold in: metals, XDR and the like, XTS, XXX. BGN is
/// kept although the euro replaced it in 2026: prices in лв are still written.
const ACTIVE: &[&str] = &[
    "AED", "AFN", "ALL", "AMD", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BGN",
    "BHD", "BIF", "BMD", "BND", "BOB", "BOV", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD",
    "CDF", "CHE", "CHF", "CHW", "CLF", "CLP", "CNY", "COP", "COU", "CRC", "CUP", "CVE", "CZK",
    "DJF", "DKK", "DOP", "DZD", "EGP", "ERN", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL", "GHS",
    "GIP", "GMD", "GNF", "GTQ", "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "IQD",
    "IRR", "ISK", "JMD", "JOD", "JPY", "KES", "KGS", "KHR", "KMF", "KPW", "KRW", "KWD", "KYD",
    "KZT", "LAK", "LBP", "LKR", "LRD", "LSL", "LYD", "MAD", "MDL", "MGA", "MKD", "MMK", "MNT",
    "MOP", "MRU", "MUR", "MVR", "MWK", "MXN", "MXV", "MYR", "MZN", "NAD", "NGN", "NIO", "NOK",
    "NPR", "NZD", "OMR", "PAB", "PEN", "PGK", "PHP", "PKR", "PLN", "PYG", "QAR", "RON", "RSD",
    "RUB", "RWF", "SAR", "SBD", "SCR", "SDG", "SEK", "SGD", "SHP", "SLE", "SOS", "SRD", "SSP",
    "STN", "SVC", "SYP", "SZL", "THB", "TJS", "TMT", "TND", "TOP", "TRY", "TTD", "TWD", "TZS",
    "UAH", "UGX", "USD", "USN", "UYI", "UYU", "UYW", "UZS", "VED", "VES", "VND", "VUV", "WST",
    "XAD", "XAF", "XCD", "XCG", "XOF", "XPF", "YER", "ZAR", "ZMW", "ZWG",
];

const NO_MINOR_DIGITS: &[&str] = &[
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND",
    "VUV", "XAF", "XOF", "XPF",
];

const THREE_MINOR_DIGITS: &[&str] = &["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

const FOUR_MINOR_DIGITS: &[&str] = &["CLF", "UYW"];

/// For the tables of marks only: a code that is not in [`ACTIVE`] does not compile.
const fn listed(code: &str) -> Currency {
    let [a, b, c] = *code.as_bytes() else { panic!("a currency code has three letters") };
    let mut at = 0;
    while at < ACTIVE.len() {
        if let [x, y, z] = *ACTIVE[at].as_bytes()
            && x == a
            && y == b
            && z == c
        {
            return Currency(NonZeroU8::MIN.saturating_add(at as u8));
        }
        at += 1;
    }
    panic!("no such currency code")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_in_any_letter_case() {
        assert_eq!(Currency::from_code("USD"), Some(Currency::USD));
        assert_eq!(Currency::from_code("eUr"), Some(Currency::EUR));
        for unknown in ["", "US", "USDT", "XXX", "XAU", "ABC", "€", "ÄÖ"] {
            assert_eq!(Currency::from_code(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn codes_are_sorted_capitals_and_come_back() {
        assert!(ACTIVE.is_sorted_by(|a, b| a < b));
        assert_eq!(Currency::all().count(), ACTIVE.len());
        for (currency, code) in Currency::all().zip(ACTIVE) {
            assert!(code.bytes().all(|b| b.is_ascii_uppercase()), "{code}");
            assert_eq!(currency.to_string(), *code);
            assert_eq!(format!("{currency:?}"), *code);
            assert_eq!(Currency::from_number(currency.number()), Some(currency));
        }
        assert_eq!(Currency::from_number(0), None);
        assert_eq!(Currency::from_number(ACTIVE.len() as u8 + 1), None);
    }

    #[test]
    fn minor_digits_follow_iso_4217() {
        let digits = |code| Currency::from_code(code).map(Currency::minor_digits);
        assert_eq!(digits("USD"), Some(2));
        assert_eq!(digits("JPY"), Some(0));
        assert_eq!(digits("KWD"), Some(3));
        assert_eq!(digits("CLF"), Some(4));
        for code in [NO_MINOR_DIGITS, THREE_MINOR_DIGITS, FOUR_MINOR_DIGITS].concat() {
            assert!(ACTIVE.contains(&code), "{code}");
        }
    }
}
