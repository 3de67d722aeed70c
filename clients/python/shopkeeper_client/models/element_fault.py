from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.fault_code import FaultCode, check_fault_code
from ..types import UNSET, Unset

T = TypeVar("T", bound="ElementFault")


@_attrs_define
class ElementFault:
    """One thing that is wrong with one element of a bulk request."""

    index: int
    """ The element's place in the request, from 0. """
    code: FaultCode
    """ What can be wrong with a field or an element, for programs. Later versions may know more. """
    message: str
    """ What is wrong, for people. """
    id: int | Unset = UNSET
    """ The product's id, in a bulk update. """
    key: str | Unset = UNSET
    """ The product's key, in an upsert. """
    field: str | Unset = UNSET
    """ The field at fault, where one is. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        index = self.index

        code: str = self.code

        message = self.message

        id = self.id

        key = self.key

        field = self.field

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "index": index,
                "code": code,
                "message": message,
            }
        )
        if id is not UNSET:
            field_dict["id"] = id
        if key is not UNSET:
            field_dict["key"] = key
        if field is not UNSET:
            field_dict["field"] = field

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        index = d.pop("index")

        code = check_fault_code(d.pop("code"))

        message = d.pop("message")

        id = d.pop("id", UNSET)

        key = d.pop("key", UNSET)

        field = d.pop("field", UNSET)

        element_fault = cls(
            index=index,
            code=code,
            message=message,
            id=id,
            key=key,
            field=field,
        )

        element_fault.additional_properties = d
        return element_fault

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
