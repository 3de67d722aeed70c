"""Contains all the data models used in inputs/outputs"""

from .bulk_created import BulkCreated
from .bulk_deleted import BulkDeleted
from .bulk_updated import BulkUpdated
from .character_span import CharacterSpan
from .element_fault import ElementFault
from .encoder import Encoder
from .explained_bonus import ExplainedBonus
from .explained_meaning import ExplainedMeaning
from .explained_term import ExplainedTerm
from .explained_words import ExplainedWords
from .explanation import Explanation
from .fault import Fault
from .fault_code import FaultCode
from .health import Health
from .media import Media
from .media_type import MediaType
from .new_media import NewMedia
from .new_media_type import NewMediaType
from .new_product import NewProduct
from .new_products import NewProducts
from .new_token import NewToken
from .open_api_document import OpenApiDocument
from .problem import Problem
from .problem_code import ProblemCode
from .process_figures import ProcessFigures
from .product import Product
from .product_changes import ProductChanges
from .product_deletion import ProductDeletion
from .product_edit import ProductEdit
from .product_edits import ProductEdits
from .product_figures import ProductFigures
from .role import Role
from .search_answer import SearchAnswer
from .search_request import SearchRequest
from .shop_figures import ShopFigures
from .similar_products import SimilarProducts
from .time_figure import TimeFigure
from .token import Token
from .token_request import TokenRequest
from .understand import Understand
from .understood import Understood
from .understood_constraint import UnderstoodConstraint
from .understood_constraint_field import UnderstoodConstraintField
from .understood_constraint_operation import UnderstoodConstraintOperation
from .understood_correction import UnderstoodCorrection
from .understood_exclusion import UnderstoodExclusion
from .understood_sort import UnderstoodSort
from .understood_sort_order import UnderstoodSortOrder
from .work_figures import WorkFigures

__all__ = (
    "BulkCreated",
    "BulkDeleted",
    "BulkUpdated",
    "CharacterSpan",
    "ElementFault",
    "Encoder",
    "ExplainedBonus",
    "ExplainedMeaning",
    "ExplainedTerm",
    "ExplainedWords",
    "Explanation",
    "Fault",
    "FaultCode",
    "Health",
    "Media",
    "MediaType",
    "NewMedia",
    "NewMediaType",
    "NewProduct",
    "NewProducts",
    "NewToken",
    "OpenApiDocument",
    "Problem",
    "ProblemCode",
    "ProcessFigures",
    "Product",
    "ProductChanges",
    "ProductDeletion",
    "ProductEdit",
    "ProductEdits",
    "ProductFigures",
    "Role",
    "SearchAnswer",
    "SearchRequest",
    "ShopFigures",
    "SimilarProducts",
    "TimeFigure",
    "Token",
    "TokenRequest",
    "Understand",
    "Understood",
    "UnderstoodConstraint",
    "UnderstoodConstraintField",
    "UnderstoodConstraintOperation",
    "UnderstoodCorrection",
    "UnderstoodExclusion",
    "UnderstoodSort",
    "UnderstoodSortOrder",
    "WorkFigures",
)
