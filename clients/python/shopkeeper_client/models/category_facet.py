from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.category_count import CategoryCount


T = TypeVar("T", bound="CategoryFacet")


@_attrs_define
class CategoryFacet:
    """How results are distributed over categories: those directly below the one that is filtered by, or
    below the deepest one that all results have in common.

    """

    values: list[CategoryCount]
    """ Categories with the number of results in them or below, by descending count, then by id. """
    missing: int
    """ The number of results without a category. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        values = []
        for values_item_data in self.values:
            values_item = values_item_data.to_dict()
            values.append(values_item)

        missing = self.missing

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "values": values,
                "missing": missing,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.category_count import CategoryCount  # noqa: PLC0415

        d = dict(src_dict)
        values = []
        _values = d.pop("values")
        for values_item_data in _values:
            values_item = CategoryCount.from_dict(values_item_data)

            values.append(values_item)

        missing = d.pop("missing")

        category_facet = cls(
            values=values,
            missing=missing,
        )

        category_facet.additional_properties = d
        return category_facet

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
