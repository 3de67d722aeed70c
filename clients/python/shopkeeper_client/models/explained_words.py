from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.explained_bonus import ExplainedBonus
    from ..models.explained_term import ExplainedTerm


T = TypeVar("T", bound="ExplainedWords")


@_attrs_define
class ExplainedWords:
    """What words give."""

    matched: float
    """ How well the words match, from 0 to 1: the sum of terms and bonuses. """
    score: float
    """ What that is worth, from 0 to 1. """
    weight: float
    """ How much of the whole score they decide, from 0 to 1. """
    terms: list[ExplainedTerm]
    """ What was asked for, as far as the product says it. """
    bonuses: list[ExplainedBonus]
    """ What the product has beyond single words. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        matched = self.matched

        score = self.score

        weight = self.weight

        terms = []
        for terms_item_data in self.terms:
            terms_item = terms_item_data.to_dict()
            terms.append(terms_item)

        bonuses = []
        for bonuses_item_data in self.bonuses:
            bonuses_item = bonuses_item_data.to_dict()
            bonuses.append(bonuses_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "matched": matched,
                "score": score,
                "weight": weight,
                "terms": terms,
                "bonuses": bonuses,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.explained_bonus import ExplainedBonus  # noqa: PLC0415
        from ..models.explained_term import ExplainedTerm  # noqa: PLC0415

        d = dict(src_dict)
        matched = d.pop("matched")

        score = d.pop("score")

        weight = d.pop("weight")

        terms = []
        _terms = d.pop("terms")
        for terms_item_data in _terms:
            terms_item = ExplainedTerm.from_dict(terms_item_data)

            terms.append(terms_item)

        bonuses = []
        _bonuses = d.pop("bonuses")
        for bonuses_item_data in _bonuses:
            bonuses_item = ExplainedBonus.from_dict(bonuses_item_data)

            bonuses.append(bonuses_item)

        explained_words = cls(
            matched=matched,
            score=score,
            weight=weight,
            terms=terms,
            bonuses=bonuses,
        )

        explained_words.additional_properties = d
        return explained_words

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
