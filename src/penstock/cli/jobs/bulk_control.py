"""What `penstock bulk` asks of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.cli.connection import Penstock, connected
from penstock.cli.errors import USAGE, CliError
from penstock.cli.jobs.control import priority_of
from penstock.model.bulk import BulkAction


def filter_of(chosen: dict[str, Any], everything: bool) -> dict[str, Any]:
    """The filter as the API spells it."""
    given = {name: value for name, value in chosen.items() if value}
    if bool(given) == everything:
        raise CliError(USAGE, "Say which jobs by options, or all of them by --all.")
    return {name: _plain(value) for name, value in given.items()} or {"all": True}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=value.tzinfo or UTC).isoformat()
    if isinstance(value, list):
        return [str(getattr(one, "value", one)) for one in value]
    return value


def params_of(
    action: BulkAction, priority: str | None, statuses: Sequence[Any], codes: Sequence[str], *,
    from_start: bool, reset_attempts: bool,
) -> dict[str, Any]:  # fmt: skip
    if action is BulkAction.PRIORITY and priority is None:
        raise CliError(USAGE, "`priority` goes with --priority N.")
    if priority is not None:
        if action not in (BulkAction.PRIORITY, BulkAction.CLONE):
            raise CliError(USAGE, "--priority goes with `priority` and `clone`.")
        return {"priority": priority_of(priority)}
    if action is BulkAction.REPROCESS:
        return {
            "statuses": [one.value for one in statuses],
            "codes": list(codes),
            "resetAttempts": reset_attempts,
            "fromStart": from_start,
        }
    if statuses or codes or from_start or reset_attempts:
        raise CliError(
            USAGE, "--status, --code, --from-start and --reset-attempts go with `reprocess`."
        )
    return {}


async def counted(wanted: dict[str, Any]) -> dict[str, Any]:
    # An action must be named, though counting does none of them.
    order = {"action": "cancel", "filter": wanted, "dryRun": True}
    async with connected() as penstock:
        count: dict[str, Any] = await penstock.post("/api/bulk", order)
        return count


async def run(
    action: BulkAction, wanted: dict[str, Any], params: dict[str, Any], *, detach: bool
) -> dict[str, Any]:
    """Start an operation and, unless ``detach``, wait for its end. If no worker runs, it is carried
    out in this process."""
    order = {"action": action.value, "filter": wanted, "params": params}
    async with connected() as penstock:
        operation_id = (await penstock.post("/api/bulk", order))["operationId"]
        if not detach:
            await penstock.to_the_end(operation_id)
        return await _operation(penstock, operation_id)


async def list_operations(limit: int) -> list[dict[str, Any]]:
    async with connected() as penstock:
        return await penstock.first("/api/bulk", limit)


async def get_operation(operation_id: UUID) -> dict[str, Any]:
    async with connected() as penstock:
        return await _operation(penstock, str(operation_id))


async def aborted(operation_id: UUID) -> dict[str, Any]:
    async with connected() as penstock:
        operation: dict[str, Any] = await penstock.post(f"/api/bulk/{operation_id}/abort")
        return operation


async def _operation(penstock: Penstock, operation_id: str) -> dict[str, Any]:
    operation: dict[str, Any] = await penstock.get(f"/api/bulk/{operation_id}")
    return operation
