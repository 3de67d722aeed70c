from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.explained_contributions import ExplainedContributions
    from ..models.explained_evidence import ExplainedEvidence


T = TypeVar("T", bound="ExplainedRerank")


@_attrs_define
class ExplainedRerank:
    """The second stage of ranking."""

    contributions: ExplainedContributions
    """ What each part of the evidence adds to a score. """
    evidence: ExplainedEvidence
    """ What is known about a product and a query. """
    semantic_weight: float
    """ How much the meaning of the query counts beside its words. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        contributions = self.contributions.to_dict()

        evidence = self.evidence.to_dict()

        semantic_weight = self.semantic_weight

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "contributions": contributions,
                "evidence": evidence,
                "semantic_weight": semantic_weight,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.explained_contributions import ExplainedContributions  # noqa: PLC0415
        from ..models.explained_evidence import ExplainedEvidence  # noqa: PLC0415

        d = dict(src_dict)
        contributions = ExplainedContributions.from_dict(d.pop("contributions"))

        evidence = ExplainedEvidence.from_dict(d.pop("evidence"))

        semantic_weight = d.pop("semantic_weight")

        explained_rerank = cls(
            contributions=contributions,
            evidence=evidence,
            semantic_weight=semantic_weight,
        )

        explained_rerank.additional_properties = d
        return explained_rerank

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
