from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.new_product import NewProduct


T = TypeVar("T", bound="NewProducts")


@_attrs_define
class NewProducts:
    """Products to create."""

    products: list[NewProduct]
    """ Each element is taken on its own: one that breaks a rule is answered in `errors`, the others are created.
    """

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
        from ..models.new_product import NewProduct  # noqa: PLC0415

        d = dict(src_dict)
        products = []
        _products = d.pop("products")
        for products_item_data in _products:
            products_item = NewProduct.from_dict(products_item_data)

            products.append(products_item)

        new_products = cls(
            products=products,
        )

        return new_products
