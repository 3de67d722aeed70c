from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.role import Role, check_role
from ..types import UNSET, Unset

T = TypeVar("T", bound="TokenRequest")


@_attrs_define
class TokenRequest:
    """A token to issue."""

    role: Role
    """ What a token lets its bearer do; each role includes the ones before. """
    name: str | Unset = ""
    """ What you call it, to recognise it in the list. """
    expires_in_seconds: int | Unset = UNSET
    """ How long it works; for ever if left out. """

    def to_dict(self) -> dict[str, Any]:
        role: str = self.role

        name = self.name

        expires_in_seconds = self.expires_in_seconds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "role": role,
            }
        )
        if name is not UNSET:
            field_dict["name"] = name
        if expires_in_seconds is not UNSET:
            field_dict["expires_in_seconds"] = expires_in_seconds

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        role = check_role(d.pop("role"))

        name = d.pop("name", UNSET)

        expires_in_seconds = d.pop("expires_in_seconds", UNSET)

        token_request = cls(
            role=role,
            name=name,
            expires_in_seconds=expires_in_seconds,
        )

        return token_request
