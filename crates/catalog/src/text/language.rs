//! The languages that queries are read in.

/// A language with rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Language {
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Italian,
    Russian,
    Dutch,
    Polish,
    Turkish,
    Swedish,
    Danish,
    Norwegian,
    Finnish,
    Czech,
    Japanese,
    Chinese,
    Korean,
}

impl Language {
    /// All languages. Where two have the same phrase, the meaning in the earlier one counts.
    pub const ALL: [Self; 18] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Portuguese,
        Self::Italian,
        Self::Russian,
        Self::Dutch,
        Self::Polish,
        Self::Turkish,
        Self::Swedish,
        Self::Danish,
        Self::Norwegian,
        Self::Finnish,
        Self::Czech,
        Self::Japanese,
        Self::Chinese,
        Self::Korean,
    ];

    /// Its ISO 639-1 code.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Portuguese => "pt",
            Self::Italian => "it",
            Self::Russian => "ru",
            Self::Dutch => "nl",
            Self::Polish => "pl",
            Self::Turkish => "tr",
            Self::Swedish => "sv",
            Self::Danish => "da",
            Self::Norwegian => "no",
            Self::Finnish => "fi",
            Self::Czech => "cs",
            Self::Japanese => "ja",
            Self::Chinese => "zh",
            Self::Korean => "ko",
        }
    }
}
