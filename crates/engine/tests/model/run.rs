//! Random operations on the engine and the reference, and the comparison of both.

use super::*;

/// One run: the engine, the reference, and the operations on both.
pub(super) struct Run {
    pub(super) seed: u64,
    pub(super) random: Rng,
    pub(super) bench: Bench,
    pub(super) model: Model,
    pub(super) last_operations: VecDeque<String>,
}

impl Run {
    pub(super) fn new() -> Self {
        let seed = seed();
        Self {
            seed,
            random: Rng::with_seed(seed),
            bench: Bench::new(),
            model: Model::default(),
            last_operations: VecDeque::new(),
        }
    }

    pub(super) fn step(&mut self) {
        let shop = shop(self.random.u64(1..=SHOPS));
        match self.random.u8(0..21) {
            // A large shop would only make the run slow.
            0..7 if self.model.of_shop(shop, Visibility::All).len() > MANY => self.delete(shop),
            0..5 => self.create(shop, 1),
            5 => {
                let many = self.random.usize(0..8);
                self.create(shop, many);
            }
            6 => self.create_once(shop),
            7..12 => self.update(shop),
            12..15 => self.delete(shop),
            15..18 => self.upsert(shop),
            18 => self.compare_changes(shop),
            19 => self.compare_keys(shop),
            _ => self.compare_ids(shop),
        }
        let id = self.some_id();
        self.compare_product(shop, id);
        self.compare_page(shop);
        self.compare_search(shop);
    }

    pub(super) fn create(&mut self, shop: ShopId, many: usize) {
        let drafts: Vec<_> = (0..many).map(|_| self.some_draft()).collect();
        self.note(format!("create {many} in shop {shop}"));
        let made = outcomes(self.bench.create(shop, drafts.clone(), None));
        let at = self.bench.last_time();
        let expected: Vec<_> =
            drafts.into_iter().map(|draft| self.model.create(shop, draft, at)).collect();
        assert_eq!(made, expected);
    }

    pub(super) fn upsert(&mut self, shop: ShopId) {
        let elements: Vec<_> = (0..self.random.usize(0..8))
            .map(|_| {
                let patch = Patch { key: None, ..self.some_patch() };
                UpsertElement { key: self.some_key(), patch }
            })
            .collect();
        self.note(format!("upsert in shop {shop}: {elements:?}"));
        let outcomes = self.bench.upsert(shop, elements.clone());
        let at = self.bench.last_time();
        let expected: Vec<_> =
            elements.into_iter().map(|element| self.model.upsert(shop, element, at)).collect();
        assert_eq!(outcomes, expected);
    }

    pub(super) fn create_once(&mut self, shop: ShopId) {
        let key = format!("key {}", self.random.u64(0..KEYS));
        let fingerprint = self.random.u8(0..2);
        self.note(format!("create in shop {shop} once by {key:?}, saying {fingerprint}"));
        let drafts = vec![self.some_draft(), self.some_draft()];
        let outcome = self.bench.create(shop, drafts.clone(), Some(once(&key, fingerprint)));
        let at = self.bench.last_time();
        let known = self.model.keys.get(&(shop, key.clone()));
        match known.filter(|known| known.at >= at - RESPONSE_RETENTION) {
            Some(first) if first.fingerprint == fingerprint => {
                assert!(matches!(&outcome, Created::Replayed(body) if *body == first.body));
            }
            Some(_) => assert!(matches!(outcome, Created::KeyReused)),
            None => {
                let made = outcomes(outcome);
                let expected: Vec<_> =
                    drafts.into_iter().map(|draft| self.model.create(shop, draft, at)).collect();
                assert_eq!(made, expected);
                let first = StoredResponse { fingerprint, body: encode(&made), at };
                self.model.keys.insert((shop, key), first);
            }
        }
    }

    pub(super) fn update(&mut self, shop: ShopId) {
        let many = if self.random.u8(0..4) == 0 { self.random.usize(0..6) } else { 1 };
        let edits: Vec<_> = (0..many)
            .map(|_| {
                let id = self.some_id_of(shop);
                let precondition = self.some_precondition(shop, id);
                Edit { id, patch: self.some_patch(), precondition }
            })
            .collect();
        self.note(format!("update in shop {shop}: {edits:?}"));
        let outcomes = self.bench.update(shop, edits.clone());
        let at = self.bench.last_time();
        let expected: Vec<_> =
            edits.into_iter().map(|edit| self.model.update(shop, edit, at)).collect();
        assert_eq!(outcomes, expected);
    }

