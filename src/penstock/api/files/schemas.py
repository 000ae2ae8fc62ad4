"""Files and uploads as the API shows them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import (
    Field,
)

from penstock.api.http.schemas import Shape


class FileShape(Shape):
    id: UUID
    name: str = Field(description="As it was uploaded.")
    size: int = Field(description="In bytes.")
    sha256: str
    media_type: str


class StoredFile(FileShape):
    created_at: datetime


class UploadShape(Shape):
    id: UUID
    name: str
    length: int = Field(description="Bytes of the whole file.")
    offset: int = Field(description="Bytes that are there.")
    file_id: UUID | None = Field(description="The file, once the upload is whole.")
    created_at: datetime
    expires_at: datetime = Field(description="What is not whole by then is removed.")
