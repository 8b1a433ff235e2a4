"""Raw text in: JSON lines, tables, text files and folders of them as one stream of documents.

- "jsonl" (`.jsonl`, `.ndjson`, standard input): an object a line with `text` and, if there are any,
  `id`, `date` and `title`. "csv", "tsv", "parquet": a table with columns of these names.
- "txt": a file is a document. "folder": each `.txt` file below it, at any depth, in the order of
  their paths, is one; names that begin with a dot are left out. The id is the path without suffix,
  the date the one with which the file's name begins or ends, if it is one only.

Text may be gzipped. A record without an id is called after its file and line ("news-17"). Where
there is no `text`, `body` is read (Reuters-21578). A record with a title but no text is a document
with an empty text; one with neither is refused. Fields that are not ours become strings in `meta`:
a list of plain values is joined by ";", anything else nested is compact JSON.

Text is strict UTF-8; a byte order mark is dropped. Line ends and form feeds become "\\n". NUL is
refused, since it means binary data; any other control character becomes a blank (wire stories end
in U+0003). In an id or a title white space is collapsed.
"""

import datetime
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from gnomon.corpus.document import parse_date
from gnomon.corpus.files import decoded, lines, opened, reported, shown
from gnomon.corpus.source import Quarantine, Raw, Refused, refuse
from gnomon.errors import InputError
from gnomon.tables import read_batches
from gnomon.tables.formats import BOM, is_stream
from gnomon.tables.source import wanted

FORMATS = ("jsonl", "csv", "tsv", "parquet", "txt", "folder")
FIELDS = ("text", "id", "date", "title")
_OURS = {name: name for name in FIELDS}
_SUFFIXES = {
    **{name: name for name in FORMATS if name != "folder"},
    **{"ndjson": "jsonl", "tab": "tsv", "pq": "parquet"},
}
_BLOCK = 1 << 20
_BLANKED = bytes({*range(32), 127} - {*b"\t\n\r\v\f"})
_CLEANED = bytes.maketrans(b"\r\v\f" + _BLANKED, b"\n\n\n" + b" " * len(_BLANKED))
_decode = json.JSONDecoder().decode


def read(
    source: str | Path,
    *,
    format: str | None = None,
    fields: Mapping[str, str] | None = None,
    quarantine: Quarantine | None = None,
    since: datetime.date | None = None,
    until: datetime.date | None = None,
    skipped: Callable[[Raw], None] | None = None,
) -> Iterator[Raw]:
    """The documents of a file, a folder or standard input ("-"), in order, one at a time.

    `fields` maps our names (`text`, `id`, `date`, `title`) to the file's. A bad document (no text,
    an unreadable date, an id that came before) goes to the `quarantine`, or is raised if there is
    none; a file that cannot be read to its end is always raised. With `since` or `until` (both
    inclusive) documents outside, and undated ones, are left out and handed to `skipped`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "news.jsonl")
    ...     _ = path.write_text('{"id": 7, "text": "It rained.", "date": "2005-03-02"}')
    ...     [(document.id, document.text, document.date.year) for document in read(path)]
    [('7', 'It rained.', 2005)]
    """
    if since and until and since > until:
        raise InputError("since", f"{since} is after until, {until}", "exchange the two")
    names = _OURS | dict(fields or {})
    if unknown := set(names) - set(FIELDS):
        problem = f"{min(unknown)!r} is not a field of ours"
        raise InputError("fields", problem, f"use {', '.join(FIELDS)}")
    kind = format_of(source, format)
    if kind == "jsonl":
        found = jsonl(source, names)
    elif kind == "folder":
        found = text_files(source)
    elif kind == "txt":
        found = iter([_text_file(source, shown(source), _stem(source))])
    else:
        found = table(source, kind, names)
    return _admitted(found, shown(source), quarantine, since, until, skipped)


def _admitted(
    found: Iterator[Raw | Refused],
    name: str,
    quarantine: Quarantine | None,
    since: datetime.date | None,
    until: datetime.date | None,
    skipped: Callable[[Raw], None] | None,
) -> Iterator[Raw]:
    """The documents that are neither refused, nor double, nor out of range."""
    seen = set[bytes]()  # digests, so that millions of ids fit
    empty = True
    for document in found:
        empty = False
        if isinstance(document, Refused):
            refuse(document, quarantine)
            continue
        key = hashlib.blake2b(document.id.encode(), digest_size=16).digest()
        if key in seen:
            problem = f"the id {document.id[:80]!r} came before"
            remedy = "give each document an id of its own"
            refuse(Refused(document.id, document.where, problem, remedy, document.text), quarantine)
            continue
        seen.add(key)
        date = document.date
        if (since or until) and (
            date is None or (since and date < since) or (until and date > until)
        ):
            if skipped:
                skipped(document)
            continue
        yield document
    if empty:
        raise InputError(name, "there is no document in it", "give a file with at least one")


