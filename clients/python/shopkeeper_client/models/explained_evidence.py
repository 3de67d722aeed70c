from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.explained_attributes import ExplainedAttributes


T = TypeVar("T", bound="ExplainedEvidence")


@_attrs_define
class ExplainedEvidence:
    """What is known about a product and a query."""

    lexical: float
    """ The match of the words, from 0 to 1. """
    similarity: float
    """ The cosine between query and product, by the instant encoder. """
    deep_similarity: float
    """ The cosine by the transformer, or its estimate where query or product have no such vector. """
    phrase_similarity: float
    """ The first after the query was moved toward known phrases. """
    soft_coverage: float
    """ The share of the query that the product's words cover, by meaning where not literally. """
    names: float
    """ Whether the title says a name of what the query asks for, from 0 to 1. """
    head: float
    """ How close a word of the title is to the thing that the query names: a cosine. """
    attributes: ExplainedAttributes
    """ Agreement with each attribute that the query asks for, from -1 (contradicts it) to 1 (states it);
    0 if it is not asked for or unknown. """
    category: float
    """ The probability that the query means the product's category; 0 if either is
    unknown. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lexical = self.lexical

        similarity = self.similarity

        deep_similarity = self.deep_similarity

        phrase_similarity = self.phrase_similarity

        soft_coverage = self.soft_coverage

        names = self.names

        head = self.head

        attributes = self.attributes.to_dict()

        category = self.category

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lexical": lexical,
                "similarity": similarity,
                "deep_similarity": deep_similarity,
                "phrase_similarity": phrase_similarity,
                "soft_coverage": soft_coverage,
                "names": names,
                "head": head,
                "attributes": attributes,
                "category": category,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.explained_attributes import ExplainedAttributes  # noqa: PLC0415

        d = dict(src_dict)
        lexical = d.pop("lexical")

        similarity = d.pop("similarity")

        deep_similarity = d.pop("deep_similarity")

        phrase_similarity = d.pop("phrase_similarity")

        soft_coverage = d.pop("soft_coverage")

        names = d.pop("names")

        head = d.pop("head")

        attributes = ExplainedAttributes.from_dict(d.pop("attributes"))

        category = d.pop("category")

        explained_evidence = cls(
            lexical=lexical,
            similarity=similarity,
            deep_similarity=deep_similarity,
            phrase_similarity=phrase_similarity,
            soft_coverage=soft_coverage,
            names=names,
            head=head,
            attributes=attributes,
            category=category,
        )

        explained_evidence.additional_properties = d
        return explained_evidence

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
