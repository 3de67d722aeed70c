from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.role import Role, check_role

if TYPE_CHECKING:
    from ..models.process_stats import ProcessStats
    from ..models.product_stats import ProductStats
    from ..models.request_stats import RequestStats


T = TypeVar("T", bound="ShopStats")


@_attrs_define
class ShopStats:
    """How a shop is doing."""

    shop_id: int
    """ The token's shop. """
    role: Role
    """ What a token lets its bearer do; each role includes the ones before. """
    products: ProductStats
    """ How many products a shop has. """
    searches: RequestStats
    """ One kind of work for a shop. """
    writes: RequestStats
    """ One kind of work for a shop. """
    process: None | ProcessStats
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.process_stats import ProcessStats  # noqa: PLC0415

        shop_id = self.shop_id

        role: str = self.role

        products = self.products.to_dict()

        searches = self.searches.to_dict()

        writes = self.writes.to_dict()

        process: dict[str, Any] | None
        if isinstance(self.process, ProcessStats):
            process = self.process.to_dict()
        else:
            process = self.process

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "shop_id": shop_id,
                "role": role,
                "products": products,
                "searches": searches,
                "writes": writes,
                "process": process,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.process_stats import ProcessStats  # noqa: PLC0415
        from ..models.product_stats import ProductStats  # noqa: PLC0415
        from ..models.request_stats import RequestStats  # noqa: PLC0415

        d = dict(src_dict)
        shop_id = d.pop("shop_id")

        role = check_role(d.pop("role"))

        products = ProductStats.from_dict(d.pop("products"))

        searches = RequestStats.from_dict(d.pop("searches"))

        writes = RequestStats.from_dict(d.pop("writes"))

        def _parse_process(data: object) -> None | ProcessStats:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                process_type_0 = ProcessStats.from_dict(data)

                return process_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ProcessStats, data)

        process = _parse_process(d.pop("process"))

        shop_stats = cls(
            shop_id=shop_id,
            role=role,
            products=products,
            searches=searches,
            writes=writes,
            process=process,
        )

        shop_stats.additional_properties = d
        return shop_stats

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
