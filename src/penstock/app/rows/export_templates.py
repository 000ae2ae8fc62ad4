"""Save and delete templates of exports."""

from __future__ import annotations

from penstock.model.errors import NotThere, PermanentError
from penstock.model.exports.templates import ExportTemplate
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.catalog import export_templates as store
from penstock.store.database import Connection


async def get_template(conn: Connection, org_id: int, name: str) -> ExportTemplate:
    template = await store.get_template(conn, org_id, name)
    if template is None:
        raise NotThere("NOT_FOUND", "There is no such export template.")
    return template


async def save_template(
    conn: Connection, caller: Caller, org_id: int, template: ExportTemplate
) -> None:
    if await store.count_others(conn, org_id, template.name) >= store.MOST_TEMPLATES:
        raise PermanentError(
            "INVALID_STATE", f"Your org has {store.MOST_TEMPLATES} export templates already."
        )
    await store.save_template(conn, org_id, caller.who.user_id, template)
    await audit(
        conn, org_id, caller.who.user_id, "export_template.save", f"template:{template.name}",
        ip=caller.ip, after=template.as_json(),
    )  # fmt: skip


async def delete_template(conn: Connection, caller: Caller, org_id: int, name: str) -> None:
    if not await store.delete_template(conn, org_id, name):
        raise NotThere("NOT_FOUND", "There is no such export template.")
    await audit(
        conn, org_id, caller.who.user_id, "export_template.delete", f"template:{name}",
        ip=caller.ip,
    )  # fmt: skip
