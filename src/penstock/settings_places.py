"""Settings of watched places."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from penstock.settings_monitor import Texts


class PlaceSettings(BaseSettings):
    blobs_url: str | None = Field(
        None,
        pattern=r"^s3://[a-z0-9][a-z0-9.-]{2,62}(/[^?#]*)?(\?[^#]*)?$",
        description="Keeps files in a bucket (`s3://bucket/prefix?region=eu-central-1`, or"
        " `?endpoint=https://…` of a compatible service); unset: in the data folder.",
    )
    blobs_access_key_id: str | None = Field(
        None,
        description="Key of the bucket; unset: that of the environment (`AWS_ACCESS_KEY_ID`) or of"
        " the machine's role.",
    )
    blobs_secret_access_key: SecretStr | None = Field(None, description="The secret of that key.")
    watch_roots: Texts = Field(
        (),
        description="Folders below which folders of this server may be watched and written to;"
        " `{org}` in one stands for the org's name. None: no folder may.",
    )
    watch_allow: str = Field(
        "",
        description="Hosts and networks of watched places (S3, FTP, SFTP, mail) that are not public"
        " (`files.internal,10.1.0.0/16:22`).",
    )
    watch_settle_ms: int = Field(
        10_000,
        ge=100,
        description="How long size and time of a watched file must be unchanged before it is"
        " taken.",
    )
    watch_every_seconds: int = Field(
        60, ge=1, le=86_400, description="How often a watcher scans that names no interval."
    )
    watch_scans_at_once: int = Field(
        4, ge=1, le=100, description="Watchers that are scanned at the same time."
    )
    watch_transfer_seconds: int = Field(
        900, ge=1, le=86_400, description="Longest the transfer of one watched file may take."
    )
