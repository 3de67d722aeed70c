//! Damaged rows, lost connections, lost commits, demoted servers: what a node does about each, on
//! a real PostgreSQL.

use std::{thread, time::Duration};

use reqwest::StatusCode;
use serde_json::{Value, json};
use testkit::{
    NO_IDS, Node, Postgres, Role, bearer, ids, postgres, run_on, seq, token, token_of, until,
};

/// The name of the database that an address ends in.
fn name(url: &str) -> &str {
    url.rsplit_once('/').unwrap().1.split('?').next().unwrap()
}

fn is_ready(node: &Node) -> bool {
    node.readiness().status() == StatusCode::OK
}

/// The ids that the list of products shows.
fn listed(node: &Node) -> Vec<u64> {
    let answer = node.request("GET", "/products").send().unwrap();
    let products: Vec<Value> = answer.error_for_status().unwrap().json().unwrap();
    products.iter().map(|product| product["id"].as_u64().unwrap()).collect()
}

/// Rows that this version would not accept as input: a currency it does not know, a title that is
/// too long, media that are no JSON and of an unknown type, a time beyond the calendar.
const DAMAGE: [(&str, &str); 5] = [
    ("lampa", "price = '9 ZZZ'"),
    ("lampb", "title = 'lampb ' || repeat('x', 2000)"),
    ("lampc", "media = '{broken'"),
    ("lampd", r#"media = '[{"url": "https://a.example/d", "type": "hologram"}]'"#),
    ("lampe", "created_at = 9223372036854775807"),
];

#[test]
fn a_row_that_cannot_be_read_fully_harms_neither_its_shop_nor_others() {
    let url = postgres().database();
    let (first, other) = (token(&url, Role::Editor), token_of(&url, 2, Role::Editor));
    let before = Node::start(&url, &first);
    let sound = before.create("lamp sound").0;
    let damaged = DAMAGE.map(|(title, _)| before.create(&format!("lamp {title}")).0);
    drop(before);
    Node::start(&url, &other).create("rug");
    for (id, (_, damage)) in damaged.iter().zip(DAMAGE) {
        let update = format!("UPDATE products SET {damage} WHERE id = {id}");
        postgres().psql(name(&url), &update);
    }
    let node = Node::start(&url, &first);
    until("readiness", || is_ready(&node));
    let everything: Vec<u64> = [sound].into_iter().chain(damaged).collect();
    assert_eq!(listed(&node), everything, "{}", node.log());
    let mut found = node.find("lamp");
    found.sort_unstable();
    // One of them is no lamp any more.
    let lamps: Vec<u64> = everything.iter().copied().filter(|id| *id != damaged[1]).collect();
    assert_eq!(found, lamps);
    assert_eq!(node.get(damaged[0])["price"], "9 ZZZ");
    let mut cheap = node.find("lamp under $50");
    cheap.sort_unstable();
    let priced: Vec<u64> = lamps.iter().copied().filter(|id| *id != damaged[0]).collect();
    assert_eq!(cheap, priced, "an unknown currency satisfies no condition");
    assert_eq!(*node.find("cheapest lamp").last().unwrap(), damaged[0]);
    for id in [damaged[0], damaged[2], damaged[4]] {
        let log = node.log();
        let says = |line: &str| line.contains(&format!("product={id}")) && line.contains("shop=1");
        assert!(log.lines().any(says), "product {id} is not in the log: {log}");
    }
    // An update keeps what it does not name, and mends what it does.
    for id in damaged {
        let renamed = node.update(id, &json!({"title": format!("lamp again {id}")}));
        assert_eq!(renamed.status(), 200, "{}", renamed.text().unwrap());
    }
    assert_eq!(node.get(damaged[0])["price"], "9 ZZZ");
    let media = format!("SELECT media FROM products WHERE id = {}", damaged[3]);
    assert!(postgres().psql(name(&url), &media).contains("hologram"), "it is lost");
    assert_eq!(node.update(damaged[0], &json!({"price": "$7"})).status(), 200);
    assert_eq!(node.find("again under $50").len(), 5);
    for id in damaged {
        let gone = node.request("DELETE", &format!("/products/{id}")).send().unwrap();
        assert_eq!(gone.status(), 204);
    }
    assert_eq!(listed(&node), [sound]);
}

/// Shops that are searched inside the database compare prices there.
#[test]
fn a_price_that_cannot_be_parsed_satisfies_no_condition_in_the_database_either() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let node = Node::start_with(&url, &token, &["--database-search-above", "0"]);
    let ids: Vec<u64> = (0..4).map(|n| node.create(&format!("lamp{n} bright")).0).collect();
    let damage = format!("UPDATE products SET price = '9 ZZZ' WHERE id = {}", ids[1]);
    postgres().psql(name(&url), &damage);
    let find = |query: &str| {
        let mut found = node.find(query);
        found.sort_unstable();
        found
    };
    let others = [ids[0], ids[2], ids[3]];
    for _ in 0..2 {
        assert_eq!(find("bright"), ids);
        assert_eq!(find("bright under $50"), others);
        assert_eq!(find("bright over $1"), others);
        assert_eq!(find("under $50"), others);
        for query in ["cheapest bright", "most expensive bright", "cheapest", "most expensive"] {
            assert_eq!(node.find(query).last(), Some(&ids[1]), "{query}");
        }
        // The second time, what the database compares was made from the unknown currency.
        assert_eq!(node.update(ids[1], &json!({"title": "lamp again bright"})).status(), 200);
    }
}

