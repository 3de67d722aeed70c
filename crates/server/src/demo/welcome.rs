//! The text that `shopkeeper demo` prints: the URL and the tokens.

use catalog::product::access::Role;

use super::{
    PublicUrl, products,
    seeding::{Opened, Seeded},
};

/// The text for standard output.
pub(crate) fn welcome(opened: &Opened, public_url: &PublicUrl) -> String {
    let shop = opened.shop.shop;
    let stock = match opened.seeded {
        Seeded::Now(count) => format!(
            "Shop {shop} now has the demo's {count} products from {} departments.",
            products::department_count()
        ),
        Seeded::Already(count) => {
            format!(
                "Shop {shop} has {count} products from before; none were added (--data names another folder)."
            )
        }
    };
    let tokens: String = opened
        .tokens
        .iter()
        .map(|issued| format!("  {:<8} {}\n", issued.role, issued.token))
        .collect();
    let admin = opened.tokens.iter().find(|issued| issued.role == Role::Admin);
    let admin = admin.map_or("", |issued| issued.token.as_str());
    format!(
        "\n{stock}\n\
         Try it in a browser:  {public_url}/\n\n\
         Tokens for it, good until the next start (30 days at most, SHOPPER apart):\n\n\
         {tokens}\n  export TOKEN={admin}\n"
    )
}
