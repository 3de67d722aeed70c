//! Clients that write at random, know what must be stored after each acknowledged write, and
//! compare that with what a restarted server returns.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    env,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use fastrand::Rng;
use serde_json::json;

use testkit::{Client, Installation, PRODUCTS, Role, Server, product};

use crate::{
    NO_MODEL,
    writes::{Content, Write, ids_of, send},
};

const CLIENTS: usize = 6;
/// Words of deleted and replaced texts that each client checks: the newest ones.
const GONE_WORDS: usize = 5_000;

/// A client that writes, with the state that must be stored.
struct Writer {
    name: usize,
    random: Rng,
    count: u64,
    /// Products after the last acknowledged write.
    known: BTreeMap<u64, Content>,
    /// Words that must no longer be found, the newest last.
    gone: VecDeque<String>,
    /// Products beyond which it deletes instead of creating.
    max_products: usize,
    /// The write that was not acknowledged.
    unanswered: Option<Write>,
}

impl Writer {
    fn some_word(&mut self) -> String {
        self.count += 1;
        format!("word{}x{}q", self.name, self.count)
    }

    fn some_draft(&mut self) -> Content {
        let word = self.some_word();
        let born = format!("born{word}");
        Content { word, born, price: self.some_price(), hidden: self.random.bool(), key: None }
    }

    /// A draft with a key of its own.
    fn some_keyed_draft(&mut self) -> Content {
        let draft = self.some_draft();
        Content { key: Some(format!("sku {}", draft.born)), ..draft }
    }

    fn some_price(&mut self) -> String {
        format!("${}.00", self.random.u32(1..1000))
    }

    fn some_ids(&mut self, many: usize) -> Vec<u64> {
        let ids: Vec<u64> = self.known.keys().copied().collect();
        self.random.choose_multiple(ids, many)
    }

    fn next_write(&mut self) -> Write {
        let several = self.random.usize(2..12);
        if self.known.len() > self.max_products {
            return Write::Delete(self.some_ids(several));
        }
        match self.random.u8(0..13) {
            10..13 => self.some_upsert(several),
            4 | 5 if self.known.len() > 3 => self.some_update(1),
            6 if self.known.len() > 3 => self.some_update(several),
            7 if self.known.len() > 3 => Write::Delete(self.some_ids(1)),
            8 if self.known.len() > 3 => Write::Delete(self.some_ids(several)),
            kind => {
                let many = kind == 9;
                let drafts =
                    (0..if many { several } else { 1 }).map(|_| self.some_draft()).collect();
                let key = self.random.bool().then(|| format!("key {}", self.some_word()));
                Write::Create { key, many, drafts }
            }
        }
    }

    fn some_update(&mut self, many: usize) -> Write {
        let ids = self.some_ids(many);
        Write::Update(ids.into_iter().map(|id| (id, self.changed(id))).collect())
    }

    /// The product as an update makes it.
    fn changed(&mut self, id: u64) -> Content {
        let (word, price) = (self.some_word(), self.some_price());
        let Content { born, hidden, key, .. } = self.known[&id].clone();
        Content { word, price, born, hidden: !hidden, key }
    }

    fn some_upsert(&mut self, many: usize) -> Write {
        let keyed = self.known.iter().filter(|(_, content)| content.key.is_some());
        let keyed: Vec<u64> = keyed.map(|(id, _)| *id).collect();
        let ids = self.random.choose_multiple(keyed, many / 2);
        let updated = ids.into_iter().map(|id| (id, self.changed(id))).collect();
        Write::Upsert { created: (0..many).map(|_| self.some_keyed_draft()).collect(), updated }
    }

    /// Writes until the server is gone.
    fn work(&mut self, client: &Client, answered: impl Fn()) {
        loop {
            let write = self.next_write();
            let Ok(answer) = send(client, &write) else {
                self.unanswered = Some(write);
                return;
            };
            answered();
            let ids = ids_of(&write, &answer);
            self.happened(write, ids);
        }
    }

