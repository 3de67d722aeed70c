//! An HTTP client for a server under test. Every answer is checked for what holds for all answers:
//! a request id, `nosniff`, and `application/problem+json` for errors.

use std::{sync::LazyLock, time::Duration};

use reqwest::{
    Method,
    blocking::{RequestBuilder, Response},
    header::HeaderMap,
};
use serde_json::{Value, json};

use crate::TIMEOUT;

/// The path of the products.
pub const PRODUCTS: &str = "/api/v1/products";
/// The path of bulk requests.
pub const BULK: &str = "/api/v1/products/bulk";
/// The path of upserts.
pub const UPSERT: &str = "/api/v1/products/upsert";
/// The path of searches.
pub const SEARCH: &str = "/api/v1/search";
/// The path of a shop's tokens.
pub const TOKENS: &str = "/api/v1/tokens";

/// The path of one product.
pub fn product(id: u64) -> String {
    format!("{PRODUCTS}/{id}")
}

/// The body of a product with this title and the least of everything else.
pub fn product_named(title: &str) -> Value {
    json!({"title": title, "price": "$5"})
}

/// A client with or without a token.
#[derive(Clone)]
pub struct Client {
    base: String,
    /// Its token.
    pub token: Option<String>,
}

static HTTP: LazyLock<reqwest::blocking::Client> = LazyLock::new(|| {
    reqwest::blocking::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(TIMEOUT)
        // Shorter than the server keeps idle connections: no request meets a connection being closed.
        .pool_idle_timeout(Duration::from_secs(2))
        .build()
        .unwrap()
});

impl Client {
    /// A client of the server at this URL.
    pub fn new(base: &str, token: Option<&str>) -> Self {
        Self { base: base.to_owned(), token: token.map(str::to_owned) }
    }

    /// A request to be completed by the test and sent with [`RequestExt::answer`].
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = HTTP.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Sends `GET`.
    pub fn get(&self, path: &str) -> Answer {
        self.request("GET", path).answer()
    }

    /// Sends `POST` with a JSON body.
    pub fn post(&self, path: &str, body: Value) -> Answer {
        self.request("POST", path).json(&body).answer()
    }

    /// Sends `PUT` with a JSON body.
    pub fn put(&self, path: &str, body: Value) -> Answer {
        self.request("PUT", path).json(&body).answer()
    }

    /// Sends `DELETE`.
    pub fn delete(&self, path: &str) -> Answer {
        self.request("DELETE", path).answer()
    }

    /// Sends `DELETE` with a JSON body to the bulk endpoint.
    pub fn bulk_delete(&self, body: Value) -> Answer {
        self.request("DELETE", BULK).json(&body).answer()
    }

    /// Creates a product and returns its id.
    #[track_caller]
    pub fn create(&self, body: Value) -> u64 {
        self.post(PRODUCTS, body).expect(201).id()
    }

    /// Creates products with these titles and returns their ids.
    pub fn create_all(&self, titles: impl IntoIterator<Item = String>) -> Vec<u64> {
        let titles: Vec<_> = titles.into_iter().collect();
        let mut ids = Vec::new();
        for some in titles.chunks(100) {
            let products: Vec<_> = some.iter().map(|title| product_named(title)).collect();
            let answer = self.post(BULK, json!({"products": products})).expect(201);
            assert_eq!(answer.body["errors"], json!([]));
            ids.extend(answer.body["created_ids"].as_array().unwrap().iter().map(number));
        }
        ids
    }

    /// The ids that a search finds, best first.
    pub fn find(&self, query: &str) -> Vec<u64> {
        self.post(SEARCH, json!({"query": query})).expect(200).ids()
    }

    /// The first 50 products that a query finds, hidden ones included, and the total.
    pub fn search_all(&self, query: &str) -> (Vec<Value>, usize) {
        let body = json!({"query": query, "limit": 50, "include_hidden": true});
        let found = self.post(SEARCH, body).expect(200);
        let total = found.body["total"].as_u64().unwrap() as usize;
        (found.body["products"].as_array().unwrap().clone(), total)
    }

