from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.similar_products import SimilarProducts
from ...types import UNSET, Response, Unset


def _get_kwargs(
    product_id: int,
    *,
    limit: int | Unset = 10,
    include_hidden: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["include_hidden"] = include_hidden

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/products/{product_id}/similar".format(
            product_id=quote(str(product_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | SimilarProducts | None:
    if response.status_code == 200:
        response_200 = SimilarProducts.from_dict(response.json())

        return response_200

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

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
) -> Response[Problem | SimilarProducts]:
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
    limit: int | Unset = 10,
    include_hidden: bool | Unset = False,
) -> Response[Problem | SimilarProducts]:
    """Similar products

     The shop's products that mean nearly the same as this one, nearest first and without itself. A
    product that nothing is near has none, and neither has any product on a server without a model.

    Hidden products are left out unless `include_hidden` asks for them, which needs the role
    VIEWER. For a SHOPPER a hidden product does not exist, so there is nothing like it either.

    Args:
        product_id (int):
        limit (int | Unset):  Default: 10.
        include_hidden (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | SimilarProducts]
    """

    kwargs = _get_kwargs(
        product_id=product_id,
        limit=limit,
        include_hidden=include_hidden,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    product_id: int,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 10,
    include_hidden: bool | Unset = False,
) -> Problem | SimilarProducts | None:
    """Similar products

     The shop's products that mean nearly the same as this one, nearest first and without itself. A
    product that nothing is near has none, and neither has any product on a server without a model.

    Hidden products are left out unless `include_hidden` asks for them, which needs the role
    VIEWER. For a SHOPPER a hidden product does not exist, so there is nothing like it either.

    Args:
        product_id (int):
        limit (int | Unset):  Default: 10.
        include_hidden (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | SimilarProducts
    """

    return sync_detailed(
        product_id=product_id,
        client=client,
        limit=limit,
        include_hidden=include_hidden,
    ).parsed


async def asyncio_detailed(
    product_id: int,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 10,
    include_hidden: bool | Unset = False,
) -> Response[Problem | SimilarProducts]:
    """Similar products

     The shop's products that mean nearly the same as this one, nearest first and without itself. A
    product that nothing is near has none, and neither has any product on a server without a model.

    Hidden products are left out unless `include_hidden` asks for them, which needs the role
    VIEWER. For a SHOPPER a hidden product does not exist, so there is nothing like it either.

    Args:
        product_id (int):
        limit (int | Unset):  Default: 10.
        include_hidden (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | SimilarProducts]
    """

    kwargs = _get_kwargs(
        product_id=product_id,
        limit=limit,
        include_hidden=include_hidden,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    product_id: int,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 10,
    include_hidden: bool | Unset = False,
) -> Problem | SimilarProducts | None:
    """Similar products

     The shop's products that mean nearly the same as this one, nearest first and without itself. A
    product that nothing is near has none, and neither has any product on a server without a model.

    Hidden products are left out unless `include_hidden` asks for them, which needs the role
    VIEWER. For a SHOPPER a hidden product does not exist, so there is nothing like it either.

    Args:
        product_id (int):
        limit (int | Unset):  Default: 10.
        include_hidden (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | SimilarProducts
    """

    return (
        await asyncio_detailed(
            product_id=product_id,
            client=client,
            limit=limit,
            include_hidden=include_hidden,
        )
    ).parsed
