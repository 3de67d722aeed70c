from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ExplainedAttributes")


@_attrs_define
class ExplainedAttributes:
    """Agreement with each attribute that the query asks for, from -1 (contradicts it) to 1 (states it);
    0 if it is not asked for or unknown.

    """

    color: float
    """ Agreement in color. """
    material: float
    """ Agreement in material. """
    pattern: float
    """ Agreement in pattern. """
    audience: float
    """ Agreement about whom it is for. """
    size: float
    """ Agreement in size. """
    unasked_audience: float
    """ Negative for a product for pets or children where the query names no audience. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        color = self.color

        material = self.material

        pattern = self.pattern

        audience = self.audience

        size = self.size

        unasked_audience = self.unasked_audience

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "color": color,
                "material": material,
                "pattern": pattern,
                "audience": audience,
                "size": size,
                "unasked_audience": unasked_audience,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        color = d.pop("color")

        material = d.pop("material")

        pattern = d.pop("pattern")

        audience = d.pop("audience")

        size = d.pop("size")

        unasked_audience = d.pop("unasked_audience")

        explained_attributes = cls(
            color=color,
            material=material,
            pattern=pattern,
            audience=audience,
            size=size,
            unasked_audience=unasked_audience,
        )

        explained_attributes.additional_properties = d
        return explained_attributes

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
