from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.new_media_type import NewMediaType, check_new_media_type

T = TypeVar("T", bound="NewMedia")


@_attrs_define
class NewMedia:
    """A picture of a product."""

    url: str
    """ An absolute http or https address, kept as written and never fetched. """
    type_: NewMediaType

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        type_: str = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        url = d.pop("url")

        type_ = check_new_media_type(d.pop("type"))

        new_media = cls(
            url=url,
            type_=type_,
        )

        return new_media
