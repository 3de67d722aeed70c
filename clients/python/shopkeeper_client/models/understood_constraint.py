from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.understood_constraint_field import UnderstoodConstraintField, check_understood_constraint_field
from ..models.understood_constraint_operation import (
    UnderstoodConstraintOperation,
    check_understood_constraint_operation,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.character_span import CharacterSpan


T = TypeVar("T", bound="UnderstoodConstraint")


@_attrs_define
class UnderstoodConstraint:
    """A condition on a field of products."""

    field: UnderstoodConstraintField
    """ The field. """
    operation: UnderstoodConstraintOperation
    """ How the field compares. `between` and `about` (within 20%) have `min` and `max`, both let in; the others
    have `value`. """
    currency: None | str
    """ Only prices in this currency, an ISO 4217 code; `null` for the amount in any. """
    text: str
    """ The piece of the query that says so. """
    span: CharacterSpan
    """ A piece of the query, in characters (Unicode scalar values) from 0. """
    value: str | Unset = UNSET
    """ The amount, an exact decimal. """
    min_: str | Unset = UNSET
    """ The least amount, an exact decimal. """
    max_: str | Unset = UNSET
    """ The greatest amount, an exact decimal. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        field: str = self.field

        operation: str = self.operation

        currency: None | str
        currency = self.currency

        text = self.text

        span = self.span.to_dict()

        value = self.value

        min_ = self.min_

        max_ = self.max_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "field": field,
                "operation": operation,
                "currency": currency,
                "text": text,
                "span": span,
            }
        )
        if value is not UNSET:
            field_dict["value"] = value
        if min_ is not UNSET:
            field_dict["min"] = min_
        if max_ is not UNSET:
            field_dict["max"] = max_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.character_span import CharacterSpan  # noqa: PLC0415

        d = dict(src_dict)
        field = check_understood_constraint_field(d.pop("field"))

        operation = check_understood_constraint_operation(d.pop("operation"))

        def _parse_currency(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        currency = _parse_currency(d.pop("currency"))

        text = d.pop("text")

        span = CharacterSpan.from_dict(d.pop("span"))

        value = d.pop("value", UNSET)

        min_ = d.pop("min", UNSET)

        max_ = d.pop("max", UNSET)

        understood_constraint = cls(
            field=field,
            operation=operation,
            currency=currency,
            text=text,
            span=span,
            value=value,
            min_=min_,
            max_=max_,
        )

        understood_constraint.additional_properties = d
        return understood_constraint

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