/// What the command line reads, it reads leniently too.
#[test]
fn a_catalog_with_damaged_rows_can_be_exported() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let node = Node::start(&url, &token);
    let ids = DAMAGE.map(|(title, _)| node.create(&format!("lamp {title}")).0);
    for (id, (_, damage)) in ids.iter().zip(DAMAGE) {
        postgres().psql(name(&url), &format!("UPDATE products SET {damage} WHERE id = {id}"));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.jsonl");
    let exported = run_on(&url, &["export", "--shop", "1", file.to_str().unwrap()]);
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    assert_eq!(std::fs::read_to_string(file).unwrap().lines().count(), DAMAGE.len());
}

#[test]
fn a_connection_that_is_lost_while_shops_are_loaded_is_made_up_for() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let lamp = Node::start(&url, &token).create("lamp").0;
    let (database, sql) = (name(&url).to_owned(), |sql: &str| postgres().psql(name(&url), sql));
    sql("CREATE TABLE gate ()");
    thread::scope(|scope| {
        // Reads of products wait until the gate is open.
        scope.spawn(|| {
            sql("BEGIN; LOCK TABLE products IN ACCESS EXCLUSIVE MODE;
                 DO $$ BEGIN
                     WHILE NOT EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.02); END LOOP;
                 END $$; COMMIT")
        });
        let locked = "SELECT count(*) FROM pg_locks WHERE relation = 'products'::regclass
                      AND mode = 'AccessExclusiveLock' AND granted";
        until("the lock", || sql(locked) == "1");
        let node = Node::start(&url, &token);
        let waiting = format!(
            "FROM pg_stat_activity WHERE datname = '{database}' AND wait_event_type = 'Lock'"
        );
        until("a load", || sql(&format!("SELECT count(*) {waiting}")) == "1");
        assert!(!is_ready(&node));
        sql(&format!("SELECT pg_terminate_backend(pid) {waiting}"));
        sql("INSERT INTO gate DEFAULT VALUES");
        until("readiness", || is_ready(&node));
        assert_eq!(node.find("lamp"), [lamp]);
    });
}

