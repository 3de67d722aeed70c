//! The command-line flags of all settings.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::{section::flag, settings::sections};

/// The flag that names the configuration file.
pub(super) const CONFIG_FLAG: &str = "config";
/// Settings that the short help (`-h`) shows too.
const IN_SHORT_HELP: [&str; 3] = ["data", "listen", "log.level"];

/// The flags that were given, by key.
///
/// Flatten it into a derived command (`#[command(flatten)] flags: Flags`), or make it with [`Flags::given`]
/// from the matches of a command that has [`arguments`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Flags {
    pub(super) values: BTreeMap<&'static str, String>,
    pub(super) config: Option<PathBuf>,
}

/// One argument for each setting, and `--config`.
pub fn arguments() -> impl Iterator<Item = Arg> {
    let config = Arg::new(CONFIG_FLAG)
        .long(CONFIG_FLAG)
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .help("Configuration file in TOML; `shopkeeper config` shows what is in force");
    let settings = sections().into_iter().flat_map(|section| {
        section.settings.into_iter().map(move |setting| {
            let default = if setting.default.is_empty() { "none" } else { setting.default };
            Arg::new(setting.key)
                .long(setting.flag())
                .aliases(setting.former.iter().map(|name| flag(name)))
                .value_name(value_name(setting.key))
                .help(format!("{} [default: {default}]", setting.doc))
                .help_heading(section.title)
                .hide_short_help(!IN_SHORT_HELP.contains(&setting.key))
        })
    });
    std::iter::once(config).chain(settings)
}

/// The placeholder of the value in the help text.
fn value_name(key: &str) -> &'static str {
    match key.rsplit(['.', '_']).next() {
        Some("data") => "FOLDER",
        Some("listen") => "ADDRESS",
        Some("bytes") => "SIZE",
        Some("time" | "leeway") => "TIME",
        Some("file") => "FILE",
        _ => "VALUE",
    }
}

impl Flags {
    /// The flags in the matches of a command, which need not have all arguments.
    #[must_use]
    pub fn given(matches: &ArgMatches) -> Self {
        let keys =
            sections().into_iter().flat_map(|section| section.settings).map(|setting| setting.key);
        let value = |key| matches.try_get_one::<String>(key).ok().flatten().cloned();
        Self {
            values: keys.filter_map(|key| Some((key, value(key)?))).collect(),
            config: matches.try_get_one::<PathBuf>(CONFIG_FLAG).ok().flatten().cloned(),
        }
    }
}

/// Shows the names of the given flags without their values, which may be secret.
impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flags").field(&self.config).field(&self.values.keys()).finish()
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self::given(matches))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::given(matches);
        Ok(())
    }
}

impl Args for Flags {
    fn augment_args(command: Command) -> Command {
        command.args(arguments())
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.args(arguments())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(line: &str) -> Flags {
        let command = Command::new("serve").args(arguments());
        Flags::given(
            &command.try_get_matches_from(format!("serve {line}").split_whitespace()).unwrap(),
        )
    }

    #[test]
    fn given_flags_are_found_by_key() {
        let flags = flags("--data /srv/shop --limits-body-bytes=1MiB --config shop.toml");
        assert_eq!(
            flags.values,
            BTreeMap::from([("data", "/srv/shop".into()), ("limits.body_bytes", "1MiB".into())])
        );
        assert_eq!(flags.config, Some(PathBuf::from("shop.toml")));
    }

    #[test]
    fn a_command_without_the_arguments_gives_none() {
        let matches = Command::new("other").try_get_matches_from(["other"]).unwrap();
        assert_eq!(Flags::given(&matches), Flags::default());
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Command::new("serve").args(arguments()).debug_assert();
        #[derive(Debug, clap::Parser)]
        struct Derived {
            #[command(flatten)]
            flags: Flags,
        }
        let derived = <Derived as clap::Parser>::parse_from(["serve", "--listen", "0.0.0.0:80"]);
        assert_eq!(derived.flags, flags("--listen 0.0.0.0:80"));
    }

    #[test]
    fn the_short_help_is_short() {
        let mut command = Command::new("serve").args(arguments());
        assert!(command.render_help().to_string().lines().count() < 25);
        assert!(command.render_long_help().to_string().contains("--jwt-issuer"));
    }
}
