"""Limits and circuits over HTTP: seen by their org, reset with an entry in the audit log."""

from __future__ import annotations

from tests.api.conftest import Caller, refused, shaped
from tests.fixtures import Bench, MakePrincipal

from penstock.api.providers.schemas import ProviderPage, ProviderShape, ResetShape
from penstock.model.network.provider_limits import CallReport, LimitKey
from penstock.store.providers.states import StoredLimits


async def _open_circuit(bench: Bench, org_id: int, domain: str) -> None:
    limits = StoredLimits(bench.runtime.db, bench.runtime.settings.provider_limits)
    key = LimitKey(org_id, "shopify", "", domain)
    await limits.admit(key, 6, 0)
    report = CallReport(succeeded=1, failed=5, throttled=1)
    report.add_duration(120)
    await limits.report(key, report)


def _shopify(page: ProviderPage) -> ProviderShape:
    return next(one for one in page.items if one.key == "shopify")


async def test_an_org_sees_its_own_circuits_and_resets_them(
    caller: Caller, bench: Bench, principal: MakePrincipal
) -> None:
    member, admin = await caller(), await caller("root", role="admin")
    await _open_circuit(bench, (await principal()).org_id, "a.example")
    await _open_circuit(bench, (await principal("other")).org_id, "b.example")
    page = shaped(ProviderPage, await member.get("/api/providers"))
    assert [one.key for one in page.items] == ["roastify", "shopify", "woocommerce"]
    shopify = _shopify(page)
    assert (shopify.circuit, shopify.limit.per_second, shopify.limit.burst) == ("open", 2, 40)
    [key] = shopify.keys
    assert (key.org, key.domain, key.circuit.failures) == ("acme", "a.example", 5)
    assert key.circuit.next_probe_at is not None
    assert (key.calls, key.failed, key.throttled) == (7, 5, 1)
    assert (key.error_rate, key.p95_ms is not None) == (round(5 / 7, 4), True)
    assert len(_shopify(shaped(ProviderPage, await admin.get("/api/providers"))).keys) == 2
    done = shaped(ResetShape, await member.post("/api/providers/shopify/reset"))
    assert done.reset == 1
    keys = _shopify(shaped(ProviderPage, await admin.get("/api/providers"))).keys
    assert {one.domain: one.circuit.state for one in keys} == {
        "a.example": "closed", "b.example": "open",
    }  # fmt: skip
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT target FROM audit WHERE action = 'provider.reset'")
    assert [row["target"] for row in rows] == ["provider:shopify"]


async def test_viewers_only_look(caller: Caller) -> None:
    viewer = await caller(role="viewer")
    assert (await viewer.get("/api/providers")).status_code == 200
    refused(
        await viewer.post("/api/providers/shopify/reset"), 403, "INSUFFICIENT_PERMISSIONS"
    )  # fmt: skip


async def test_an_unknown_provider_is_not_found(caller: Caller) -> None:
    refused(await (await caller()).post("/api/providers/nobody/reset"), 404, "NOT_FOUND")