def count(source: str | Path, *, format: str | None = None) -> int | None:
    """How many documents `read` will find, refused ones among them; None for a stream.

    Lines that are not blank, files or rows: the file is gone through, but no document is made.
    """
    if is_stream(source):
        return None
    kind = format_of(source, format)
    if kind == "jsonl":
        return sum(1 for _, line in lines(source) if line and not line.isspace())
    if kind == "folder":
        return len(_text_paths(source))
    if kind == "txt":
        return 1
    if kind == "parquet":
        import pyarrow.parquet as pq

        try:
            return int(pq.read_metadata(source).num_rows)
        except (OSError, ValueError):  # read_batches says better what is wrong
            pass
    return sum(batch.height for batch in read_batches(source, rows=10_000, format=kind))


def digest(source: str | Path) -> str:
    """32 hexadecimal digits that change with the bytes of a file, or a folder's names and bytes."""
    if is_stream(source):
        problem = "a stream can be read only once"
        raise InputError(shown(source), problem, "save it to a file to have its digest")
    total = hashlib.blake2b(digest_size=16)
    if not os.path.isdir(source):
        with reported(shown(source)), open(source, "rb") as handle:
            while block := handle.read(_BLOCK):
                total.update(block)
        return total.hexdigest()
    for relative, path in _text_paths(source):
        total.update(f"{relative}\n{digest(path)}\n".encode())
    return total.hexdigest()


def format_of(source: str | Path, format: str | None = None) -> str:
    """The format given, or the one that the name tells, or the first bytes."""
    if format is not None and format not in FORMATS:
        problem = f"{format!r} is not a format of texts"
        raise InputError("format", problem, f"give one of {', '.join(FORMATS)}")
    if source == "-":
        return format or "jsonl"
    if os.path.isdir(source) or format == "folder":
        if format not in (None, "txt", "folder"):
            problem = f"this is a folder, not a {format} file"
            raise InputError(shown(source), problem, "name one file")
        return "folder"
    with reported(shown(source)):
        os.stat(source)
    suffix = Path(Path(source).name.lower().removesuffix(".gz")).suffix[1:]
    if kind := format or _SUFFIXES.get(suffix):
        return kind
    if is_stream(source):
        return "jsonl"
    with reported(shown(source)), opened(source) as handle:
        head = handle.read(1 << 12)
    if head.startswith(b"PAR1"):
        return "parquet"
    head = head.removeprefix(BOM).lstrip()
    if head.startswith(b"{"):
        return "jsonl"
    if head.startswith(b"["):
        problem, remedy = "this is one JSON array", "write one object a line: jq -c '.[]'"
    else:
        problem = "neither its name nor its first bytes tell the format"
        remedy = f"name the format, one of {', '.join(FORMATS)}"
    raise InputError(shown(source), problem, remedy)


def jsonl(source: str | Path, names: Mapping[str, str]) -> Iterator[Raw | Refused]:
    """Each line of a JSONL file that is not blank as a document, or why it cannot be one."""
    name, stem = shown(source), _stem(source)
    for number, line in lines(source):
        if not line or line.isspace():
            continue
        where, spare = f"{name}, line {number}", f"{stem}-{number}"
        try:
            record = _object(decoded(line.rstrip(), name, number), where)
        except InputError as error:
            yield Refused.because(error, spare, line.decode(errors="replace").rstrip())
        else:
            yield _document(record, where, number, spare, names)


