"""Dependency trees that can be rewritten and stay trees: words lifted, moved and renamed."""

from bisect import insort
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import InputError

Ints = NDArray[np.int32]
_FORMS_OF_BE = frozenset(
    # ai: "ain't"
    (
        "be",
        "am",
        "is",
        "are",
        "was",
        "were",
        "been",
        "being",
        "'s",
        "'re",
        "'m",
        "’s",
        "’re",
        "’m",
        "ai",
    )
)


class Tree:
    """The trees of a document while they change."""

    def __init__(
        self,
        form: Sequence[str],
        lemma: Sequence[str],
        upos: Sequence[str],
        xpos: Sequence[str],
        head: Ints,
        deprel: Sequence[str],
    ) -> None:
        same_lengths(
            {"form": form, "lemma": lemma, "upos": upos, "xpos": xpos}
            | {"head": head.tolist(), "deprel": deprel}
        )
        self.form = [f.lower() for f in form]
        self.lemma, self.upos, self.xpos = list(lemma), list(upos), list(xpos)
        self.label = list(deprel)
        self.origin = list(deprel)  # the label that the word's phrase came with
        self.head: list[int] = head.tolist()
        self.is_be = [
            word == "be" or (f in _FORMS_OF_BE and tag.startswith("V"))
            for f, word, tag in zip(self.form, lemma, xpos, strict=True)
        ]
        self.children: list[list[int]] = [[] for _ in self.head]
        for w, h in enumerate(self.head):
            if not -1 <= h < len(self.head) or h == w:
                raise InputError(
                    f"word {w + 1} of the document",
                    f"its head is {h}",
                    f"give another word's number from 0 to {len(self.head) - 1}, or -1 for a root",
                )
            if h >= 0:
                self.children[h].append(w)
        self.bottom_up()

    def __len__(self) -> int:
        return len(self.head)

    def bottom_up(self) -> list[int]:
        """The words, each after all that depend on it."""
        order = [w for w, h in enumerate(self.head) if h < 0]
        for w in order:  # grows as we go: breadth first
            order.extend(self.children[w])
        if len(order) < len(self):
            word = min(set(range(len(self))) - set(order))
            raise InputError(
                f"word {word + 1} of the document", "its heads never reach a root", "give trees"
            )
        return order[::-1]

    def kids(self, word: int, *labels: str) -> list[int]:
        """The dependents with one of these labels, in the order of the text."""
        return [k for k in self.children[word] if self.label[k] in labels]

    def attach(self, word: int, to: int) -> None:
        if self.head[word] >= 0:
            self.children[self.head[word]].remove(word)
        self.head[word] = to
        if to >= 0:
            insort(self.children[to], word)

    def replace(self, parent: int, child: int, keep: Collection[int] = ()) -> None:
        """The child takes its parent's place and label; the parent and the rest hang on it."""
        self.attach(child, self.head[parent])
        self.label[child], self.origin[child] = self.label[parent], self.origin[parent]
        self.attach(parent, child)
        for other in list(self.children[parent]):
            if other not in keep:
                self.attach(other, child)

    def move(self, word: int, to: int) -> None:
        """Hangs a word on another, unless that is in its own subtree."""
        if not self.is_under(to, word):
            self.attach(word, to)

    def is_under(self, word: int, other: int) -> bool:
        """Whether a word is another or depends on it, directly or not."""
        while word >= 0 and word != other:
            word = self.head[word]
        return word == other

    def top(self, word: int, border: int) -> int:
        """The highest word above this one that is reached without crossing a border."""
        while (head := self.head[word]) >= 0 and (head < border) == (word < border):
            word = head
        return word

    def sentences(self) -> list[list[int]]:
        """The words of each tree, in the order of the text."""
        trees: dict[int, list[int]] = {}
        for w in range(len(self)):
            trees.setdefault(self.top(w, -1), []).append(w)
        return list(trees.values())


def same_lengths(columns: dict[str, Sequence[object]]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(
            "the columns of the words",
            "their lengths differ: " + ", ".join(f"{k} {n}" for k, n in lengths.items()),
            "give one value a word in each",
        )
