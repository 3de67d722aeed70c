from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ExplainedMeaning")


@_attrs_define
class ExplainedMeaning:
    """What meaning gives."""

    similarity: float
    """ The cosine between query and product. """
    score: float
    """ How much that says, from 0 to 1. """
    weight: float
    """ How much of the whole score it decides, from 0 to 1. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        similarity = self.similarity

        score = self.score

        weight = self.weight

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "similarity": similarity,
                "score": score,
                "weight": weight,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        similarity = d.pop("similarity")

        score = d.pop("score")

        weight = d.pop("weight")

        explained_meaning = cls(
            similarity=similarity,
            score=score,
            weight=weight,
        )

        explained_meaning.additional_properties = d
        return explained_meaning

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
