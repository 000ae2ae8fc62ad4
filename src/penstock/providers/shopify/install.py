"""Shopify's OAuth flow: the merchant agrees in the shop's admin, and the browser comes back with a
code that is exchanged for a token."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import orjson

from penstock.model.errors import NotAllowed, Unavailable
from penstock.model.network.fetching import FetchRequest, FetchResponse
from penstock.providers.base import LIMITS, OAuthApp, ProviderCall, read_answer

SCOPES = "read_products,read_inventory"
_TITLE = "Shopify"


class ShopifyInstall:
    def authorize_url(self, address: str, app: OAuthApp, return_to: str, state: str) -> str:
        asked = {
            "client_id": app.client_id, "scope": SCOPES, "redirect_uri": return_to, "state": state,
        }  # fmt: skip
        return f"{address}/admin/oauth/authorize?{urlencode(asked)}"

    def check_callback(self, address: str, app: OAuthApp, answer: Mapping[str, str]) -> str:
        signed = {name: value for name, value in answer.items() if name != "hmac"}
        told = "&".join(f"{name}={signed[name]}" for name in sorted(signed))
        digest = hmac.digest(app.client_secret.encode(), told.encode(), hashlib.sha256).hex()
        if not hmac.compare_digest(digest.encode(), answer.get("hmac", "").encode()):
            raise NotAllowed("INSTALL_REFUSED", f"This answer is not signed by {_TITLE}.")
        if answer.get("shop", "") != address.partition("://")[2]:
            raise NotAllowed("INSTALL_REFUSED", f"This answer of {_TITLE} is about another shop.")
        if not answer.get("code"):
            raise NotAllowed("INSTALL_REFUSED", f"{_TITLE} granted no access.")
        return answer["code"]

    async def exchange(self, call: ProviderCall, app: OAuthApp, code: str) -> Mapping[str, str]:
        order = {
            "client_id": app.client_id, "client_secret": app.client_secret, "code": code,
        }  # fmt: skip
        request = FetchRequest(
            f"{call.connection.address}/admin/oauth/access_token",
            "POST",
            {"Content-Type": "application/json", "Accept": "application/json"},
            orjson.dumps(order),
            LIMITS,
        )
        token = await call.send(request, lambda answer: read_answer(answer, _TITLE, _token))
        if not token:
            raise Unavailable("SERVICE_UNAVAILABLE", f"{_TITLE} sent an answer without a token.")
        return {"token": token, "webhookSecret": app.client_secret}


def _token(_: FetchResponse, body: Any) -> str:
    return str(body["access_token"])
