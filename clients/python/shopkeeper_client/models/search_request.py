from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.understand import Understand


T = TypeVar("T", bound="SearchRequest")


@_attrs_define
class SearchRequest:
    """What to search for."""

    query: str
    """ The shopper's words, in natural language, with any conditions in them: a price (`under $50`, `20 to 30
    euros`), what is not wanted (`without leather`), an order (`cheapest first`). Not blank. """
    limit: int | Unset = 10
    """ How many products to return at most. """
    offset: int | Unset = 0
    """ How many products to skip, for paging. """
    include_hidden: bool | Unset = False
    """ Whether hidden products are searched too; needs the role VIEWER. """
    understand: Understand | Unset = UNSET
    """ What is read in the query. The words of what is switched off are searched for. """
    explain: bool | Unset = False
    """ Whether each product comes with the parts of its score. """

    def to_dict(self) -> dict[str, Any]:
        query = self.query

        limit = self.limit

        offset = self.offset

        include_hidden = self.include_hidden

        understand: dict[str, Any] | Unset = UNSET
        if not isinstance(self.understand, Unset):
            understand = self.understand.to_dict()

        explain = self.explain

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "query": query,
            }
        )
        if limit is not UNSET:
            field_dict["limit"] = limit
        if offset is not UNSET:
            field_dict["offset"] = offset
        if include_hidden is not UNSET:
            field_dict["include_hidden"] = include_hidden
        if understand is not UNSET:
            field_dict["understand"] = understand
        if explain is not UNSET:
            field_dict["explain"] = explain

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.understand import Understand  # noqa: PLC0415

        d = dict(src_dict)
        query = d.pop("query")

        limit = d.pop("limit", UNSET)

        offset = d.pop("offset", UNSET)

        include_hidden = d.pop("include_hidden", UNSET)

        _understand = d.pop("understand", UNSET)
        understand: Understand | Unset
        if isinstance(_understand, Unset):
            understand = UNSET
        else:
            understand = Understand.from_dict(_understand)

        explain = d.pop("explain", UNSET)

        search_request = cls(
            query=query,
            limit=limit,
            offset=offset,
            include_hidden=include_hidden,
            understand=understand,
            explain=explain,
        )

        return search_request
