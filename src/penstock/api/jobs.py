"""Jobs: asking for one, and looking at them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from penstock.api.access import ApiParts, JobId, Reader, Writer
from penstock.api.answers import answer
from penstock.api.cursors import from_cursor_id, to_cursor
from penstock.api.intake import accept
from penstock.api.schemas import FullJob, JobOrder, JobPage, JobsQuery, Receipt
from penstock.api.shapes import job_shape, load_job_shape
from penstock.store import jobs

router = APIRouter(tags=["jobs"])
