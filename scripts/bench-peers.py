#!/usr/bin/env python3
"""Shopkeeper, Typesense and PostgreSQL with pgvector, one after the other on one machine: the same
products, the same queries, the same connections. Prints a table, with the ratio to the first.

Runs inside scripts/scratch-postgres.sh, as `make bench-peers` does; its PostgreSQL does not flush, which
makes loading faster. bench-http posts to the systems that speak HTTP, pgbench searches PostgreSQL.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.request

TYPESENSE_KEY = "benchmark"
# The thresholds make it look for typing errors and drop words until a page is full: of the settings
# tried, the one with the best results. Highlighting is off; the others do not highlight either.
TYPESENSE_SEARCH = {
    "collection": "products", "query_by": "title,description", "drop_tokens_threshold": 10,
    "typo_tokens_threshold": 10, "highlight_fields": "none", "enable_highlight_v1": False, "per_page": 10,
}
# Hybrid search as pgvector documents it: words and vectors fused by reciprocal rank. The vectors are
# those of our model, computed in advance, which flatters it: a shop would have to run a model.
POSTGRES_SCHEMA = """
DROP TABLE IF EXISTS products, queries;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE queries (id int PRIMARY KEY, text text NOT NULL, embedding halfvec({dims}) NOT NULL);
CREATE TABLE products (id int PRIMARY KEY, title text NOT NULL, description text NOT NULL, price text,
    embedding halfvec({dims}) NOT NULL,
    words tsvector GENERATED ALWAYS AS (setweight(to_tsvector('english', title), 'A')
        || setweight(to_tsvector('english', description), 'C')) STORED);
"""
POSTGRES_INDEXES = """
CREATE INDEX ON products USING gin (words);
CREATE INDEX ON products USING hnsw (embedding halfvec_cosine_ops);
VACUUM ANALYZE;
"""
POSTGRES_SEARCH = """
\\set query random(0, {last})
WITH asked AS MATERIALIZED (SELECT text, embedding FROM queries WHERE id = :query), nearest AS (
    SELECT id, rank() OVER (ORDER BY distance) AS rank FROM (
        SELECT id, embedding <=> (SELECT embedding FROM asked) AS distance FROM products
        ORDER BY embedding <=> (SELECT embedding FROM asked) LIMIT 20) AS near
), matching AS (
    SELECT id, rank() OVER (ORDER BY ts_rank_cd(words, query) DESC) AS rank
    FROM products, plainto_tsquery('english', (SELECT text FROM asked)) AS query
    WHERE words @@ query ORDER BY ts_rank_cd(words, query) DESC LIMIT 20
), best AS (
    SELECT id, coalesce(1.0 / (60 + nearest.rank), 0) + coalesce(1.0 / (60 + matching.rank), 0) AS score
    FROM nearest FULL OUTER JOIN matching USING (id) ORDER BY score DESC, id LIMIT 10
) SELECT id, title, description, price FROM best JOIN products USING (id) ORDER BY score DESC, id;
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="the shopkeeper binary")
    parser.add_argument("--bench-http", required=True, help="the bench-http binary")
    parser.add_argument("--typesense", help="the typesense-server binary; not measured without it")
    parser.add_argument("--products", default="100000")
    for files in ("--catalog", "--queries"):
        parser.add_argument(files, help="files, separated by commas")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--seconds", type=int, default=5)
    return parser.parse_args()


def post(url, body, token):
    headers = {"Authorization": f"Bearer {token}", "X-Typesense-Api-Key": token, "Content-Type": "application/json"}
    return urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers)).read().decode()


def post_all(url, bodies, token):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda body: post(url, body, token), bodies))


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def batches(items, size):
    return (items[at:at + size] for at in range(0, len(items), size))


