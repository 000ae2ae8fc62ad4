"""Bodies and answers about users, keys, sessions, orgs and the audit."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StrictBool, StrictInt

from penstock.accounts.orgs import OrgChanges
from penstock.accounts.passwords import LONGEST, SHORTEST
from penstock.api.http.answers import stored
from penstock.api.http.schemas import Moment, OrgName, Shape
from penstock.model.quota import Quota, Usage
from penstock.store.accounts.accounts import OrgRow, Principal
from penstock.store.accounts.audit_log import AuditRow
from penstock.store.accounts.keys import KeyRow
from penstock.store.accounts.sessions import SessionRow
from penstock.store.accounts.users import UserRow

Role = Literal["admin", "member", "viewer"]
KeyScope = Literal["read", "write", "admin"]
Plan = Literal["enterprise", "premium", "standard", "basic", "trial"]
Email = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+$", max_length=254)]
# `require_good` checks the length, with a message for people.
_LENGTH: dict[str, Any] = {"minLength": SHORTEST, "maxLength": LONGEST}
Password = Annotated[str, Field(json_schema_extra=_LENGTH)]
Id = Annotated[int, Field(ge=1, le=2**62)]


class UserShape(Shape):
    id: int
    email: str
    role: Role
    org: str
    created_at: datetime
    disabled_at: datetime | None
    password_changed_at: datetime | None = Field(description="Null: cannot sign in.")


class UserPage(Shape):
    items: list[UserShape]
    next: str | None


class UsersQuery(Shape):
    org: OrgName = Field("", description="Of this org only.")
    email: str = Field(
        "", max_length=254, pattern=r"^[^\x00]*$", description="With this address only."
    )
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class UserOrder(Shape):
    email: Email
    role: Role = "member"
    org: OrgName | None = Field(None, description="Its name; unset: your own.")
    password: Password | None = Field(None, description="Unset: one is made and shown once.")
    signs_in: StrictBool = Field(True, description="False: no password, for what has only keys.")


class NewUserShape(UserShape):
    password: str | None = Field(description="Shown this once; null where you chose it, or none.")


class UserChange(Shape):
    """Fields that are not given stay."""

    role: Role | None = None
    disabled: StrictBool | None = None


class ResetOrder(Shape):
    password: Password | None = Field(None, description="Unset: one is made and shown once.")


class NewPassword(Shape):
    password: str | None = Field(description="Shown this once; null where you chose it.")


class PasswordOrder(Shape):
    current: str = Field(max_length=1024, description="The one you have now.")
    new: Password


class KeyShape(Shape):
    id: int
    name: str
    prefix: str = Field(description="How the key begins.")
    scopes: list[KeyScope]
    user_id: int
    email: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute.")


class NewKeyShape(KeyShape):
    key: str = Field(description="The key itself, shown this once.")


class KeyPage(Shape):
    items: list[KeyShape]
    next: str | None


class KeyOrder(Shape):
    name: str = Field("", max_length=200, description="What it is for.")
    scopes: list[KeyScope] | None = Field(
        None, max_length=3, description="`read` is always in it; unset: all that the user may do."
    )
    expires_at: Moment | None = Field(None, description="Unset: it does not expire.")
    user_id: Annotated[StrictInt, Field(ge=1, le=2**62)] | None = Field(
        None, description="Another user; only admins may set it."
    )


class KeysQuery(Shape):
    user_id: Literal["me", "all"] | Id = Field("me", description="Anything but `me` is for admins.")
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class AuditEntry(Shape):
    id: int
    at: datetime
    org: str | None
    user_id: int | None
    email: str | None
    action: str
    target: str
    ip: str | None
    before: Any
    after: Any


class AuditPage(Shape):
    items: list[AuditEntry]
    next: str | None


class AuditQuery(Shape):
    org: OrgName = Field("", description="Of this org only.")
    user_id: Id | None = Field(None, description="By this user only.")
    action: str = Field("", max_length=64, pattern=r"^[a-z_.]*$", description="As `job.cancel`.")
    target: str = Field("", max_length=200, pattern=r"^[^\x00]*$", description="As `job:ID`.")
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class OrgShape(Shape):
    name: str
    plan: Plan
    weight: int = Field(description="Its share of the workers, beside the others'.")
    max_slices: int | None = Field(description="Null: as many as any org.")
    shared_jobs: bool = Field(description="Whether members see each other's jobs.")
    catalog_key: Literal["sku", "gtin"] | None = Field(
        description="By which products of all sources are one; null: rows match inside their own"
        " source, and links to other sources are only proposed."
    )
    created_at: datetime


class Kept(Shape):
    used: int
    quota: int | None = Field(description="Null: any amount.")


class Storage(Shape):
    """Storage of the org, used and allowed."""

    file_bytes: Kept
    rows: Kept = Field(description="Rows of its jobs.")
    row_bytes: Kept = Field(description="… as they were read.")


class FullOrg(OrgShape):
    storage: Storage


class OrgPage(Shape):
    items: list[OrgShape]


class OrgOrder(Shape):
    name: str = Field(
        max_length=63, pattern=r"^[^\x00]*$", description="Letters, digits, `.`, `_` and `-`."
    )
    plan: Plan = "standard"


class OrgChange(Shape):
    """Fields that are not given stay."""

    shared_jobs: StrictBool | None = None
    plan: Plan | None = None
    max_slices: Annotated[StrictInt, Field(ge=0, le=10_000)] | None = Field(
        None, description="Running slices it may hold; 0: as many as any org."
    )
    catalog_key: Literal["sku", "gtin", "none"] | None = Field(
        None, description="By which products of all sources are one; `none` keeps sources apart."
    )

    def changes(self) -> OrgChanges:
        return OrgChanges(self.plan, self.max_slices, self.shared_jobs, self.catalog_key)


class OpenSession(Shape):
    id: UUID
    user_id: int
    email: str
    ip: str | None = Field(description="From where it was signed in.")
    agent: str = Field(description="What the browser calls itself.")
    created_at: datetime
    seen_at: datetime = Field(description="Last used; noted once a minute.")
    expires_at: datetime = Field(description="If it is not used before.")
    current: bool = Field(description="The one that asks.")


class SessionPage(Shape):
    items: list[OpenSession]
    next: str | None


class SessionsQuery(Shape):
    user_id: Literal["me", "all"] | Id = Field("me", description="Whose; others' for admins only.")
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


def session_shape(row: SessionRow, who: Principal) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "userId": row.user_id,
        "email": row.email,
        "ip": row.ip,
        "agent": row.agent,
        "createdAt": row.created_at,
        "seenAt": row.seen_at,
        "expiresAt": row.expires_at,
        "current": row.id == who.session_id,
    }


def user_shape(row: UserRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "email": row.email,
        "role": row.role,
        "org": row.org,
        "createdAt": row.created_at,
        "disabledAt": row.disabled_at,
        "passwordChangedAt": row.password_changed_at,
    }


def key_shape(row: KeyRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "prefix": row.prefix,
        "scopes": row.scopes,
        "userId": row.user_id,
        "email": row.email,
        "createdAt": row.created_at,
        "expiresAt": row.expires_at,
        "revokedAt": row.revoked_at,
        "lastUsedAt": row.last_used_at,
    }


def audit_shape(row: AuditRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "at": row.created_at,
        "org": row.org,
        "userId": row.user_id,
        "email": row.email,
        "action": row.action,
        "target": row.target,
        "ip": row.ip,
        "before": stored(row.before),
        "after": stored(row.after),
    }


def storage_shape(used: Usage, quota: Quota) -> dict[str, Any]:
    return {
        "fileBytes": {"used": used.file_bytes, "quota": quota.file_bytes},
        "rows": {"used": used.rows, "quota": quota.rows},
        "rowBytes": {"used": used.row_bytes, "quota": quota.row_bytes},
    }


def org_shape(row: OrgRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "plan": row.plan,
        "weight": row.weight,
        "maxSlices": row.max_slices,
        "sharedJobs": row.shared_jobs,
        "catalogKey": row.catalog_key,
        "createdAt": row.created_at,
    }
