from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.explained_meaning import ExplainedMeaning
    from ..models.explained_rerank import ExplainedRerank
    from ..models.explained_words import ExplainedWords


T = TypeVar("T", bound="Explanation")


@_attrs_define
class Explanation:
    """The parts of a product's score. Where there is a `rerank`, `score` is the sum of its
    contributions; otherwise `words.score` times its weight plus `meaning.score` times its weight.

    """

    score: float
    """ How relevant the product is: about 1 for one that everything speaks for. """
    words: ExplainedWords
    """ What words give. """
    meaning: ExplainedMeaning | None
    rerank: ExplainedRerank | Unset = UNSET
    """ The second stage of ranking. """
    claims: bool | Unset = UNSET
    """ `true` for a product that claims to be free of what was asked for so (`nickel-free`): these
    come before all others, in the order of their scores. Left out otherwise. """
    key: bool | Unset = UNSET
    """ `true` for the product whose key is the query: it comes before all others. Left out otherwise. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.explained_meaning import ExplainedMeaning  # noqa: PLC0415

        score = self.score

        words = self.words.to_dict()

        meaning: dict[str, Any] | None
        if isinstance(self.meaning, ExplainedMeaning):
            meaning = self.meaning.to_dict()
        else:
            meaning = self.meaning

        rerank: dict[str, Any] | Unset = UNSET
        if not isinstance(self.rerank, Unset):
            rerank = self.rerank.to_dict()

        claims = self.claims

        key = self.key

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "score": score,
                "words": words,
                "meaning": meaning,
            }
        )
        if rerank is not UNSET:
            field_dict["rerank"] = rerank
        if claims is not UNSET:
            field_dict["claims"] = claims
        if key is not UNSET:
            field_dict["key"] = key

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.explained_meaning import ExplainedMeaning  # noqa: PLC0415
        from ..models.explained_rerank import ExplainedRerank  # noqa: PLC0415
        from ..models.explained_words import ExplainedWords  # noqa: PLC0415

        d = dict(src_dict)
        score = d.pop("score")

        words = ExplainedWords.from_dict(d.pop("words"))

        def _parse_meaning(data: object) -> ExplainedMeaning | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                meaning_type_0 = ExplainedMeaning.from_dict(data)

                return meaning_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ExplainedMeaning | None, data)

        meaning = _parse_meaning(d.pop("meaning"))

        _rerank = d.pop("rerank", UNSET)
        rerank: ExplainedRerank | Unset
        if isinstance(_rerank, Unset):
            rerank = UNSET
        else:
            rerank = ExplainedRerank.from_dict(_rerank)

        claims = d.pop("claims", UNSET)

        key = d.pop("key", UNSET)

        explanation = cls(
            score=score,
            words=words,
            meaning=meaning,
            rerank=rerank,
            claims=claims,
            key=key,
        )

        explanation.additional_properties = d
        return explanation

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
