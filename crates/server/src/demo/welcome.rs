//! What is a person told when the demo shop opens?

use catalog::access::Role;

use super::{
    PublicUrl, goods,
    opening::{Opened, Stocked},
};

/// The text for standard output.
pub(crate) fn welcome(opened: &Opened, public_url: &PublicUrl) -> String {
    let shop = opened.shop.shop;
    let stock = match opened.stocked {
        Stocked::Now(count) => format!(
            "Shop {shop} now has the demo's {count} products from {} departments.",
            goods::department_count()
        ),
        Stocked::Before(count) => {
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
