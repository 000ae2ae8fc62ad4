"""Templates of exports, per org."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from penstock.model.exports.templates import ExportTemplate
from penstock.store.database import Connection, from_json, to_json
from penstock.store.queries import load

_sql = load("export_templates")
MOST_TEMPLATES = 200


@dataclass(frozen=True, slots=True)
class StoredTemplate:
    template: ExportTemplate
    updated_at: datetime


async def list_templates(conn: Connection, org_id: int) -> list[StoredTemplate]:
    rows = await conn.fetch(_sql.list_templates, org_id, MOST_TEMPLATES)
    return [
        StoredTemplate(
            ExportTemplate.of_json(row["name"], from_json(row["body"])), row["updated_at"]
        )
        for row in rows
    ]


async def get_template(conn: Connection, org_id: int, name: str) -> ExportTemplate | None:
    row = await conn.fetchrow(_sql.get_template, org_id, name)
    return None if row is None else ExportTemplate.of_json(row["name"], from_json(row["body"]))


async def count_others(conn: Connection, org_id: int, name: str) -> int:
    return int(await conn.fetchval(_sql.count_templates, org_id, name))


async def save_template(
    conn: Connection, org_id: int, user_id: int, template: ExportTemplate
) -> None:
    await conn.execute(
        _sql.save_template, org_id, template.name, to_json(template.as_json()), user_id
    )


async def delete_template(conn: Connection, org_id: int, name: str) -> bool:
    return bool(await conn.execute(_sql.delete_template, org_id, name) == "DELETE 1")
