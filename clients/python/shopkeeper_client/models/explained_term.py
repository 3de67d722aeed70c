from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ExplainedTerm")


@_attrs_define
class ExplainedTerm:
    """Something asked for that the product says."""

    term: str
    """ What was asked for, as the index has it. """
    as_: str
    """ The way in which the product says it. """
    title: int
    """ How often its title does. """
    description: int
    """ How often its description does. """
    score: float
    """ What that gives. """
    attribute: bool | Unset = UNSET
    """ `true` if its key or an attribute does. Left out otherwise. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        term = self.term

        as_ = self.as_

        title = self.title

        description = self.description

        score = self.score

        attribute = self.attribute

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "term": term,
                "as": as_,
                "title": title,
                "description": description,
                "score": score,
            }
        )
        if attribute is not UNSET:
            field_dict["attribute"] = attribute

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        term = d.pop("term")

        as_ = d.pop("as")

        title = d.pop("title")

        description = d.pop("description")

        score = d.pop("score")

        attribute = d.pop("attribute", UNSET)

        explained_term = cls(
            term=term,
            as_=as_,
            title=title,
            description=description,
            score=score,
            attribute=attribute,
        )

        explained_term.additional_properties = d
        return explained_term

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
