from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ProcessStats")


@_attrs_define
class ProcessStats:
    """The process that serves all shops."""

    uptime_seconds: int
    """ How long it has run. """
    memory_bytes: int | None
    """ Resident memory; `null` where the system does not say. """
    index_bytes: int
    """ Memory of the indexes, part of the above. """
    writes_waiting: int
    """ Writes waiting to be stored. """
    vectors_waiting: int | None
    """ Products that still wait for the best vector the model can make of them; `null` without a
    model. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        uptime_seconds = self.uptime_seconds

        memory_bytes: int | None
        memory_bytes = self.memory_bytes

        index_bytes = self.index_bytes

        writes_waiting = self.writes_waiting

        vectors_waiting: int | None
        vectors_waiting = self.vectors_waiting

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "uptime_seconds": uptime_seconds,
                "memory_bytes": memory_bytes,
                "index_bytes": index_bytes,
                "writes_waiting": writes_waiting,
                "vectors_waiting": vectors_waiting,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        uptime_seconds = d.pop("uptime_seconds")

        def _parse_memory_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        memory_bytes = _parse_memory_bytes(d.pop("memory_bytes"))

        index_bytes = d.pop("index_bytes")

        writes_waiting = d.pop("writes_waiting")

        def _parse_vectors_waiting(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        vectors_waiting = _parse_vectors_waiting(d.pop("vectors_waiting"))

        process_stats = cls(
            uptime_seconds=uptime_seconds,
            memory_bytes=memory_bytes,
            index_bytes=index_bytes,
            writes_waiting=writes_waiting,
            vectors_waiting=vectors_waiting,
        )

        process_stats.additional_properties = d
        return process_stats

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
