"""Settings of watched places."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings

from penstock.settings_monitor import Texts


class PlaceSettings(BaseSettings):
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