@contextlib.contextmanager
def running(command, data, **more):
    """A process, with its log beside its data, stopped at the end."""
    with open(data.with_suffix(".log"), "w") as log:
        process = subprocess.Popen(command, stderr=log, text=True, **more)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.rows = options, folder, {}
        files = [f"--{name}={value}" for name in ("catalog", "queries") if (value := getattr(options, name))]
        subprocess.run([options.bench_http, "data", "--folder", folder, "--products", options.products, *files],
                       check=True)
        files = ((folder / name).read_text().splitlines() for name in ("products.jsonl", "queries.jsonl"))
        self.products, self.queries = ([json.loads(line) for line in lines] for lines in files)

    def measure(self, system, loaded, search):
        search(1, 1)  # warms up
        rows = {count: search(count, self.options.seconds) for count in self.options.connections}
        self.rows[f"{system}, loaded in {loaded:.1f} s"] = rows

    def measure_http(self, system, loaded, address, token, path, bodies):
        file = self.folder / "bodies.jsonl"
        file.write_text("\n".join(map(json.dumps, bodies)))

        def search(connections, seconds):
            requests, elapsed, p50, p99 = map(float, output_of(
                self.options.bench_http, "drive", "--address", address, "--token", token, "--path", path,
                "--bodies", file, "--connections", str(connections), "--seconds", str(seconds)).split())
            return requests / elapsed, p50, p99

        self.measure(system, loaded, search)

    def shopkeeper(self, encoder, budget):
        """Ours, without the cache of queries; products keep their instant vectors."""
        data = self.folder / f"shopkeeper-{encoder}"
        server = self.options.server
        token = output_of(server, "token", "create", "--data", data, "--shop", "1", "--role", "editor").strip()
        environment = {**os.environ, "SHOPKEEPER_MODEL_QUERY_BUDGET": budget,
                       "SHOPKEEPER_MODEL_BACKGROUND": "false", "SHOPKEEPER_INDEX_QUERY_CACHE_BYTES": "0"}
        command = [server, "serve", "--data", data, "--listen", "127.0.0.1:0"]
        with running(command, data, env=environment, stdout=subprocess.PIPE) as process:
            url = process.stdout.readline().split()[-1]
            requests = ({"products": [line["product"] for line in batch]} for batch in batches(self.products, 100))
            bodies = list(map(json.dumps, requests))
            started = time.monotonic()
            post_all(f"{url}/api/v1/products/bulk", bodies, token)
            post(f"{url}/api/v1/search", '{"query": "sofa"}', token)  # waits until the shop is in memory
            loaded = time.monotonic() - started
            bodies = [{"query": line["query"], "limit": 10} for line in self.queries]
            name, address = f"Shopkeeper, {encoder} encoder", url.removeprefix("http://")
            self.measure_http(name, loaded, address, token, "/api/v1/search", bodies)

    def typesense(self):
        """Words only: this version has no model, and cannot fuse vectors of the client with words."""
        data = self.folder / "typesense"
        data.mkdir()
        ports = [free_port(), free_port()]
        command = [self.options.typesense, "--data-dir", data, "--api-key", TYPESENSE_KEY, "--api-address",
                   "127.0.0.1", "--peering-address", "127.0.0.1", "--api-port", ports[0], "--peering-port", ports[1]]
        address = f"127.0.0.1:{ports[0]}"
        with running(command, data, stdout=subprocess.DEVNULL):
            wait_until_healthy(f"http://{address}/health")
            names = ["title", "description", "price"]
            schema = {"name": "products", "fields": [{"name": name, "type": "string"} for name in names]}
            post(f"http://{address}/collections", json.dumps(schema), TYPESENSE_KEY)
            bodies = ["\n".join(json.dumps({name: line["product"][name] for name in names}) for line in batch)
                      for batch in batches(self.products, 1000)]
            started = time.monotonic()
            answers = post_all(f"http://{address}/collections/products/documents/import", bodies, TYPESENSE_KEY)
            loaded = time.monotonic() - started
            bodies = [{"searches": [{**TYPESENSE_SEARCH, "q": line["query"]}]} for line in self.queries]
            path = f"/multi_search?x-typesense-api-key={TYPESENSE_KEY}"
            # Status 200 says nothing about single products and searches.
            answers.append(post(f"http://{address}{path}", json.dumps(bodies[0]), TYPESENSE_KEY))
            if any('"success":false' in answer for answer in answers) or '"hits"' not in answers[-1]:
                raise SystemExit(f"Typesense rejected products or searches: {answers[-1]}")
            self.measure_http("Typesense, words only", loaded, address, TYPESENSE_KEY, path, bodies)

    def postgres(self):
        programs = pathlib.Path(os.environ["SCRATCH_POSTGRES_BIN"])
        database = os.environ["SCRATCH_POSTGRES"] + "/postgres"

        def psql(sql):
            subprocess.run([programs / "psql", "--quiet", "--set", "ON_ERROR_STOP=1", database],
                           input=sql, check=True, text=True, stdout=subprocess.DEVNULL)

        dims = self.queries[0]["vector"].count(",") + 1
        unknown = "[" + "0," * (dims - 1) + "1]"  # for a text without a known word
        psql(POSTGRES_SCHEMA.format(dims=dims))
        psql(copy("queries (id, text, embedding)", ((line["query"], line["vector"]) for line in self.queries)))
        products = ((line["product"]["title"], line["product"]["description"], line["product"]["price"],
                     line["vector"] or unknown) for line in self.products)
        rows = copy("products (id, title, description, price, embedding)", products)
        started = time.monotonic()
        psql(rows)
        psql(POSTGRES_INDEXES)
        loaded = time.monotonic() - started
        script = self.folder / "search.sql"
        script.write_text(POSTGRES_SEARCH.format(last=len(self.queries) - 1))

        settings = {**os.environ, "PGOPTIONS": "-c jit=off -c random_page_cost=1.1 -c work_mem=32MB"}

        def search(connections, seconds):
            with tempfile.TemporaryDirectory(dir=self.folder) as logs:
                command = [programs / "pgbench", "--no-vacuum", "--protocol=prepared", "--file", script, "--client",
                           str(connections), "--time", str(seconds), "--log", "--log-prefix", f"{logs}/log", database]
                subprocess.run(command, check=True, capture_output=True, env=settings)
                lines = [line for file in pathlib.Path(logs).iterdir() for line in file.read_text().splitlines()]
            times = sorted(int(line.split()[2]) / 1e3 for line in lines)
            return len(times) / seconds, times[len(times) // 2], times[len(times) * 99 // 100]

        self.measure("PostgreSQL and pgvector", loaded, search)


def copy(table, rows):
    """A COPY of numbered rows, as psql reads it."""
    escape = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
    lines = ("\t".join([str(at), *(text.translate(escape) for text in row)]) for at, row in enumerate(rows))
    return f"COPY {table} FROM stdin;\n" + "\n".join(lines) + "\n\\.\n"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


def wait_until_healthy(url):
    for _ in range(600):
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(url).close()
        time.sleep(0.1)
    raise SystemExit(f"{url} did not answer")


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(dir="target") as folder:
        bench = Bench(options, pathlib.Path(folder))
        bench.shopkeeper("instant", "0")
        bench.shopkeeper("deep", "1000000")
        if options.typesense:
            bench.typesense()
        bench.postgres()
    first = next(iter(bench.rows.values()))
    print(f"{options.products} products, {len(bench.queries)} queries, load average {os.getloadavg()[0]:.1f}\n")
    print("| system | connections | searches/s | p50 ms | p99 ms | ratio of searches/s |\n|---|---|---|---|---|---|")
    for system, counts in bench.rows.items():
        for count, (rate, p50, p99) in counts.items():
            print(f"| {system} | {count} | {rate:.0f} | {p50:.2f} | {p99:.2f} | {rate / first[count][0]:.2f} |")


if __name__ == "__main__":
    main()
