from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.understood_attribute import UnderstoodAttribute
    from ..models.understood_category import UnderstoodCategory
    from ..models.understood_constraint import UnderstoodConstraint
    from ..models.understood_correction import UnderstoodCorrection
    from ..models.understood_exclusion import UnderstoodExclusion
    from ..models.understood_sort import UnderstoodSort


T = TypeVar("T", bound="Understood")


@_attrs_define
class Understood:
    """How the query was read."""

    constraints: list[UnderstoodConstraint]
    """ Conditions that every product found satisfies, in the order they were said. """
    exclusions: list[UnderstoodExclusion]
    """ What no product found says, in the order it was said. """
    sort: None | UnderstoodSort
    corrections: list[UnderstoodCorrection]
    """ Words that no product says, corrected to words that products say, in the order they were
    said. """
    attributes: list[UnderstoodAttribute]
    """ What the thing should be or have, in the order it was said. It decides the order of results;
    what is required is a condition. """
    residual: str
    """ The words left to search for, corrected. Empty if the query only sets conditions. """
    category: UnderstoodCategory | Unset = UNSET
    """ A kind of thing. """
    language: str | Unset = UNSET
    """ The assumed language of the query, an ISO 639-1 code, where its words tell one other than
    English. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.understood_sort import UnderstoodSort  # noqa: PLC0415

        constraints = []
        for constraints_item_data in self.constraints:
            constraints_item = constraints_item_data.to_dict()
            constraints.append(constraints_item)

        exclusions = []
        for exclusions_item_data in self.exclusions:
            exclusions_item = exclusions_item_data.to_dict()
            exclusions.append(exclusions_item)

        sort: dict[str, Any] | None
        if isinstance(self.sort, UnderstoodSort):
            sort = self.sort.to_dict()
        else:
            sort = self.sort

        corrections = []
        for corrections_item_data in self.corrections:
            corrections_item = corrections_item_data.to_dict()
            corrections.append(corrections_item)

        attributes = []
        for attributes_item_data in self.attributes:
            attributes_item = attributes_item_data.to_dict()
            attributes.append(attributes_item)

        residual = self.residual

        category: dict[str, Any] | Unset = UNSET
        if not isinstance(self.category, Unset):
            category = self.category.to_dict()

        language = self.language

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "constraints": constraints,
                "exclusions": exclusions,
                "sort": sort,
                "corrections": corrections,
                "attributes": attributes,
                "residual": residual,
            }
        )
        if category is not UNSET:
            field_dict["category"] = category
        if language is not UNSET:
            field_dict["language"] = language

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.understood_attribute import UnderstoodAttribute  # noqa: PLC0415
        from ..models.understood_category import UnderstoodCategory  # noqa: PLC0415
        from ..models.understood_constraint import UnderstoodConstraint  # noqa: PLC0415
        from ..models.understood_correction import UnderstoodCorrection  # noqa: PLC0415
        from ..models.understood_exclusion import UnderstoodExclusion  # noqa: PLC0415
        from ..models.understood_sort import UnderstoodSort  # noqa: PLC0415

        d = dict(src_dict)
        constraints = []
        _constraints = d.pop("constraints")
        for constraints_item_data in _constraints:
            constraints_item = UnderstoodConstraint.from_dict(constraints_item_data)

            constraints.append(constraints_item)

        exclusions = []
        _exclusions = d.pop("exclusions")
        for exclusions_item_data in _exclusions:
            exclusions_item = UnderstoodExclusion.from_dict(exclusions_item_data)

            exclusions.append(exclusions_item)

        def _parse_sort(data: object) -> None | UnderstoodSort:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sort_type_0 = UnderstoodSort.from_dict(data)

                return sort_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UnderstoodSort, data)

        sort = _parse_sort(d.pop("sort"))

        corrections = []
        _corrections = d.pop("corrections")
        for corrections_item_data in _corrections:
            corrections_item = UnderstoodCorrection.from_dict(corrections_item_data)

            corrections.append(corrections_item)

        attributes = []
        _attributes = d.pop("attributes")
        for attributes_item_data in _attributes:
            attributes_item = UnderstoodAttribute.from_dict(attributes_item_data)

            attributes.append(attributes_item)

        residual = d.pop("residual")

        _category = d.pop("category", UNSET)
        category: UnderstoodCategory | Unset
        if isinstance(_category, Unset):
            category = UNSET
        else:
            category = UnderstoodCategory.from_dict(_category)

        language = d.pop("language", UNSET)

        understood = cls(
            constraints=constraints,
            exclusions=exclusions,
            sort=sort,
            corrections=corrections,
            attributes=attributes,
            residual=residual,
            category=category,
            language=language,
        )

        understood.additional_properties = d
        return understood

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
