from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.role import Role, check_role

T = TypeVar("T", bound="NewToken")


@_attrs_define
class NewToken:
    """A token that was just issued."""

    id: int
    """ Its number. """
    token: str
    """ The token itself: shown this once, kept only as a hash. """
    shop_id: int
    """ The shop it belongs to. """
    role: Role
    """ What a token lets its bearer do; each role includes the ones before. """
    name: str
    """ What its owner called it. """
    created_at: datetime.datetime
    """ When it was issued. """
    expires_at: datetime.datetime | None
    """ When it stops working; `null` for never. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        token = self.token

        shop_id = self.shop_id

        role: str = self.role

        name = self.name

        created_at = self.created_at.isoformat()

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "token": token,
                "shop_id": shop_id,
                "role": role,
                "name": name,
                "created_at": created_at,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        token = d.pop("token")

        shop_id = d.pop("shop_id")

        role = check_role(d.pop("role"))

        name = d.pop("name")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        new_token = cls(
            id=id,
            token=token,
            shop_id=shop_id,
            role=role,
            name=name,
            created_at=created_at,
            expires_at=expires_at,
        )

        new_token.additional_properties = d
        return new_token

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
