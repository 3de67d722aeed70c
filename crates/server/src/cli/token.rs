//! `shopkeeper token`: creates, lists and revokes tokens of a data folder or database.

use std::{
    io::{self, Write},
    ops::ControlFlow,
    time::Duration,
};

use anyhow::{Context, bail};
use catalog::{
    product::{ShopId, access::Role},
    text::validation,
};
use clap::Subcommand;
use engine::{token_admin::TokenAdmin, tokens::MAX_NAME_CHARS};
use jiff::Timestamp;
use store::TokenRow;

use crate::{
    config::{self, Config, Flags},
    http::responses::products::time,
    serving,
};

#[derive(Subcommand)]
pub(super) enum TokenCommand {
    /// Create a token and print it to standard output; it cannot be shown again
    Create {
        /// Shop id
        #[arg(long, value_name = "NUMBER")]
        shop: ShopId,
        /// Permissions: SHOPPER (search), VIEWER (read), EDITOR (write) or ADMIN (manage tokens)
        #[arg(long)]
        role: Role,
        /// Name shown in the list
        #[arg(long, default_value = "")]
        name: String,
        /// Lifetime, such as `12h` or `30d` [default: unlimited]
        #[arg(long, value_name = "TIME", value_parser = lifetime)]
        expires_in: Option<Duration>,
        #[command(flatten)]
        flags: Flags,
    },
    /// List tokens without their secrets
    List {
        /// Only tokens of this shop
        #[arg(long, value_name = "NUMBER")]
        shop: Option<ShopId>,
        #[command(flatten)]
        flags: Flags,
    },
    /// Revoke a token; running servers refuse it from then on
    Revoke {
        /// Token id, as shown in the list
        id: u64,
        #[command(flatten)]
        flags: Flags,
    },
}

impl TokenCommand {
    pub(super) fn flags(&self) -> &Flags {
        match self {
            Self::Create { flags, .. } | Self::List { flags, .. } | Self::Revoke { flags, .. } => {
                flags
            }
        }
    }

    pub(super) fn run(&self, config: &Config) -> anyhow::Result<()> {
        let in_folder = || match &config.database {
            Some(database) => format!("the database {}", database.settings.address),
            None => format!("the data folder {}", config.data.display()),
        };
        let mut desk = match &config.database {
            Some(database) => TokenAdmin::open_database(&database.settings, database.migrate),
            None => TokenAdmin::open(&config.data),
        }
        .with_context(in_folder)?;
        let now = Timestamp::now();
        let mut out = io::stdout().lock();
        match self {
            Self::Create { shop, role, name, expires_in, .. } => {
                validation::at_most(name, MAX_NAME_CHARS)
                    .and_then(|()| validation::without_control_characters(name))
                    .context("--name")?;
                let expires_at = match expires_in {
                    Some(time) => Some(now.checked_add(*time).context("--expires-in is too long")?),
                    None => None,
                };
                let random = serving::random_source();
                let issued = desk
                    .issue(*shop, *role, name, expires_at, now, &random)
                    .with_context(in_folder)??;
                writeln!(out, "{}", issued.token)?;
            }
            Self::List { shop, .. } => {
                writeln!(out, "{:>6}  {:>6}  {:<8}  {:<32}  NAME", "ID", "SHOP", "ROLE", "STATE")?;
                let mut written = Ok(());
                let write = &mut |row: TokenRow| {
                    let state = state(&row, now);
                    let TokenRow { id, shop, role, name, .. } = row;
                    written = writeln!(out, "{id:>6}  {shop:>6}  {role:<8}  {state:<32}  {name}");
                    if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                };
                desk.for_each(*shop, write).with_context(in_folder)?;
                written?;
            }
            Self::Revoke { id, .. } => {
                if !desk.revoke(*id, now).with_context(in_folder)? {
                    bail!("there is no token {id} that still works");
                }
                writeln!(out, "token {id} is revoked")?;
            }
        }
        Ok(())
    }
}

/// Parses the lifetime of a token, such as `30d`.
fn lifetime(raw: &str) -> Result<Duration, &'static str> {
    config::parse_time(raw)
        .filter(|time| !time.is_zero())
        .ok_or("must be a time with its unit, such as 45m, 12h or 30d")
}

fn state(row: &TokenRow, now: Timestamp) -> String {
    match (row.revoked_at, row.expires_at) {
        (Some(at), _) => format!("revoked {}", time(at)),
        (None, Some(at)) if at <= now => format!("expired {}", time(at)),
        (None, Some(at)) => format!("until {}", time(at)),
        (None, None) => "works".to_owned(),
    }
}
