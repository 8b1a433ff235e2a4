"""What the comments above a sentence of CoNLL-U say.

`# newdoc`, `# meta::KEY = V` and `# global.KEY = V` speak of the document, `# newpar` of the
paragraph, `# sent_id` and `# speaker` of the sentence; `# text` follows from the words and is not
kept. Everything else is kept as it is.
"""

import datetime
import re
from collections.abc import Callable
from typing import NoReturn

from gnomon.corpus.document import parse_date
from gnomon.errors import InputError

_NEWDOC = re.compile(r"newdoc(?:[ \t]+id[ \t]*=.*)?")
_NEWPAR = re.compile(r"newpar(?:[ \t=].*)?")

_SENTENCE = frozenset(("text", "sent_id", "speaker"))


def role(comment: str) -> str:
    """Which part of a document a comment (without its #) speaks of; "other" if of none we know.

    >>> role("sent_id = 4"), role("meta::genre = news"), role("newpar"), role("s_type = decl")
    ('sent_id', 'meta', 'newpar', 'other')
    """
    name, equals, _ = comment.partition("=")
    name = name.rstrip()
    if equals and name in _SENTENCE:
        return name
    if equals and name.startswith(("meta::", "global.")):
        return "meta"
    if comment.startswith("new"):
        if _NEWPAR.fullmatch(comment):
            return "newpar"
        if _NEWDOC.fullmatch(comment):
            return "newdoc"
    return "other"


class Comments:
    """The comments of a document, collected sentence by sentence.

    `where` gives the place of the n-th comment line, for messages.
    """

    def __init__(self, where: Callable[[int], str]) -> None:
        self.meta: dict[str, str] = {}
        self.paragraph: list[int] = []
        self.sentence_id: list[str] = []
        self.speaker: list[str] = []
        self.others: list[str] = []
        self._where = where
        self._known: dict[str, str] = {}
        self._roles: dict[str, str] = {}
        self._lines = 0
        self._begun = False
        self._dated: dict[str, datetime.date] = {}

    def add(self, block: str) -> None:
        """The comments of the next sentence, as they stand in the file."""
        sentence = len(self.others)
        found: dict[str, str] = {}
        others: list[str] = []
        known = self._known
        lines = block.split("\n") if block else []
        for nth, line in enumerate(lines, self._lines):
            if line in known:  # such as `# s_type = decl`, which comes again and again
                others.append(known[line])
                continue
            if line.startswith("# text = "):
                continue
            if line.startswith("# sent_id = ") and "sent_id" not in found:
                found["sent_id"] = line[12:].strip()
                continue
            name, equals, value = line.partition("=")
            kind = self._roles.get(name) if equals else None
            if kind is None:
                kind = role(line[1:].strip())
                if equals:  # then the name decides
                    self._roles[name] = kind
            if kind == "other":
                comment = line[1:].strip()
                if comment:
                    others.append(comment)
                    known[line] = comment
            elif kind == "meta":
                self._add_meta(nth, name[1:].strip(), value.strip())
            elif kind == "newpar":
                if self.paragraph[-1:] != [sentence]:
                    self.paragraph.append(sentence)
                if equals or line[1:].strip() != "newpar":
                    others.append(line[1:].strip())
            elif kind == "newdoc":
                if self._begun or sentence:
                    self._fail(nth, "a second `# newdoc` in one document", "split the file there")
                self._begun = True
            elif kind != "text":
                if kind in found:
                    self._fail(nth, f"a second `# {kind}` in one sentence", "keep one of them")
                found[kind] = value.strip()
        self._lines += len(lines)
        self.sentence_id.append(found.get("sent_id", ""))
        self.speaker.append(found.get("speaker", ""))
        self.others.append("\n".join(others))

    def _add_meta(self, nth: int, name: str, value: str) -> None:
        key = name.removeprefix("meta::")
        if self.meta.setdefault(key, value) != value:
            self._fail(nth, f"a second value for {key[:40]!r}", "keep one of them")
        if key in ("dateCreated", "date") and value:
            try:
                self._dated[key] = parse_date(value, "")
            except InputError as error:
                self._fail(nth, error.problem, error.remedy)

    def _fail(self, nth: int, problem: str, remedy: str) -> NoReturn:
        raise InputError(self._where(nth), problem, remedy)

    def facts(self) -> tuple[datetime.date | None, str, dict[str, str]]:
        """The document's date, its title, and the rest of its metadata.

        What date and title say in full is not said again in the metadata, so that a document has
        one answer to each question; a date written in another way stays there too.
        """
        meta = dict(self.meta)
        date = self._dated.get("dateCreated", self._dated.get("date"))
        if date is not None and meta.get("dateCreated") == date.isoformat():
            del meta["dateCreated"]
        return date, meta.pop("title", ""), meta