/// A shop that cannot be loaded is tried again while all others are served.
#[test]
fn a_shop_that_cannot_be_loaded_keeps_no_other_from_being_served() {
    let url = postgres().database();
    let tokens = [1, 2].map(|shop| token_of(&url, shop, Role::Editor));
    let writer = Node::start(&url, &tokens[0]);
    let lamps: Vec<u64> = (0..3).map(|_| writer.create("lamp").0).collect();
    drop(writer);
    let rug = Node::start(&url, &tokens[1]).create("rug").0;
    // Reading a row of shop 1 fails until the view is gone.
    let sql = |sql: &str| postgres().psql(name(&url), sql);
    sql("ALTER TABLE products RENAME TO products_kept;
         CREATE VIEW products AS SELECT shop_id, id + 0 * (1 / (shop_id - 1)) AS id, title,
             description, price, hidden, media, created_at, updated_at, version, key, url,
             attributes, inferred
         FROM products_kept");
    let node = Node::start(&url, &tokens[1]);
    until("readiness", || is_ready(&node));
    assert_eq!(node.find("rug"), [rug]);
    until("a line of the log", || node.log().contains("22012"));
    sql("DROP VIEW products; ALTER TABLE products_kept RENAME TO products");
    let both = || node.metric("shopkeeper_index_shops") == Some(2.0);
    until("the other shop", both);
    drop(node);
    assert_eq!(Node::start(&url, &tokens[0]).find("lamp").len(), lamps.len());
}

/// Nodes follow all shops they can follow, whatever happens to others.
#[test]
fn a_shop_that_cannot_be_followed_keeps_no_other_from_it() {
    let url = postgres().database();
    let tokens: Vec<String> = (1..=4).map(|shop| token_of(&url, shop, Role::Editor)).collect();
    let node = Node::start(&url, &tokens[3]);
    for token in &tokens {
        let body = json!({"title": "lamp", "price": "$5"});
        let made = node.request("POST", "/products").headers(bearer(token)).json(&body);
        assert_eq!(made.send().unwrap().status(), 201);
        let found = node.search("lamp").headers(bearer(token)).send().unwrap();
        assert_eq!(ids(found).len(), 1);
    }
    // Rows of the first three shops cannot be read, and all four change.
    let sql = |sql: &str| postgres().psql(name(&url), sql);
    sql("BEGIN; ALTER TABLE products RENAME TO kept;
         CREATE VIEW products AS SELECT shop_id, id, title, description, price, hidden, media,
             created_at, updated_at, version / (shop_id / 4) AS version, key, url,
             attributes, inferred
             FROM kept;
         INSERT INTO kept SELECT shop_id, id + 100000, 'rug', '', '$5', false, '[]', 0, 0, last_seq + 1
             FROM kept JOIN shops USING (shop_id);
         INSERT INTO changes SELECT shop_id, last_seq + 1, id, false, 7
             FROM kept JOIN shops USING (shop_id) WHERE title = 'rug';
         UPDATE shops SET last_seq = last_seq + 1, last_stamp = 7; COMMIT");
    until("the rug", || node.find("rug").len() == 1);
    until("a line of the log", || node.log().contains("22012"));
    sql("DROP VIEW products; ALTER TABLE kept RENAME TO products");
    for token in &tokens {
        until("the rug", || {
            let found = node.search("rug").headers(bearer(token)).send().unwrap();
            found.status() == 200 && ids(found).len() == 1
        });
    }
}

/// Removing expired keys takes longer than any statement may, and then fails altogether: writes go
/// on, and once it is possible the keys are removed.
#[test]
fn housekeeping_does_not_touch_writes() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    drop(Node::start(&url, &token));
    let sql = |sql: &str| postgres().psql(name(&url), sql);
    sql("INSERT INTO idempotency_keys
         SELECT 1, 'old' || n, '', '', n FROM generate_series(1, 3000) n;
         CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql
             AS 'BEGIN PERFORM pg_sleep(0.001); RETURN OLD; END';
         CREATE TRIGGER slow BEFORE DELETE ON idempotency_keys
             FOR EACH ROW EXECUTE FUNCTION slow();
         CREATE TABLE gate ();
         CREATE FUNCTION shut() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
             IF NOT EXISTS (SELECT FROM gate) THEN RAISE EXCEPTION ''shut''; END IF;
             RETURN NULL;
         END';
         CREATE TRIGGER shut AFTER DELETE ON idempotency_keys EXECUTE FUNCTION shut()");
    let node = Node::start_with(&url, &token, &["--database-statement-time", "1s"]);
    let left = || sql("SELECT count(*) FROM idempotency_keys WHERE key LIKE 'old%'");
    for n in 0..20 {
        let made = node.try_create(&format!("lamp{n}"));
        assert_eq!(made.status(), 201, "{}\n{}", made.text().unwrap(), node.log());
    }
    until("a failure", || node.log().contains("P0001"));
    assert_eq!(left(), "3000");
    sql("INSERT INTO gate DEFAULT VALUES");
    drop(node);
    let node = Node::start_with(&url, &token, &["--database-statement-time", "1s"]);
    let mut written = 0;
    until("the end of expired keys", || {
        let made = node.try_create("lamp");
        assert_eq!(made.status(), 201, "{}", node.log());
        written += 1;
        left() == "0"
    });
    assert!(written > 1, "all of them in one go");
}

/// The rows of shops as they are now, to go back to.
fn save(url: &str) {
    for table in TABLES {
        postgres().psql(name(url), &format!("CREATE TABLE saved_{table} AS TABLE {table}"));
    }
}

/// Back to what was saved, as a restore or a replica that lacks the last commits would be.
fn restore(url: &str) {
    let back =
        |table| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM saved_{table}");
    let all: Vec<String> = TABLES.into_iter().map(back).collect();
    postgres().psql(name(url), &format!("BEGIN; {}; COMMIT", all.join("; ")));
}

const TABLES: [&str; 5] = ["shops", "attribute_names", "products", "changes", "vectors"];

#[test]
fn commits_that_are_lost_are_not_shown_any_more() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let nodes = [Node::start(&url, &token), Node::start(&url, &token)];
    let kept = nodes[0].create("lamp kept").0;
    save(&url);
    let lost = [nodes[0].create("lamp lost").0, nodes[1].create("lamp lost").0];
    let shows = |node: &Node, ids: &[u64]| {
        let mut found = node.find("lamp");
        found.sort_unstable();
        found == ids
    };
    for node in &nodes {
        until("all lamps", || shows(node, &[kept, lost[0], lost[1]]));
    }
    restore(&url);
    for node in &nodes {
        until("the lamp that is left", || shows(node, &[kept]));
        let answer = node.search("lamp").send().unwrap();
        assert_eq!(seq(&answer), 1, "the node claims changes that are lost");
    }
}

#[test]
fn changes_that_reuse_the_numbers_of_lost_ones_are_shown() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    for written_after in [1, 3, 5] {
        let nodes = [Node::start(&url, &token), Node::start(&url, &token)];
        nodes[0].create("lamp kept");
        save(&url);
        for n in 0..3 {
            nodes[n % 2].create(&format!("lost{n} gone"));
        }
        for node in &nodes {
            until("what will be lost", || node.find("gone").len() == 3);
        }
        // The third node reads and writes nothing before.
        let writer = Node::start(&url, &token);
        restore(&url);
        let word = format!("came{written_after}");
        let write = |n| writer.create(&format!("new{n} {word}"));
        let made: Vec<_> = (0..written_after).map(write).collect();
        let last = made.last().unwrap().1;
        let expected: Vec<u64> = made.iter().map(|(id, _)| *id).collect();
        for node in &nodes {
            let came = || {
                let mut came = node.find(&word);
                came.sort_unstable();
                came
            };
            until("what came after", || came() == expected && node.find("gone") == NO_IDS);
            let asked = node.search(&word).header("x-min-catalog-seq", last).send().unwrap();
            assert_eq!(ids(asked).len(), expected.len());
        }
        drop_saved(&url);
    }
}

