# Everything a newcomer, a contributor and CI need. `make help` lists it.

.DEFAULT_GOAL := help
.PHONY: help run build build-bench quick test lint docs unit contract-postgres test-tools test-build test-hardening soak test-faults api-test mcp-test clients client-test browser-test screenshots docs-test guide relevance training-test eval eval-inference eval-model bench-write bench-search bench-neighbors bench-micro bench-embed bench-load bench-cluster bench-peers bench-import fuzz fuzz-server deny clean

help: ## List what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 19

run: ## Build quickly and start the service with a demo shop, and tokens to use it
	scripts/run.sh

build: ## Build target/release/shopkeeper, optimised
	cargo build --release --locked --package server

build-bench: ## Build the optimised server and the benchmarks
	cargo build --release --locked --package server --package bench --bins

quick: lint ## While you work: formatting, clippy, unit tests, the contract on SQLite
	scripts/postgres.sh
	cargo test --workspace --locked --lib
	cargo test --workspace --locked --test contract

# The suites of `make test`, run side by side; scripts/suite.sh runs one and logs it. What compiles
# goes first and one after another: in one folder, what clippy needs is built once.
SUITES := lint docs test-build test-tools deny guide unit contract-postgres api-test mcp-test client-test browser-test docs-test relevance
SUITE_JOBS ?= 2

test: ## Install what the tests need and run all that CI runs; logs go to target/suites
	@$(MAKE) --no-print-directory --keep-going --jobs $(SUITE_JOBS) $(SUITES:%=suite-%)

suite-%:
	@scripts/suite.sh $*

suite-docs: suite-lint
suite-test-build: suite-docs
suite-unit suite-contract-postgres suite-api-test suite-mcp-test suite-client-test suite-browser-test suite-docs-test suite-relevance: suite-test-build suite-test-tools

lint: ## Formatting and clippy; the fuzz targets of the parsers compile
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo check --locked --manifest-path fuzz/Cargo.toml --target-dir target

docs: ## The code's documentation, without warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked

test-build: ## Compile all tests
	cargo test --workspace --locked --no-run

test-tools: ## Install what the tests need: PostgreSQL, packages of Debian, PyPI and npm
	scripts/test-tools.sh

# Property and model tests draw the same cases in every run, so that a failure has its cause in a change.
unit: ## Unit, property, contract, durability and model tests
	scripts/postgres.sh
	PROPTEST_RNG_SEED=1 TEST_SEED=1 cargo test --workspace --locked

test-properties: ## Unit and property tests with other random cases each time; ROUNDS=10 (not part of `make test`)
	scripts/postgres.sh
	for round in $$(seq $(or $(ROUNDS),10)); do cargo test --workspace --locked --lib --test model || exit 1; done

contract-postgres: ## The contract on PostgreSQL, and its searches inside PostgreSQL
	scripts/postgres.sh
	TEST_STORE=postgres cargo test --workspace --locked --test contract
	TEST_STORE=postgres TEST_SEARCH_ABOVE=0 cargo test --workspace --locked --test contract -- constraints:: explaining:: facets:: filters:: inference:: languages:: paging:: searching:: similar:: sorting:: spelling::

test-hardening: ## The long forms of the hardening suite, on an otherwise idle machine (not part of `make test`)
	scripts/postgres.sh
	HARDENING=long cargo test --release --locked -p server --test hardening -- --nocapture --test-threads 1

soak: ## Ten minutes of writes and searches, a SIGKILL every minute (not part of `make test`)
	SOAK_LIVES=10 SOAK_LIFE_SECONDS=60 cargo test --release --locked -p server --test durability -- --nocapture soak::

test-faults: ## Nodes killed and paused, the database away, many times over (not part of `make test`)
	scripts/postgres.sh
	TEST_ROUNDS=10 cargo test --locked -p server --test nodes -- --nocapture --test-threads 1

api-test: ## Random requests by schemathesis against the OpenAPI document
	scripts/schemathesis.sh

