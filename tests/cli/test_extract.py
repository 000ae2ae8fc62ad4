"""`penstock extract`: one file, here and now."""

from __future__ import annotations

import csv
import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import openpyxl
import pytest
from tests.cli.conftest import Cli

TABLE = "sku,title,price\n1, Hammer ,9.90\n2,=Nail,5\n"
FIELDS = {
    "jobId", "state", "total", "valid", "invalid", "duplicates", "new", "existing", "held",
    "linked", "mapping",
    "output", "seconds",
}  # fmt: skip


def write(cli: Cli, text: str | bytes, name: str = "table.csv") -> Path:
    path = cli.cwd / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def rows_of(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_file_becomes_clean_rows_without_a_server(lone_cli: Cli) -> None:
    cli = lone_cli
    write(cli, TABLE)
    done = cli("extract", "table.csv")
    assert done.stdout == ""
    assert "2 rows, 2 valid, 0 invalid" in done.stderr
    assert rows_of(cli.cwd / "table.clean.csv") == [
        ["sourceId", "sku", "title", "price", "currency", "unit", "match"],
        ["1", "1", "Hammer", "9.90", "", "piece", "new"],
        ["2", "2", "'=Nail", "5.00", "", "piece", "new"],
    ]
    assert (cli.cwd / "table.csv").read_text() == TABLE
    assert not (cli.data_dir / "pg" / "postmaster.pid").exists()


def test_json_tells_everything(cli: Cli) -> None:
    write(cli, TABLE)
    told = cli.json("extract", "table.csv", "-o", "out.csv")
    assert set(told) == FIELDS
    assert (told["state"], told["total"], told["valid"], told["invalid"]) == ("done", 2, 2, 0)
    assert told["mapping"] == {
        "sku": "identifiers.sku", "title": "title", "price": "price.amount",
    }  # fmt: skip
    assert told["output"] == "out.csv"
    assert told["seconds"] > 0
    assert cli.json("jobs", "show", told["jobId"])["state"] == "done"


def test_rows_may_go_to_stdout(cli: Cli) -> None:
    write(cli, TABLE)
    done = cli("extract", "table.csv", "-o", "-", "--quiet")
    assert done.stdout.splitlines()[1:] == [
        "1,1,Hammer,9.90,,piece,new",
        "2,2,'=Nail,5.00,,piece,new",
    ]
    assert done.stderr == ""


def test_rows_are_written_as_the_name_ends(cli: Cli) -> None:
    write(cli, TABLE)
    for ending in ("xlsx", "json", "ndjson"):
        cli("extract", "table.csv", "-o", f"out.{ending}")
    book = openpyxl.load_workbook(cli.cwd / "out.xlsx")
    assert [cell.value for cell in book.worksheets[0][3]][:4] == ["2", "2", "=Nail", 5]
    objects = json.loads((cli.cwd / "out.json").read_text())
    assert [one["title"] for one in objects] == ["Hammer", "=Nail"]
    lines = (cli.cwd / "out.ndjson").read_text().splitlines()
    assert [json.loads(line) for line in lines] == objects
    said = cli("extract", "table.csv", "-o", "out.docx", code=2).stderr
    assert "must end in .csv, .xlsx" in said
    assert not (cli.cwd / "out.docx").exists()


def test_rows_that_fail_are_left_out_and_told_of(cli: Cli) -> None:
    write(cli, "sku,b\n1,2\n3,4,5\n6,7\n")
    done = cli("extract", "table.csv", code=3)
    assert rows_of(cli.cwd / "table.clean.csv") == [
        ["sourceId", "sku", "b", "match"], ["1", "1", "2", "new"], ["6", "6", "7", "new"],
    ]  # fmt: skip
    assert "Row 2: " in done.stderr
    assert "[ROW_TOO_LONG]" in done.stderr


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "UNSUPPORTED_TYPE"),
        (b"", "EMPTY_FILE"),
        (b"a,b\n", "NO_ROWS"),
    ],
    ids=["binary", "empty", "header only"],
)
def test_a_file_of_no_use_fails_with_its_code(cli: Cli, content: bytes, code: str) -> None:
    write(cli, content)
    said = cli("extract", "table.csv", code=2).stderr
    assert said.startswith("penstock: ")
    assert said.rstrip().endswith(f"[{code}]")
    told = cli.json("extract", "table.csv", code=2)
    assert told["state"] == "failed"
    assert told["error"]["code"] == code
    assert set(told) == FIELDS | {"error"}
    assert not (cli.cwd / "table.clean.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope.csv"], "Cannot read nope.csv: No such file"),
        (["."], "is a folder"),
        (["table.csv", "-o", "table.csv"], "is the input"),
        (["table.csv", "-o", "missing/out.csv"], "no folder missing"),
        (["table.csv", "-o", "-", "--json"], "need a file"),
        (["table.csv", "--config", "{"], "no JSON"),
        (["table.csv", "--config", '{"unknown": 1}'], "UNKNOWN_FIELD"),
        (["table.csv", "--mapping", "title"], "COLUMN=FIELD"),
    ],
)
def test_wrong_use_ends_with_2(cli: Cli, arguments: list[str], said: str) -> None:
    write(cli, TABLE)
    told = cli("extract", *arguments, code=2)
    assert said in told.stderr
    assert told.stderr.count("\n") == 1
    assert (cli.cwd / "table.csv").read_text() == TABLE


