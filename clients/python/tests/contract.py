"""Does the client work with a real service, operation by operation? It must call every operation that the
service's OpenAPI document has.

TARGET_ADDRESS is a running demo, TARGET_TOKEN an ADMIN of an empty shop on it; LIMITED_ADDRESS and LIMITED_TOKEN
are a service that lets few requests through at once.
"""

import asyncio
import os
import re
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

import httpx

from shopkeeper_client import ProblemError, Shop, connect, or_raise
from shopkeeper_client.api.operation import (
    get_docs,
    get_liveness,
    get_metrics,
    get_openapi,
    get_readiness,
    get_stats,
)
from shopkeeper_client.api.pages import get_admin_page, get_asset, get_home, get_preview
from shopkeeper_client.api.products import (
    bulk_create_products,
    bulk_delete_products,
    bulk_update_products,
    create_product,
    delete_product,
    get_product,
    list_changes,
    list_products,
    update_product,
    upsert_products,
)
from shopkeeper_client.api.search import search_products, similar_products
from shopkeeper_client.api.tokens import issue_token, list_tokens, revoke_token
from shopkeeper_client.models import (
    Attributes,
    Exclusions,
    Filter,
    NewMedia,
    NewProduct,
    NewProducts,
    NumberRange,
    PriceRange,
    Problem,
    Product,
    ProductChanges,
    ProductDeletion,
    ProductEdit,
    ProductEdits,
    ProductUpsert,
    ProductUpserts,
    Role,
    SearchRequest,
    TokenRequest,
    Understand,
)
from shopkeeper_client.types import Response, Unset

ADDRESS = os.environ["TARGET_ADDRESS"]
TOKEN = os.environ["TARGET_TOKEN"]
called: list[tuple[str, str]] = []
opened: list[Shop] = []


def note(request: httpx.Request) -> None:
    called.append((request.method, request.url.path))


def shop_of(token: str, *, attempts: int = 4, read_your_writes: bool = False) -> Shop:
    shop = connect(ADDRESS, token, attempts=attempts, read_your_writes=read_your_writes)
    opened.append(shop)
    shop.get_httpx_client().event_hooks["request"].append(note)
    return shop


shop = shop_of(TOKEN)


def with_role(role: Role) -> Shop:
    return shop_of(or_raise(issue_token.sync(client=shop, body=TokenRequest(role=role))).token)


SOFAS = [
    NewProduct(title="Linen sofa", description="A comfy couch with washable covers.", price="$899.00"),
    NewProduct(title="Velvet sofa", description="A soft couch, deep seats.", price="$1,299.00"),
    NewProduct(title="Leather sofa", description="A couch of full-grain leather.", price="$799.00"),
]