fn drop_saved(url: &str) {
    for table in TABLES {
        postgres().psql(name(url), &format!("DROP TABLE saved_{table}"));
    }
}

/// The node that had the lost commits in memory writes first: its own write must be visible.
#[test]
fn a_write_after_lost_commits_is_visible_on_the_node_that_made_it() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let node = Node::start(&url, &token);
    node.create("lamp kept");
    save(&url);
    for lost in 0..5 {
        let (before, _) = node.create(&format!("lost{lost}"));
        assert_eq!(node.find(&format!("lost{lost}")), [before]);
    }
    restore(&url);
    for n in 0..8 {
        let (id, _) = node.create(&format!("new{n}"));
        assert_eq!(node.find(&format!("new{n}")), [id], "an answered write is visible");
        assert_eq!(node.find("lost0"), NO_IDS);
    }
}

/// The primary stops taking writes without hanging up, and a replica takes over.
#[test]
fn a_server_that_only_reads_any_more_is_left() {
    let primary = Postgres::start();
    let database = primary.database();
    let replica = primary.replica();
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", primary.port(), replica.port());
    let url = primary.url_at(&hosts, name(&database)) + "?target_session_attrs=read-write";
    let token = token(&url, Role::Editor);
    let nodes = [Node::start(&url, &token), Node::start(&url, &token)];
    nodes[0].create("lamp");
    until("the lamp", || nodes[1].find("lamp").len() == 1);
    primary.psql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on");
    primary.psql("postgres", "SELECT pg_reload_conf()");
    replica.promote();
    until("a write on the replica", || nodes[0].try_create("lamp new").status() == 201);
    // Reads come from there too: what was written is shown at once, and by the other node soon.
    let (id, made) = nodes[0].create("rug");
    assert_eq!(nodes[0].get(id)["title"], "rug");
    until("the rug on the other node", || {
        let found = nodes[1].search("rug").header("x-min-catalog-seq", made).send().unwrap();
        found.status() == StatusCode::OK && ids(found) == [id]
    });
    assert_eq!(nodes[1].get(id)["title"], "rug");
    assert_eq!(nodes[1].try_create("sofa").status(), 201);
}