def _object(text: str, where: str) -> dict[str, object]:
    try:
        record = _decode(text)
        if "\\ud" in text or "\\uD" in text:  # may spell half a character, which is not text
            json.dumps(record, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        problem = f"not JSON at column {error.colno} ({error.msg})"
    except (ValueError, RecursionError) as error:  # also a number of more than 4,300 digits
        problem = f"not JSON we can take ({str(error).splitlines()[0]})"
    else:
        if isinstance(record, dict):
            return record
        problem = "not an object"
    raise InputError(where, problem, 'give one object a line, as {"id": "1", "text": "..."}')


def table(source: str | Path, kind: str, names: Mapping[str, str]) -> Iterator[Raw | Refused]:
    """Each row of a table as a document, or why it cannot be one."""
    name, stem = shown(source), _stem(source)
    row = 0
    for batch in read_batches(source, rows=10_000, format=kind):
        if row == 0:
            needed = [theirs for ours, theirs in names.items() if ours != theirs]
            if not {names["text"], "body", "title"} & set(batch.columns):
                needed.append(names["text"])
            wanted(needed, batch.columns, name)
        for record in batch.iter_rows(named=True):
            row += 1
            if isinstance(record.get(names["text"]), int | float):  # 1984 can be a text
                record[names["text"]] = str(record[names["text"]])
            yield _document(record, f"{name}, row {row}", row, f"{stem}-{row}", names)


def text_files(folder: str | Path) -> Iterator[Raw | Refused]:
    """Each text file below a folder as a document, or why it cannot be one."""
    for relative, path in _text_paths(folder):
        yield _text_file(path, shown(path), " ".join(relative.split()))


def _text_paths(folder: str | Path) -> list[tuple[str, str]]:
    """The id and the path of each text file below a folder, in the order of their names."""

    def stop(error: OSError) -> None:
        raise error

    found = []
    with reported(shown(folder)):
        for place, folders, names in os.walk(folder, onerror=stop):
            folders[:] = [name for name in folders if not name.startswith(".")]
            found += [
                (os.path.relpath(os.path.join(place, name), folder), os.path.join(place, name))
                for name in names
                if re.search(r"\.txt(\.gz)?$", name, re.IGNORECASE) and not name.startswith(".")
            ]
    if not found:
        problem = "there is no .txt or .txt.gz file in this folder"
        raise InputError(shown(folder), problem, "name another folder, or one file")
    found = [(shown(Path(relative).as_posix()), path) for relative, path in found]
    return [(_without_suffix(relative), path) for relative, path in sorted(found)]


def _text_file(source: str | Path, name: str, id: str) -> Raw | Refused:
    data = b"".join(line for _, line in lines(source))
    try:
        record = {"text": decoded(data, name)}
    except InputError as error:
        return Refused.because(error, id, data.decode(errors="replace"))
    document = _document(record, name, 1, id, _OURS)
    if isinstance(document, Raw) and (date := _date_in(id.rsplit("/", 1)[-1])):
        return Raw(id, "text", document.text, name, date=date)
    return document


def _date_in(name: str) -> datetime.date | None:
    """The one date with which a file's name begins or ends.

    >>> _date_in("2005-03-02 attack"), _date_in("20050302-20050309"), _date_in("12345678")
    (datetime.date(2005, 3, 2), None, None)
    """
    day = r"(?:1[5-9]|2[01])\d\d(-?)\d\d\1\d\d"
    found = set()
    for match in (re.match(rf"{day}(?!\d)", name), re.search(rf"(?<!\d){day}$", name)):
        if match:
            try:
                found.add(datetime.date.fromisoformat(match[0]))
            except ValueError:  # a number that is no day of the calendar is no date
                continue
    return found.pop() if len(found) == 1 else None


def _document(
    record: Mapping[str, object], where: str, line: int, id: str, names: Mapping[str, str]
) -> Raw | Refused:
    """The document that a record describes, called `id` unless it has one, or its refusal."""
    field = names["text"]
    if field == "text" and not record.get(field) and "body" in record:
        field = "body"
    text = record.get(field)
    try:
        id = _one_line(record.get(names["id"]), names["id"], where) or id
        if text is not None and not isinstance(text, str):
            remedy = "put the text of the document there"
            raise InputError(where, f"{field!r} is no string", remedy)
        clean = _clean(text or "", where)
        title = _one_line(record.get(names["title"]), names["title"], where)
        if not title and not clean.strip():
            problem = "there is neither a text nor a title"
            remedy = f"fill {field!r}, or say which field holds the text"
            raise InputError(where, problem, remedy)
        written = _one_line(record.get(names["date"]), names["date"], where)
        date = parse_date(written, where) if written else None
        ours = (field, *names.values())
        meta = {
            _clean(key, where): _clean(_plain(value), where)
            for key, value in record.items()
            if key not in ours and value is not None
        }
    except InputError as error:
        return Refused.because(error, id, text if isinstance(text, str) else "")
    return Raw(id, "text", clean, where, line, date, title, meta)


def _one_line(value: object, field: str, where: str) -> str:
    """A field that must be a single value, in one line; "" if it is absent."""
    if isinstance(value, list | dict):
        raise InputError(where, f"{field!r} is a list or an object", "give a single value")
    return " ".join(_clean(_plain(value), where).split())


def _plain(value: object) -> str:
    """A value as a string.

    >>> _plain(12), _plain(True), _plain(["usa", "uk"]), _plain({"a": [1]})
    ('12', 'true', 'usa;uk', '{"a":[1]}')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list) and not set(map(type, value)) - {str, int, float}:
        joined = ";".join(map(str, value))
        if joined.count(";") < max(len(value), 1):  # else a value has one of its own
            return joined
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except RecursionError:
        return str(type(value))


def _clean(text: str, where: str) -> str:
    """Text with "\\n" as its line end and no other control character than that and the tab."""
    if text.isprintable():
        return text
    data = text.encode()
    if b"\0" in data:
        problem = f"character {text.index(chr(0)) + 1} of a text is NUL (U+0000)"
        raise InputError(where, problem, "give text, not binary data; or take the NULs out")
    clean = data.replace(b"\r\n", b"\n").translate(_CLEANED)  # far faster than on a string
    return text if clean == data else clean.decode()


def _stem(source: str | Path) -> str:
    return "stdin" if source == "-" else _without_suffix(Path(shown(source)).name)


def _without_suffix(name: str) -> str:
    return re.sub(r"\.[^./]*$", "", re.sub(r"\.gz$", "", name, flags=re.IGNORECASE)) or name
