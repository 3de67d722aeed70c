from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.filter_ import Filter
    from ..models.understand import Understand


T = TypeVar("T", bound="SearchRequest")


@_attrs_define
class SearchRequest:
    """What to search for."""

    query: str | Unset = UNSET
    """ The shopper's words, in natural language, with any conditions in them: a price (`under $50`, `20 to 30
    euros`), what is not wanted (`without leather`), an order (`cheapest first`). Not blank, unless there is a
    `filter`. """
    filter_: Filter | Unset = UNSET
    """ Conditions by name, all of which must hold, at most 50 with those of `not`: `price` with a range; `category`
    with an array of ids; any attribute with an array of strings (one of them, whatever their case and accents),
    with a boolean, or with a range for numbers; `not` with conditions in the same form, none of which may hold.
    Where the merchant states no `color`, `material`, `pattern`, `audience` or `size`, what the texts state counts,
    and a shade stands for its base color. A product without an attribute satisfies no condition on it; values of
    another type than the condition's are ignored. """
    facets: list[str] | Unset = UNSET
    """ What to count over all results, each name once: `category`, `price` or the name of an attribute, stated or
    inferred. """
    facet_limit: int | Unset = 20
    """ How many values of a facet to return at most, the most frequent first. """
    sort: str | Unset = UNSET
    """ The order: `relevance` (the default), `price`, `-price`, `newest`, `oldest`, or a numeric attribute, with
    `-` for descending. It wins over an order in the query. Products without a value come last. Prices are ordered
    within each currency, the most frequent one first. """
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

        filter_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.filter_, Unset):
            filter_ = self.filter_.to_dict()

        facets: list[str] | Unset = UNSET
        if not isinstance(self.facets, Unset):
            facets = self.facets

        facet_limit = self.facet_limit

        sort = self.sort

        limit = self.limit

        offset = self.offset

        include_hidden = self.include_hidden

        understand: dict[str, Any] | Unset = UNSET
        if not isinstance(self.understand, Unset):
            understand = self.understand.to_dict()

        explain = self.explain

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if query is not UNSET:
            field_dict["query"] = query
        if filter_ is not UNSET:
            field_dict["filter"] = filter_
        if facets is not UNSET:
            field_dict["facets"] = facets
        if facet_limit is not UNSET:
            field_dict["facet_limit"] = facet_limit
        if sort is not UNSET:
            field_dict["sort"] = sort
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
        from ..models.filter_ import Filter  # noqa: PLC0415
        from ..models.understand import Understand  # noqa: PLC0415

        d = dict(src_dict)
        query = d.pop("query", UNSET)

        _filter_ = d.pop("filter", UNSET)
        filter_: Filter | Unset
        if isinstance(_filter_, Unset):
            filter_ = UNSET
        else:
            filter_ = Filter.from_dict(_filter_)

        facets = cast(list[str], d.pop("facets", UNSET))

        facet_limit = d.pop("facet_limit", UNSET)

        sort = d.pop("sort", UNSET)

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
            filter_=filter_,
            facets=facets,
            facet_limit=facet_limit,
            sort=sort,
            limit=limit,
            offset=offset,
            include_hidden=include_hidden,
            understand=understand,
            explain=explain,
        )

        return search_request
