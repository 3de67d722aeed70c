from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.fault_code import FaultCode, check_fault_code
from ..types import UNSET, Unset

T = TypeVar("T", bound="Fault")


@_attrs_define
class Fault:
    """One thing that is wrong with a request. Names and messages are cut where they are long.

    Example:
        {'code': 'invalid_price', 'field': 'price', 'message': 'has no currency; write it with a sign or a code, such as
            $19.99'}

    """

    code: FaultCode
    """ What can be wrong with a field or an element, for programs. Later versions may know more. """
    message: str
    """ What is wrong, for people. """
    field: str | Unset = UNSET
    """ The field at fault, as a path into the request; absent where the whole is at fault. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code: str = self.code

        message = self.message

        field = self.field

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "message": message,
            }
        )
        if field is not UNSET:
            field_dict["field"] = field

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = check_fault_code(d.pop("code"))

        message = d.pop("message")

        field = d.pop("field", UNSET)

        fault = cls(
            code=code,
            message=message,
            field=field,
        )

        fault.additional_properties = d
        return fault

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