    /// Takes a write as stored; `ids` are those of created products.
    fn happened(&mut self, write: Write, ids: Vec<u64>) {
        match write {
            Write::Create { drafts, .. } => {
                assert_eq!(ids.len(), drafts.len());
                for (id, content) in ids.into_iter().zip(drafts) {
                    assert_eq!(self.known.insert(id, content), None, "the id {id} was used again");
                }
            }
            Write::Upsert { created, updated } => {
                self.happened(Write::Create { key: None, many: true, drafts: created }, ids);
                self.happened(Write::Update(updated), Vec::new());
            }
            Write::Update(changed) => {
                for (id, content) in changed {
                    let before = self.known.insert(id, content).unwrap();
                    self.is_gone(before.word);
                }
            }
            Write::Delete(ids) => {
                for id in ids {
                    let before = self.known.remove(&id).unwrap();
                    self.is_gone(before.word);
                }
            }
        }
    }

    fn is_gone(&mut self, word: String) {
        self.gone.push_back(word);
        if self.gone.len() > GONE_WORDS {
            self.gone.pop_front();
        }
    }

    /// Finds out whether the unanswered write happened: wholly, or not at all.
    fn settle(&mut self, client: &Client, stored: &BTreeMap<u64, Content>) {
        let Some(write) = self.unanswered.take() else { return };
        match &write {
            Write::Create { key, drafts, .. } => {
                let ids = ids_in(stored, drafts);
                assert!(ids.is_empty() || ids.len() == drafts.len(), "a part of {write:?}");
                if key.is_some() {
                    // Asked again with its key, it happens now or has happened: once.
                    let again = ids_of(&write, &send(client, &write).unwrap());
                    assert!(ids.is_empty() || ids == again, "{write:?} happened twice");
                    self.happened(write, again);
                } else if ids.is_empty() {
                    drafts.iter().for_each(|draft| self.is_gone(draft.word.clone()));
                } else {
                    self.happened(write, ids);
                }
            }
            Write::Upsert { created, updated } => {
                let ids = ids_in(stored, created);
                let done = ids.len() + done_in(stored, updated);
                assert!(done == 0 || done == created.len() + updated.len(), "a part of {write:?}");
                // Asked again, it creates no key for a second time.
                let again = send(client, &write).unwrap();
                let ids = if done == 0 { ids_of(&write, &again) } else { ids };
                assert_eq!(again.status, 200, "{again:?}");
                let count = if done == 0 { created.len() } else { 0 };
                assert_eq!(again.body["created_count"], count, "{again:?}");
                self.happened(write, ids);
            }
            Write::Update(changed) => {
                let done = done_in(stored, changed);
                assert!(done == 0 || done == changed.len(), "a part of {write:?}");
                if done > 0 {
                    self.happened(write, Vec::new());
                } else {
                    changed.values().for_each(|content| self.is_gone(content.word.clone()));
                }
            }
            Write::Delete(ids) => {
                let done = ids.iter().filter(|id| !stored.contains_key(id)).count();
                assert!(done == 0 || done == ids.len(), "a part of {write:?}");
                if done > 0 {
                    self.happened(write, Vec::new());
                }
            }
        }
    }

    /// Everything known is got and found as it was written, and nothing else is.
    fn check(&self, client: &Client) {
        for (id, content) in &self.known {
            let got = client.get(&product(*id));
            assert_eq!((got.status, &Content::of(&got.body)), (200, content), "the product {id}");
            let (found, total) = client.search_all(&content.word);
            assert_eq!((found.len(), total), (1, 1), "{content:?}");
            assert_eq!(found[0], got.body);
            if let Some(key) = &content.key {
                let by_key = client.get(&format!("{PRODUCTS}?keys={}", key.replace(' ', "%20")));
                assert_eq!(by_key.expect(200).body, json!([got.body]));
            }
        }
        for word in &self.gone {
            assert_eq!(client.search_all(word).1, 0, "{word} is found");
        }
    }
}

/// The ids of those of these products that are stored.
fn ids_in(stored: &BTreeMap<u64, Content>, drafts: &[Content]) -> Vec<u64> {
    let find = |draft| stored.iter().find(|(_, content)| *content == draft).map(|(id, _)| *id);
    drafts.iter().filter_map(find).collect()
}

