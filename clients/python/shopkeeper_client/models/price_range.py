from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="PriceRange")


@_attrs_define
class PriceRange:
    """Prices from `min` to `max`, both included. Every part may be left out."""

    min_: str | Unset = UNSET
    """ The lowest price. A JSON number is read by its decimal text. """
    max_: str | Unset = UNSET
    """ The highest price. A JSON number is read by its decimal text. """
    currency: str | Unset = UNSET
    """ Only prices in this currency, an ISO 4217 code; otherwise the amount in any. """

    def to_dict(self) -> dict[str, Any]:
        min_ = self.min_

        max_ = self.max_

        currency = self.currency

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if min_ is not UNSET:
            field_dict["min"] = min_
        if max_ is not UNSET:
            field_dict["max"] = max_
        if currency is not UNSET:
            field_dict["currency"] = currency

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        min_ = d.pop("min", UNSET)

        max_ = d.pop("max", UNSET)

        currency = d.pop("currency", UNSET)

        price_range = cls(
            min_=min_,
            max_=max_,
            currency=currency,
        )

        return price_range
