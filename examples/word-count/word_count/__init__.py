"""Count the words of text files: a pipeline of another package, with an effect of its own.

Each line is an item. Its words are added to a table of the package in the transaction that settles
the item, so that a crash neither loses nor doubles a count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.sdk import (
    Config,
    Context,
    Done,
    Effect,
    EffectBatch,
    EffectWriter,
    Fail,
    Item,
    ItemError,
    Job,
    LockOrder,
    Outcome,
    Pipeline,
    Row,
    RowBatch,
    SqlConnection,
    Stage,
    each,
)


@dataclass(frozen=True)
class AddWords(Effect):
    """Add these words to the counts of the org."""

    counts: Mapping[str, int]


class WordCounts(EffectWriter):
    """Writes `AddWords`."""

    effect = AddWords
    order = LockOrder.RECORDS
    tables = """
        CREATE TABLE IF NOT EXISTS word_counts (
            org_id bigint NOT NULL REFERENCES orgs,
            word   text NOT NULL,
            count  bigint NOT NULL,
            PRIMARY KEY (org_id, word)
        );
        ALTER TABLE word_counts ENABLE ROW LEVEL SECURITY
    """

    def check(self, effect: AddWords) -> AddWords:
        if any(len(word) > 200 for word in effect.counts):
            raise ValueError("a word has at most 200 characters")
        return effect

    async def write(self, conn: SqlConnection, batch: EffectBatch) -> tuple[()]:
        total: Counter[str] = Counter()
        for asked in batch.asked:
            total.update(asked.effect.counts)
        # Sorted: settles that add the same words lock them in the same order.
        words = sorted(total)
        await conn.execute(
            "INSERT INTO word_counts AS w (org_id, word, count)"
            " SELECT $1, n.word, n.count FROM unnest($2::text[], $3::bigint[]) AS n (word, count)"
            " ON CONFLICT (org_id, word) DO UPDATE SET count = w.count + excluded.count",
            batch.org_id, words, [total[word] for word in words],
        )  # fmt: skip
        return ()


class WordCountConfig(Config):
    """Validated when a job is submitted; unknown fields are refused."""

    lower: bool = True


class WordCount(Pipeline):
    name = "word-count"
    Config = WordCountConfig
    needs_file = True
    max_files = 100
    columns = ("line", "words")
    effects = (WordCounts(),)

    def stages(self, config: WordCountConfig) -> tuple[Stage, ...]:
        return (Stage("count", run=each(count)),)

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        """Lines of all files; the cursor says how many have been read."""
        done = cursor["lines"] if cursor else 0
        lines: list[str] = []
        for file in job.files:
            async with ctx.blobs.local(file.blob_key) as path:
                lines += path.read_text("utf-8", "replace").splitlines()
        while done < len(lines):
            batch = lines[done : done + ctx.batch_rows]
            done += len(batch)
            yield RowBatch([Row(line) for line in batch], {"lines": done}, done, len(lines))


async def count(item: Item, ctx: Context) -> Outcome:
    line: str = item.input
    words = (line.lower() if item.job.config.lower else line).split()
    if not words:
        return Fail(ItemError("VALIDATION_ERROR", "The line is empty", column="line"))
    return Done({"line": line, "words": len(words)}, effects=[AddWords(Counter(words))])
