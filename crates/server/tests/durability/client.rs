//! How does a test talk to the server? Over HTTP, as any client does.

use reqwest::{
    Method,
    blocking::{RequestBuilder, Response},
};
use serde_json::{Value, json};

use crate::server::PATIENCE;

/// Someone with a token.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::blocking::Client,
    base: String,
    token: String,
}

/// An answer that arrived whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) total_count: Option<usize>,
    pub(crate) body: Value,
}

impl Client {
    pub(crate) fn new(address: &str, token: &str) -> Self {
        let http = reqwest::blocking::Client::builder().timeout(PATIENCE).build().unwrap();
        let base = format!("http://{address}");
        Self { http, base, token: token.to_owned() }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    /// Sends a request; `Err` if no whole answer came back.
    pub(crate) fn send(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> reqwest::Result<Answer> {
        let mut request = self.request(method, path);
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        Answer::read(request.send()?)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None, None).unwrap()
    }

    pub(crate) fn create(&self, body: &Value) -> reqwest::Result<Answer> {
        self.send(Method::POST, "/api/v1/products", None, Some(body))
    }

    pub(crate) fn product(&self, id: u64) -> Answer {
        self.get(&format!("/api/v1/products/{id}"))
    }

    /// Every product, page by page, and what the server says their number is.
    pub(crate) fn list(&self) -> (Vec<Value>, usize) {
        let mut products = Vec::new();
        loop {
            let offset = products.len();
            let page = self.get(&format!("/api/v1/products?limit=100&offset={offset}"));
            assert_eq!(page.status, 200, "{page:?}");
            let found = page.body.as_array().unwrap();
            if found.is_empty() {
                return (products, page.total_count.unwrap());
            }
            products.extend(found.iter().cloned());
        }
    }

    /// What a query finds, hidden products included, and how many there are.
    pub(crate) fn search(&self, query: &str) -> (Vec<Value>, usize) {
        let body = json!({"query": query, "limit": 50, "include_hidden": true});
        let found = self.send(Method::POST, "/api/v1/search", None, Some(&body)).unwrap();
        assert_eq!(found.status, 200, "{found:?}");
        let total = found.body["total"].as_u64().unwrap() as usize;
        (found.body["products"].as_array().unwrap().clone(), total)
    }
}

impl Answer {
    fn read(response: Response) -> reqwest::Result<Self> {
        let header = |name: &str| {
            response.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
        };
        let (retry_after, content_type) = (header("retry-after"), header("content-type"));
        let total_count = header("x-total-count").map(|count| count.parse().unwrap());
        let status = response.status().as_u16();
        let text = response.text()?;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Self { status, retry_after, content_type, total_count, body })
    }

    /// The id of what was created.
    pub(crate) fn id(&self) -> u64 {
        assert_eq!(self.status, 201, "{self:?}");
        self.body["id"].as_u64().unwrap()
    }

    /// That it is a proper refusal for want of a store, and nothing worse.
    pub(crate) fn is_unavailable(&self) -> bool {
        if self.status == 201 {
            return false;
        }
        assert_eq!(self.status, 503, "{self:?}");
        assert_eq!(self.content_type.as_deref(), Some("application/problem+json"));
        assert_eq!(self.body["code"], "unavailable");
        assert!(self.retry_after.is_some(), "{self:?}");
        true
    }
}

/// A product to create.
pub(crate) fn lamp(title: &str) -> Value {
    json!({"title": title, "price": "$5.00"})
}
