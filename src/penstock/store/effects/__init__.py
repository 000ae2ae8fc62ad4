"""Effects that stages ask for: one module each, which checks, orders its locks and writes.

A new effect is a class in `model/effects.py`, a module here and a line in `WRITERS`.
"""

from __future__ import annotations

from penstock.store.effects.blobs import BlobReferences
from penstock.store.effects.cursors import Cursors, ImportErrors
from penstock.store.effects.deliveries import Deliveries
from penstock.store.effects.events import Events
from penstock.store.effects.group_counters import GroupCounters
from penstock.store.effects.missing_products import MissingProducts
from penstock.store.effects.new_products import NewProducts
from penstock.store.effects.notifications import NotificationNotes
from penstock.store.effects.pages import ExpiredPages, Extractions, Pages, Postings, Robots
from penstock.store.effects.pictures import Pictures
from penstock.store.effects.products import Products
from penstock.store.effects.requests import Requests
from penstock.store.effects.row_names import ManyRowNames, RowNames
from penstock.store.effects.searches import SearchEvents

WRITERS = (
    RowNames(),
    ManyRowNames(),
    NewProducts(),
    Products(),
    Pictures(),
    BlobReferences(),
    GroupCounters(),
    SearchEvents(),
    Requests(),
    Events(),
    Deliveries(),
    NotificationNotes(),
    MissingProducts(),
    Cursors(),
    ImportErrors(),
    *(Pages(), ExpiredPages(), Extractions(), Postings(), Robots()),
)
