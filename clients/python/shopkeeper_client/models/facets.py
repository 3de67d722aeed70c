from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.attribute_facet import AttributeFacet
    from ..models.category_facet import CategoryFacet
    from ..models.price_facet import PriceFacet


T = TypeVar("T", bound="Facets")


@_attrs_define
class Facets:
    """How results are distributed: `price` by currency, the most frequent one first, `category` by the categories directly
    below what results have in common or are filtered by, and attributes by value.

    """

    category: CategoryFacet | Unset = UNSET
    """ How results are distributed over categories: those directly below the one that is filtered by, or
    below the deepest one that all results have in common. """
    price: list[PriceFacet] | Unset = UNSET
    """ Prices, one entry for each currency, the most frequent one first. """
    additional_properties: dict[str, AttributeFacet] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        category: dict[str, Any] | Unset = UNSET
        if not isinstance(self.category, Unset):
            category = self.category.to_dict()

        price: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.price, Unset):
            price = []
            for price_item_data in self.price:
                price_item = price_item_data.to_dict()
                price.append(price_item)

        field_dict: dict[str, Any] = {}
        for prop_name, prop in self.additional_properties.items():
            field_dict[prop_name] = prop.to_dict()

        field_dict.update({})
        if category is not UNSET:
            field_dict["category"] = category
        if price is not UNSET:
            field_dict["price"] = price

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.attribute_facet import AttributeFacet  # noqa: PLC0415
        from ..models.category_facet import CategoryFacet  # noqa: PLC0415
        from ..models.price_facet import PriceFacet  # noqa: PLC0415

        d = dict(src_dict)
        _category = d.pop("category", UNSET)
        category: CategoryFacet | Unset
        if isinstance(_category, Unset):
            category = UNSET
        else:
            category = CategoryFacet.from_dict(_category)

        _price = d.pop("price", UNSET)
        price: list[PriceFacet] | Unset = UNSET
        if _price is not UNSET:
            price = []
            for price_item_data in _price:
                price_item = PriceFacet.from_dict(price_item_data)

                price.append(price_item)

        facets = cls(
            category=category,
            price=price,
        )

        additional_properties = {}
        for prop_name, prop_dict in d.items():
            additional_property = AttributeFacet.from_dict(prop_dict)

            additional_properties[prop_name] = additional_property

        facets.additional_properties = additional_properties
        return facets

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> AttributeFacet:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: AttributeFacet) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
