from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.change_record_change import ChangeRecordChange, check_change_record_change
from ..types import UNSET, Unset

T = TypeVar("T", bound="ChangeRecord")


@_attrs_define
class ChangeRecord:
    """A change of one product."""

    seq: int
    """ Its sequence number. """
    id: int
    """ The product's id. """
    change: ChangeRecordChange
    """ What happened: the product was created or updated, or it was deleted. """
    key: str | Unset = UNSET
    """ The product's key: the current one, or in a deletion the last one. Left out if there is none. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        seq = self.seq

        id = self.id

        change: str = self.change

        key = self.key

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "seq": seq,
                "id": id,
                "change": change,
            }
        )
        if key is not UNSET:
            field_dict["key"] = key

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        seq = d.pop("seq")

        id = d.pop("id")

        change = check_change_record_change(d.pop("change"))

        key = d.pop("key", UNSET)

        change_record = cls(
            seq=seq,
            id=id,
            change=change,
            key=key,
        )

        change_record.additional_properties = d
        return change_record

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
