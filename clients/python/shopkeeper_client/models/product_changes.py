from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.attributes import Attributes
    from ..models.new_media import NewMedia


T = TypeVar("T", bound="ProductChanges")


@_attrs_define
class ProductChanges:
    """The fields to change, at least one; the others stay as they are."""

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
    url: str | Unset = UNSET
    """ The absolute http or https address of the product's page, kept as written and never fetched. `""` removes
    it. """
    attributes: Attributes | Unset = UNSET
    """ What the merchant states about a product, by name. A name has 1 to 40 characters of `a-z`, `0-9` and `_` and
    starts with a letter; `id`, `price`, `hidden`, `category`, `query`, `sort` and `not` are reserved. A value is a
    string, a number, a boolean, or an array of different strings. Numbers keep 15 significant digits. """
    key: str | Unset = UNSET
    """ Your own identifier of the product, such as a SKU or a handle: unique within the shop, compared byte for
    byte, without control characters. `""` removes it. """
    id: Any | Unset = UNSET
    """ Ignored, so that what was read can be edited and sent back. """
    shop_id: Any | Unset = UNSET
    """ Ignored, so that what was read can be edited and sent back. """
    created_at: Any | Unset = UNSET
    """ Ignored, so that what was read can be edited and sent back. """
    updated_at: Any | Unset = UNSET
    """ Ignored, so that what was read can be edited and sent back. """
    category: Any | Unset = UNSET
    """ Ignored, so that what was read can be edited and sent back. """
    inferred_attributes: Any | Unset = UNSET
    """ Ignored, so that what was read can be edited and sent back. """

    def to_dict(self) -> dict[str, Any]:
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

        url = self.url

        attributes: dict[str, Any] | Unset = UNSET
        if not isinstance(self.attributes, Unset):
            attributes = self.attributes.to_dict()

        key = self.key

        id = self.id

        shop_id = self.shop_id

        created_at = self.created_at

        updated_at = self.updated_at

        category = self.category

        inferred_attributes = self.inferred_attributes

        field_dict: dict[str, Any] = {}

        field_dict.update({})
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
        if url is not UNSET:
            field_dict["url"] = url
        if attributes is not UNSET:
            field_dict["attributes"] = attributes
        if key is not UNSET:
            field_dict["key"] = key
        if id is not UNSET:
            field_dict["id"] = id
        if shop_id is not UNSET:
            field_dict["shop_id"] = shop_id
        if created_at is not UNSET:
            field_dict["created_at"] = created_at
        if updated_at is not UNSET:
            field_dict["updated_at"] = updated_at
        if category is not UNSET:
            field_dict["category"] = category
        if inferred_attributes is not UNSET:
            field_dict["inferred_attributes"] = inferred_attributes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.attributes import Attributes  # noqa: PLC0415
        from ..models.new_media import NewMedia  # noqa: PLC0415

        d = dict(src_dict)
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

        url = d.pop("url", UNSET)

        _attributes = d.pop("attributes", UNSET)
        attributes: Attributes | Unset
        if isinstance(_attributes, Unset):
            attributes = UNSET
        else:
            attributes = Attributes.from_dict(_attributes)

        key = d.pop("key", UNSET)

        id = d.pop("id", UNSET)

        shop_id = d.pop("shop_id", UNSET)

        created_at = d.pop("created_at", UNSET)

        updated_at = d.pop("updated_at", UNSET)

        category = d.pop("category", UNSET)

        inferred_attributes = d.pop("inferred_attributes", UNSET)

        product_changes = cls(
            title=title,
            description=description,
            price=price,
            hidden=hidden,
            media=media,
            url=url,
            attributes=attributes,
            key=key,
            id=id,
            shop_id=shop_id,
            created_at=created_at,
            updated_at=updated_at,
            category=category,
            inferred_attributes=inferred_attributes,
        )

        return product_changes