    pub(super) fn delete(&mut self, shop: ShopId) {
        let (ids, precondition) = if self.random.u8(0..4) == 0 {
            let many = self.random.usize(0..8);
            ((0..many).map(|_| self.some_id_of(shop)).collect(), Precondition::Exists)
        } else {
            let id = self.some_id_of(shop);
            (vec![id], self.some_precondition(shop, id))
        };
        self.note(format!("delete in shop {shop}: {ids:?} if {precondition:?}"));
        let outcomes = self.bench.delete(shop, ids.clone(), precondition.clone());
        let expected: Vec<_> =
            ids.into_iter().map(|id| self.model.delete(shop, id, &precondition)).collect();
        assert_eq!(outcomes, expected);
    }

    pub(super) fn restart(&mut self) {
        self.note("restart".to_owned());
        self.bench.reopen();
        if self.random.bool() {
            self.note("warm up".to_owned());
            assert!(self.bench.engine().warm_up(WarmUp::default()).is_done());
        }
    }

    pub(super) fn compare_everything(&mut self) {
        for number in 1..=SHOPS {
            let shop = shop(number);
            for pass in [may_see_all(shop), may_shop(shop)] {
                let expected = self.model.of_shop(shop, pass.visibility());
                let total = expected.len();
                assert_eq!(self.bench.page_as(pass, EVERYTHING, 0), (expected, total));
                for word in WORDS {
                    self.compare_found(pass, word);
                }
            }
        }
    }

    pub(super) fn compare_product(&mut self, shop: ShopId, id: ProductId) {
        assert_eq!(self.bench.product(shop, id), self.model.get(shop, id).cloned());
    }

    pub(super) fn compare_ids(&mut self, shop: ShopId) {
        let ids: Vec<_> = (0..self.random.usize(0..12)).map(|_| self.some_id()).collect();
        let pass = may_shop(shop);
        let engine = self.bench.engine();
        let found = self.bench.runtime.block_on(engine.products(pass, ids.clone())).unwrap();
        let expected: Vec<_> = ids
            .into_iter()
            .filter_map(|id| self.model.get(shop, id))
            .filter(|product| !product.hidden)
            .cloned()
            .collect();
        assert_eq!(found, expected);
    }

    pub(super) fn compare_keys(&mut self, shop: ShopId) {
        let keys: Vec<_> = (0..self.random.usize(0..12)).map(|_| self.some_key()).collect();
        let engine = self.bench.engine();
        let read = engine.products_by_key(may_shop(shop), keys.clone());
        let found = self.bench.runtime.block_on(read).unwrap();
        let held = keys.iter().filter_map(|key| self.model.holder(shop, key));
        let expected: Vec<_> = held.filter(|product| !product.hidden).cloned().collect();
        assert_eq!(found, expected);
    }

    pub(super) fn compare_changes(&mut self, shop: ShopId) {
        let last = self.model.last_seq.get(&shop).copied().unwrap_or_default();
        let since = Seq(self.random.u64(0..=last + 1));
        let limit = self.random.usize(1..50);
        let engine = self.bench.engine();
        let read = engine.changes(may_see_all(shop), since, limit);
        let found = match self.bench.runtime.block_on(read).unwrap() {
            Ok(found) => found,
            Err(expired) => {
                assert_eq!((expired.last, since), (Seq(last), Seq(last + 1)));
                return;
            }
        };
        assert!(since <= Seq(last));
        let after = |(of, seq, ..): &&(ShopId, Seq, _, _, _)| *of == shop && *seq > since;
        let all: Vec<_> = self.model.changes.iter().filter(after).collect();
        let expected: Vec<_> = all
            .iter()
            .take(limit)
            .map(|(of, seq, product, kind, key)| {
                let current = self.model.get(*of, *product).and_then(|product| product.key.clone());
                let key = if *kind == ChangeKind::Deleted { key.clone() } else { current };
                ChangeEntry { seq: *seq, product: *product, key, kind: *kind }
            })
            .collect();
        let next = expected.last().map_or(since, |last| last.seq);
        assert_eq!(found.changes, expected);
        assert_eq!((found.next, found.is_complete), (next, all.len() <= limit));
    }

    pub(super) fn compare_page(&mut self, shop: ShopId) {
        let pass = if self.random.bool() { may_see_all(shop) } else { may_shop(shop) };
        let (limit, offset) = (self.random.usize(1..20), self.random.usize(0..60));
        let all = self.model.of_shop(shop, pass.visibility());
        let total = all.len();
        let expected: Vec<_> = all.into_iter().skip(offset).take(limit).collect();
        assert_eq!(self.bench.page_as(pass, limit, offset), (expected, total));
    }

    pub(super) fn compare_search(&mut self, shop: ShopId) {
        let pass = if self.random.bool() { may_see_all(shop) } else { may_shop(shop) };
        let query = match self.random.u8(0..5) {
            0 => (*self.random.choice(BRANDS).unwrap()).to_owned(),
            1 => self.some_key().as_str().to_owned(),
            _ => self.some_words(1..3),
        };
        self.compare_found(pass, &query);
    }

