//! Seeds the demo shop: writes its products once, updates the URLs of their pictures when the address
//! changes, and issues new tokens at every start.

use anyhow::Context;
use catalog::product::{
    Draft, Patch, Product,
    access::{Caller, Operator, Role},
    media::Media,
};
use engine::{
    Engine,
    tokens::IssuedToken,
    writes::{Edit, Precondition},
};
use jiff::SignedDuration;

use super::{DemoShop, PublicUrl, pictures, products, shop};

/// The name of the demo's tokens, by which the next start recognises them.
const TOKEN_NAME: &str = "shopkeeper demo";
/// The lifetime of all tokens other than the browser's.
const TOKEN_TIME: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Tokens that are read at a time.
const TOKEN_PAGE: usize = 1000;
/// Products per page of a scan.
const PAGE: usize = 1000;

/// Whether products were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seeded {
    /// This many products were written.
    Now(usize),
    /// The shop already had this many products; none were added.
    Already(usize),
}

/// The demo shop, with what is printed at the start.
pub(crate) struct Opened {
    pub(crate) shop: DemoShop,
    pub(crate) seeded: Seeded,
    pub(crate) tokens: Vec<IssuedToken>,
}

/// Opens the demo shop under this URL.
pub(crate) async fn open(engine: &Engine, public_url: &PublicUrl) -> anyhow::Result<Opened> {
    let pictures = format!("{public_url}{}", pictures::FOLDER);
    let seeded = seed(engine, &pictures).await.context("the demo shop's products")?;
    let tokens = new_tokens(engine).await.context("the demo shop's tokens")?;
    let shopper_token = tokens
        .iter()
        .find(|issued| issued.role == Role::Shopper)
        .map(|issued| issued.token.clone())
        .context("no SHOPPER token was issued")?;
    let shop = DemoShop { shop: shop(), shopper_token, pictures };
    Ok(Opened { shop, seeded, tokens })
}

/// Writes the products into an empty shop, all in one transaction, so that no start finds a part of
/// them.
async fn seed(engine: &Engine, pictures: &str) -> anyhow::Result<Seeded> {
    let editor = Caller::new(shop(), Role::Editor);
    let existing = engine.page(editor.may_read(), 1, 0).await?.total;
    if existing > 0 {
        update_picture_urls(engine, editor, pictures).await?;
        return Ok(Seeded::Already(existing));
    }
    let drafts = products::all()?
        .into_iter()
        .map(|product| product.into_draft(pictures))
        .collect::<Result<Vec<Draft>, _>>()?;
    let count = drafts.len();
    engine.create(editor.may_write()?, drafts, None).await?;
    Ok(Seeded::Now(count))
}

/// Updates the picture URLs of the products if the address has changed since the last start.
async fn update_picture_urls(
    engine: &Engine,
    editor: Caller,
    pictures: &str,
) -> anyhow::Result<()> {
    let mut edits = Vec::new();
    for offset in (0..).step_by(PAGE) {
        let page = engine.page(editor.may_read(), PAGE, offset).await?;
        if page.products.is_empty() {
            break;
        }
        for product in &page.products {
            if let Some(media) = updated_media(product, pictures)? {
                edits.push(Edit {
                    id: product.id,
                    patch: Patch { media: Some(media), ..Patch::default() },
                    precondition: Precondition::IsVersion(vec![product.version]),
                });
            }
        }
    }
    if !edits.is_empty() {
        engine.update(editor.may_write()?, edits).await?;
    }
    Ok(())
}

/// The media of a product with updated picture URLs; `None` if they are current.
fn updated_media(product: &Product, pictures: &str) -> anyhow::Result<Option<Vec<Media>>> {
    let is_outdated = |media: &Media| {
        pictures::path_in(media.url()).is_some() && !media.url().starts_with(pictures)
    };
    if !product.media.iter().any(is_outdated) {
        return Ok(None);
    }
    let media = product.media.iter().map(|media| match pictures::path_in(media.url()) {
        Some(path) => Media::new(&format!("{pictures}{path}"), media.kind().clone()),
        None => Ok(media.clone()),
    });
    Ok(Some(media.collect::<Result<_, _>>()?))
}

/// Issues a token for each role, weakest first, and revokes those of earlier starts: the store keeps
/// hashes only, so old tokens cannot be printed again.
async fn new_tokens(engine: &Engine) -> anyhow::Result<Vec<IssuedToken>> {
    let operator = Operator.may_administer(shop());
    let mut offset = 0;
    loop {
        let page = engine.tokens(operator, TOKEN_PAGE, offset).await?;
        for row in page.tokens {
            if row.name == TOKEN_NAME && row.revoked_at.is_none() {
                engine.revoke_token(operator, row.id).await?;
            }
        }
        offset += TOKEN_PAGE;
        if offset >= page.total {
            break;
        }
    }
    let expiry = engine.now().checked_add(TOKEN_TIME)?;
    let mut tokens = Vec::new();
    for role in Role::ALL {
        // The page uses the SHOPPER token for as long as the server runs.
        let expires_at = (role != Role::Shopper).then_some(expiry);
        tokens.push(engine.issue_token(operator, role, TOKEN_NAME.to_owned(), expires_at).await??);
    }
    Ok(tokens)
}
