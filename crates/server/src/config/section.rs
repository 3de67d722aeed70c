//! A setting, and the macro that derives its field, key, flag and variable from one line of the
//! table.

use std::iter;

/// The prefix of all environment variables of the service.
pub(super) const ENVIRONMENT_PREFIX: &str = "SHOPKEEPER_";

/// A setting without its type.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    /// Its name in the file, with a dot after the section.
    pub(super) key: &'static str,
    /// Names that it had before, which still work.
    pub(super) former: &'static [&'static str],
    /// The text of its default; empty means none.
    pub(super) default: &'static str,
    /// One sentence that describes it.
    pub(super) doc: &'static str,
    /// The values it accepts.
    pub(super) expects: String,
}

impl Setting {
    /// Its flag, without leading dashes.
    pub(super) fn flag(&self) -> String {
        flag(self.key)
    }

    /// Its environment variable.
    pub(super) fn variable(&self) -> String {
        variable(self.key)
    }

    /// All names by which it can be set.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        iter::once(self.key).chain(self.former.iter().copied())
    }
}

/// The flag of a name, without leading dashes.
pub(super) fn flag(name: &str) -> String {
    name.replace(['.', '_'], "-")
}

/// The environment variable of a name.
pub(super) fn variable(name: &str) -> String {
    format!("{ENVIRONMENT_PREFIX}{}", name.replace('.', "_").to_ascii_uppercase())
}

/// A group of settings.
#[derive(Debug, Clone)]
pub(super) struct Section {
    /// Its heading in the reference and the help text.
    pub(super) title: &'static str,
    /// One sentence that describes them.
    pub(super) about: &'static str,
    /// Its settings, in the order of the table.
    pub(super) settings: Vec<Setting>,
}

/// Declares a section: the typed struct, its settings for the table, and the conversion.
///
/// A line reads `/// sentence` and `field: Type = default text, kind of value;`, with `, formerly "name"` before
/// the semicolon if the field had another name.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident, title $title:literal, prefix $prefix:literal {
            $( $(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:literal, $kind:expr $(, formerly $former:literal)?; )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name {
            $( $(#[doc = $doc])+ $vis $field: $type, )+
        }

        impl $name {
            /// The settings of the section.
            pub(super) fn section() -> $crate::config::section::Section {
                $crate::config::section::Section {
                    title: $title,
                    about: concat!($($about),+).trim_ascii(),
                    settings: vec![$( $crate::config::section::Setting {
                        key: concat!($prefix, stringify!($field)),
                        former: &[$( concat!($prefix, $former) )?],
                        default: $default,
                        doc: concat!($($doc),+).trim_ascii(),
                        expects: $crate::config::kinds::Kind::expects(&$kind),
                    } ),+],
                }
            }

            /// The section with the values in force; `None` if one of them is invalid.
            pub(super) fn resolve(resolver: &mut $crate::config::resolve::Resolver) -> Option<Self> {
                $( let $field = resolver.value(concat!($prefix, stringify!($field)), $default, &$kind); )+
                Some(Self { $( $field: $field? ),+ })
            }
        }
    };
}

pub(super) use section;