    /// Exactly the products that contain a word of the query are found, in their current state, and
    /// pages are parts of one order.
    pub(super) fn compare_found(&mut self, pass: ReadPass, query: &str) {
        let expected = self.model.search(pass.shop(), pass.visibility(), query);
        let (in_order, total) = self.bench.search(pass, query, EVERYTHING, 0);
        let mut found = in_order.clone();
        found.sort_by_key(|product| product.id);
        assert_eq!(total, expected.len(), "total of {query:?} in shop {}", pass.shop());
        assert_eq!(found, expected, "{query:?} in shop {}", pass.shop());
        let (offset, limit) = (self.random.usize(0..10), self.random.usize(1..10));
        let (page, page_total) = self.bench.search(pass, query, limit, offset);
        let part: Vec<_> = in_order.into_iter().skip(offset).take(limit).collect();
        assert_eq!((page, page_total), (part, total), "a page of {query:?}");
    }

    pub(super) fn note(&mut self, operation: String) {
        if self.last_operations.len() == LAST_OPERATIONS {
            self.last_operations.pop_front();
        }
        self.last_operations.push_back(operation);
    }

    /// An id of a current, former or future product.
    pub(super) fn some_id(&mut self) -> ProductId {
        ProductId::new(self.random.u64(1..self.model.last_id + 3)).unwrap()
    }

    /// Usually an id of the shop.
    pub(super) fn some_id_of(&mut self, shop: ShopId) -> ProductId {
        let known = self.model.of_shop(shop, Visibility::All);
        match self.random.choice(known) {
            Some(product) if self.random.u8(0..10) > 0 => product.id,
            _ => self.some_id(),
        }
    }

    /// Usually one that holds.
    pub(super) fn some_precondition(&mut self, shop: ShopId, id: ProductId) -> Precondition {
        let version = self.model.get(shop, id).map_or(Seq(1), |product| product.version);
        match self.random.u8(0..8) {
            0..4 => Precondition::Exists,
            4..6 => Precondition::IsVersion(vec![version]),
            6 => Precondition::IsVersion(vec![Seq(version.0 - 1), version]),
            _ => Precondition::IsVersion(vec![Seq(version.0 - 1)]),
        }
    }

    pub(super) fn some_words(&mut self, count: std::ops::Range<usize>) -> String {
        let words: Vec<_> =
            (0..self.random.usize(count)).map(|_| *self.random.choice(WORDS).unwrap()).collect();
        words.join(" ")
    }

    pub(super) fn some_media(&mut self) -> Vec<Media> {
        (0..self.random.u8(0..3))
            .map(|n| Media::new(&format!("https://example.com/{n}.jpg"), MediaKind::Image).unwrap())
            .collect()
    }

    pub(super) fn some_draft(&mut self) -> Draft {
        let (title, description) = (self.some_words(1..5), self.some_words(0..12));
        let price = *self.random.choice(PRICES).unwrap();
        let hidden = self.random.u8(0..5) == 0;
        Draft {
            media: self.some_media(),
            key: self.random.bool().then(|| self.some_key()),
            url: self.random.bool().then(|| ProductUrl::parse("https://example.com/1").unwrap()),
            attributes: self.some_attributes(),
            ..draft(&title, &description, price, hidden)
        }
    }

    pub(super) fn some_key(&mut self) -> Key {
        Key::parse(&format!("sku{}", self.random.u64(0..PRODUCT_KEYS))).unwrap()
    }

    pub(super) fn some_attributes(&mut self) -> Attributes {
        let name = |text| AttributeName::parse(text).unwrap();
        let mut named = Vec::new();
        if self.random.bool() {
            let brand = *self.random.choice(BRANDS).unwrap();
            named.push((name("brand"), AttributeValue::Text(brand.into())));
        }
        if self.random.bool() {
            let width = Number::new(f64::from(self.random.u32(0..1000)) / 8.0).unwrap();
            named.push((name("width"), AttributeValue::Number(width)));
        }
        Attributes::new(named)
    }

    /// A change of some fields, or of none.
    pub(super) fn some_patch(&mut self) -> Patch {
        let Draft { title, description, price, hidden, media, key, url, attributes } =
            self.some_draft();
        Patch {
            title: self.random.bool().then_some(title),
            description: self.random.bool().then_some(description),
            price: self.random.bool().then_some(price),
            hidden: self.random.bool().then_some(hidden),
            media: self.random.bool().then_some(media),
            key: self.random.bool().then_some(key),
            url: self.random.bool().then_some(url),
            attributes: self.random.bool().then_some(attributes),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the last operations:");
            for operation in &self.last_operations {
                eprintln!("  {operation}");
            }
            eprintln!("repeat with TEST_SEED={}", self.seed);
        }
    }
}
