from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.character_span import CharacterSpan


T = TypeVar("T", bound="UnderstoodCorrection")


@_attrs_define
class UnderstoodCorrection:
    """A piece of the query that was probably not meant as written."""

    from_: str
    """ The piece as written. """
    to: str
    """ What is searched for in its place. """
    span: CharacterSpan
    """ A piece of the query, in characters (Unicode scalar values) from 0. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from_ = self.from_

        to = self.to

        span = self.span.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "from": from_,
                "to": to,
                "span": span,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.character_span import CharacterSpan  # noqa: PLC0415

        d = dict(src_dict)
        from_ = d.pop("from")

        to = d.pop("to")

        span = CharacterSpan.from_dict(d.pop("span"))

        understood_correction = cls(
            from_=from_,
            to=to,
            span=span,
        )

        understood_correction.additional_properties = d
        return understood_correction

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
