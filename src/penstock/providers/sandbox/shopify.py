"""Shopify's Admin API: GraphQL with its cost bucket and bulk operations, REST with links to the
next page, and the OAuth install flow."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from penstock.providers.sandbox.graphql import (
    Field,
    NotGraphQL,
    actual_cost,
    connection,
    cost_of,
    execute,
    parse,
)
from penstock.providers.sandbox.http import Request, Response
from penstock.providers.sandbox.limits import SHOPIFY_POINTS, SHOPIFY_REST, Bucket
from penstock.providers.sandbox.shop import Answer, Asked, Shop
from penstock.providers.sandbox.shopify_products import (
    CURRENCY,
    FIRST_ID,
    graphql_product,
    rest_product,
)

# The app that asks for access in the install flow.
CLIENT_ID = "sandbox-app"
CLIENT_SECRET = "shpss_sandbox_app_secret"  # noqa: S105 - of the sandbox only
_MOST_POINTS = 1000
_BULK_SECONDS = 1.5
_SINCE = re.compile(r"""updated_at:>=?\s*'([^']+)'""")
_API = re.compile(r"/admin/api/[^/]+/(.+)")


def token_of(shop: Shop) -> str:
    return f"shpat_{shop.secret('token', 32)}"


def credentials_of(shop: Shop) -> dict[str, str]:
    return {"token": token_of(shop)}


def answer(asked: Asked) -> Answer:
    if asked.path.startswith("/admin/oauth/"):
        return Answer(_install(asked))
    if asked.path.startswith("/bulk/"):
        return Answer(_file(asked))
    if asked.request.headers.get("x-shopify-access-token") != token_of(asked.shop):
        said = "[API] Invalid API key or access token (unrecognized login or wrong password)"
        return Answer(Response.json({"errors": said}, 401), refused=True)
    found = _API.fullmatch(asked.path)
    if found is None:
        return Answer(Response.json({"errors": "Not Found"}, 404))
    if found[1] == "graphql.json":
        # A shop whose name begins so has no GraphQL, so that clients fall back to REST.
        if asked.shop.name.startswith("rest-"):
            return Answer(Response.json({"errors": "Not Found"}, 404))
        return _graphql(asked)
    return _rest(asked, found[1])


def _graphql(asked: Asked) -> Answer:
    told = asked.request.json()
    try:
        kind, fields = parse(str(told["query"]), told.get("variables") or {})
        requested = max(cost_of(fields), 10 if kind == "mutation" else 1)
        if requested > _MOST_POINTS:
            raise NotGraphQL(f"Query cost is {requested}, which exceeds the maximum {_MOST_POINTS}")
    except (NotGraphQL, KeyError) as error:
        return Answer(Response.json({"errors": [{"message": str(error)}]}))
    bucket = asked.shop.buckets.setdefault("points", Bucket(SHOPIFY_POINTS, jitter_seconds=0))
    if bucket.take(requested):
        errors = [{"message": "Throttled", "extensions": {"code": "THROTTLED"}}]
        body = {"errors": errors, "extensions": _cost(bucket, requested, None)}
        return Answer(Response.json(body), violation=True)
    root = _mutations(asked.shop) if kind == "mutation" else _queries(asked.shop)
    try:
        data = execute(fields, root)
    except NotGraphQL as error:
        return Answer(Response.json({"errors": [{"message": str(error)}]}))
    actual = min(requested, actual_cost(fields, data))
    bucket.refund(requested - actual)
    body = {"data": data, "extensions": _cost(bucket, requested, actual)}
    return Answer(Response.json(body), poll=_is_poll(fields))


def _is_poll(fields: list[Field]) -> bool:
    """A status that is asked for until it changes, or a test of the connection."""
    names = {one.name for one in fields}
    return "node" in names or ("shop" in names and not names & {"products", "product"})


def _cost(bucket: Bucket, requested: int, actual: int | None) -> Mapping[str, Any]:
    return {
        "cost": {
            "requestedQueryCost": requested,
            "actualQueryCost": actual,
            "throttleStatus": {
                "maximumAvailable": float(SHOPIFY_POINTS.burst),
                "currentlyAvailable": round(bucket.available(), 1),
                "restoreRate": float(SHOPIFY_POINTS.per_second),
            },
        }
    }


