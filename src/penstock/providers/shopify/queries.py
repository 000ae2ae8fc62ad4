"""GraphQL documents of the Admin API, and what they cost."""

from __future__ import annotations

API_VERSION = "2026-01"

# Products per page of a list, and parts of a product that a page has room for. A query may cost at
# most 1,000 points; the cost is that of the largest possible answer.
PAGE_PRODUCTS = 10
PAGE_VARIANTS = 10
PAGE_MEDIA = 10
# Parts of each kind per page when one product is completed.
MORE = 50

_VARIANT = """
id title sku barcode price compareAtPrice inventoryQuantity inventoryPolicy updatedAt
selectedOptions { name value }
inventoryItem { tracked measurement { weight { value unit } } }
image { id url }
"""
_MEDIA = "... on MediaImage { id alt image { url width height } }"
_PRODUCT = """
id title descriptionHtml vendor productType tags status handle onlineStoreUrl createdAt updatedAt
category { fullName }
options { name values }
"""

SHOP = """
query Shop {
  shop { name currencyCode weightUnit plan { displayName } }
  productsCount(limit: null) { count }
}
"""

PRODUCTS = f"""
query Products($first: Int!, $after: String, $query: String, $variants: Int!, $media: Int!) {{
  shop {{ currencyCode }}
  productsCount(query: $query, limit: null) {{ count }}
  products(first: $first, after: $after, query: $query, sortKey: ID) {{
    pageInfo {{ hasNextPage endCursor }}
    nodes {{
      {_PRODUCT}
      variants(first: $variants) {{ pageInfo {{ hasNextPage endCursor }} nodes {{ {_VARIANT} }} }}
      media(first: $media) {{ pageInfo {{ hasNextPage endCursor }} nodes {{ {_MEDIA} }} }}
    }}
  }}
}}
"""

PRODUCT = f"""
query Product(
  $id: ID!, $variants: Int!, $media: Int!, $variantsAfter: String, $mediaAfter: String
) {{
  shop {{ currencyCode }}
  product(id: $id) {{
    {_PRODUCT}
    variants(first: $variants, after: $variantsAfter) {{
      pageInfo {{ hasNextPage endCursor }} nodes {{ {_VARIANT} }}
    }}
    media(first: $media, after: $mediaAfter) {{
      pageInfo {{ hasNextPage endCursor }} nodes {{ {_MEDIA} }}
    }}
  }}
}}
"""

BULK_RUN = """
mutation BulkRun($query: String!) {
  bulkOperationRunQuery(query: $query, groupObjects: true) {
    bulkOperation { id status }
    userErrors { field message code }
  }
}
"""

BULK_STATUS = """
query BulkStatus($id: ID!) {
  node(id: $id) {
    ... on BulkOperation { id status errorCode rootObjectCount url fileSize }
  }
}
"""


def bulk_query(search: str | None) -> str:
    """The query of a bulk operation, which takes no variables."""
    arguments = "" if search is None else f'(query: "{search}")'
    return f"""
{{
  products{arguments} {{
    edges {{ node {{
      {_PRODUCT}
      variants {{ edges {{ node {{ {_VARIANT} }} }} }}
      media {{ edges {{ node {{ {_MEDIA} }} }} }}
    }} }}
  }}
}}
"""


# An object costs one point, a connection two and its children; scalars cost nothing.
_VARIANT_POINTS = 6
_MEDIA_POINTS = 2
_PRODUCT_POINTS = 3
# The shop and the count.
_BASE_POINTS = 2


def points(products: int, variants: int, media: int) -> float:
    """What Shopify charges at most for a query of so many products with so many parts each."""
    parts = (2 + variants * _VARIANT_POINTS) + (2 + media * _MEDIA_POINTS)
    return float(_BASE_POINTS + 2 + products * (_PRODUCT_POINTS + parts))
