"""Does the official client get along with `/mcp`? A visit in each way that it can connect.

The client itself checks every message against the protocol's types, and every structured result
against the output schema of its tool.
"""

import asyncio
import os
import pathlib
import re
import sys
import traceback
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

TARGET = os.environ["TARGET"]
EDITOR, SHOPPER, STRANGER = (
    os.environ[f"{role}_TOKEN"] for role in ("EDITOR", "SHOPPER", "STRANGER")
)
READING = ["search_products", "get_product", "list_products"]
WRITING = ["create_product", "update_product", "delete_product"]
# With a greeting first, and with the newest version, which has none.
WAYS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


@asynccontextmanager
async def connected(token, way, statuses=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def note(response):
        if statuses is not None:
            statuses.append(response.status_code)

    hooks = {"response": [note]}
    async with httpx2.AsyncClient(headers=headers, event_hooks=hooks, timeout=60) as http:
        async with Client(streamable_http_client(TARGET, http_client=http), mode=way) as client:
            yield client


async def done(client, tool, arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    assert result.content[0].text, result
    return result.structured_content


async def refused(client, tool, arguments, code):
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    assert code in result.content[0].text, result
    assert result.meta["problem"]["code"] == code, result


async def an_editor_keeps_the_catalog(way):
    async with connected(EDITOR, way) as client:
        assert client.protocol_version == WAYS[way], client.protocol_version
        assert client.server_info.name == "shopkeeper"
        assert "ADMIN" in client.instructions
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == READING + WRITING, tools
        sofa = await done(client, "create_product", {
            "title": "Linen sofa", "price": "$899.00", "description": "A comfy couch.",
            "media": [{"url": "https://example.com/sofa.jpg", "type": "image"}],
            "key": "SOFA", "attributes": {"color": ["green", "grey"], "seats": 3, "in_stock": True},
        })
        found = await done(client, "search_products", {"query": "a sofa under nine hundred dollars"})
        assert sofa["id"] in [product["id"] for product in found["products"]], found
        assert found["understood"]["constraints"][0]["operation"] == "below", found
        counted = await done(client, "search_products", {
            "filter": {"color": ["Green"], "seats": {"min": 2}, "not": {"price": {"min": "900"}}},
            "facets": ["color", "seats", "price"], "sort": "-price",
        })
        assert [product["key"] for product in counted["products"]] == ["SOFA"], counted
        assert counted["facets"]["color"]["values"][0] == {"value": "green", "count": 1}, counted
        changed = await done(client, "update_product", {"id": sofa["id"], "hidden": True})
        assert await done(client, "get_product", {"id": sofa["id"]}) == changed
        for named in ({"ids": [sofa["id"]]}, {"keys": ["SOFA"]}):
            listed = await done(client, "list_products", named)
            assert listed == {"products": [changed], "total": 1}, listed
        await refused(client, "create_product", {"title": "Stool", "price": 5}, "validation_failed")
        async with connected(SHOPPER, way) as shopper:
            await refused(shopper, "get_product", {"id": sofa["id"]}, "not_found")
        async with connected(STRANGER, way) as stranger:
            await refused(stranger, "delete_product", {"id": sofa["id"]}, "not_found")
        await done(client, "delete_product", {"id": sofa["id"]})
        await refused(client, "get_product", {"id": sofa["id"]}, "not_found")


async def a_shopper_only_reads(way):
    async with connected(SHOPPER, way) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == READING
        assert (await done(client, "search_products", {"query": "sofa"}))["total"] == 0
        await refused(client, "create_product", {"title": "Sofa", "price": "$5"}, "insufficient_role")


async def a_token_is_needed(way):
    statuses = []
    try:
        async with connected(None, way, statuses):
            raise AssertionError("let in without a token")
    except* MCPError:
        assert set(statuses) == {401}, statuses


async def the_example_of_the_guide_runs(_way):
    page = pathlib.Path("docs/agents.md").read_text()
    example = re.search(r"^```python[^\n]*\n(.*?)^```$", page, re.M | re.S)[1]
    address = TARGET.removesuffix("/mcp")
    assert "http://127.0.0.1:7700" in example
    example = example.replace("http://127.0.0.1:7700", address)
    environment = {**os.environ, "TOKEN": SHOPPER}
    command = [sys.executable, "-c", example]
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=-1)
    printed, _ = await process.communicate()
    assert process.returncode == 0
    assert b"Understood: kept exactly: under $40, preferred: lambswool." in printed, printed


TESTS = [
    an_editor_keeps_the_catalog,
    a_shopper_only_reads,
    a_token_is_needed,
]


async def main():
    runs = [(test, way) for way in WAYS for test in TESTS]
    runs.append((the_example_of_the_guide_runs, "auto"))
    failed = 0
    for test, way in runs:
        try:
            await test(way)
            print(f"{test.__name__} ({way}): ok")
        except Exception:
            failed += 1
            print(f"{test.__name__} ({way}): FAILED")
            traceback.print_exc()
    print(f"{len(runs) - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(1 if asyncio.run(main()) else 0)
