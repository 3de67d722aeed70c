from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.change_record import ChangeRecord


T = TypeVar("T", bound="ChangesPage")


@_attrs_define
class ChangesPage:
    """Changes of a shop, oldest first."""

    changes: list[ChangeRecord]
    """ The changes, oldest first. """
    next_: int
    """ What to pass as the next `since`: the last sequence number of this page, or `since` if there is
    nothing newer. """
    complete: bool
    """ Whether this page reaches the present; `false` if more changes were available. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        changes = []
        for changes_item_data in self.changes:
            changes_item = changes_item_data.to_dict()
            changes.append(changes_item)

        next_ = self.next_

        complete = self.complete

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "changes": changes,
                "next": next_,
                "complete": complete,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.change_record import ChangeRecord  # noqa: PLC0415

        d = dict(src_dict)
        changes = []
        _changes = d.pop("changes")
        for changes_item_data in _changes:
            changes_item = ChangeRecord.from_dict(changes_item_data)

            changes.append(changes_item)

        next_ = d.pop("next")

        complete = d.pop("complete")

        changes_page = cls(
            changes=changes,
            next_=next_,
            complete=complete,
        )

        changes_page.additional_properties = d
        return changes_page

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
