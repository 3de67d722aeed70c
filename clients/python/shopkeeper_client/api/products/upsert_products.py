from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.bulk_upserted import BulkUpserted
from ...models.problem import Problem
from ...models.product_upserts import ProductUpserts
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: ProductUpserts,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/products/upsert",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> BulkUpserted | Problem | None:
    if response.status_code == 200:
        response_200 = BulkUpserted.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 408:
        response_408 = Problem.from_dict(response.json())

        return response_408

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 414:
        response_414 = Problem.from_dict(response.json())

        return response_414

    if response.status_code == 415:
        response_415 = Problem.from_dict(response.json())

        return response_415

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
) -> Response[BulkUpserted | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: ProductUpserts,
    idempotency_key: str | Unset = UNSET,
) -> Response[BulkUpserted | Problem]:
    """Create or update up to 100 products by key

     An element whose key the shop does not know creates a product, which needs a title and a price;
    any other changes the fields that are sent. Elements are applied in order; good ones although
    others fail, and `errors` says what was wrong with those. With an `Idempotency-Key`, repeating
    the request applies it once.

    Args:
        idempotency_key (str | Unset):
        body (ProductUpserts): Products to create or change, by key.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BulkUpserted | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: ProductUpserts,
    idempotency_key: str | Unset = UNSET,
) -> BulkUpserted | Problem | None:
    """Create or update up to 100 products by key

     An element whose key the shop does not know creates a product, which needs a title and a price;
    any other changes the fields that are sent. Elements are applied in order; good ones although
    others fail, and `errors` says what was wrong with those. With an `Idempotency-Key`, repeating
    the request applies it once.

    Args:
        idempotency_key (str | Unset):
        body (ProductUpserts): Products to create or change, by key.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BulkUpserted | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: ProductUpserts,
    idempotency_key: str | Unset = UNSET,
) -> Response[BulkUpserted | Problem]:
    """Create or update up to 100 products by key

     An element whose key the shop does not know creates a product, which needs a title and a price;
    any other changes the fields that are sent. Elements are applied in order; good ones although
    others fail, and `errors` says what was wrong with those. With an `Idempotency-Key`, repeating
    the request applies it once.

    Args:
        idempotency_key (str | Unset):
        body (ProductUpserts): Products to create or change, by key.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BulkUpserted | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: ProductUpserts,
    idempotency_key: str | Unset = UNSET,
) -> BulkUpserted | Problem | None:
    """Create or update up to 100 products by key

     An element whose key the shop does not know creates a product, which needs a title and a price;
    any other changes the fields that are sent. Elements are applied in order; good ones although
    others fail, and `errors` says what was wrong with those. With an `Idempotency-Key`, repeating
    the request applies it once.

    Args:
        idempotency_key (str | Unset):
        body (ProductUpserts): Products to create or change, by key.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BulkUpserted | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
