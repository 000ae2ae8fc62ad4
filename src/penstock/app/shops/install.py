"""Connect a shop by its provider's install flow, without copying a token.

The state that goes to the provider and comes back is sealed. It names the caller, so that a shop
cannot be connected to another user's account, and the address that the caller asked for; and it
expires.
"""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from penstock.app.shops.connections import (
    CheckedOrder,
    check_address,
    check_credentials,
    provider_of,
)
from penstock.engine.runtime import Runtime
from penstock.model.errors import BadInput, NotAllowed, PenstockError, PermanentError
from penstock.model.ids import new_id
from penstock.model.shops.provider import OAuthApp, OAuthInstall, Provider, ShopConnection
from penstock.model.text.redaction import redacted
from penstock.store.accounts.audit_log import Caller

STATE_SECONDS = 600
_EXCHANGE_SECONDS = 20.0
_OWNER = "shop-install"
_RETURN_PATH = "/connections/install"


@dataclass(frozen=True, slots=True)
class InstallOrder:
    name: str
    provider: str
    address: str
    # The page of our own UI that the browser comes back to.
    return_to: str


async def begin(runtime: Runtime, caller: Caller, order: InstallOrder, org_id: int) -> str:
    """The address that the caller's browser is sent to."""
    provider = provider_of(runtime, order.provider)
    install, app = _install_of(runtime, provider)
    if not order.return_to.startswith(("http://", "https://")):
        raise BadInput("INVALID_PARAMETERS", "returnTo: give the address of the UI's page.")
    if not order.return_to.endswith(_RETURN_PATH):
        raise BadInput("INVALID_PARAMETERS", f"returnTo: it ends with {_RETURN_PATH}.")
    address = await check_address(runtime, provider, order.address)
    state = {
        "id": str(new_id()), "user": caller.who.user_id, "org": org_id, "name": order.name,
        "provider": provider.key, "address": address, "until": time.time() + STATE_SECONDS,
    }  # fmt: skip
    sealed = runtime.sealer.seal(orjson.dumps(state), _OWNER)
    text = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
    return install.authorize_url(address, app, order.return_to, text)


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What the flow ended with, ready to be stored."""

    order: CheckedOrder
    org_id: int


async def complete(runtime: Runtime, caller: Caller, answer: Mapping[str, str]) -> InstallResult:
    """The connection that the provider has granted. ``answer`` is what the browser came back
    with."""
    state = _open_state(runtime, caller, answer.get("state", ""))
    provider = provider_of(runtime, str(state["provider"]))
    install, app = _install_of(runtime, provider)
    address = str(state["address"])
    code = install.check_callback(address, app, answer)
    shop = ShopConnection(new_id(), int(state["org"]), provider.key, address, {})
    assert runtime.shop_calls is not None
    try:
        credentials = await install.exchange(runtime.shop_calls(shop, _EXCHANGE_SECONDS), app, code)
    except PenstockError as error:
        raise PermanentError(
            "PROVIDER_FAILED", redacted(error.message), cause=error.code
        ) from error
    checked = check_credentials(provider, credentials)
    name = str(state["name"]).strip() or address.partition("://")[2]
    return InstallResult(CheckedOrder(name, provider.key, address, checked), int(state["org"]))


def _open_state(runtime: Runtime, caller: Caller, text: str) -> Mapping[str, Any]:
    try:
        sealed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        state: dict[str, Any] = orjson.loads(runtime.sealer.open(sealed, _OWNER))
    except (ValueError, binascii.Error, PenstockError) as error:
        raise _refusal("it was not begun here") from error
    if state["user"] != caller.who.user_id:
        raise _refusal("another user began it")
    if time.time() > state["until"]:
        raise _refusal("it took too long; begin again")
    return state


def _refusal(why: str) -> NotAllowed:
    return NotAllowed("INSTALL_REFUSED", f"This shop cannot be connected: {why}.")


def _install_of(runtime: Runtime, provider: Provider) -> tuple[OAuthInstall, OAuthApp]:
    app = runtime.settings.oauth_apps.get(provider.key)
    if provider.install is None or app is None:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"{provider.title} cannot be connected this way here. Enter its credentials instead.",
        )
    return provider.install, app
