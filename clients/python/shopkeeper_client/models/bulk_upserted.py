from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.element_fault import ElementFault


T = TypeVar("T", bound="BulkUpserted")


@_attrs_define
class BulkUpserted:
    """What became of an upsert."""

    created_count: int
    """ How many products were created. """
    created_ids: list[int]
    """ Their ids, in the order of the request. """
    updated_count: int
    """ How many elements changed a product. """
    updated_ids: list[int]
    """ The ids of these products, in the order of the request. """
    errors: list[ElementFault]
    """ What was wrong with the others, by place in the request: at least one fault of each, and
    at most 100 in all. """
    errors_omitted: int | Unset = UNSET
    """ How many faults there are beside those in `errors`, where there are more. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_count = self.created_count

        created_ids = self.created_ids

        updated_count = self.updated_count

        updated_ids = self.updated_ids

        errors = []
        for errors_item_data in self.errors:
            errors_item = errors_item_data.to_dict()
            errors.append(errors_item)

        errors_omitted = self.errors_omitted

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created_count": created_count,
                "created_ids": created_ids,
                "updated_count": updated_count,
                "updated_ids": updated_ids,
                "errors": errors,
            }
        )
        if errors_omitted is not UNSET:
            field_dict["errors_omitted"] = errors_omitted

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.element_fault import ElementFault  # noqa: PLC0415

        d = dict(src_dict)
        created_count = d.pop("created_count")

        created_ids = cast(list[int], d.pop("created_ids"))

        updated_count = d.pop("updated_count")

        updated_ids = cast(list[int], d.pop("updated_ids"))

        errors = []
        _errors = d.pop("errors")
        for errors_item_data in _errors:
            errors_item = ElementFault.from_dict(errors_item_data)

            errors.append(errors_item)

        errors_omitted = d.pop("errors_omitted", UNSET)

        bulk_upserted = cls(
            created_count=created_count,
            created_ids=created_ids,
            updated_count=updated_count,
            updated_ids=updated_ids,
            errors=errors,
            errors_omitted=errors_omitted,
        )

        bulk_upserted.additional_properties = d
        return bulk_upserted

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