def _queries(shop: Shop) -> Mapping[str, Any]:
    def products(query: str | None = None, **page: Any) -> Any:
        found = _search(shop, query)
        return connection(found, lambda one: graphql_product(shop, one))(**page)

    def count(query: str | None = None, **_: Any) -> Any:
        return {"count": len(_search(shop, query)) if query else shop.count()}

    def product(id: str) -> Any:
        found = shop.product(_number(id))
        return None if found is None else graphql_product(shop, found)

    def node(id: str) -> Any:
        return _operation(shop, id)

    return {
        "shop": {
            "name": f"Sandbox {shop.name}",
            "currencyCode": CURRENCY,
            "weightUnit": "GRAMS",
            "plan": {"displayName": "Sandbox"},
        },
        "productsCount": count,
        "products": products,
        "product": product,
        "node": node,
    }


def _search(shop: Shop, query: str | None) -> list[Any]:
    since = _SINCE.search(query or "")
    text = _SINCE.sub("", query or "")
    return shop.matching(text, datetime.fromisoformat(since[1]) if since else None)


def _number(gid: str) -> int:
    last = gid.rpartition("/")[2]
    return int(last) - FIRST_ID if last.isdigit() else 0


def _mutations(shop: Shop) -> Mapping[str, Any]:
    def run(query: str, **_: Any) -> Any:
        operations = shop.state.setdefault("bulk", {})
        if any(_operation(shop, one)["status"] == "RUNNING" for one in operations):
            said = "A bulk query operation for this app and shop is already in progress"
            problem = {"field": None, "message": said, "code": "OPERATION_IN_PROGRESS"}
            return {"bulkOperation": None, "userErrors": [problem]}
        gid = f"gid://shopify/BulkOperation/{len(operations) + 1}"
        operations[gid] = {"begun": time.monotonic(), "query": query}
        return {"bulkOperation": {"id": gid, "status": "CREATED"}, "userErrors": []}

    return {"bulkOperationRunQuery": run}


def _operation(shop: Shop, gid: str) -> Any:
    found = shop.state.get("bulk", {}).get(gid)
    if found is None:
        return None
    done = time.monotonic() - found["begun"] >= _BULK_SECONDS
    if done and "file" not in found:
        found["products"], found["file"] = _written(shop, found["query"])
    number = gid.rpartition("/")[2]
    return {
        "__typename": "BulkOperation",
        "id": gid,
        "status": "COMPLETED" if done else "RUNNING",
        "errorCode": None,
        "rootObjectCount": str(found.get("products", 0)),
        "fileSize": str(len(found["file"])) if done else None,
        "url": f"{shop.base}/bulk/{number}.jsonl?signature={shop.secret(gid, 16)}"
        if done and found["file"]
        else None,
    }


def _written(shop: Shop, query: str) -> tuple[int, bytes]:
    """The file of a bulk operation: each product, then its variants and media."""
    _, fields = parse(query, {})
    asked = fields[0]
    wanted = asked.fields[0].fields[0].fields
    parts = [one for one in wanted if one.name in ("variants", "media")]
    own = [one for one in wanted if one.name not in ("variants", "media")]
    lines: list[bytes] = []
    found = _search(shop, asked.arguments.get("query"))
    for made in found:
        node = graphql_product(shop, made)
        lines.append(orjson.dumps(execute(own, node)))
        for part in parts:
            page = node[part.name]()
            for one in execute(part.fields[0].fields[0].fields, page["nodes"]):
                lines.append(orjson.dumps({**one, "__parentId": node["id"]}))
    return len(found), b"\n".join(lines) + (b"\n" if lines else b"")


def _file(asked: Asked) -> Response:
    number = asked.path.removeprefix("/bulk/").removesuffix(".jsonl")
    gid = f"gid://shopify/BulkOperation/{number}"
    found = asked.shop.state.get("bulk", {}).get(gid, {})
    if "file" not in found or asked.request.query.get("signature") != asked.shop.secret(gid, 16):
        return Response.json({"errors": "Not Found"}, 404)
    content: bytes = found["file"]
    wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", asked.request.headers.get("range", ""))
    if wanted is None:
        return Response(200, content, "application/jsonl")
    begin, end = int(wanted[1]), min(int(wanted[2]) + 1, len(content))
    if begin >= len(content):
        return Response(416)
    place = {"Content-Range": f"bytes {begin}-{end - 1}/{len(content)}"}
    return Response(206, content[begin:end], "application/jsonl", place)


