from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.attributes import Attributes
    from ..models.category import Category
    from ..models.explanation import Explanation
    from ..models.inferred_attributes import InferredAttributes
    from ..models.media import Media


T = TypeVar("T", bound="Product")


@_attrs_define
class Product:
    """A product."""

    id: int
    """ Assigned by the service; growing, never used again. """
    title: str
    """ As written. """
    description: str
    """ As written. """
    price: str
    """ As written, with its currency. """
    hidden: bool
    """ Whether search leaves it out. """
    media: list[Media]
    """ Its pictures. """
    shop_id: int
    """ The shop it belongs to. """
    created_at: datetime.datetime
    """ When it was created. """
    updated_at: datetime.datetime
    """ When it was last written. """
    key: str | Unset = UNSET
    """ The merchant's own identifier, if it has one. """
    url: str | Unset = UNSET
    """ The address of its page, if it has one. """
    attributes: Attributes | Unset = UNSET
    """ What the merchant states about a product, by name. A name has 1 to 40 characters of `a-z`, `0-9` and `_` and
    starts with a letter; `id`, `price`, `hidden`, `category`, `query`, `sort` and `not` are reserved. A value is a
    string, a number, a boolean, or an array of different strings. Numbers keep 15 significant digits. """
    category: Category | Unset = UNSET
    """ Where a product belongs, inferred from its texts and from the merchant's attributes that name a
    category. """
    inferred_attributes: InferredAttributes | Unset = UNSET
    """ What the texts of a product state, as canonical values: *emerald* is `green`. Attributes that the
    merchant states are left out, and so are those without values. """
    explanation: Explanation | Unset = UNSET
    """ The parts of a product's score. Where there is a `rerank`, `score` is the sum of its
    contributions; otherwise `words.score` times its weight plus `meaning.score` times its weight. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        title = self.title

        description = self.description

        price = self.price

        hidden = self.hidden

        media = []
        for media_item_data in self.media:
            media_item = media_item_data.to_dict()
            media.append(media_item)

        shop_id = self.shop_id

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        key = self.key

        url = self.url

        attributes: dict[str, Any] | Unset = UNSET
        if not isinstance(self.attributes, Unset):
            attributes = self.attributes.to_dict()

        category: dict[str, Any] | Unset = UNSET
        if not isinstance(self.category, Unset):
            category = self.category.to_dict()

        inferred_attributes: dict[str, Any] | Unset = UNSET
        if not isinstance(self.inferred_attributes, Unset):
            inferred_attributes = self.inferred_attributes.to_dict()

        explanation: dict[str, Any] | Unset = UNSET
        if not isinstance(self.explanation, Unset):
            explanation = self.explanation.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "title": title,
                "description": description,
                "price": price,
                "hidden": hidden,
                "media": media,
                "shop_id": shop_id,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )
        if key is not UNSET:
            field_dict["key"] = key
        if url is not UNSET:
            field_dict["url"] = url
        if attributes is not UNSET:
            field_dict["attributes"] = attributes
        if category is not UNSET:
            field_dict["category"] = category
        if inferred_attributes is not UNSET:
            field_dict["inferred_attributes"] = inferred_attributes
        if explanation is not UNSET:
            field_dict["explanation"] = explanation

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.attributes import Attributes  # noqa: PLC0415
        from ..models.category import Category  # noqa: PLC0415
        from ..models.explanation import Explanation  # noqa: PLC0415
        from ..models.inferred_attributes import InferredAttributes  # noqa: PLC0415
        from ..models.media import Media  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        title = d.pop("title")

        description = d.pop("description")

        price = d.pop("price")

        hidden = d.pop("hidden")

        media = []
        _media = d.pop("media")
        for media_item_data in _media:
            media_item = Media.from_dict(media_item_data)

            media.append(media_item)

        shop_id = d.pop("shop_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        key = d.pop("key", UNSET)

        url = d.pop("url", UNSET)

        _attributes = d.pop("attributes", UNSET)
        attributes: Attributes | Unset
        if isinstance(_attributes, Unset):
            attributes = UNSET
        else:
            attributes = Attributes.from_dict(_attributes)

        _category = d.pop("category", UNSET)
        category: Category | Unset
        if isinstance(_category, Unset):
            category = UNSET
        else:
            category = Category.from_dict(_category)

        _inferred_attributes = d.pop("inferred_attributes", UNSET)
        inferred_attributes: InferredAttributes | Unset
        if isinstance(_inferred_attributes, Unset):
            inferred_attributes = UNSET
        else:
            inferred_attributes = InferredAttributes.from_dict(_inferred_attributes)

        _explanation = d.pop("explanation", UNSET)
        explanation: Explanation | Unset
        if isinstance(_explanation, Unset):
            explanation = UNSET
        else:
            explanation = Explanation.from_dict(_explanation)

        product = cls(
            id=id,
            title=title,
            description=description,
            price=price,
            hidden=hidden,
            media=media,
            shop_id=shop_id,
            created_at=created_at,
            updated_at=updated_at,
            key=key,
            url=url,
            attributes=attributes,
            category=category,
            inferred_attributes=inferred_attributes,
            explanation=explanation,
        )

        product.additional_properties = d
        return product

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