mcp-test: ## The endpoint for agents, with the official Python client
	scripts/mcp-test.sh

clients: ## Make the generated parts of clients/ anew, from the OpenAPI document
	scripts/clients.sh

client-test: ## The TypeScript and Python clients: up to date, types, the whole contract
	scripts/client-test.sh

browser-test: ## The pages in a real browser; screenshots go to target/browser
	scripts/browser-test.sh

screenshots: ## Make the pictures of the documentation anew, from the demo
	scripts/screenshots.sh

docs-test: ## What README.md and the guide say, run as a newcomer would paste it; PAGES=docs/import.md for some
	scripts/docs-test.sh $(PAGES)

guide: ## Build the guide into target/guide; every link is checked
	scripts/guide.sh

relevance: ## Search on the judged sets of the repository: no figure below its floor in judgments/floors.tsv
	scripts/relevance-test.sh

training-test: ## The model's recipe, all steps on a tiny corpus; downloads PyTorch (not part of `make test`)
	scripts/training.sh test

eval: build ## Measure search on judged queries (needs them; not part of `make test`)
	scripts/eval.sh $(EVAL_FLAGS)

eval-inference: ## Measure inferred attributes and categories on labelled products (needs the catalogs; not part of `make test`)
	scripts/eval-inference.sh $(EVAL_FLAGS)

eval-model: ## Measure the model by itself (needs the judged queries; not part of `make test`)
	scripts/training.sh evaluate

bench-write: build-bench ## Measure writes, memory and restart (not part of `make test`)
	target/release/bench-write --server target/release/shopkeeper

# Real products and queries for benchmarks, in files separated by commas.
BENCH_DATA = $(if $(PRODUCTS),--products $(PRODUCTS)) $(if $(CATALOG),--catalog $(CATALOG)) $(if $(QUERIES),--queries $(QUERIES))

bench-search: build-bench ## Measure searches, memory and restart; PRODUCTS=1000000 CATALOG=FILE QUERIES=FILE (not part of `make test`)
	target/release/bench-search --server target/release/shopkeeper $(BENCH_DATA) $(BENCH_FLAGS)

bench-neighbors: build-bench ## Measure searches of a shop beside an overloaded one (not part of `make test`)
	target/release/bench-neighbors --server target/release/shopkeeper $(BENCH_FLAGS)

bench-micro: build-bench ## Time one part alone: PART=index (default), embed or load, which needs PostgreSQL (not part of `make test`)
	scripts/postgres.sh
	target/release/bench-micro $(or $(PART),index) $(if $(PRODUCTS),--products $(PRODUCTS)) $(BENCH_FLAGS)

bench-embed bench-load: bench-%:
	@$(MAKE) --no-print-directory bench-micro PART=$*

bench-cluster: build-bench ## Measure 1, 2 and 4 nodes on one PostgreSQL (not part of `make test`)
	scripts/postgres.sh
	target/release/bench-cluster --server target/release/shopkeeper $(CLUSTER_FLAGS)

bench-peers: build-bench ## Measure other systems with the same load; PRODUCTS, CATALOG, QUERIES (not part of `make test`)
	scripts/scratch-postgres.sh target/bench-peers scripts/bench-peers.py --server target/release/shopkeeper \
		--bench-http target/release/bench-http --typesense "$$(scripts/typesense.sh)" $(BENCH_DATA) $(BENCH_FLAGS)

bench-import: build ## Time and memory of imports (not part of `make test`)
	scripts/import-memory.sh target/release/shopkeeper

fuzz: ## Fuzz the parsers; FUZZ_RUNS=2000000 for that many executions of each (not part of `make test`)
	scripts/fuzz.sh --parsers

fuzz-server: ## Fuzz what the server reads; builds it first (not part of `make test`)
	scripts/fuzz.sh json_bodies

deny: ## Check dependencies: known advisories, licences, duplicates, sources
	scripts/deny.sh

clean: ## Remove what was built and installed; the data folder stays
	rm -rf target .tools fuzz/target fuzz/server/target
