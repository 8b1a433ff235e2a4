"""A corpus as a folder: Parquet parts of documents, one row each, with a manifest.

    corpus/manifest.json                     how it was made, the parts with their rows and digests
    corpus/documents/part-00012.parquet      the documents of shard 12
    corpus/quarantine/documents-00012.jsonl  those it had to leave out, and why

Nothing is read before it is asked for: ids and dates of a part first, words only of documents that
are wanted.
"""

import datetime
import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.corpus.document import Document
from gnomon.corpus.rows import CODED, from_table, to_table
from gnomon.engine.ledger import MANIFEST, Ledger
from gnomon.engine.shards import Outcome
from gnomon.errors import InputError

if TYPE_CHECKING:
    import polars as pl

SECTION = "documents"


def outcome(documents: Sequence[Document], problems: Sequence[Mapping[str, str]] = ()) -> Outcome:
    """A part of a corpus: its bytes, and what the manifest says of it."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(to_table(documents), buffer, compression="zstd")
    counts = {
        "words": sum(len(d) for d in documents),
        "sentences": sum(d.sentences for d in documents),
        "dated": sum(d.date is not None for d in documents),
        "mentions": sum(len(d.mentions or ()) for d in documents),
        "relations": sum(len(d.relations or ()) for d in documents),
    }
    return Outcome(buffer.getvalue(), len(documents), tuple(problems), counts)


class Corpus:
    """A stored corpus, read as it is asked for.

    An unfinished one (the command that makes it was stopped) is refused unless `unfinished`.
    """

    def __init__(self, folder: str | Path, *, unfinished: bool = False) -> None:
        self.folder = Path(folder)
        if not (self.folder / MANIFEST).is_file():
            raise InputError(
                str(folder), "this is no corpus: it has no manifest.json", "make one: gnomon parse"
            )
        self.ledger = Ledger(self.folder / MANIFEST, SECTION)
        self.parts = self.ledger.parts(unfinished=unfinished)

    def __len__(self) -> int:
        return sum(part.rows for part in self.ledger.records)

    @property
    def settings(self) -> Mapping[str, Any]:
        """How the documents were made."""
        return self.ledger.settings

    @property
    def counts(self) -> Mapping[str, int]:
        """Words, sentences, dated documents, mentions and relations in all."""
        totals: dict[str, int] = {}
        for part in self.ledger.records:
            for name, n in part.counts.items():
                totals[name] = totals.get(name, 0) + n
        return totals

    @cached_property
    def index(self) -> "pl.DataFrame":
        """The id and date of every document, with the number of its part and of its row there."""
        import polars as pl

        tables = [
            _columns(path, ["id", "date"]).with_columns(pl.lit(k, pl.Int32).alias("part"))
            .with_row_index("row")
            for k, path in enumerate(self.parts)
        ]  # fmt: skip
        empty = pl.DataFrame(
            schema={"row": pl.UInt32, "id": pl.String, "date": pl.Date, "part": pl.Int32}
        )
        return pl.concat([empty, *tables]).select("id", "date", "part", "row")

    def documents(
        self,
        *,
        ids: Collection[str] | None = None,
        since: datetime.date | None = None,
        until: datetime.date | None = None,
        parts: Collection[int] | None = None,
    ) -> Iterator[Document]:
        """The documents in the corpus's order, or those of some ids, dates (inclusive) or parts.

        An id that is not there is an error. With a range of dates, undated documents are left out.
        """
        import polars as pl

        wanted = self.index
        if ids is not None:
            missing = sorted(set(ids) - set(wanted["id"]))
            if missing:
                raise InputError(
                    str(self.folder), f"there is no document {missing[0]!r}", "see its ids"
                )
            wanted = wanted.filter(pl.col("id").is_in(list(ids)))
        if since is not None:
            wanted = wanted.filter(pl.col("date") >= since)
        if until is not None:
            wanted = wanted.filter(pl.col("date") <= until)
        if parts is not None:
            unknown = [k for k in parts if not 0 <= k < len(self.parts)]
            if unknown:
                problem = f"there is no part {unknown[0]} (there are {len(self.parts)}, from 0)"
                raise InputError(str(self.folder), problem, "see: gnomon corpus info")
            wanted = wanted.filter(pl.col("part").is_in(list(parts)))
        for (part,), rows in wanted.group_by("part", maintain_order=True):
            number = int(str(part))
            table = _table(self.parts[number])
            if len(rows) < table.num_rows:
                table = table.take(rows["row"].to_list())
            yield from from_table(table)

    def document(self, id: str) -> Document:
        """One document by its id."""
        return next(self.documents(ids=[id]))

    def scan(self) -> "pl.LazyFrame":
        """The stored table, for queries of one's own."""
        import polars as pl

        return pl.scan_parquet([str(path) for path in self.parts])

    def problems(self) -> Iterator[dict[str, str]]:
        """The documents that were left out, each with where it stood and what was wrong."""
        for part in self.ledger.records:
            if part.problems:
                path = self.folder / "quarantine" / f"{SECTION}-{part.index:05}.jsonl"
                try:
                    lines = path.read_text(encoding="utf-8").splitlines()
                    yield from (json.loads(line) for line in lines)
                except (OSError, ValueError) as error:
                    problem = f"cannot be read ({error})"
                    raise InputError(str(path), problem, "make the corpus again") from None


def _table(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path, read_dictionary=[f"{name}.list.element" for name in CODED])
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from None


def _columns(path: Path, names: list[str]) -> "pl.DataFrame":
    import polars as pl

    try:
        return pl.read_parquet(path, columns=names)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> InputError:
    problem = f"cannot be read ({str(error).splitlines()[0][:120]})"
    return InputError(str(path), problem, "restore it, or make the corpus again")
