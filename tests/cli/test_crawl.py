"""`penstock crawl`, with a server and without one."""

from __future__ import annotations
