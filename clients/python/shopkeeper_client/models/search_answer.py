from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.encoder import Encoder, check_encoder
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.product import Product
    from ..models.understood import Understood


T = TypeVar("T", bound="SearchAnswer")


@_attrs_define
class SearchAnswer:
    """What a search found."""

    products: list[Product]
    """ The products, best first or in the order that was asked for. """
    query: str
    """ The query as it was asked. """
    total: int
    """ How many products were found in all: exact, whatever the page, unless `total_is_exact` says otherwise. """
    understood: Understood
    """ How the query was read. """
    encoder: Encoder | None
    """ Which encoder told what the query means. `null` where meaning took no part. """
    total_is_exact: bool | Unset = UNSET
    """ `false` where there may be more, as in shops that are searched inside the database; left out where `total`
    is exact. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        products = []
        for products_item_data in self.products:
            products_item = products_item_data.to_dict()
            products.append(products_item)

        query = self.query

        total = self.total

        understood = self.understood.to_dict()

        encoder: None | str
        if isinstance(self.encoder, str):
            encoder = self.encoder
        else:
            encoder = self.encoder

        total_is_exact = self.total_is_exact

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "products": products,
                "query": query,
                "total": total,
                "understood": understood,
                "encoder": encoder,
            }
        )
        if total_is_exact is not UNSET:
            field_dict["total_is_exact"] = total_is_exact

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.product import Product  # noqa: PLC0415
        from ..models.understood import Understood  # noqa: PLC0415

        d = dict(src_dict)
        products = []
        _products = d.pop("products")
        for products_item_data in _products:
            products_item = Product.from_dict(products_item_data)

            products.append(products_item)

        query = d.pop("query")

        total = d.pop("total")

        understood = Understood.from_dict(d.pop("understood"))

        def _parse_encoder(data: object) -> Encoder | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoder_type_0 = check_encoder(data)

                return encoder_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Encoder | None, data)

        encoder = _parse_encoder(d.pop("encoder"))

        total_is_exact = d.pop("total_is_exact", UNSET)

        search_answer = cls(
            products=products,
            query=query,
            total=total,
            understood=understood,
            encoder=encoder,
            total_is_exact=total_is_exact,
        )

        search_answer.additional_properties = d
        return search_answer

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
