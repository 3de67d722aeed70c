from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.product import Product
from ...models.product_changes import ProductChanges
from ...types import UNSET, Response, Unset


def _get_kwargs(
    product_id: int,
    *,
    body: ProductChanges,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/api/v1/products/{product_id}".format(
            product_id=quote(str(product_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | Product | None:
    if response.status_code == 200:
        response_200 = Product.from_dict(response.json())

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

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 408:
        response_408 = Problem.from_dict(response.json())

        return response_408

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 412:
        response_412 = Problem.from_dict(response.json())

        return response_412

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Problem | Product]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    product_id: int,
    *,
    client: AuthenticatedClient,
    body: ProductChanges,
    if_match: str | Unset = UNSET,
) -> Response[Problem | Product]:
    """Update a product

     Only the fields that are sent change. With `If-Match`, only the version that was read is
    changed; without, the last write wins field by field.

    Args:
        product_id (int):
        if_match (str | Unset):
        body (ProductChanges): The fields to change, at least one; the others stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Product]
    """

    kwargs = _get_kwargs(
        product_id=product_id,
        body=body,
        if_match=if_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    product_id: int,
    *,
    client: AuthenticatedClient,
    body: ProductChanges,
    if_match: str | Unset = UNSET,
) -> Problem | Product | None:
    """Update a product

     Only the fields that are sent change. With `If-Match`, only the version that was read is
    changed; without, the last write wins field by field.

    Args:
        product_id (int):
        if_match (str | Unset):
        body (ProductChanges): The fields to change, at least one; the others stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Product
    """

    return sync_detailed(
        product_id=product_id,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    product_id: int,
    *,
    client: AuthenticatedClient,
    body: ProductChanges,
    if_match: str | Unset = UNSET,
) -> Response[Problem | Product]:
    """Update a product

     Only the fields that are sent change. With `If-Match`, only the version that was read is
    changed; without, the last write wins field by field.

    Args:
        product_id (int):
        if_match (str | Unset):
        body (ProductChanges): The fields to change, at least one; the others stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Product]
    """

    kwargs = _get_kwargs(
        product_id=product_id,
        body=body,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    product_id: int,
    *,
    client: AuthenticatedClient,
    body: ProductChanges,
    if_match: str | Unset = UNSET,
) -> Problem | Product | None:
    """Update a product

     Only the fields that are sent change. With `If-Match`, only the version that was read is
    changed; without, the last write wins field by field.

    Args:
        product_id (int):
        if_match (str | Unset):
        body (ProductChanges): The fields to change, at least one; the others stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Product
    """

    return (
        await asyncio_detailed(
            product_id=product_id,
            client=client,
            body=body,
            if_match=if_match,
        )
    ).parsed