@contextmanager
def web(content: bytes) -> Iterator[str]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            there = self.path == "/list/table.csv"
            self.send_response(200 if there else 404)
            self.end_headers()
            self.wfile.write(content if there else b"")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_a_url_is_fetched(cli: Cli) -> None:
    near = replace(cli, env={**cli.env, "PENSTOCK_FETCH_ALLOW": "127.0.0.1/32"})
    with web(TABLE.encode()) as server:
        url = f"{server}/list/table.csv"
        assert "[URL_NOT_ALLOWED]" in cli("extract", url, code=2).stderr
        assert near.json("extract", url)["valid"] == 2
        assert near.json("preview", url)["rowsSampled"] == 2
        assert "[FILE_NOT_FOUND]" in near("extract", f"{server}/other", code=4).stderr
    assert len(rows_of(cli.cwd / "table.clean.csv")) == 3


def test_a_mapping_names_columns(cli: Cli) -> None:
    write(cli, "Artikel,b\nHammer,2\n")
    told = cli.json("extract", "table.csv", "--mapping", "Artikel=title")
    assert told["mapping"] == {"Artikel": "title"}


def test_ctrl_c_cancels_the_job_and_writes_nothing(cli: Cli) -> None:
    lines = "".join(f"{n},name {n},{n}.50,{'x' * 80}\n" for n in range(200_000))
    write(cli, f"sku,title,price,description\n{lines}", "large.csv")
    running = cli.start("extract", "large.csv")
    deadline = time.monotonic() + 60
    while not [
        job for job in cli.json("jobs", "list", "--state", "running") if job["counters"]["total"]
    ]:
        assert running.poll() is None
        assert time.monotonic() < deadline
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "the job was cancelled and nothing was written" in said
    assert not list(cli.cwd.glob("*clean*"))
    newest = cli.json("jobs", "list", "--limit", "1")[0]
    assert newest["name"] == "large.csv"
    assert newest["state"] == "cancelled"
    assert newest["counters"]["pending"] == newest["counters"]["processing"] == 0


def test_a_file_whose_columns_name_no_product_is_asked_about(cli: Cli) -> None:
    (cli.cwd / "odd.csv").write_text("My Wotsit;Frobz\nred hammer;X-1\nblue saw;X-2\n")
    said = cli("extract", "odd.csv", code=2).stderr
    assert "[MAPPING_NEEDED]" in said
    assert "--mapping 'My Wotsit=title'" in said
    assert "Question: " in cli("preview", "odd.csv").stderr
    cli("extract", "odd.csv", "--mapping", "My Wotsit=title", code=0)
