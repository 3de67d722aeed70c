from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.new_media import NewMedia


T = TypeVar("T", bound="ProductEdit")


@_attrs_define
class ProductEdit:
    """A product and the fields of it to change, at least one."""

    id: int
    """ Which product. """
    title: str | Unset = UNSET
    """ Not blank, without control characters; spaces around it do not count, up to 1000 characters with them. """
    description: str | Unset = UNSET
    """ Without control characters, newlines and tabs apart. """
    price: str | Unset = UNSET
    """ An amount with its currency before or after it, as a sign or an ISO 4217 code: `$19.99`, `19,99 €`, `EUR
    1.299,00`, `£1,299`, `¥1500`, `1 299 ₽`. Kept as written. """
    hidden: bool | Unset = UNSET
    """ Whether search leaves it out. """
    media: list[NewMedia] | Unset = UNSET
    """ Its pictures, in place of all that were there. """
    shop_id: Any | Unset = UNSET
    """ Ignored, so that what was read can be edited and sent back. """
    created_at: Any | Unset = UNSET
    """ Ignored, so that what was read can be edited and sent back. """
    updated_at: Any | Unset = UNSET
    """ Ignored, so that what was read can be edited and sent back. """

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        title = self.title

        description = self.description

        price = self.price

        hidden = self.hidden

        media: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.media, Unset):
            media = []
            for media_item_data in self.media:
                media_item = media_item_data.to_dict()
                media.append(media_item)

        shop_id = self.shop_id

        created_at = self.created_at

        updated_at = self.updated_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
            }
        )
        if title is not UNSET:
            field_dict["title"] = title
        if description is not UNSET:
            field_dict["description"] = description
        if price is not UNSET:
            field_dict["price"] = price
        if hidden is not UNSET:
            field_dict["hidden"] = hidden
        if media is not UNSET:
            field_dict["media"] = media
        if shop_id is not UNSET:
            field_dict["shop_id"] = shop_id
        if created_at is not UNSET:
            field_dict["created_at"] = created_at
        if updated_at is not UNSET:
            field_dict["updated_at"] = updated_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.new_media import NewMedia  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        title = d.pop("title", UNSET)

        description = d.pop("description", UNSET)

        price = d.pop("price", UNSET)

        hidden = d.pop("hidden", UNSET)

        _media = d.pop("media", UNSET)
        media: list[NewMedia] | Unset = UNSET
        if _media is not UNSET:
            media = []
            for media_item_data in _media:
                media_item = NewMedia.from_dict(media_item_data)

                media.append(media_item)

        shop_id = d.pop("shop_id", UNSET)

        created_at = d.pop("created_at", UNSET)

        updated_at = d.pop("updated_at", UNSET)

        product_edit = cls(
            id=id,
            title=title,
            description=description,
            price=price,
            hidden=hidden,
            media=media,
            shop_id=shop_id,
            created_at=created_at,
            updated_at=updated_at,
        )

        return product_edit
