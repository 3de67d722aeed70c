from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.character_span import CharacterSpan


T = TypeVar("T", bound="UnderstoodExclusion")


@_attrs_define
class UnderstoodExclusion:
    """Words that are not wanted."""

    words: str
    """ The words, as products are searched for them. """
    text: str
    """ The piece of the query that says so. """
    span: CharacterSpan
    """ A piece of the query, in characters (Unicode scalar values) from 0. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        words = self.words

        text = self.text

        span = self.span.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "words": words,
                "text": text,
                "span": span,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.character_span import CharacterSpan  # noqa: PLC0415

        d = dict(src_dict)
        words = d.pop("words")

        text = d.pop("text")

        span = CharacterSpan.from_dict(d.pop("span"))

        understood_exclusion = cls(
            words=words,
            text=text,
            span=span,
        )

        understood_exclusion.additional_properties = d
        return understood_exclusion

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
