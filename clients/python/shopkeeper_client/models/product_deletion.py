from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="ProductDeletion")


@_attrs_define
class ProductDeletion:
    """Products to delete."""

    product_ids: list[int]
    """ Unknown ids are no error; they are not counted. """

    def to_dict(self) -> dict[str, Any]:
        product_ids = self.product_ids

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "product_ids": product_ids,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        product_ids = cast(list[int], d.pop("product_ids"))

        product_deletion = cls(
            product_ids=product_ids,
        )

        return product_deletion
