"""The token, patience where the service asks for it, and reading one's own writes."""

import time
from typing import Any, TypeVar, cast

import anyio
import httpx

from .client import AuthenticatedClient
from .models import Problem
from .types import Unset

T = TypeVar("T")

# Longer than this, the answer is handed on instead of waited for.
MAX_WAIT_SECONDS = 60.0


class Shop(AuthenticatedClient):
    """The shop that a token belongs to: the `client` of every operation."""

    def __repr__(self) -> str:
        # The token stays out of logs.
        return f"Shop({self._base_url!r})"


class ProblemError(Exception):
    """The service refused a request, and `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        faults = [] if isinstance(problem.errors, Unset) else problem.errors
        said = [f"{fault.field or 'request'} {fault.message}" for fault in faults]
        super().__init__("; ".join([f"{problem.code}: {problem.detail}", *said]))
        self.problem = problem


def connect(
    base_url: str,
    token: str,
    *,
    attempts: int = 4,
    read_your_writes: bool = False,
    timeout: float = 30.0,
    **httpx_args: Any,
) -> Shop:
    """The shop that a token belongs to.

    A request is sent at most `attempts` times while the service is too busy for it (429, 503), each time
    after as long as ``Retry-After`` says; 1 never repeats one. With `read_your_writes`, answers show at
    least what earlier answers showed, whichever node of the service gives them; that is needed only where
    several nodes share a database. `timeout` is in seconds. `httpx_args`, such as `verify` and `proxy`, go
    to `httpx.HTTPTransport`.
    """
    transport = _Patient(attempts, read_your_writes, httpx_args)
    return Shop(
        base_url=base_url,
        token=token,
        timeout=httpx.Timeout(timeout),
        raise_on_unexpected_status=True,
        httpx_args={"transport": transport},
    )


def or_raise(answer: T | Problem | None) -> T:
    """What was answered, for those who want problems raised: ``or_raise(get_product.sync(…))``."""
    if isinstance(answer, Problem):
        raise ProblemError(answer)
    return cast(T, answer)


class _Patient(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends requests, and sends them again when asked to."""

    def __init__(self, attempts: int, read_your_writes: bool, httpx_args: dict[str, Any]) -> None:
        self._attempts = attempts
        self._read_your_writes = read_your_writes
        self._seen = 0
        self._wire = httpx.HTTPTransport(**httpx_args)
        self._async_wire = httpx.AsyncHTTPTransport(**httpx_args)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._ask_for_what_was_seen(request)
        for attempt in range(1, self._attempts + 1):
            response = self._wire.handle_request(request)
            seconds = self._wait_before_repeating(request, response)
            if seconds is None or attempt == self._attempts:
                break
            response.close()
            time.sleep(seconds)
        return response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._ask_for_what_was_seen(request)
        for attempt in range(1, self._attempts + 1):
            response = await self._async_wire.handle_async_request(request)
            seconds = self._wait_before_repeating(request, response)
            if seconds is None or attempt == self._attempts:
                break
            await response.aclose()
            await anyio.sleep(seconds)
        return response

    def close(self) -> None:
        self._wire.close()

    async def aclose(self) -> None:
        await self._async_wire.aclose()

    def _ask_for_what_was_seen(self, request: httpx.Request) -> None:
        if self._read_your_writes and self._seen > 0:
            request.headers["X-Min-Catalog-Seq"] = str(self._seen)

    def _wait_before_repeating(self, request: httpx.Request, response: httpx.Response) -> float | None:
        self._seen = max(self._seen, int(response.headers.get("X-Catalog-Seq", "0")))
        seconds = response.headers.get("Retry-After", "")
        if not _may_be_repeated(request, response) or not seconds.isdecimal():
            return None
        return float(seconds) if float(seconds) <= MAX_WAIT_SECONDS else None


def _may_be_repeated(request: httpx.Request, response: httpx.Response) -> bool:
    """Nothing was done at 429. At 503 a write may have been, so a create needs a key to be repeated."""
    if response.status_code != 503:
        return response.status_code == 429
    is_search = request.url.path.endswith("/search")
    return request.method != "POST" or is_search or "Idempotency-Key" in request.headers
