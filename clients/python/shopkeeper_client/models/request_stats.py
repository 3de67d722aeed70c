from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.latency_bucket import LatencyBucket


T = TypeVar("T", bound="RequestStats")


@_attrs_define
class RequestStats:
    """One kind of work for a shop."""

    count: int
    """ Requests answered. """
    failed: int
    """ Those of them answered with a status of 500 or more. """
    p50_ms: float | None
    """ The median response time in milliseconds; `null` before the first request. """
    p95_ms: float | None
    """ The 95th percentile of the response times in milliseconds; `null` before the first request. """
    p99_ms: float | None
    """ The 99th percentile of the response times in milliseconds; `null` before the first request. """
    times: list[LatencyBucket]
    """ The number of requests by response time, shortest first. The difference of two readings is
    what happened between them. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        count = self.count

        failed = self.failed

        p50_ms: float | None
        p50_ms = self.p50_ms

        p95_ms: float | None
        p95_ms = self.p95_ms

        p99_ms: float | None
        p99_ms = self.p99_ms

        times = []
        for times_item_data in self.times:
            times_item = times_item_data.to_dict()
            times.append(times_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "count": count,
                "failed": failed,
                "p50_ms": p50_ms,
                "p95_ms": p95_ms,
                "p99_ms": p99_ms,
                "times": times,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.latency_bucket import LatencyBucket  # noqa: PLC0415

        d = dict(src_dict)
        count = d.pop("count")

        failed = d.pop("failed")

        def _parse_p50_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        p50_ms = _parse_p50_ms(d.pop("p50_ms"))

        def _parse_p95_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        p95_ms = _parse_p95_ms(d.pop("p95_ms"))

        def _parse_p99_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        p99_ms = _parse_p99_ms(d.pop("p99_ms"))

        times = []
        _times = d.pop("times")
        for times_item_data in _times:
            times_item = LatencyBucket.from_dict(times_item_data)

            times.append(times_item)

        request_stats = cls(
            count=count,
            failed=failed,
            p50_ms=p50_ms,
            p95_ms=p95_ms,
            p99_ms=p99_ms,
            times=times,
        )

        request_stats.additional_properties = d
        return request_stats

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
