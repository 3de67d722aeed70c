from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.price_bucket import PriceBucket


T = TypeVar("T", bound="PriceFacet")


@_attrs_define
class PriceFacet:
    """How the prices in one currency are distributed."""

    currency: str
    """ The currency, an ISO 4217 code. """
    min_: str
    """ The lowest price, an exact decimal. """
    max_: str
    """ The highest price, an exact decimal. """
    histogram: list[PriceBucket]
    """ Adjacent ranges of prices, ascending. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        currency = self.currency

        min_ = self.min_

        max_ = self.max_

        histogram = []
        for histogram_item_data in self.histogram:
            histogram_item = histogram_item_data.to_dict()
            histogram.append(histogram_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "currency": currency,
                "min": min_,
                "max": max_,
                "histogram": histogram,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.price_bucket import PriceBucket  # noqa: PLC0415

        d = dict(src_dict)
        currency = d.pop("currency")

        min_ = d.pop("min")

        max_ = d.pop("max")

        histogram = []
        _histogram = d.pop("histogram")
        for histogram_item_data in _histogram:
            histogram_item = PriceBucket.from_dict(histogram_item_data)

            histogram.append(histogram_item)

        price_facet = cls(
            currency=currency,
            min_=min_,
            max_=max_,
            histogram=histogram,
        )

        price_facet.additional_properties = d
        return price_facet

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
