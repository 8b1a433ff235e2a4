"""Documents as rows of a table, one a document with list columns, and back.

The table needs no Gnomon to be read: Polars, DuckDB, pandas and R see lists of strings and numbers.
A layer that a document does not have (mentions, relations) is null there; one that is empty is an
empty list.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.corpus.document import Document, Fusions, Mentions, Relation
from gnomon.corpus.strings import Strings

if TYPE_CHECKING:
    import pyarrow as pa

WORD_STRINGS = ("form", "lemma", "upos", "xpos", "feats", "deprel", "misc")
SENTENCE_STRINGS = ("sentence_id", "speaker", "comments")
CODED = (*WORD_STRINGS, *SENTENCE_STRINGS)  # kept by distinct value, in the file and in memory


def schema() -> "pa.Schema":
    """The columns of a stored corpus."""
    import pyarrow as pa

    def listed(**fields: Any) -> Any:
        return pa.list_(pa.struct(fields))

    spans = listed(start=pa.int32(), end=pa.int32())
    return pa.schema(
        {
            "id": pa.string(),
            "date": pa.date32(),
            "title": pa.string(),
            "meta": pa.map_(pa.string(), pa.string()),
            **{name: pa.list_(pa.string()) for name in WORD_STRINGS},
            "head": pa.list_(pa.int32()),
            "space_after": pa.list_(pa.bool_()),
            "sentence": pa.list_(pa.int32()),
            "paragraph": pa.list_(pa.int32()),
            **{name: pa.list_(pa.string()) for name in SENTENCE_STRINGS},
            "fusions": listed(start=pa.int32(), end=pa.int32(), form=pa.string()),
            "mentions": listed(
                start=pa.int32(),
                end=pa.int32(),
                head=pa.int32(),
                entity=pa.int32(),
                kind=pa.string(),
                attributes=pa.string(),
            ),
            "entities": pa.list_(pa.string()),
            "pieces": listed(mention=pa.int32(), start=pa.int32(), end=pa.int32()),
            "relations": listed(
                type=pa.string(),
                sense=pa.string(),
                connective=pa.string(),
                connective_words=spans,
                first=spans,
                second=spans,
                word=pa.int32(),
            ),
        }
    )


def to_table(documents: Sequence[Document]) -> "pa.Table":
    """The documents as a table of `schema()`."""
    import pyarrow as pa

    def column(values: list[Any], name: str) -> Any:
        return pa.array(values, kinds.field(name).type)

    kinds = schema()
    columns: dict[str, Any] = {
        "id": column([d.id for d in documents], "id"),
        "date": column([d.date for d in documents], "date"),
        "title": column([d.title for d in documents], "title"),
        "meta": column([list(d.meta.items()) for d in documents], "meta"),
    }
    for name in WORD_STRINGS:
        columns[name] = _strings([getattr(d, name).filled(len(d)) for d in documents])
    for name in ("head", "sentence", "paragraph"):
        columns[name] = _numbers([getattr(d, name) for d in documents], np.int32)
    columns["space_after"] = _numbers([d.space_after for d in documents], np.bool_)
    for name in SENTENCE_STRINGS:
        columns[name] = _strings([getattr(d, name).filled(d.sentences) for d in documents])
    columns["fusions"] = column([_fusion_rows(d.fusions) for d in documents], "fusions")
    columns["mentions"] = column([_mention_rows(d.mentions) for d in documents], "mentions")
    columns["entities"] = column(
        [None if d.mentions is None else list(d.mentions.entities) for d in documents], "entities"
    )
    columns["pieces"] = column([_piece_rows(d.mentions) for d in documents], "pieces")
    columns["relations"] = column([_relation_rows(d.relations) for d in documents], "relations")
    return pa.table([columns[name] for name in kinds.names], schema=kinds)


def from_table(table: "pa.Table") -> Iterator[Document]:
    """The documents of a table, in its order."""
    for batch in table.to_batches():
        yield from _from_batch(batch)


def _from_batch(batch: Any) -> Iterator[Document]:
    columns: dict[str, Any] = {name: _coded(batch.column(name)) for name in CODED}
    for name in ("head", "sentence", "paragraph"):
        columns[name] = _sliced(batch.column(name))
    spaces = _sliced(batch.column("space_after"))
    small = {
        name: batch.column(name).to_pylist()
        for name in (
            "id", "date", "title", "meta", "fusions", "mentions", "entities", "pieces", "relations",
        )
    }  # fmt: skip
    for k in range(batch.num_rows):
        yield Document(
            id=small["id"][k],
            date=small["date"][k],
            title=small["title"][k],
            meta=dict(small["meta"][k]),
            **{name: of(k) for name, of in columns.items()},
            space_after=spaces(k),
            fusions=_fusions(small["fusions"][k]),
            mentions=_mentions(small["mentions"][k], small["entities"][k], small["pieces"][k]),
            relations=_relations(small["relations"][k]),
        )


def _strings(columns: list[Strings]) -> Any:
    """List column of strings: the distinct values of all documents, then the codes."""
    import pyarrow as pa

    index: dict[str, int] = {}
    codes = []
    for column in columns:
        tight = column.compact()
        own = [index.setdefault(value, len(index)) for value in tight.values]
        codes.append(np.array(own, dtype=np.int32)[tight.codes] if own else tight.codes)
    values = pa.DictionaryArray.from_arrays(
        pa.array(np.concatenate(codes) if codes else [], pa.int32()),
        pa.array(list(index), pa.string()),
    )
    return pa.ListArray.from_arrays(_offsets(columns), values.cast(pa.string()))


def _numbers(columns: list[Any], kind: Any) -> Any:
    import pyarrow as pa

    flat = np.concatenate(columns) if columns else np.zeros(0)
    return pa.ListArray.from_arrays(_offsets(columns), pa.array(flat.astype(kind)))


def _offsets(columns: "Sequence[Any]") -> Any:
    import pyarrow as pa

    return pa.array(np.cumsum([0, *(len(column) for column in columns)]), pa.int32())


def _coded(array: Any) -> Callable[[int], Strings]:
    """Row k of a list column of strings; the rows share the list of distinct values."""
    offsets = array.offsets.to_numpy()
    flat = array.values
    if not hasattr(flat, "indices"):
        flat = flat.dictionary_encode()
    codes = flat.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    values = tuple(flat.dictionary.to_pylist())
    return lambda k: Strings(codes[offsets[k] : offsets[k + 1]], values)


def _sliced(array: Any) -> Callable[[int], Any]:
    offsets = array.offsets.to_numpy()
    flat = array.values.to_numpy(zero_copy_only=False)
    return lambda k: flat[offsets[k] : offsets[k + 1]]


def _fusion_rows(fusions: Fusions) -> list[dict[str, Any]]:
    return [
        {"start": a, "end": b, "form": form}
        for a, b, form in zip(
            fusions.start.tolist(), fusions.end.tolist(), fusions.form, strict=True
        )
    ]


def _fusions(rows: list[dict[str, Any]]) -> Fusions:
    return Fusions(_column(rows, "start"), _column(rows, "end"), tuple(row["form"] for row in rows))


def _mention_rows(mentions: Mentions | None) -> list[dict[str, Any]] | None:
    if mentions is None:
        return None
    n = len(mentions)
    kind, attributes = mentions.kind.filled(n), mentions.attributes.filled(n)
    numbers = (mentions.start, mentions.end, mentions.head, mentions.entity)
    names = ("start", "end", "head", "entity", "kind", "attributes")
    return [
        dict(zip(names, row, strict=True))
        for row in zip(*(column.tolist() for column in numbers), kind, attributes, strict=True)
    ]


def _piece_rows(mentions: Mentions | None) -> list[dict[str, int]] | None:
    if mentions is None:
        return None
    return [
        {"mention": mention, "start": a, "end": b}
        for mention, spans in sorted(mentions.pieces.items())
        for a, b in spans
    ]


def _mentions(
    rows: list[dict[str, Any]] | None, entities: list[str] | None, pieces: list[dict[str, int]]
) -> Mentions | None:
    if rows is None:
        return None
    parts: dict[int, tuple[tuple[int, int], ...]] = {}
    for piece in pieces or ():
        mention = piece["mention"]
        parts[mention] = (*parts.get(mention, ()), (piece["start"], piece["end"]))
    return Mentions(
        _column(rows, "start"),
        _column(rows, "end"),
        _column(rows, "head"),
        _column(rows, "entity"),
        tuple(entities or ()),
        Strings.of(row["kind"] for row in rows),
        Strings.of(row["attributes"] for row in rows),
        parts,
    )


def _relation_rows(relations: tuple[Relation, ...] | None) -> list[dict[str, Any]] | None:
    if relations is None:
        return None

    def spans(pairs: tuple[tuple[int, int], ...]) -> list[dict[str, int]]:
        return [{"start": a, "end": b} for a, b in pairs]

    return [
        {
            "type": r.type,
            "sense": r.sense,
            "connective": r.connective,
            "connective_words": spans(r.connective_words),
            "first": spans(r.first),
            "second": spans(r.second),
            "word": r.word,
        }
        for r in relations
    ]


def _relations(rows: list[dict[str, Any]] | None) -> tuple[Relation, ...] | None:
    if rows is None:
        return None

    def spans(pairs: list[dict[str, int]]) -> tuple[tuple[int, int], ...]:
        return tuple((pair["start"], pair["end"]) for pair in pairs)

    return tuple(
        Relation(
            row["type"],
            row["sense"],
            row["connective"],
            spans(row["connective_words"]),
            spans(row["first"]),
            spans(row["second"]),
            row["word"],
        )
        for row in rows
    )


def _column(rows: list[dict[str, Any]], name: str) -> Any:
    return np.array([row[name] for row in rows], dtype=np.int32)
