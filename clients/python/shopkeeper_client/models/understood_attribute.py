from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.character_span import CharacterSpan


T = TypeVar("T", bound="UnderstoodAttribute")


@_attrs_define
class UnderstoodAttribute:
    """Something that the thing should be or have."""

    name: str
    """ The attribute, as products and filters name it: `color`. """
    values: list[str]
    """ The values that will do, as products and filters name them: `blue` for *navy*. """
    text: str
    """ The piece of the query that says so. """
    span: CharacterSpan
    """ A piece of the query, in characters (Unicode scalar values) from 0. """
    required: bool
    """ Whether nothing else will do (`only`, `must be`): every product found has one of the values. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        values = self.values

        text = self.text

        span = self.span.to_dict()

        required = self.required

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "values": values,
                "text": text,
                "span": span,
                "required": required,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.character_span import CharacterSpan  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        values = cast(list[str], d.pop("values"))

        text = d.pop("text")

        span = CharacterSpan.from_dict(d.pop("span"))

        required = d.pop("required")

        understood_attribute = cls(
            name=name,
            values=values,
            text=text,
            span=span,
            required=required,
        )

        understood_attribute.additional_properties = d
        return understood_attribute

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
