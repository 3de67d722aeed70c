from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.encoder import Encoder, check_encoder
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.facets import Facets
    from ..models.product import Product
    from ..models.understood import Understood


T = TypeVar("T", bound="SearchAnswer")


@_attrs_define
class SearchAnswer:
    """What a search found."""

    products: list[Product]
    """ The products, best first or in the requested order. """
    query: str
    """ The query as it was sent; empty without one. """
    total: int
    """ The number of results on all pages: exact unless `total_is_exact` says otherwise. """
    understood: Understood
    """ How the query was read. """
    encoder: Encoder | None
    """ Which encoder told what the query means. `null` where meaning took no part. """
    total_is_exact: bool | Unset = UNSET
    """ `false` where there may be more, as in shops that are searched inside the database; left out where `total`
    is exact. """
    facets: Facets | Unset = UNSET
    """ How results are distributed: `price` by currency, the most frequent one first, `category` by the categories
    directly below what results have in common or are filtered by, and attributes by value. """
    facets_are_exact: bool | Unset = UNSET
    """ Whether the counts of `facets` are exact, as `total` is; in responses with facets. """
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

        facets: dict[str, Any] | Unset = UNSET
        if not isinstance(self.facets, Unset):
            facets = self.facets.to_dict()

        facets_are_exact = self.facets_are_exact

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
        if facets is not UNSET:
            field_dict["facets"] = facets
        if facets_are_exact is not UNSET:
            field_dict["facets_are_exact"] = facets_are_exact

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.facets import Facets  # noqa: PLC0415
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

        _facets = d.pop("facets", UNSET)
        facets: Facets | Unset
        if isinstance(_facets, Unset):
            facets = UNSET
        else:
            facets = Facets.from_dict(_facets)

        facets_are_exact = d.pop("facets_are_exact", UNSET)

        search_answer = cls(
            products=products,
            query=query,
            total=total,
            understood=understood,
            encoder=encoder,
            total_is_exact=total_is_exact,
            facets=facets,
            facets_are_exact=facets_are_exact,
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
