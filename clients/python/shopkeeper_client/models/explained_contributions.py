from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ExplainedContributions")


@_attrs_define
class ExplainedContributions:
    """What each part of the evidence adds to a score."""

    lexical: float
    """ The match of the words. """
    similarity: float
    """ The similarity of the meaning, by the instant encoder. """
    deep_similarity: float
    """ The similarity of the meaning, by the transformer. """
    soft_coverage: float
    """ How much of the query the product's words cover. """
    names: float
    """ Whether the title names the thing. """
    category: float
    """ The category. """
    attributes: float
    """ Attributes that the query asks for; negative for contradictions. """
    preference: float
    """ Being of the right kind with every attribute. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lexical = self.lexical

        similarity = self.similarity

        deep_similarity = self.deep_similarity

        soft_coverage = self.soft_coverage

        names = self.names

        category = self.category

        attributes = self.attributes

        preference = self.preference

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lexical": lexical,
                "similarity": similarity,
                "deep_similarity": deep_similarity,
                "soft_coverage": soft_coverage,
                "names": names,
                "category": category,
                "attributes": attributes,
                "preference": preference,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        lexical = d.pop("lexical")

        similarity = d.pop("similarity")

        deep_similarity = d.pop("deep_similarity")

        soft_coverage = d.pop("soft_coverage")

        names = d.pop("names")

        category = d.pop("category")

        attributes = d.pop("attributes")

        preference = d.pop("preference")

        explained_contributions = cls(
            lexical=lexical,
            similarity=similarity,
            deep_similarity=deep_similarity,
            soft_coverage=soft_coverage,
            names=names,
            category=category,
            attributes=attributes,
            preference=preference,
        )

        explained_contributions.additional_properties = d
        return explained_contributions

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