class Contract(unittest.TestCase):
    ids: list[int]

    @classmethod
    def setUpClass(cls) -> None:
        created = or_raise(bulk_create_products.sync(client=shop, body=NewProducts(products=SOFAS)))
        cls.ids = created.created_ids

    @classmethod
    def tearDownClass(cls) -> None:
        document = or_raise(get_openapi.sync(client=shop))
        missed = []
        for path, methods in document["paths"].items():
            # The address with words in the place of its parameters, "bulk" apart: that is one of its own.
            pattern = re.compile(re.sub(r"\{[^}]+\}", "(?!bulk$)[^/]+", path))
            for method, operation in methods.items():
                if not any(m == method.upper() and pattern.fullmatch(p) for m, p in called):
                    missed.append(operation["operationId"])
        for client in opened:
            client.get_httpx_client().close()
        assert missed == [], f"operations that no test called: {missed}"

    def problem(self, answer: Response[Any], status: int) -> Problem:
        """The problem that a request must have met."""
        self.assertEqual(answer.status_code, status)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        problem = answer.parsed
        assert isinstance(problem, Problem)
        self.assertEqual(problem.status, status)
        self.assertEqual(problem.request_id, answer.headers["X-Request-Id"])
        return problem

    def test_a_product_is_created_read_changed_and_deleted(self) -> None:
        media = [NewMedia(url="https://example.com/lamp.jpg", type_="image")]
        new = NewProduct(title="Brass lamp", price="49,00 €", media=media)
        created = create_product.sync_detailed(client=shop, body=new)
        self.assertEqual(created.status_code, HTTPStatus.CREATED)
        lamp = or_raise(created.parsed)
        self.assertEqual(created.headers["Location"], f"/api/v1/products/{lamp.id}")
        self.assertEqual((lamp.title, lamp.description, lamp.price, lamp.hidden), ("Brass lamp", "", "49,00 €", False))
        self.assertEqual([(picture.url, picture.type_) for picture in lamp.media], [(media[0].url, "image")])
        self.assertIsNotNone(lamp.created_at.tzinfo)

        read = get_product.sync_detailed(lamp.id, client=shop)
        self.assertEqual(read.parsed, lamp)
        tag = read.headers["ETag"]
        again = get_product.sync_detailed(lamp.id, client=shop, if_none_match=tag)
        self.assertEqual(again.status_code, HTTPStatus.NOT_MODIFIED)

        hidden = or_raise(update_product.sync(lamp.id, client=shop, body=ProductChanges(hidden=True)))
        self.assertTrue(hidden.hidden)
        cheaper = or_raise(update_product.sync(lamp.id, client=shop, body=ProductChanges(price="39,00 €")))
        self.assertEqual((cheaper.price, cheaper.title, cheaper.hidden), ("39,00 €", "Brass lamp", True))
        # What was read can be edited and sent back.
        cheaper.title = "Brass lamp, large"
        body = ProductChanges.from_dict(cheaper.to_dict())
        self.assertEqual(or_raise(update_product.sync(lamp.id, client=shop, body=body)).title, "Brass lamp, large")

        stale = update_product.sync_detailed(lamp.id, client=shop, if_match=tag, body=ProductChanges(title="Lost"))
        self.assertEqual(self.problem(stale, 412).code, "precondition_failed")
        self.problem(delete_product.sync_detailed(lamp.id, client=shop, if_match=tag), 412)

        deleted = delete_product.sync_detailed(lamp.id, client=shop)
        self.assertEqual((deleted.status_code, deleted.parsed), (HTTPStatus.NO_CONTENT, None))
        self.assertEqual(self.problem(get_product.sync_detailed(lamp.id, client=shop), 404).code, "not_found")

    def test_a_create_with_a_key_happens_once(self) -> None:
        shelf, key = NewProduct(title="Oak shelf", price="£80"), "contract-1"
        first = or_raise(create_product.sync(client=shop, body=shelf, idempotency_key=key))
        second = or_raise(create_product.sync(client=shop, body=shelf, idempotency_key=key))
        self.assertEqual(second.id, first.id)
        other = NewProduct(title="Oak shelf", price="£81")
        taken = create_product.sync_detailed(client=shop, body=other, idempotency_key=key)
        self.assertEqual(self.problem(taken, 409).code, "conflict")
        shelves = NewProducts(products=[shelf])
        created, repeated = (
            or_raise(bulk_create_products.sync(client=shop, body=shelves, idempotency_key="contract-2"))
            for _ in range(2)
        )
        self.assertEqual(repeated, created)
        body = ProductDeletion(product_ids=[first.id, *created.created_ids])
        self.assertEqual(or_raise(bulk_delete_products.sync(client=shop, body=body)).deleted_count, 2)

    def test_good_elements_of_a_bulk_request_succeed_although_others_fail(self) -> None:
        rugs = NewProducts(products=[NewProduct(title="Rug", price="$20"), NewProduct(title="Rug", price="cheap")])
        created = or_raise(bulk_create_products.sync(client=shop, body=rugs))
        [rug], [fault] = created.created_ids, created.errors
        self.assertEqual((fault.index, fault.code, fault.field), (1, "invalid_price", "price"))

        nowhere = 2**63 - 1
        edits = ProductEdits(products=[ProductEdit(id=nowhere, hidden=True), ProductEdit(id=rug, price="$25")])
        updated = or_raise(bulk_update_products.sync(client=shop, body=edits))
        self.assertEqual(updated.updated_ids, [rug])
        self.assertEqual((updated.errors[0].id, updated.errors[0].code), (nowhere, "not_found"))
        deletion = ProductDeletion(product_ids=[rug, nowhere])
        self.assertEqual(or_raise(bulk_delete_products.sync(client=shop, body=deletion)).deleted_count, 1)

    def test_the_catalog_is_read_in_pages_and_by_ids(self) -> None:
        pages: list[int] = []
        total = 1
        while len(pages) < total:
            page = list_products.sync_detailed(client=shop, limit=2, offset=len(pages))
            total = int(page.headers["X-Total-Count"])
            pages += [product.id for product in or_raise(page.parsed)]
        self.assertEqual(pages, self.ids)
        wanted = self.ids[::-1]
        asked = or_raise(list_products.sync(client=shop, ids=",".join(map(str, wanted))))
        self.assertEqual([product.id for product in asked], wanted)

    def test_products_are_kept_by_key_filtered_counted_and_sorted(self) -> None:
        red_and_blue = Attributes.from_dict({"color": ["red", "blue"], "width": 120})
        red = Attributes.from_dict({"color": "Red", "width": 80, "in_stock": True})
        rugs = ProductUpserts(
            products=[
                ProductUpsert(key="RUG,1", title="Wool rug", price="$80", attributes=red_and_blue),
                ProductUpsert(key="RUG-2", title="Jute rug", price="$40", attributes=red),
                ProductUpsert(key="RUG-3", title="No price"),
            ]
        )
        upserted = or_raise(upsert_products.sync(client=shop, body=rugs, idempotency_key="contract-3"))
        [wool, jute], [fault] = upserted.created_ids, upserted.errors
        self.assertEqual((fault.key, fault.field, fault.code), ("RUG-3", "price", "required"))
        cheaper = ProductUpserts(products=[ProductUpsert(key="RUG-2", price="$45")])
        again = or_raise(upsert_products.sync(client=shop, body=cheaper))
        self.assertEqual((again.created_ids, again.updated_ids), ([], [jute]))

        # A comma inside a key is encoded.
        listed = or_raise(list_products.sync(client=shop, keys=["RUG-2", "RUG,1"]))
        self.assertEqual([(rug.id, rug.price) for rug in listed], [(jute, "$45"), (wool, "$80")])
        assert not isinstance(listed[0].attributes, Unset)
        self.assertEqual(listed[0].attributes["width"], 80)
        self.assertEqual(ids_of(or_raise(list_products.sync(client=shop, sort="-width", limit=2))), [wool, jute])

        filter_ = Filter(price=PriceRange(max_="100", currency="USD"), not_=Exclusions.from_dict({"in_stock": False}))
        filter_["color"] = ["RED"]
        filter_["width"] = NumberRange(min_=80)
        body = SearchRequest(filter_=filter_, facets=["color", "price", "width"], sort="width")
        found = or_raise(search_products.sync(client=shop, body=body))
        self.assertEqual((found.total, ids_of(found.products)), (2, [jute, wool]))
        self.assertIs(found.facets_are_exact, True)
        facets = found.facets
        assert not isinstance(facets, Unset) and not isinstance(facets.price, Unset)
        values = facets["color"].values
        assert not isinstance(values, Unset)
        self.assertEqual([(one.value, one.count) for one in values], [("Red", 2), ("blue", 1)])
        self.assertEqual((facets["width"].min_, facets["width"].max_), (80, 120))
        self.assertEqual([(one.currency, one.min_, one.max_) for one in facets.price], [("USD", "45", "80")])

        taken = update_product.sync_detailed(jute, client=shop, body=ProductChanges(key="RUG,1"))
        self.assertEqual(self.problem(taken, 409).code, "conflict")
        or_raise(bulk_delete_products.sync(client=shop, body=ProductDeletion(product_ids=[wool, jute])))
        page = or_raise(list_changes.sync(client=shop, limit=1000))
        last = [(change.id, change.key, change.change) for change in page.changes[-2:]]
        self.assertEqual(last, [(wool, "RUG,1", "deleted"), (jute, "RUG-2", "deleted")])
        self.assertEqual((page.next_, page.complete), (page.changes[-1].seq, True))

    def test_search_keeps_the_conditions_of_a_query_and_says_how_it_read_them(self) -> None:
        linen, _, leather = self.ids
        query = "a comfy couch under nine hundred dollars, not leather"
        found = or_raise(search_products.sync(client=shop, body=SearchRequest(query=query, explain=True)))
        self.assertEqual((found.query, found.total, ids_of(found.products)), (query, 1, [linen]))
        [constraint], [_exclusion] = found.understood.constraints, found.understood.exclusions
        self.assertEqual((constraint.operation, constraint.value, constraint.currency), ("below", "900", "USD"))
        explanation = found.products[0].explanation
        assert not isinstance(explanation, Unset)
        self.assertGreater(explanation.score, 0)
        assert not isinstance(explanation.rerank, Unset)
        self.assertGreaterEqual(explanation.rerank.contributions.lexical, 0)

        nothing = Understand(price=False, exclusions=False, sort=False, corrections=False, attributes=False)
        as_words = or_raise(search_products.sync(client=shop, body=SearchRequest(query=query, understand=nothing)))
        self.assertEqual(as_words.understood.constraints, [])
        self.assertIn(leather, ids_of(as_words.products))

        first, following = (
            or_raise(search_products.sync(client=shop, body=SearchRequest("cheapest couch", limit=1, offset=offset)))
            for offset in (0, 1)
        )
        assert first.understood.sort
        self.assertEqual((first.understood.sort.order, first.total), ("price_ascending", 3))
        self.assertEqual(ids_of(first.products + following.products), [leather, linen])

    def test_what_is_inferred_is_returned_filtered_by_and_counted(self) -> None:
        filter_ = Filter(category=["Furniture > Sofas"])
        filter_["material"] = ["linen"]
        body = SearchRequest("only linen sofas", filter_=filter_, facets=["category", "material"])
        found = or_raise(search_products.sync(client=shop, body=body))
        [product], [asked] = found.products, found.understood.attributes
        assert not isinstance(product.category, Unset) and not isinstance(product.inferred_attributes, Unset)
        self.assertEqual((product.id, product.category.path[:2]), (self.ids[0], ["Furniture", "Sofas"]))
        self.assertEqual(product.inferred_attributes.to_dict(), {"material": ["linen"]})
        said = (asked.name, asked.values, asked.text, asked.required)
        self.assertEqual(said, ("material", ["linen"], "linen", True))
        assert not isinstance(found.facets, Unset) and not isinstance(found.facets.category, Unset)
        self.assertEqual(found.facets.category.missing, 0)
        unknown = SearchRequest(filter_=Filter(category=["zz"]))
        problem = self.problem(search_products.sync_detailed(client=shop, body=unknown), 422)
        assert not isinstance(problem.errors, Unset)
        self.assertEqual([(one.field, one.code) for one in problem.errors], [("filter.category[0]", "unknown_category")])

    def test_what_is_like_a_product(self) -> None:
        similar = or_raise(similar_products.sync(self.ids[0], client=shop, limit=1, include_hidden=True))
        [product] = similar.products
        self.assertNotEqual(product.id, self.ids[0])

    def test_hidden_products_are_for_those_who_may_see_them(self) -> None:
        new = NewProduct(title="Secret sofa", price="$1", hidden=True)
        secret = or_raise(create_product.sync(client=shop, body=new)).id
        body = SearchRequest(query="secret sofa", include_hidden=True)
        viewer, shopper = with_role("VIEWER"), with_role("SHOPPER")
        self.assertEqual(or_raise(search_products.sync(client=viewer, body=body)).products[0].id, secret)
        refused = search_products.sync_detailed(client=shopper, body=body)
        self.assertEqual(self.problem(refused, 403).code, "insufficient_role")
        self.problem(get_product.sync_detailed(secret, client=shopper), 404)
        self.problem(delete_product.sync_detailed(secret, client=viewer), 403)
        or_raise(delete_product.sync(secret, client=shop))

    def test_tokens_are_issued_listed_and_revoked(self) -> None:
        body = TokenRequest(role="EDITOR", name="import job", expires_in_seconds=3600)
        issued = or_raise(issue_token.sync(client=shop, body=body))
        assert issued.expires_at
        self.assertGreater(issued.expires_at, issued.created_at)
        bearer = shop_of(issued.token)
        self.assertNotIn(issued.token, repr(bearer))
        or_raise(list_products.sync(client=bearer))
        or_raise(revoke_token.sync(issued.id, client=shop))
        self.assertEqual(self.problem(list_products.sync_detailed(client=bearer), 401).code, "invalid_token")
        [listed] = [token for token in or_raise(list_tokens.sync(client=shop)) if token.id == issued.id]
        self.assertEqual(listed.name, "import job")
        self.assertIsNotNone(listed.revoked_at)

    def test_every_fault_of_a_request_is_told_as_a_value_or_raised(self) -> None:
        new = NewProduct(title=" ", price="19.99")
        refused = self.problem(create_product.sync_detailed(client=shop, body=new), 422)
        faults = [] if isinstance(refused.errors, Unset) else refused.errors
        self.assertEqual(
            [(fault.field, fault.code) for fault in faults], [("title", "blank"), ("price", "invalid_price")]
        )
        with self.assertRaisesRegex(ProblemError, "^validation_failed: .*; title .*; price ") as raised:
            or_raise(create_product.sync(client=shop, body=new))
        self.assertEqual(raised.exception.problem.status, 422)

    def test_answers_show_what_was_written(self) -> None:
        writer = shop_of(TOKEN, read_your_writes=True)
        written = create_product.sync_detailed(client=writer, body=NewProduct(title="Stool", price="$30"))
        self.assertGreater(int(written.headers["X-Catalog-Seq"]), 0)
        stool = or_raise(written.parsed)
        self.assertEqual(get_product.sync(stool.id, client=writer), stool)
        or_raise(delete_product.sync(stool.id, client=writer))

    def test_while_the_service_cannot_answer_what_is_safe_to_repeat_is_repeated(self) -> None:
        seq = int(list_products.sync_detailed(client=shop).headers["X-Catalog-Seq"])
        reader, issuer = shop_of(TOKEN), shop_of(TOKEN)
        reader.get_httpx_client().headers["X-Min-Catalog-Seq"] = str(seq + 1)
        issuer.get_httpx_client().headers["X-Min-Catalog-Seq"] = str(seq + 1_000_000)
        late = NewProduct(title="Late stool", price="$30", hidden=True)
        before = counted(shop, "/api/v1/products", 503)
        issued_before = counted(shop, "/api/v1/tokens", 503)
        with ThreadPoolExecutor() as threads:
            read = threads.submit(list_products.sync_detailed, client=reader)
            issued = threads.submit(issue_token.sync_detailed, client=issuer, body=TokenRequest(role="SHOPPER"))
            # The change that is asked for is made only when the service has said that it is not there.
            while not read.done() and counted(shop, "/api/v1/products", 503) == before:
                time.sleep(0.05)
            made = or_raise(create_product.sync(client=shop, body=late)).id
            self.assertEqual(read.result().status_code, HTTPStatus.OK)
            # It may have happened, and would happen twice.
            self.assertEqual(self.problem(issued.result(), 503).code, "unavailable")
        self.assertEqual(counted(shop, "/api/v1/tokens", 503), issued_before + 1)
        or_raise(delete_product.sync(made, client=shop))

    def test_words_and_fields_of_a_newer_service_are_kept(self) -> None:
        told = {"type": "/docs#melted", "title": "Melted", "status": 418, "detail": "It was hot.", "code": "melted"}
        problem = Problem.from_dict(told | {"request_id": "1", "degrees": 451})
        self.assertEqual((problem.code, problem["degrees"]), ("melted", 451))

    def test_a_request_that_comes_too_soon_is_sent_again(self) -> None:
        with connect(os.environ["LIMITED_ADDRESS"], os.environ["LIMITED_TOKEN"], attempts=20) as limited:

            def create(title: str) -> HTTPStatus:
                return create_product.sync_detailed(client=limited, body=NewProduct(title, "$9")).status_code

            before = counted(limited, "/api/v1/products", 429)
            # A slow machine may send even these so far apart that none comes too soon.
            for _ in range(20):
                with ThreadPoolExecutor() as threads:
                    statuses = list(threads.map(create, ["Oak chair", "Ash chair", "Elm chair"]))
                self.assertEqual(statuses, [HTTPStatus.CREATED] * 3)
                if counted(limited, "/api/v1/products", 429) > before:
                    break
            self.assertGreater(counted(limited, "/api/v1/products", 429), before)

    def test_the_same_without_blocking(self) -> None:
        async def ask() -> None:
            async with connect(ADDRESS, TOKEN, read_your_writes=True) as waiting:
                lamp = or_raise(await create_product.asyncio(client=waiting, body=NewProduct("Lamp", "$5")))
                self.assertEqual(or_raise(await get_product.asyncio(lamp.id, client=waiting)), lamp)
                or_raise(await delete_product.asyncio(lamp.id, client=waiting))
                gone = await get_product.asyncio_detailed(lamp.id, client=waiting)
                self.assertEqual(self.problem(gone, 404).code, "not_found")
            async with connect(os.environ["LIMITED_ADDRESS"], os.environ["LIMITED_TOKEN"], attempts=20) as limited:
                lists = await asyncio.gather(*(list_products.asyncio_detailed(client=limited) for _ in range(3)))
                self.assertEqual([answer.status_code for answer in lists], [HTTPStatus.OK] * 3)

        asyncio.run(ask())

    def test_stats_health_the_document_and_the_pages(self) -> None:
        stats = or_raise(get_stats.sync(client=shop))
        self.assertEqual((stats.role, stats.products.visible), ("ADMIN", 3))
        for health in (get_liveness, get_readiness):
            self.assertEqual(health.sync_detailed(client=shop).status_code, HTTPStatus.OK)
        self.assertIn("shopkeeper_writes_waiting ", or_raise(get_metrics.sync(client=shop)))
        for page in (get_home, get_admin_page, get_docs, get_preview):
            text = or_raise(page.sync(client=shop))
            self.assertTrue(text.lower().startswith("<!doctype html>"))
        asset = re.search(r'"/assets/([^/"]+)/([^/"]+\.js)"', text)
        assert asset
        self.assertIn("import", or_raise(get_asset.sync(asset[1], asset[2], client=shop)))


def counted(client: Shop, route: str, status: int) -> int:
    """How often the service gave this answer."""
    figures = or_raise(get_metrics.sync(client=client))
    wanted = (f'route="{route}"', f'status="{status}"', "shopkeeper_http_requests_total{")
    lines = [line for line in figures.splitlines() if all(part in line for part in wanted)]
    return sum(int(line.rpartition(" ")[2]) for line in lines)


def ids_of(products: list[Product]) -> list[int]:
    return [product.id for product in products]


if __name__ == "__main__":
    unittest.main()
