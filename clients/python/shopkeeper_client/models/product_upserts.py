from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.product_upsert import ProductUpsert


T = TypeVar("T", bound="ProductUpserts")


@_attrs_define
class ProductUpserts:
    """Products to create or change, by key."""

    products: list[ProductUpsert]
    """ Each element is taken on its own and in order: one that breaks a rule is listed in `errors`, the others are
    applied. """

    def to_dict(self) -> dict[str, Any]:
        products = []
        for products_item_data in self.products:
            products_item = products_item_data.to_dict()
            products.append(products_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "products": products,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.product_upsert import ProductUpsert  # noqa: PLC0415

        d = dict(src_dict)
        products = []
        _products = d.pop("products")
        for products_item_data in _products:
            products_item = ProductUpsert.from_dict(products_item_data)

            products.append(products_item)

        product_upserts = cls(
            products=products,
        )

        return product_upserts
