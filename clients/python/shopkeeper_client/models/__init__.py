"""Contains all the data models used in inputs/outputs"""

from .attribute_facet import AttributeFacet
from .attributes import Attributes
from .bulk_created import BulkCreated
from .bulk_deleted import BulkDeleted
from .bulk_updated import BulkUpdated
from .bulk_upserted import BulkUpserted
from .category import Category
from .category_count import CategoryCount
from .category_facet import CategoryFacet
from .change_record import ChangeRecord
from .change_record_change import ChangeRecordChange
from .changes_page import ChangesPage
from .character_span import CharacterSpan
from .element_fault import ElementFault
from .encoder import Encoder
from .exclusions import Exclusions
from .explained_attributes import ExplainedAttributes
from .explained_bonus import ExplainedBonus
from .explained_contributions import ExplainedContributions
from .explained_evidence import ExplainedEvidence
from .explained_meaning import ExplainedMeaning
from .explained_rerank import ExplainedRerank
from .explained_term import ExplainedTerm
from .explained_words import ExplainedWords
from .explanation import Explanation
from .facets import Facets
from .fault import Fault
from .fault_code import FaultCode
from .filter_ import Filter
from .health import Health
from .inferred_attributes import InferredAttributes
from .latency_bucket import LatencyBucket
from .media import Media
from .media_type import MediaType
from .new_media import NewMedia
from .new_media_type import NewMediaType
from .new_product import NewProduct
from .new_products import NewProducts
from .new_token import NewToken
from .number_bucket import NumberBucket
from .number_range import NumberRange
from .open_api_document import OpenApiDocument
from .price_bucket import PriceBucket
from .price_facet import PriceFacet
from .price_range import PriceRange
from .problem import Problem
from .problem_code import ProblemCode
from .process_stats import ProcessStats
from .product import Product
from .product_changes import ProductChanges
from .product_deletion import ProductDeletion
from .product_edit import ProductEdit
from .product_edits import ProductEdits
from .product_stats import ProductStats
from .product_upsert import ProductUpsert
from .product_upserts import ProductUpserts
from .request_stats import RequestStats
from .role import Role
from .search_answer import SearchAnswer
from .search_request import SearchRequest
from .shop_stats import ShopStats
from .similar_products import SimilarProducts
from .token import Token
from .token_request import TokenRequest
from .understand import Understand
from .understood import Understood
from .understood_attribute import UnderstoodAttribute
from .understood_category import UnderstoodCategory
from .understood_constraint import UnderstoodConstraint
from .understood_constraint_field import UnderstoodConstraintField
from .understood_constraint_operation import UnderstoodConstraintOperation
from .understood_correction import UnderstoodCorrection
from .understood_exclusion import UnderstoodExclusion
from .understood_sort import UnderstoodSort
from .understood_sort_order import UnderstoodSortOrder
from .value_count import ValueCount

__all__ = (
    "AttributeFacet",
    "Attributes",
    "BulkCreated",
    "BulkDeleted",
    "BulkUpdated",
    "BulkUpserted",
    "Category",
    "CategoryCount",
    "CategoryFacet",
    "ChangeRecord",
    "ChangeRecordChange",
    "ChangesPage",
    "CharacterSpan",
    "ElementFault",
    "Encoder",
    "Exclusions",
    "ExplainedAttributes",
    "ExplainedBonus",
    "ExplainedContributions",
    "ExplainedEvidence",
    "ExplainedMeaning",
    "ExplainedRerank",
    "ExplainedTerm",
    "ExplainedWords",
    "Explanation",
    "Facets",
    "Fault",
    "FaultCode",
    "Filter",
    "Health",
    "InferredAttributes",
    "LatencyBucket",
    "Media",
    "MediaType",
    "NewMedia",
    "NewMediaType",
    "NewProduct",
    "NewProducts",
    "NewToken",
    "NumberBucket",
    "NumberRange",
    "OpenApiDocument",
    "PriceBucket",
    "PriceFacet",
    "PriceRange",
    "Problem",
    "ProblemCode",
    "ProcessStats",
    "Product",
    "ProductChanges",
    "ProductDeletion",
    "ProductEdit",
    "ProductEdits",
    "ProductStats",
    "ProductUpsert",
    "ProductUpserts",
    "RequestStats",
    "Role",
    "SearchAnswer",
    "SearchRequest",
    "ShopStats",
    "SimilarProducts",
    "Token",
    "TokenRequest",
    "Understand",
    "Understood",
    "UnderstoodAttribute",
    "UnderstoodCategory",
    "UnderstoodConstraint",
    "UnderstoodConstraintField",
    "UnderstoodConstraintOperation",
    "UnderstoodCorrection",
    "UnderstoodExclusion",
    "UnderstoodSort",
    "UnderstoodSortOrder",
    "ValueCount",
)
