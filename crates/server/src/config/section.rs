//! What is a setting, and how does one line of the table become a field, a flag, a variable and a key?

/// What the names of all environment variables of the service begin with.
pub(super) const ENVIRONMENT_PREFIX: &str = "SHOPKEEPER_";

/// One setting, as everything but its typed field sees it.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    /// Its name in the file, with a dot after the section.
    pub(super) key: &'static str,
    /// The text it has when nobody sets it; empty where that means none.
    pub(super) default: &'static str,
    /// One sentence on what it does.
    pub(super) doc: &'static str,
    /// Which values it takes.
    pub(super) expects: String,
}

impl Setting {
    /// Its flag, without the dashes in front.
    pub(super) fn flag(&self) -> String {
        self.key.replace(['.', '_'], "-")
    }

    /// Its environment variable.
    pub(super) fn variable(&self) -> String {
        format!("{ENVIRONMENT_PREFIX}{}", self.key.replace('.', "_").to_ascii_uppercase())
    }
}

/// Settings that belong together.
#[derive(Debug, Clone)]
pub(super) struct Section {
    /// Its heading in the reference and the help text.
    pub(super) title: &'static str,
    /// One sentence on what they are about.
    pub(super) about: &'static str,
    /// Its settings, in the order of the table.
    pub(super) settings: Vec<Setting>,
}

/// Declares a section once: the typed struct, its settings for the table, and how the one is made of the other.
///
/// A line reads `/// sentence` and `field: Type = default text, kind of value;`.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident, title $title:literal, prefix $prefix:literal {
            $( $(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:literal, $kind:expr; )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name {
            $( $(#[doc = $doc])+ $vis $field: $type, )+
        }

        impl $name {
            /// The section as the table holds it.
            pub(super) fn section() -> $crate::config::section::Section {
                $crate::config::section::Section {
                    title: $title,
                    about: concat!($($about),+).trim_ascii(),
                    settings: vec![$( $crate::config::section::Setting {
                        key: concat!($prefix, stringify!($field)),
                        default: $default,
                        doc: concat!($($doc),+).trim_ascii(),
                        expects: $crate::config::kinds::Kind::expects(&$kind),
                    } ),+],
                }
            }

            /// The section with the values in force; `None` where one of them has a fault.
            pub(super) fn resolve(resolver: &mut $crate::config::resolve::Resolver) -> Option<Self> {
                $( let $field = resolver.value(concat!($prefix, stringify!($field)), $default, &$kind); )+
                Some(Self { $( $field: $field? ),+ })
            }
        }
    };
}

pub(super) use section;
