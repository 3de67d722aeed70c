//! The writes of the workload, and how they are sent.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use testkit::{Answer, BULK, Client, PRODUCTS, RequestExt, UPSERT, product};

/// What a client wrote into a product. Every title has a unique word; the description has a word
/// that never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) word: String,
    pub(crate) born: String,
    pub(crate) price: String,
    pub(crate) hidden: bool,
    pub(crate) key: Option<String>,
}

impl Content {
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({
            "title": format!("Lamp {}", self.word),
            "description": format!("Made as {}", self.born),
            "price": self.price,
            "hidden": self.hidden,
        });
        if let Some(key) = &self.key {
            body["key"] = json!(key);
        }
        body
    }

    /// Parses a product of an answer.
    pub(crate) fn of(product: &Value) -> Self {
        let last_word =
            |field: &str| product[field].as_str().unwrap().rsplit(' ').next().unwrap().to_owned();
        Self {
            word: last_word("title"),
            born: last_word("description"),
            price: product["price"].as_str().unwrap().to_owned(),
            hidden: product["hidden"].as_bool().unwrap(),
            key: product["key"].as_str().map(str::to_owned),
        }
    }
}

/// A write, as it would be if it happened.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    /// New products; `many` of them in one bulk request, with an element that is refused.
    Create {
        key: Option<String>,
        many: bool,
        drafts: Vec<Content>,
    },
    /// Products as they become.
    Update(BTreeMap<u64, Content>),
    /// New products and products as they become, by their keys.
    Upsert {
        created: Vec<Content>,
        updated: BTreeMap<u64, Content>,
    },
    Delete(Vec<u64>),
}

/// Sends a write.
pub(crate) fn send(client: &Client, write: &Write) -> reqwest::Result<Answer> {
    let put = |path: &str, body: Value| client.request("PUT", path).json(&body).try_answer();
    match write {
        Write::Create { key, many: false, drafts } => {
            post(client, PRODUCTS, key.as_deref(), &drafts[0].body())
        }
        Write::Create { key, many: true, drafts } => {
            let mut products: Vec<_> = drafts.iter().map(Content::body).collect();
            products.insert(1, json!({"title": "Lamp without a price"}));
            post(client, BULK, key.as_deref(), &json!({"products": products}))
        }
        Write::Update(changed) if changed.len() == 1 => {
            let (id, content) = changed.iter().next().unwrap();
            put(&product(*id), content.body())
        }
        Write::Update(changed) => {
            let products: Vec<_> = changed
                .iter()
                .map(|(id, content)| {
                    let mut body = content.body();
                    body["id"] = json!(id);
                    body
                })
                .collect();
            put(BULK, json!({"products": products}))
        }
        Write::Upsert { created, updated } => {
            let products: Vec<_> = updated.values().chain(created).map(Content::body).collect();
            post(client, UPSERT, None, &json!({"products": products}))
        }
        Write::Delete(ids) if ids.len() == 1 => {
            client.request("DELETE", &product(ids[0])).try_answer()
        }
        Write::Delete(ids) => {
            client.request("DELETE", BULK).json(&json!({"product_ids": ids})).try_answer()
        }
    }
}

fn post(client: &Client, path: &str, key: Option<&str>, body: &Value) -> reqwest::Result<Answer> {
    let request = client.request("POST", path).json(body);
    match key {
        Some(key) => request.header("Idempotency-Key", key).try_answer(),
        None => request.try_answer(),
    }
}

/// The ids of created products, from an answer that says the write was done in full.
pub(crate) fn ids_of(write: &Write, answer: &Answer) -> Vec<u64> {
    let counted = |field: &str| answer.body[field].as_u64().unwrap() as usize;
    let created_ids = || {
        let ids = answer.body["created_ids"].as_array().unwrap();
        ids.iter().map(|id| id.as_u64().unwrap()).collect()
    };
    match write {
        Write::Create { many: false, .. } => {
            assert_eq!(answer.status, 201, "{answer:?}");
            vec![answer.id()]
        }
        Write::Create { drafts, .. } => {
            assert_eq!((answer.status, counted("created_count")), (201, drafts.len()));
            assert_eq!(answer.body["errors"][0]["index"], 1);
            created_ids()
        }
        Write::Upsert { created, updated } => {
            let counts = (counted("created_count"), counted("updated_count"));
            assert_eq!((answer.status, counts), (200, (created.len(), updated.len())));
            created_ids()
        }
        Write::Update(changed) => {
            assert_eq!(answer.status, 200, "{answer:?}");
            assert!(changed.len() == 1 || counted("updated_count") == changed.len());
            Vec::new()
        }
        Write::Delete(ids) if ids.len() == 1 => {
            assert_eq!(answer.status, 204, "{answer:?}");
            Vec::new()
        }
        Write::Delete(ids) => {
            assert_eq!((answer.status, counted("deleted_count")), (200, ids.len()));
            Vec::new()
        }
    }
}