def _rest(asked: Asked, path: str) -> Answer:
    bucket = asked.shop.buckets.setdefault("rest", Bucket(SHOPIFY_REST))
    wait = bucket.take()
    used = max(0, round(SHOPIFY_REST.burst - bucket.available()))
    state = {"X-Shopify-Shop-Api-Call-Limit": f"{used}/{SHOPIFY_REST.burst:.0f}"}
    if wait:
        said = "Exceeded 2 calls per second for api client. Reduce request rates to resume."
        headers = {**state, "Retry-After": f"{max(1.0, wait):.1f}"}
        body = orjson.dumps({"errors": said})
        return Answer(Response(429, body, headers=headers), violation=True)
    return Answer(_resource(asked, path, state), poll=path == "shop.json")


def _resource(asked: Asked, path: str, state: Mapping[str, str]) -> Response:
    shop = asked.shop
    if path == "shop.json":
        return Response.json({"shop": {"name": f"Sandbox {shop.name}", "currency": CURRENCY}})
    if path == "products/count.json":
        return Response.json({"count": shop.count()})
    if path == "products.json":
        return _page(asked, state)
    one = re.fullmatch(r"products/(\d+)\.json", path)
    found = shop.product(int(one[1]) - FIRST_ID) if one else None
    if found is None:
        return Response.json({"errors": "Not Found"}, 404)
    return Response(200, orjson.dumps({"product": rest_product(shop, found)}), headers=state)


def _page(asked: Asked, state: Mapping[str, str]) -> Response:
    shop, query = asked.shop, asked.request.query
    limit = min(int(query.get("limit", 50)), 250)
    after, _, since = query.get("page_info", "0|").partition("|")
    since = since or query.get("updated_at_min", "")
    # A plus sign of the zone is a space in a query that was not escaped.
    begun = datetime.fromisoformat(since.replace(" ", "+")) if since else None
    found = [one for one in shop.matching("", begun) if one.number > int(after)]
    page = found[:limit]
    headers = dict(state)
    if len(found) > limit:
        following = quote(f"{page[-1].number}|{since}")
        url = f"{shop.base}{asked.path}?limit={limit}&page_info={following}"
        headers["Link"] = f'<{url}>; rel="next"'
    body = {"products": [rest_product(shop, one) for one in page]}
    return Response(200, orjson.dumps(body), headers=headers)


def _install(asked: Asked) -> Response:
    """The merchant agrees at once."""
    shop, request = asked.shop, asked.request
    codes: dict[str, bool] = shop.state.setdefault("codes", {})
    if asked.path == "/admin/oauth/authorize":
        if request.query.get("client_id") != CLIENT_ID:
            return Response.json({"error": "invalid_request"}, 400)
        code = shop.secret(f"code {len(codes)}", 32)
        codes[code] = True
        told = {
            "code": code, "shop": shop.base.partition("://")[2],
            "state": request.query.get("state", ""), "timestamp": str(int(time.time())),
        }  # fmt: skip
        told["hmac"] = sign(told)
        target = f"{request.query['redirect_uri']}?{urlencode(told)}"
        return Response(302, headers={"Location": target})
    return _token(request, shop, codes)


def _token(request: Request, shop: Shop, codes: dict[str, bool]) -> Response:
    told = request.json()
    right = told.get("client_id") == CLIENT_ID and told.get("client_secret") == CLIENT_SECRET
    if not right or not codes.pop(str(told.get("code")), False):
        return Response.json({"error": "invalid_request"}, 400)
    return Response.json({"access_token": token_of(shop), "scope": "read_products"})


def sign(parameters: Mapping[str, str]) -> str:
    """The `hmac` of a callback: over all other parameters, sorted."""
    told = "&".join(f"{name}={parameters[name]}" for name in sorted(parameters))
    return hmac.digest(CLIENT_SECRET.encode(), told.encode(), hashlib.sha256).hex()
