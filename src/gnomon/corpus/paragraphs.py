"""Where the paragraphs of a text begin."""

import re

_INVISIBLE = dict.fromkeys([0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F),
                            *range(0x2060, 0x206A), 0xFEFF])  # fmt: skip
_WRAPPED_WORD = re.compile("\xad[ \t]*\r?\n[ \t]*(?=[^ \t\r\n])")
_LINE_END = re.compile("\r\n|[\r\v\f\x85\u2028]")
_SENTENCE_END = re.compile(r"[.!?…:][\"'”’»)\]]*$")
_LONG = 100  # characters: nobody wraps lines beyond


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, none of them empty, with all white space collapsed to blanks.

    1. A blank line ends a paragraph.
    2. If some lines of the text are indented by three blanks or a tab and others are not, an
       indented line begins a paragraph, and any other line end is a blank (wire stories).
    3. Otherwise, if most single line ends follow the end of a sentence or a line of more than 100
       characters, the text has one line a paragraph, and each of them ends one.
    4. Otherwise the text is wrapped, and single line ends are blanks; only a last line indented
       at all, where others are not, stands alone (a signature).

    A line that begins in lower case begins no paragraph in 2 and 4, and counts against 3, unless
    a sentence ends before it. Soft hyphens and characters without width are removed.

    >>> paragraphs("The mill burnt\\ndown today.\\n    Nobody was hurt.\\n Wire")
    ['The mill burnt down today.', 'Nobody was hurt.', 'Wire']
    """
    text = _LINE_END.sub("\n", _WRAPPED_WORD.sub("", text).replace("\u2029", "\n\n"))
    written = [line.expandtabs(4) for line in text.translate(_INVISIBLE).split("\n")]
    rows = [" ".join(line.split()) for line in written]
    indents = [len(line) - len(line.lstrip()) for line in written]
    full = [n for n, row in enumerate(rows) if row]
    if not full:
        return []
    inner = [n for n in full if n and rows[n - 1]]  # the lines after a single line end
    ends = {n for n in inner if _SENTENCE_END.search(rows[n - 1])}
    able = {n for n in inner if n in ends or not rows[n][0].islower()}
    begins = {n for n in able if indents[n] >= 3}
    if min(indents[n] for n in full) >= 3:
        begins.clear()
    if not begins:
        whole = [n for n in able if n in ends or len(rows[n - 1]) > _LONG]
        begins = set(inner) if 2 * len(whole) > len(inner) else begins
    if full[-1] in able and indents[full[-1]] and not min(indents[n] for n in full):
        begins.add(full[-1])
    joined: list[list[str]] = []
    for n in full:
        if n in begins or not (n and rows[n - 1]):
            joined.append([])
        joined[-1].append(rows[n])
    return [" ".join(parts) for parts in joined]
