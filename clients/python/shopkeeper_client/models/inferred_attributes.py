from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="InferredAttributes")


@_attrs_define
class InferredAttributes:
    """What the texts of a product state, as canonical values: *emerald* is `green`. Attributes that the
    merchant states are left out, and so are those without values.

    """

    color: list[str] | Unset = UNSET
    """ Its colors; shades count as their base. """
    material: list[str] | Unset = UNSET
    """ Its materials; species and alloys count as their family. """
    pattern: list[str] | Unset = UNSET
    """ Its patterns. """
    audience: list[str] | Unset = UNSET
    """ For whom it is made. """
    size: list[str] | Unset = UNSET
    """ Its sizes. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        color: list[str] | Unset = UNSET
        if not isinstance(self.color, Unset):
            color = self.color

        material: list[str] | Unset = UNSET
        if not isinstance(self.material, Unset):
            material = self.material

        pattern: list[str] | Unset = UNSET
        if not isinstance(self.pattern, Unset):
            pattern = self.pattern

        audience: list[str] | Unset = UNSET
        if not isinstance(self.audience, Unset):
            audience = self.audience

        size: list[str] | Unset = UNSET
        if not isinstance(self.size, Unset):
            size = self.size

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if color is not UNSET:
            field_dict["color"] = color
        if material is not UNSET:
            field_dict["material"] = material
        if pattern is not UNSET:
            field_dict["pattern"] = pattern
        if audience is not UNSET:
            field_dict["audience"] = audience
        if size is not UNSET:
            field_dict["size"] = size

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        color = cast(list[str], d.pop("color", UNSET))

        material = cast(list[str], d.pop("material", UNSET))

        pattern = cast(list[str], d.pop("pattern", UNSET))

        audience = cast(list[str], d.pop("audience", UNSET))

        size = cast(list[str], d.pop("size", UNSET))

        inferred_attributes = cls(
            color=color,
            material=material,
            pattern=pattern,
            audience=audience,
            size=size,
        )

        inferred_attributes.additional_properties = d
        return inferred_attributes

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
