"""A typed client of Shopkeeper.

``api`` has a module for each operation and ``models`` what they take and give: both are made from the
service's OpenAPI document. `connect` and `or_raise` are written by hand, in ``shop.py``.
"""

from .errors import UnexpectedStatus
from .shop import ProblemError, Shop, connect, or_raise

__all__ = ["ProblemError", "Shop", "UnexpectedStatus", "connect", "or_raise"]
