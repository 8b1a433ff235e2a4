"""Files of CoNLL-U cut into documents, without a look at the words."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from gnomon.corpus.files import opened, reported, shown
from gnomon.corpus.source import Quarantine, Raw, Refused, refuse
from gnomon.errors import InputError

_NEWDOC = re.compile(rb"#[ \t]*newdoc(?:[ \t]+id[ \t]*=([^\n]*))?[ \t\r]*(?:\n|\Z)")
_BLOCK = 1 << 22


def split(source: str | Path, *, quarantine: Quarantine | None = None) -> Iterator[Raw]:
    """The documents of a CoNLL-U file (".gz" too, or "-" for standard input), one at a time.

    A document begins with the comments that hold `# newdoc`; a file without one is one document,
    named after the file. A document that is not UTF-8, or has the id of an earlier one, is refused;
    what is wrong with the file as a whole is raised.
    """
    name = shown(source)
    stem = "stdin" if source == "-" else Path(source).name.removesuffix(".gz")
    stem = stem.removesuffix(".conllu") or "document"
    seen: set[str] = set()
    line = 1
    documents = 0
    with reported(name), opened(source) as handle:
        for data, whole in _documents(handle):
            start = line
            line += int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))
            if not data or data.isspace():
                continue
            documents += 1
            match = next(_newdocs(data, 0, len(data)), None)
            given = (match[1] or b"").decode(errors="replace").strip() if match else ""
            id_ = given or (stem if match is None and whole else f"{stem}-{documents}")
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                bad = start + data.count(b"\n", 0, error.start)
                problem = f"not UTF-8 (byte 0x{data[error.start]:02x})"
                lossy = data.decode(errors="replace")
                where, remedy = f"{name}, line {bad}", "save the file as UTF-8"
                refuse(Refused(id_, where, problem, remedy, lossy), quarantine)
                continue
            if id_ in seen:
                problem = f"a second document named {id_[:60]!r}"
                where, remedy = f"{name}, line {start}", "give every document an id of its own"
                refuse(Refused(id_, where, problem, remedy, text), quarantine)
                continue
            seen.add(id_)
            yield Raw(id_, "conllu", text, name, start)
    if documents == 0:
        raise InputError(name, "the file is empty", "give a CoNLL-U file with at least one word")


def _documents(handle: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The bytes of each document, and whether it is the whole file."""
    held = handle.read(_BLOCK).removeprefix(b"\xef\xbb\xbf")
    searched, whole = 0, True
    while True:
        block = handle.read(max(_BLOCK, len(held)))
        # Only whole lines are searched: the last may go on in the next block.
        limit = held.rfind(b"\n") + 1 if block else len(held)
        start = 0
        for match in _newdocs(held, searched, limit):
            top = _first_comment(held, match.start(), start)
            if top > start:
                whole = False
                yield held[start:top], False
                start = top
        if not block:
            yield held[start:], whole
            return
        searched = limit - start
        held = held[start:] + block


def _newdocs(data: bytes, start: int, end: int) -> Iterator[re.Match[bytes]]:
    """The `# newdoc` lines; a plain search for the word is ten times faster than one for lines."""
    at = data.find(b"newdoc", start, end)
    while at >= 0:
        match = _NEWDOC.match(data, data.rfind(b"\n", 0, at) + 1, end)
        if match:
            yield match
        at = data.find(b"newdoc", at + 6, end)


def _first_comment(data: bytes, line: int, least: int) -> int:
    """Where the comments begin that end with this line: other comments may stand above newdoc."""
    while line > least:
        above = data.rfind(b"\n", 0, line - 1) + 1
        if above < least or data[above : above + 1] != b"#" or _NEWDOC.match(data, above):
            break
        line = above
    return line
