"""What schemathesis cannot know from the document: how to write a price and an address, which
token must survive the run, and which findings are none."""

import os

import schemathesis
from hypothesis import strategies as st
from schemathesis.core.failures import AcceptedNegativeData

# A token reads shk_<number>_<secret>.
OWN_TOKEN = os.environ["TARGET_TOKEN"].split("_")[1]
NO_SUCH_TOKEN = 2**63 - 1
# The document's example of a version, which no product here is likely to be.
EXAMPLE_VERSION = '"42"'
MAX_TITLE_CHARS = 500


def prices():
    """Prices as people write them; each form is one that the service reads in one way only."""
    # Three digits after a single point could be a group: two, one or none are always decimals.
    plain = st.builds(
        lambda whole, point, cents: f"{whole}{point}{cents:02}",
        st.integers(0, 10**12),
        st.sampled_from(".,"),
        st.integers(0, 99),
    )
    grouped = st.builds(
        lambda whole, marks, cents: f"{whole:,}".replace(",", marks[0]) + f"{marks[1]}{cents:02}",
        st.integers(1000, 10**12),
        st.sampled_from([",.", ".,", " ,", "'."]),
        st.integers(0, 99),
    )
    amount = plain | grouped
    sign = st.sampled_from(["$", "€", "£", "¥", "₽", "₹", "CA$", "zł"])
    code = st.sampled_from(["USD", "EUR", "GBP", "JPY", "PLN", "usd", "Chf"])
    space = st.sampled_from(["", " ", "\u00a0", "\u202f"])
    before = st.builds(lambda m, s, a: m + s + a, sign | code, space, amount)
    after = st.builds(lambda a, s, m: a + s + m, amount, space, sign | code)
    return before | after


def addresses():
    """Absolute http addresses with a host."""
    label = st.from_regex(r"[a-z][a-z0-9]{0,10}", fullmatch=True)
    host = st.builds("{}.{}".format, label, label)
    path = st.from_regex(r"(/[A-Za-z0-9._~%-]{0,8}){0,3}", fullmatch=True)
    query = st.sampled_from(["", "?w=100&h=50", "#front", "?größe=1"])
    scheme = st.sampled_from(["https://", "http://", "HTTPS://"])
    return st.builds(lambda s, h, p, q: s + h + p + q, scheme, host, path, query)


def entity_tags():
    """Any version, mostly: a made-up one is refused with 412, and nothing more would be tested."""
    version = st.integers(1, 2**63 - 1).map('"{}"'.format)
    return st.just("*") | st.just("*") | version | st.lists(version, min_size=2, max_size=3).map(", ".join)


schemathesis.openapi.format("category", st.sampled_from(["fr-22", "AA-1", "Furniture > Chairs"]))
schemathesis.openapi.format("currency", st.sampled_from(["USD", "EUR", "GBP", "JPY", "usd"]))
schemathesis.openapi.format("etag", entity_tags())
schemathesis.openapi.format("price", prices())
schemathesis.openapi.format("http-url", addresses())


@schemathesis.hook
def before_call(context, case, **kwargs):
    """The run must not revoke the token it lives on, and a made-up version would hide what the
    service does with the rest of the request."""
    if str((case.path_parameters or {}).get("token_id")) == OWN_TOKEN:
        case.path_parameters["token_id"] = NO_SUCH_TOKEN
    if (case.headers or {}).get("If-Match") == EXAMPLE_VERSION:
        case.headers["If-Match"] = "*"
    # Each of these is valid, and they exclude each other.
    selections = [name for name in ("ids", "keys", "sort") if name in (case.query or {})]
    for name in selections[1:]:
        del case.query[name]
    if isinstance(case.body, dict):
        order_bounds(case.body.get("filter"))


def order_bounds(condition):
    """Swaps the ends of ranges where `min` is above `max`, which a schema cannot forbid."""
    if not isinstance(condition, dict):
        return
    for one in condition.values():
        order_bounds(one)
    try:
        if float(condition["min"]) > float(condition["max"]):
            condition["min"], condition["max"] = condition["max"], condition["min"]
    except (KeyError, TypeError, ValueError):
        pass


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Says which findings stand."""
    if isinstance(failure, AcceptedNegativeData):
        return not (
            bad_elements_are_reported(case, response)
            or only_padding_is_long(case)
            or only_what_the_schema_cannot_say(case)
        )
    return True


def bad_elements_are_reported(case, response):
    """A bad element of a bulk request fails alone: the contract answers 201 or 200 and lists it
    in `errors`. Accepted without a word there would still be a finding."""
    bulk = case.operation.definition.raw.get("operationId") in (
        "bulk_create_products",
        "bulk_update_products",
        "upsert_products",
    )
    return bulk and response.status_code in (200, 201) and bool(response.json()["errors"])


def only_padding_is_long(case):
    """The length of a title counts without the white space around it, which a maxLength cannot
    say."""
    title = case.body.get("title") if isinstance(case.body, dict) else None
    if not isinstance(title, str) or len(title) <= MAX_TITLE_CHARS:
        return False
    return 0 < len(title.strip()) <= MAX_TITLE_CHARS


def only_what_the_schema_cannot_say(case):
    """With a filter, a query may be blank, and an amount may be a JSON number; `""` removes the page
    of a product. Whether anything else was wrong cannot be told from outside."""
    body = case.body if isinstance(case.body, dict) else {}
    condition = body.get("filter")
    if isinstance(condition, dict):
        query = body.get("query", "")
        ranges = [part.get("price") for part in (condition, condition.get("not")) if isinstance(part, dict)]
        bounds = [amount for one in ranges if isinstance(one, dict) for amount in one.values()]
        return isinstance(query, str) and not query.strip() or any(isinstance(one, (int, float)) for one in bounds)
    return body.get("url") == ""