/// A shop that has become too large for memory has no copy there that could be shown later.
#[test]
fn an_outage_does_not_bring_back_what_a_shop_was_before_it_left_memory() {
    let database = Postgres::start();
    let url = database.database();
    let token = token(&url, Role::Editor);
    let node = Node::start_with(&url, &token, &["--database-search-above", "20"]);
    let (lamp, _) = node.create("lamp old");
    assert_eq!(node.find("lamp"), [lamp]);
    for n in 0..30 {
        node.create(&format!("rug{n}"));
    }
    until("a shop that is searched in the database", || {
        node.log().contains("shop is ready for search in the database")
            && node.metric("shopkeeper_index_shops") == Some(0.0)
    });
    assert_eq!(node.update(lamp, &json!({"title": "lamp new"})).status(), 200);
    database.stop();
    for _ in 0..20 {
        let shown = node.request("GET", &format!("/products/{lamp}")).send().unwrap();
        if shown.status() == StatusCode::OK {
            assert_eq!(shown.json::<Value>().unwrap()["title"], "lamp new");
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// The log names the cause with its SQLSTATE, and the database's own log is not filled.
#[test]
fn failures_are_logged_with_their_cause_and_the_database_has_nothing_to_warn_of() {
    let database = Postgres::start();
    let url = database.database();
    let token = token(&url, Role::Editor);
    let node = Node::start_with(&url, &token, &["--model-kind", "built-in"]);
    node.create("lamp");
    until("vectors", || node.metric("shopkeeper_vectors_waiting") == Some(0.0));
    database.psql(name(&url), "ALTER TABLE products RENAME COLUMN title TO gone");
    let shown = node.request("GET", "/products/1").send().unwrap();
    assert_eq!(shown.status(), 500);
    assert_eq!(node.try_create("rug").status(), 500);
    for what in ["store read failed", "a write could not be stored"] {
        until("a line of the log", || node.log().contains(what));
        let log = node.log();
        let line = log.lines().find(|line| line.contains(what)).unwrap();
        assert!(line.contains("42703") && line.contains("does not exist"), "{line}");
    }
    // The embedding thread goes on looking for work.
    let looks = || -> u64 {
        let looks = "SELECT seq_scan + idx_scan FROM pg_stat_user_tables WHERE relname = 'vectors'";
        database.psql(name(&url), looks).parse().unwrap()
    };
    let before = looks();
    until("several looks for work", || looks() >= before + 10);
    assert!(!database.log().contains("there is no transaction in progress"), "{}", database.log());
}
