"""Ten thousand damaged CoNLL-U files: an `InputError` or a document that reads back, no more."""

import io
import sys
from random import Random

import pytest
from documents import raw, row

from gnomon.corpus import conllu
from gnomon.corpus.document import Document
from gnomon.corpus.source import Refused
from gnomon.errors import InputError

INPUTS = 10_000
HEADERS = ("", "# global.Entity = GRP-etype-infstat\n", "# global.Entity = GRP\n")
PIECES = (
    b"\t", b"\n", b"\r\n", b"\r", b"|", b"=", b"-", b"(", b")", b"[1/2]", b"_", b"#", b"0", b"1",
    b"2-3", b"1.1", b"999999999999", b"\xff", b"\xc3", b"\xe2\x80\xa8", b"\0", b"Entity=(1", b";",
    b"Entity=1)", b"PDTB=a:b:c:1:2:3", b"SpaceAfter=No", b"# newdoc", b"# newpar\n", b":", b",",
    b"# meta::dateCreated = 2", b"# sent_id = 1\n", "²".encode(), b" ", b"\n\n",
)  # fmt: skip


def generated(random: Random) -> str:
    """One or two small documents with something of everything."""
    text = ""
    for name in "ab"[: random.randint(1, 2)]:
        header = random.choice(HEADERS)
        label = {"": "-person", HEADERS[1]: "-person-new", HEADERS[2]: ""}[header]
        text += f"# newdoc id = {name}\n{header}# meta::dateCreated = 2001-02-03\n# newpar\n"
        for s in range(random.randint(1, 3)):
            n = random.randint(2, 6)
            misc = ["_"] * n
            start = random.randrange(n - 1)
            misc[start] = f"Entity=(1{label}"
            misc[-1] = "Entity=1)|SpaceAfter=No"
            misc[random.randrange(n)] += f"|PDTB=Explicit:A.B:so:{random.randint(1, 2)}:1:2"
            text += f"# sent_id = {name}-{s}\n# s_type = decl\n# text = x\n"
            if random.random() < 0.3:
                text += row("1-2", "ab", "_", "SpaceAfter=No")
            heads = [0] + [random.randint(1, k) for k in range(1, n)]
            text += "".join(row(k + 1, f"w{k}", heads[k], misc[k]) for k in range(n))
            text += (row(f"{n}.1", "e", "_") if random.random() < 0.2 else "") + "\n"
    return text


def damaged(data: bytes, random: Random) -> bytes:
    """The data with one to three accidents."""
    for _ in range(random.randint(1, 3)):
        at, lines = random.randrange(len(data) + 1), data.split(b"\n")
        line = random.randrange(len(lines))
        match random.randrange(9):
            case 0:
                del lines[line]
                data = b"\n".join(lines)
            case 1:
                data = b"\n".join([*lines[:line], lines[line], *lines[line:]])
            case 2:
                cells = lines[line].split(b"\t")
                random.shuffle(cells)
                data = b"\n".join([*lines[:line], b"\t".join(cells), *lines[line + 1 :]])
            case 3:
                data = data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]
            case 4:
                data = data[:at]
            case 5:
                data = data[:at] + random.choice(PIECES) + data[at:]
            case 6:
                data = data[:at] + data[at + random.randint(1, 3) :]
            case 7:
                digits = [k for k, byte in enumerate(data) if 48 <= byte <= 57]
                if digits:
                    k = random.choice(digits)
                    data = data[:k] + str(random.randrange(12)).encode() + data[k + 1 :]
            case 8:
                other = random.randrange(len(lines))
                lines[line], lines[other] = lines[other], lines[line]
                data = b"\n".join(lines)
    return data


def test_damaged_files_are_refused_or_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(2015)
    refused: list[Refused] = []
    accepted: list[Document] = []
    for _ in range(INPUTS):
        data = damaged(generated(random).encode(), random)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        try:
            accepted += conllu.read("-", quarantine=refused.append)
        except InputError as error:
            refused.append(Refused.because(error, "file"))
    for document in accepted:
        again = conllu.parse(raw(conllu.dumps(document), document.id))
        assert again.same_as(document)
    for each in refused:
        assert each.where.startswith("standard input")
        assert "\n" not in str(each.error())
    assert len(accepted) > INPUTS / 10
    assert len(refused) > INPUTS / 10
    assert len({each.problem[:12] for each in refused}) > 20
