from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.number_bucket import NumberBucket
    from ..models.value_count import ValueCount


T = TypeVar("T", bound="AttributeFacet")


@_attrs_define
class AttributeFacet:
    """How results are distributed over the values of an attribute."""

    missing: int
    """ The number of results without the attribute. """
    values: list[ValueCount] | Unset = UNSET
    """ Strings and booleans with the number of results that have them, by descending count, then by
    value. Left out if all values are numbers. """
    min_: float | Unset = UNSET
    """ The least number, if results have numbers. """
    max_: float | Unset = UNSET
    """ The greatest number, if results have numbers. """
    histogram: list[NumberBucket] | Unset = UNSET
    """ Adjacent ranges of numbers, ascending, if results have numbers. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        missing = self.missing

        values: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.values, Unset):
            values = []
            for values_item_data in self.values:
                values_item = values_item_data.to_dict()
                values.append(values_item)

        min_ = self.min_

        max_ = self.max_

        histogram: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.histogram, Unset):
            histogram = []
            for histogram_item_data in self.histogram:
                histogram_item = histogram_item_data.to_dict()
                histogram.append(histogram_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "missing": missing,
            }
        )
        if values is not UNSET:
            field_dict["values"] = values
        if min_ is not UNSET:
            field_dict["min"] = min_
        if max_ is not UNSET:
            field_dict["max"] = max_
        if histogram is not UNSET:
            field_dict["histogram"] = histogram

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.number_bucket import NumberBucket  # noqa: PLC0415
        from ..models.value_count import ValueCount  # noqa: PLC0415

        d = dict(src_dict)
        missing = d.pop("missing")

        _values = d.pop("values", UNSET)
        values: list[ValueCount] | Unset = UNSET
        if _values is not UNSET:
            values = []
            for values_item_data in _values:
                values_item = ValueCount.from_dict(values_item_data)

                values.append(values_item)

        min_ = d.pop("min", UNSET)

        max_ = d.pop("max", UNSET)

        _histogram = d.pop("histogram", UNSET)
        histogram: list[NumberBucket] | Unset = UNSET
        if _histogram is not UNSET:
            histogram = []
            for histogram_item_data in _histogram:
                histogram_item = NumberBucket.from_dict(histogram_item_data)

                histogram.append(histogram_item)

        attribute_facet = cls(
            missing=missing,
            values=values,
            min_=min_,
            max_=max_,
            histogram=histogram,
        )

        attribute_facet.additional_properties = d
        return attribute_facet

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
