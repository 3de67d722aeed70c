from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.changes_page import ChangesPage
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    since: int | Unset = 0,
    limit: int | Unset = 100,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["since"] = since

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/changes",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ChangesPage | Problem | None:
    if response.status_code == 200:
        response_200 = ChangesPage.from_dict(response.json())

        return response_200

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 410:
        response_410 = Problem.from_dict(response.json())

        return response_410

    if response.status_code == 414:
        response_414 = Problem.from_dict(response.json())

        return response_414

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    if response.status_code == 431:
        response_431 = Problem.from_dict(response.json())

        return response_431

    if response.status_code == 500:
        response_500 = Problem.from_dict(response.json())

        return response_500

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ChangesPage | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    since: int | Unset = 0,
    limit: int | Unset = 100,
) -> Response[ChangesPage | Problem]:
    """List changes

     The creations, updates and deletions of products after a sequence number, oldest first, for
    copies of the catalog that follow it. Pass `next` as the next `since`. Changes are retained for
    a limited time; if some after `since` are no longer, or the shop has no change `since` because an
    older state of the store was restored, the response is 410: the whole catalog must be read again,
    and then the changes after `last` of the response.

    Args:
        since (int | Unset):  Default: 0.
        limit (int | Unset):  Default: 100.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ChangesPage | Problem]
    """

    kwargs = _get_kwargs(
        since=since,
        limit=limit,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    since: int | Unset = 0,
    limit: int | Unset = 100,
) -> ChangesPage | Problem | None:
    """List changes

     The creations, updates and deletions of products after a sequence number, oldest first, for
    copies of the catalog that follow it. Pass `next` as the next `since`. Changes are retained for
    a limited time; if some after `since` are no longer, or the shop has no change `since` because an
    older state of the store was restored, the response is 410: the whole catalog must be read again,
    and then the changes after `last` of the response.

    Args:
        since (int | Unset):  Default: 0.
        limit (int | Unset):  Default: 100.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ChangesPage | Problem
    """

    return sync_detailed(
        client=client,
        since=since,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    since: int | Unset = 0,
    limit: int | Unset = 100,
) -> Response[ChangesPage | Problem]:
    """List changes

     The creations, updates and deletions of products after a sequence number, oldest first, for
    copies of the catalog that follow it. Pass `next` as the next `since`. Changes are retained for
    a limited time; if some after `since` are no longer, or the shop has no change `since` because an
    older state of the store was restored, the response is 410: the whole catalog must be read again,
    and then the changes after `last` of the response.

    Args:
        since (int | Unset):  Default: 0.
        limit (int | Unset):  Default: 100.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ChangesPage | Problem]
    """

    kwargs = _get_kwargs(
        since=since,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    since: int | Unset = 0,
    limit: int | Unset = 100,
) -> ChangesPage | Problem | None:
    """List changes

     The creations, updates and deletions of products after a sequence number, oldest first, for
    copies of the catalog that follow it. Pass `next` as the next `since`. Changes are retained for
    a limited time; if some after `since` are no longer, or the shop has no change `since` because an
    older state of the store was restored, the response is 410: the whole catalog must be read again,
    and then the changes after `last` of the response.

    Args:
        since (int | Unset):  Default: 0.
        limit (int | Unset):  Default: 100.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ChangesPage | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            since=since,
            limit=limit,
        )
    ).parsed
