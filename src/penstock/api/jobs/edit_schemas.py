"""Edits of many rows: what is asked for, and what is answered."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StrictInt, model_validator

from penstock.api.http.schemas import PRINTABLE, Shape
from penstock.api.jobs.schemas import FullJob
from penstock.model.rows.edits import MAX_CELL_LENGTH, Change, RowFilter

MAX_ROWS_NAMED = 5000
MAX_ROWS_PASTED = 2000
_RowNo = Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]
_Code = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]
_Column = Annotated[str, Field(min_length=1, max_length=1000)]
_Cell = Annotated[str, Field(max_length=MAX_CELL_LENGTH)]


class RowSelection(Shape):
    """Ended rows that match all that is given; nothing given: all of them."""

    statuses: list[Literal["DONE", "ERROR", "NOT_FOUND", "SKIPPED"]] = Field(default_factory=list)
    code: _Code | None = Field(None, description="Rows that failed with this error.")
    problem: Literal["*"] | _Code | None = Field(
        None, description="Rows with this problem in a cell; `*`: with any."
    )
    problem_column: _Column | None = Field(None, description="Only if the problem is in this one.")
    column: _Column | None = Field(None, description="Rows with `value` in this column.")
    value: _Cell | None = None
    item_ids: list[_RowNo] = Field(
        default_factory=list,
        min_length=1,
        max_length=MAX_ROWS_NAMED,
        description="Row numbers; left out: whatever their number.",
    )
    q: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        pattern=PRINTABLE,
        description="Rows with this text in their input or result, capitals or not.",
    )

    @model_validator(mode="after")
    def _is_complete(self) -> RowSelection:
        if (self.column is None) != (self.value is None):
            raise ValueError("column and value go together")
        if self.problem_column is not None and self.problem is None:
            raise ValueError("problemColumn needs a problem")
        return self

    def row_filter(self) -> RowFilter:
        return RowFilter.of_json(self.model_dump(by_alias=True))


class PastedRow(Shape):
    row: _RowNo
    cells: dict[str, _Cell] = Field(min_length=1, max_length=1000)


class RowChange(Shape):
    """`replace`: `find` becomes `value`, within the cell or as the `wholeCell`. `set`: the cell
    becomes `value`. `fillDown`: an empty cell takes the text above it. `paste`: `rows`."""

    kind: Literal["replace", "set", "fillDown", "paste"]
    column: _Column | None = None
    find: _Cell | None = None
    value: _Cell | None = None
    whole_cell: bool = False
    match_case: bool = True
    rows: list[PastedRow] | None = Field(None, min_length=1, max_length=MAX_ROWS_PASTED)

    @model_validator(mode="after")
    def _is_complete(self) -> RowChange:
        pastes = self.kind == "paste"
        if pastes != (self.rows is not None) or pastes == (self.column is not None):
            raise ValueError("`paste` needs rows, every other kind a column")
        if self.kind in ("replace", "set") and self.value is None:
            raise ValueError(f"`{self.kind}` needs a value")
        if self.kind == "replace" and (self.find is None or not (self.find or self.whole_cell)):
            raise ValueError("`replace` needs the text to find")
        return self

    def change(self) -> Change:
        return Change.of_json(self.model_dump(by_alias=True, exclude_none=True))


class EditOrder(Shape):
    """Which rows, and what to change in them."""

    select: RowSelection = RowSelection()
    change: RowChange = Field(
        examples=[{"kind": "replace", "column": "price", "find": "O", "value": "0"}]
    )
    dry_run: bool = Field(False, description="Only count, and show the first changes.")

    def row_filter(self) -> RowFilter:
        if self.change.rows is None:
            return self.select.row_filter()
        if self.select != RowSelection():
            raise ValueError("`paste` names its rows itself")
        return RowFilter(rows=tuple(sorted({one.row for one in self.change.rows})))

    @model_validator(mode="after")
    def _fits(self) -> EditOrder:
        self.row_filter()
        return self


class EditedCells(Shape):
    row: int
    before: dict[str, Any]
    after: dict[str, str]


class EditPreview(Shape):
    rows: int = Field(description="Rows that would change.")
    capped: bool = Field(description="At least so many.")
    changes: list[EditedCells] = Field(description="Of the first rows.")


class EditReceipt(Shape):
    edit_id: UUID | None = Field(description="Null: nothing to change.")
    operation_id: UUID | None = Field(description="How far it is: `/api/bulk/{id}`.")
    rows: int
    capped: bool
    job: FullJob


class UndoEditOrder(Shape):
    edit_id: UUID | None = Field(
        None, description="Refuse to undo if this is not the last edit of the job."
    )


class EditShape(Shape):
    id: UUID
    select: dict[str, Any]
    change: dict[str, Any]
    rows: int
    state: Literal["counting", "running", "done", "aborted", "failed"]
    edited_by: str
    created_at: datetime
    undone_at: datetime | None


class EditList(Shape):
    items: list[EditShape] = Field(description="The last edit first.")
    undoable: UUID | None = Field(description="The edit that can be undone next.")