    /// All products, page by page, and the total that the server reports.
    pub fn list_all(&self) -> (Vec<Value>, usize) {
        let mut products = Vec::new();
        loop {
            let offset = products.len();
            let page = self.get(&format!("{PRODUCTS}?limit=100&offset={offset}")).expect(200);
            let found = page.body.as_array().unwrap();
            if found.is_empty() {
                return (products, page.total_count());
            }
            products.extend(found.iter().cloned());
        }
    }
}

/// Sends a request.
pub trait RequestExt {
    /// The answer; panics if there is none.
    fn answer(self) -> Answer;
    /// The answer, or an error if no complete answer arrives.
    fn try_answer(self) -> reqwest::Result<Answer>;
}

impl RequestExt for RequestBuilder {
    fn answer(self) -> Answer {
        self.try_answer().unwrap()
    }

    fn try_answer(self) -> reqwest::Result<Answer> {
        let request = self.build()?;
        let has_body = request.method() != Method::HEAD;
        Answer::read(HTTP.execute(request)?, has_body)
    }
}

/// A complete answer of the server.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as text.
    pub text: String,
    /// The body, or `null` where there is none or it is not JSON.
    pub body: Value,
}

impl Answer {
    fn read(response: Response, has_body: bool) -> reqwest::Result<Self> {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text()?;
        let body = serde_json::from_str(&text).unwrap_or_default();
        let answer = Self { status, headers, text, body };
        answer.check(has_body);
        Ok(answer)
    }

    /// Asserts what holds for every answer.
    pub fn check(&self, has_body: bool) {
        let id = self.header("x-request-id").expect("every answer has a request id");
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"), "{self:?}");
        // Health has a format of its own, which load balancers read.
        let is_health = self.body == json!({"status": self.body["status"].as_str()});
        if self.status < 400 || is_health {
            return;
        }
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        if has_body {
            assert_eq!(self.body["status"], self.status, "{self:?}");
            assert_eq!(self.body["request_id"], id, "{self:?}");
            for field in ["type", "title", "detail", "code"] {
                assert!(self.body[field].as_str().is_some_and(|text| !text.is_empty()), "{self:?}");
            }
        }
    }

    /// The answer, which must have this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The answer, which must be this problem.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.body["code"], code, "{}", answer.text);
        answer
    }

    /// The answer, which must be a 422 with exactly these errors, each as `field code`.
    #[track_caller]
    pub fn faults(self, expected: &[&str]) -> Self {
        let answer = self.refused(422, "validation_failed");
        let fault = |fault: &Value| {
            let field = fault.get("field").map_or("-", |field| field.as_str().unwrap());
            format!("{field} {}", fault["code"].as_str().unwrap())
        };
        let found: Vec<_> = answer.body["errors"].as_array().unwrap().iter().map(fault).collect();
        assert_eq!(found, expected);
        answer
    }

    /// Whether it is a 503 with everything that belongs to one; the only other status is 201.
    #[track_caller]
    pub fn is_unavailable(&self) -> bool {
        if self.status == 201 {
            return false;
        }
        assert_eq!((self.status, &self.body["code"]), (503, &json!("unavailable")), "{self:?}");
        assert!(self.header("retry-after").is_some(), "{self:?}");
        true
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The product's id.
    #[track_caller]
    pub fn id(&self) -> u64 {
        number(&self.body["id"])
    }

    /// The ids of a list's or a search's products.
    #[track_caller]
    pub fn ids(&self) -> Vec<u64> {
        ids_of(&self.body)
    }

    /// The number of products on all pages of a list.
    #[track_caller]
    pub fn total_count(&self) -> usize {
        self.header("x-total-count").unwrap().parse().unwrap()
    }

    /// The entity tag.
    #[track_caller]
    pub fn etag(&self) -> &str {
        self.header("etag").unwrap()
    }
}

/// The ids of the products in the body of a list or a search.
#[track_caller]
pub(crate) fn ids_of(body: &Value) -> Vec<u64> {
    let products = body.get("products").unwrap_or(body);
    products.as_array().unwrap().iter().map(|product| number(&product["id"])).collect()
}

#[track_caller]
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not an id"))
}
