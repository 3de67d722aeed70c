from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Understand")


@_attrs_define
class Understand:
    """What is read in the query. The words of what is switched off are searched for."""

    price: bool | Unset = True
    """ Conditions on the price: `under $50`, `20 to 30 euros`. """
    exclusions: bool | Unset = True
    """ What is not wanted: `without leather`, `not black`, `nickel-free`. """
    sort: bool | Unset = True
    """ The order of results: `cheapest`, `newest`. """
    corrections: bool | Unset = True
    """ Words that no product says, corrected: `runing shoes`. """
    attributes: bool | Unset = True
    """ What the thing is and has: `navy armchair`, `only cotton`. Its words are searched for in any case; switched
    off, they are only words. """

    def to_dict(self) -> dict[str, Any]:
        price = self.price

        exclusions = self.exclusions

        sort = self.sort

        corrections = self.corrections

        attributes = self.attributes

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if price is not UNSET:
            field_dict["price"] = price
        if exclusions is not UNSET:
            field_dict["exclusions"] = exclusions
        if sort is not UNSET:
            field_dict["sort"] = sort
        if corrections is not UNSET:
            field_dict["corrections"] = corrections
        if attributes is not UNSET:
            field_dict["attributes"] = attributes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        price = d.pop("price", UNSET)

        exclusions = d.pop("exclusions", UNSET)

        sort = d.pop("sort", UNSET)

        corrections = d.pop("corrections", UNSET)

        attributes = d.pop("attributes", UNSET)

        understand = cls(
            price=price,
            exclusions=exclusions,
            sort=sort,
            corrections=corrections,
            attributes=attributes,
        )

        return understand
