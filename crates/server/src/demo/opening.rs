//! How does the demo shop open? Its products are written once, its pictures follow the server's address, and every start
//! has new tokens.

use anyhow::Context;
use catalog::{
    access::{Caller, Operator, Role},
    media::Media,
    product::{Draft, Patch, Product},
};
use engine::{
    Engine,
    tokens::IssuedToken,
    writes::{Edit, Precondition},
};
use jiff::SignedDuration;

use super::{DemoShop, PublicUrl, goods, pictures, shop};

/// What the tokens of the demo are called, to know them again at the next start.
const TOKEN_NAME: &str = "shopkeeper demo";
/// How long tokens work that can do more than a browser should.
const TOKEN_TIME: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How many products are looked at together.
const PAGE: usize = 1000;

/// What became of the shop's products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stocked {
    /// They were written now, this many.
    Now(usize),
    /// The shop had this many and was left as it is.
    Before(usize),
}

/// The open shop, and what is told about it once.
pub(crate) struct Opened {
    pub(crate) shop: DemoShop,
    pub(crate) stocked: Stocked,
    pub(crate) tokens: Vec<IssuedToken>,
}

/// Opens the demo shop for browsers that come to this address.
pub(crate) async fn open(engine: &Engine, public_url: &PublicUrl) -> anyhow::Result<Opened> {
    let pictures = format!("{public_url}{}", pictures::FOLDER);
    let stocked = stock(engine, &pictures).await.context("the demo shop's products")?;
    let tokens = new_tokens(engine).await.context("the demo shop's tokens")?;
    let shopper_token = tokens
        .iter()
        .find(|issued| issued.role == Role::Shopper)
        .map(|issued| issued.token.clone())
        .context("there is no token for browsers")?;
    let shop = DemoShop { shop: shop(), shopper_token, pictures };
    Ok(Opened { shop, stocked, tokens })
}

/// Writes the products into an empty shop: all of them in one transaction or none, so that no start finds half a shop.
async fn stock(engine: &Engine, pictures: &str) -> anyhow::Result<Stocked> {
    let editor = Caller::new(shop(), Role::Editor);
    let had = engine.page(editor.may_read(), 1, 0).await?.total;
    if had > 0 {
        move_pictures(engine, editor, pictures).await?;
        return Ok(Stocked::Before(had));
    }
    let drafts = goods::all()?
        .into_iter()
        .map(|goods| goods.into_draft(pictures))
        .collect::<Result<Vec<Draft>, _>>()?;
    let count = drafts.len();
    engine.create(editor.may_write()?, drafts, None).await?;
    Ok(Stocked::Now(count))
}

/// Lets the products show their pictures under the address of this start, which may be another than the last one's.
async fn move_pictures(engine: &Engine, editor: Caller, pictures: &str) -> anyhow::Result<()> {
    let mut edits = Vec::new();
    for offset in (0..).step_by(PAGE) {
        let page = engine.page(editor.may_read(), PAGE, offset).await?;
        if page.products.is_empty() {
            break;
        }
        for product in &page.products {
            if let Some(media) = moved(product, pictures)? {
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

/// The product's pictures at the new place, where some of ours are elsewhere.
fn moved(product: &Product, pictures: &str) -> anyhow::Result<Option<Vec<Media>>> {
    let is_elsewhere = |media: &Media| {
        pictures::path_in(media.url()).is_some() && !media.url().starts_with(pictures)
    };
    if !product.media.iter().any(is_elsewhere) {
        return Ok(None);
    }
    let media = product.media.iter().map(|media| match pictures::path_in(media.url()) {
        Some(path) => Media::new(&format!("{pictures}{path}"), media.kind().clone()),
        None => Ok(media.clone()),
    });
    Ok(Some(media.collect::<Result<_, _>>()?))
}

/// A token for each role, weakest first; those of earlier starts stop working.
///
/// The store keeps hashes, so an old token cannot be shown again.
async fn new_tokens(engine: &Engine) -> anyhow::Result<Vec<IssuedToken>> {
    let operator = Operator.may_administer(shop());
    for row in engine.tokens(operator).await? {
        if row.name == TOKEN_NAME && row.revoked_at.is_none() {
            engine.revoke_token(operator, row.id).await?;
        }
    }
    let expiry = engine.now().checked_add(TOKEN_TIME)?;
    let mut tokens = Vec::new();
    for role in Role::ALL {
        // The page must not stop working while the server runs.
        let expires_at = (role != Role::Shopper).then_some(expiry);
        tokens.push(engine.issue_token(operator, role, TOKEN_NAME.to_owned(), expires_at).await?);
    }
    Ok(tokens)
}
