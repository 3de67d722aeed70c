from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.number_range import NumberRange
    from ..models.price_range import PriceRange


T = TypeVar("T", bound="Exclusions")


@_attrs_define
class Exclusions:
    """Conditions, none of which may hold. A product without an attribute satisfies no condition on it."""

    price: PriceRange | Unset = UNSET
    """ Prices from `min` to `max`, both included. Every part may be left out. """
    category: list[str] | Unset = UNSET
    """ One of these categories or one below, by id (`fr-22`) or by its whole path (`Furniture > Sofas`). """
    additional_properties: dict[str, bool | list[str] | NumberRange | PriceRange] = _attrs_field(
        init=False, factory=dict
    )

    def to_dict(self) -> dict[str, Any]:
        from ..models.number_range import NumberRange  # noqa: PLC0415
        from ..models.price_range import PriceRange  # noqa: PLC0415

        price: dict[str, Any] | Unset = UNSET
        if not isinstance(self.price, Unset):
            price = self.price.to_dict()

        category: list[str] | Unset = UNSET
        if not isinstance(self.category, Unset):
            category = self.category

        field_dict: dict[str, Any] = {}
        for prop_name, prop in self.additional_properties.items():
            if isinstance(prop, list):
                field_dict[prop_name] = prop

            elif isinstance(prop, NumberRange):
                field_dict[prop_name] = prop.to_dict()
            elif isinstance(prop, PriceRange):
                field_dict[prop_name] = prop.to_dict()
            else:
                field_dict[prop_name] = prop

        field_dict.update({})
        if price is not UNSET:
            field_dict["price"] = price
        if category is not UNSET:
            field_dict["category"] = category

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.number_range import NumberRange  # noqa: PLC0415
        from ..models.price_range import PriceRange  # noqa: PLC0415

        d = dict(src_dict)
        _price = d.pop("price", UNSET)
        price: PriceRange | Unset
        if isinstance(_price, Unset):
            price = UNSET
        else:
            price = PriceRange.from_dict(_price)

        category = cast(list[str], d.pop("category", UNSET))

        exclusions = cls(
            price=price,
            category=category,
        )

        additional_properties = {}
        for prop_name, prop_dict in d.items():

            def _parse_additional_property(data: object) -> bool | list[str] | NumberRange | PriceRange:
                try:
                    if not isinstance(data, list):
                        raise TypeError()
                    additional_property_type_0 = cast(list[str], data)

                    return additional_property_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    additional_property_type_2 = NumberRange.from_dict(data)

                    return additional_property_type_2
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    additional_property_type_3 = PriceRange.from_dict(data)

                    return additional_property_type_3
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                return cast(bool | list[str] | NumberRange | PriceRange, data)

            additional_property = _parse_additional_property(prop_dict)

            additional_properties[prop_name] = additional_property

        exclusions.additional_properties = additional_properties
        return exclusions

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> bool | list[str] | NumberRange | PriceRange:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: bool | list[str] | NumberRange | PriceRange) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