/// How many of these updates are stored.
fn done_in(stored: &BTreeMap<u64, Content>, changed: &BTreeMap<u64, Content>) -> usize {
    changed.iter().filter(|(id, content)| stored.get(id) == Some(content)).count()
}

/// Every id that was ever seen, with the word its product was born with.
#[derive(Default)]
struct Ids(BTreeMap<u64, String>);

impl Ids {
    fn see(&mut self, id: u64, born: &str) {
        let first = self.0.entry(id).or_insert_with(|| born.to_owned());
        assert_eq!(first, born, "the id {id} was used again");
    }
}

/// All clients of one shop on a data folder of its own.
pub(crate) struct Workload {
    installation: Installation,
    token: String,
    clients: Vec<Writer>,
    ids: Ids,
    pub(crate) random: Rng,
}

impl Workload {
    /// Clients that keep at most about this many products each. Prints the seed; `TEST_SEED`
    /// repeats a run.
    pub(crate) fn new(max_products: usize) -> Self {
        let seed = seed();
        eprintln!("TEST_SEED={seed}");
        let mut random = Rng::with_seed(seed);
        let installation = Installation::temporary();
        let token = installation.token(1, Role::Editor);
        let client = |name| Writer {
            name,
            random: random.fork(),
            count: 0,
            known: BTreeMap::new(),
            gone: VecDeque::new(),
            max_products,
            unanswered: None,
        };
        let clients = (0..CLIENTS).map(client).collect();
        Self { installation, token, clients, ids: Ids::default(), random }
    }

    /// Starts a server on the workload's data folder.
    pub(crate) fn start_server(&self, flags: &[&str]) -> Server {
        self.installation.serve(&[&NO_MODEL[..], flags].concat())
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// How many products were ever seen.
    pub(crate) fn products_seen(&self) -> usize {
        self.ids.0.len()
    }

    /// All clients write until `wait` returns; then the process is killed. `acknowledged` gets
    /// the number of acknowledged writes after each; the last number is returned.
    pub(crate) fn write_until_killed(
        &mut self,
        server: &Server,
        acknowledged: impl Fn(usize) + Sync,
        wait: impl FnOnce(&Server),
    ) -> usize {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for client in &mut self.clients {
                let (http, count, acknowledged) =
                    (server.client(&self.token), &count, &acknowledged);
                scope.spawn(move || {
                    client.work(&http, || {
                        acknowledged(count.fetch_add(1, Ordering::Relaxed) + 1);
                    });
                });
            }
            wait(server);
            server.kill();
        });
        count.into_inner()
    }

    /// Every acknowledged write is stored and found, every other write happened wholly or not at
    /// all, and index and store agree.
    pub(crate) fn check(&mut self, server: &Server) {
        let http = &server.client(&self.token);
        let stored = list(http, &mut self.ids);
        for client in &mut self.clients {
            client.settle(http, &stored);
        }
        let known: BTreeMap<u64, Content> =
            self.clients.iter().flat_map(|client| client.known.clone()).collect();
        assert_eq!(list(http, &mut self.ids), known);
        assert_eq!(http.search_all("lamp").1, known.len());
        thread::scope(|scope| {
            for client in &self.clients {
                scope.spawn(|| client.check(http));
            }
        });
    }
}

/// The whole catalog, whose parts agree with each other.
fn list(client: &Client, ids: &mut Ids) -> BTreeMap<u64, Content> {
    let (products, total) = client.list_all();
    assert_eq!(products.len(), total);
    let listed: BTreeMap<u64, Content> = products
        .iter()
        .map(|product| (product["id"].as_u64().unwrap(), Content::of(product)))
        .collect();
    assert_eq!(listed.len(), total, "an id is listed twice");
    let mut keys = BTreeSet::new();
    let mut held = listed.values().filter_map(|content| content.key.as_ref());
    assert!(held.all(|key| keys.insert(key)), "a key is listed twice");
    for (id, content) in &listed {
        ids.see(*id, &content.born);
    }
    listed
}

fn seed() -> u64 {
    match env::var("TEST_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64,
    }
}
