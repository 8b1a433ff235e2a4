"""Trees with ClearNLP labels (spaCy's English pipelines) turned into Universal Dependencies.

The two schemes differ in structure, not only in names: ClearNLP lets a preposition or a form of
"be" head its phrase, Universal Dependencies the noun or the predicate. Every change here either
lets a word take its parent's place or moves a word to one outside its own subtree, so whatever the
labels, a tree stays a tree with the words it had.

What the labels do not tell is left as it is: a person's name keeps its last word as head with the
others as `compound` (UD: the first word, the others `flat`), and "saw what he did" is read as a
question, never as a free relative.
"""

from bisect import bisect
from collections.abc import Collection, Sequence

import numpy as np

from gnomon.corpus.tree import Ints, Tree, same_lengths


def is_clearnlp(labels: Collection[str]) -> bool:
    """Whether a pipeline with these dependency labels follows ClearNLP, not UD.

    >>> is_clearnlp(["nsubj", "dobj", "prep", "pobj"]), is_clearnlp(["nsubj", "obj", "obl", "case"])
    (True, False)
    """
    return bool(_CLEARNLP_ONLY & set(labels)) and not _UD_ONLY & set(labels)


def to_ud(
    form: Sequence[str],
    lemma: Sequence[str],
    upos: Sequence[str],
    xpos: Sequence[str],
    head: Ints,
    deprel: Sequence[str],
) -> tuple[Ints, list[str]]:
    """The heads and labels in Universal Dependencies of a document with ClearNLP trees.

    Words are numbered from 0 through the document; a head is a word number, −1 for a root. Each
    root's tree becomes one tree of the same words.

    >>> heads, labels = to_ud(["She", "is", "in", "Rome"], ["she", "be", "in", "Rome"],
    ...                       ["PRON", "AUX", "ADP", "PROPN"], ["PRP", "VBZ", "IN", "NNP"],
    ...                       np.array([1, -1, 1, 2]), ["nsubj", "ROOT", "prep", "pobj"])
    >>> heads.tolist(), labels
    ([3, 3, 3, -1], ['nsubj', 'cop', 'case', 'root'])
    """
    tree = Tree(form, lemma, upos, xpos, head, deprel)
    _run_on_sentences(tree)
    _dates_and_sums(tree)
    _small_clauses(tree)
    _free_relatives(tree)
    _prepositions(tree)
    _rename(tree)
    _copulas(tree)
    _coordination(tree)
    _fixed_expressions(tree)
    _punctuation(tree)
    for w in range(len(tree)):
        if tree.head[w] < 0:
            tree.label[w] = "root"
        elif tree.label[w] not in _UD_LABELS:
            tree.label[w] = _LEFT_OVER.get(tree.label[w], "dep")
    return np.array(tree.head, dtype=np.int32), tree.label


def ud_upos(upos: Sequence[str], xpos: Sequence[str], deprel: Sequence[str]) -> list[str]:
    """The parts of speech as UD tags them, given the labels that `to_ud` returned.

    >>> ud_upos(["PRON", "VERB", "ADP", "PROPN"], ["PRP", "VBZ", "IN", "NNP"],
    ...         ["nsubj", "cop", "case", "root"])
    ['PRON', 'AUX', 'ADP', 'PROPN']
    """
    same_lengths({"upos": upos, "xpos": xpos, "deprel": deprel})
    return [_part_of_speech(*word) for word in zip(upos, xpos, deprel, strict=True)]


def _part_of_speech(upos: str, xpos: str, label: str) -> str:
    if label in ("cop", "aux", "aux:pass"):
        return "AUX"
    if upos == "AUX" and xpos.startswith("V") and label != "fixed":
        return "VERB"  # "there is", "have a car": UD keeps AUX for auxiliaries and copulas
    if label == "mark":
        return "PART" if xpos == "TO" else "SCONJ" if upos == "ADP" else upos
    if label == "case":
        return "ADP" if upos == "SCONJ" else upos
    if xpos == "PRP$":
        return "PRON"
    if upos == "DET" and label.partition(":")[0] in _NOMINAL_LABELS:
        return "PRON"
    return upos


def _is_nominal(tree: Tree, word: int) -> bool:
    """Whether a word's modifiers are those of a noun (`nmod`), not of a predicate (`obl`)."""
    return tree.upos[word] in _NOUNS or (
        tree.upos[word] == "DET" and tree.origin[word] in _ARGUMENTS
    )


def _is_clause(tree: Tree, word: int) -> bool:
    return tree.upos[word] in ("VERB", "AUX") or bool(
        tree.kids(word, "nsubj", "nsubjpass", "aux", "auxpass")
    )


def _run_on_sentences(tree: Tree) -> None:
    """ "It helped, did it not": the first clause is the head, unless it is what someone says."""
    for clause in tree.bottom_up():
        main = tree.head[clause]
        if (
            tree.label[clause] == "ccomp"
            and clause < main
            and tree.lemma[main] not in _SAYING
            and not tree.kids(clause, "mark")
        ):
            tree.replace(main, clause, keep=tree.children[main][:])
            tree.label[main] = tree.origin[main] = "parataxis"


def _dates_and_sums(tree: Tree) -> None:
    """The day heads a date, "$" a sum."""
    for w in range(len(tree)):
        head, tag = tree.head[w], tree.xpos[w]
        if head < 0:
            continue
        if tree.label[w] == "nummod" and tree.form[head].rstrip(".") in _MONTHS:
            if len(tree.form[w]) <= 2 and abs(w - head) == 1:
                tree.replace(head, w)
                for part in (head, *tree.kids(w, "nummod")):
                    tree.label[part] = "nmod:unmarked"
            else:
                tree.label[w] = "nmod:unmarked"
        elif tag == "$" and tree.label[w] in ("nmod", "quantmod") and w < head:
            tree.replace(head, w, keep=tree.kids(head, "compound"))
            tree.label[head] = "nummod"


def _small_clauses(tree: Tree) -> None:
    """ "Made him leave", "want it to end", "find it easy": him and it are the verb's objects."""
    for verb in range(len(tree)):
        for clause in tree.kids(verb, "ccomp"):
            subjects = tree.kids(clause, "nsubj", "nsubjpass")
            if (
                len(subjects) == 1
                and tree.upos[verb] == "VERB"
                and verb < subjects[0] < clause
                and not tree.kids(verb, "dobj")
                and not tree.kids(clause, "mark")
                and not _is_finite(tree, clause)
            ):
                tree.move(subjects[0], verb)
                tree.label[subjects[0]], tree.label[clause] = "dobj", "xcomp"


def _is_finite(tree: Tree, clause: int) -> bool:
    verbs = [clause, *tree.kids(clause, "aux", "auxpass")]
    if any(tree.xpos[v] == "TO" for v in verbs):
        return False
    return any(tree.xpos[v] in ("MD", "VBD", "VBP", "VBZ") for v in verbs)


def _free_relatives(tree: Tree) -> None:
    """ "About what he said", "is what they do": the pronoun heads the clause as a noun would."""
    for clause in tree.bottom_up():
        place = tree.label[clause]
        if tree.head[clause] < 0 or (place == "ccomp" and not tree.is_be[tree.head[clause]]):
            continue  # "asked what he said" is a question more often
        pronouns = [
            k
            for k in tree.kids(clause, "nsubj", "nsubjpass", "dobj", "attr")
            if tree.form[k] in _FREE_PRONOUNS and k < clause
        ]
        if place in _FREE_PLACES and pronouns:
            tree.replace(clause, pronouns[0], keep=tree.children[clause][:])
            tree.label[clause] = "relcl"
            tree.label[pronouns[0]] = tree.origin[pronouns[0]] = _FREE_PLACES[place]


def _prepositions(tree: Tree) -> None:
    """The object of a preposition heads the phrase, the preposition is its `case` or `mark`."""
    for first in range(len(tree)):  # "in and around Rome": one object for both
        if not tree.kids(first, "pobj", "pcomp") and tree.upos[first] == "ADP":
            for second in tree.kids(first, "conj"):
                for shared in tree.kids(second, "pobj")[:1]:
                    tree.attach(shared, first)
    for preposition in tree.bottom_up():
        if tree.label[preposition] in _PREPOSITIONAL or tree.upos[preposition] in ("ADP", "SCONJ"):
            _preposition(tree, preposition)


def _preposition(tree: Tree, preposition: int) -> None:
    objects = tree.kids(preposition, "pobj") or tree.kids(preposition, "pcomp")
    stacked = [k for k in tree.children[preposition] if tree.origin[k] == "prep"]
    if not objects and tree.label[preposition] in _PREPOSITIONAL:
        objects, stacked = stacked[:1], stacked[1:]  # "out of", "from behind"
    if not objects:
        return
    noun, head = objects[0], tree.head[preposition]
    clause = tree.label[noun] in ("pcomp", "advcl", "acl") and _is_clause(tree, noun)
    # "From Rome to Paris": the second phrase belongs to the verb as much as the first.
    for other in stacked:
        if head >= 0:
            tree.attach(other, head)
            tree.label[other] = "nmod" if _is_nominal(tree, head) else "obl"
    alone = [k for k in tree.kids(preposition, "conj") if tree.upos[k] == "ADP"]
    keep = {*alone, *(tree.kids(preposition, "cc") if alone else ())}
    tree.replace(preposition, noun, keep)
    kind = tree.label[noun]
    for k in tree.kids(noun, "pcomp"):
        tree.label[k] = "case"  # the "of" of "because of"
    tree.label[preposition] = "mark" if clause else "case"
    if kind in _PREPOSITIONAL and head >= 0:
        nominal = _is_nominal(tree, head)
        if kind == "agent":
            tree.label[noun] = "obl:agent"
        elif clause:
            tree.label[noun] = "acl" if nominal else "advcl"
        else:
            tree.label[noun] = "nmod" if nominal else "obl"


def _rename(tree: Tree) -> None:
    """The labels that need no change of structure, while "be" still shows what is a clause."""
    for w in range(len(tree)):
        if tree.head[w] >= 0:
            tree.label[w] = _renamed(tree, w)
    for w in range(len(tree) - 1):  # "at least", "in here"
        adverbs = tree.head[w] == w + 1 and tree.label[w] == tree.label[w + 1] == "advmod"
        if adverbs and (tree.xpos[w] == "IN" or tree.form[w] == "at"):
            tree.label[w], tree.label[w + 1] = "case", "obl"


def _renamed(tree: Tree, w: int) -> str:
    label, head, tag = tree.label[w], tree.head[w], tree.xpos[w]
    noun, before = _is_nominal(tree, head), w < head
    match label:
        case "aux" if tag == "TO":
            return "mark"
        case "compound" | "nmod" if tag.startswith("JJ"):
            return "amod"
        case "nmod" if tree.origin[w] == "nmod":
            return "compound" if before else "nmod:unmarked"
        case "nummod" if w == head + 1 and tag == "CD":
            return "flat"  # "number 7"
        case "dobj" if tree.lemma[head] in _TELLING and (
            tag == "PRP" or any(k > w for k in tree.kids(head, "ccomp", "xcomp"))
        ):
            return "iobj"
        case "dative" if tree.upos[w] != "ADP":
            return "iobj"
        case "prep" | "agent" | "dative" | "prt":
            if tag.startswith("RB") or (label == "prt" and tag != "RP"):
                return "advmod"
            return "compound:prt" if tag == "RP" else "nmod" if noun else "obl"
        case "pobj":
            return "nmod" if noun else "obl"
        case "pcomp":
            return "acl" if noun else "advcl"
        case "npadvmod":
            if before and tree.xpos[w + 1] == "HYPH":
                return "compound"
            return "nmod:unmarked" if noun else "obl:unmarked"
        case "relcl" if any(tree.xpos[k] == "TO" for k in tree.kids(w, "mark", "aux")):
            wh = any(tree.xpos[k].startswith("W") for k in tree.children[w])
            return "acl:relcl" if wh or tree.kids(w, "nsubj") else "acl"
        case "quantmod":
            return {"to": "case", "a": "det", "an": "det"}.get(tree.form[w], "advmod")
    return _NAMES.get(label, label)


def _copulas(tree: Tree) -> None:
    """The predicate heads its clause, a form of "be" is its `cop`."""
    for be in tree.bottom_up():
        if not tree.is_be[be] or tree.label[be] in ("aux", "aux:pass", "cop"):
            continue
        if any(tree.xpos[k] == "EX" or tree.form[k] == "there" for k in tree.kids(be, "expl")):
            for k in tree.kids(be, "attr"):
                tree.label[k] = "nsubj"
            continue
        predicate = _predicate(tree, be)
        if predicate is None:
            continue
        if tree.xpos[predicate].startswith("JJ"):
            _extraposition(tree, be, predicate)
        if tree.form[predicate] == "here":
            for k in tree.kids(be, "attr"):
                tree.label[k] = "nsubj"
        if tree.label[predicate] in (*_CLAUSES, "advcl"):
            for k in tree.kids(be, "nsubj", "csubj"):
                tree.label[k] += ":outer"
        tree.replace(be, predicate)
        tree.label[be] = "cop"


def _extraposition(tree: Tree, be: int, predicate: int) -> None:
    """ "It is clear that ...": the clause is the subject, "it" holds its place."""
    subjects = [k for k in tree.kids(be, "nsubj") if tree.form[k] == "it"]
    clauses = [
        k
        for word in (be, predicate)
        for k in tree.kids(word, *_CLAUSES)
        if k > predicate and tree.kids(k, "mark")
    ]
    if subjects and clauses:
        tree.label[subjects[0]], tree.label[clauses[0]] = "expl", "csubj"


def _predicate(tree: Tree, be: int) -> int | None:
    kids = tree.children[be]
    named = [k for k in kids if tree.label[k] in ("attr", "acomp", "oprd")]
    after = [k for k in kids if k > be]
    subject = bool(tree.kids(be, "nsubj", "csubj"))
    choices = (
        [k for k in kids if k == be - 1 and tree.form[k] == "here"],
        [k for k in named if k > be],
        named,
        [k for k in after if tree.origin[k] == "prep" and tree.kids(k, "case", "mark")],
        [k for k in after if tree.label[k] in _CLAUSES and subject],
        [k for k in after if tree.label[k] == "advmod" and tree.form[k] in _PLACES],
        [k for k in kids if tree.label[k] == "advmod" and tree.form[k] in ("where", "how")],
    )
    return next((found[0] for found in choices if found), None)


def _coordination(tree: Tree) -> None:
    """All conjuncts hang on the first; a conjunction hangs on the conjunct it opens."""
    for w in range(len(tree)):
        if tree.label[w] == "conj" and tree.head[w] >= 0:
            first = tree.head[w]
            while tree.label[first] == "conj" and tree.head[first] >= 0:
                first = tree.head[first]
            tree.move(w, first)
    for w in range(len(tree)):
        if tree.label[w] == "cc" and tree.head[w] >= 0:
            first = tree.head[w]
            if tree.label[first] == "conj" and tree.head[first] >= 0:
                first = tree.head[first]
            following = [k for k in tree.kids(first, "conj") if k > w]
            if following and tree.head[w] < w:
                tree.move(w, following[0])


def _fixed_expressions(tree: Tree) -> None:
    """Expressions such as "because of": the first word stands for all, the others are `fixed`."""
    for start in range(len(tree)):
        for rest, label in _FIXED.get(tree.form[start], ()):
            words = range(start, start + 1 + len(rest))
            if tuple(tree.form[words.start + 1 : words.stop]) == rest:
                _join(tree, words, label)
                break


def _join(tree: Tree, words: range, label: str) -> None:
    heads = {tree.head[w] for w in words} - set(words)
    if len(heads) != 1 or -1 in heads:
        return  # not one phrase, or the whole sentence
    first, head = words[0], heads.pop()
    labels = [tree.label[w] for w in words]
    top = next(tree.label[w] for w in words if tree.head[w] == head)
    kept = next((name for name in labels if name in ("case", "mark", "cc")), top)
    outside = [k for w in words for k in tree.children[w] if k not in words]
    tree.attach(first, head)
    for w in words[1:]:
        tree.attach(w, first)
        tree.label[w] = "fixed"
    for k in outside:
        tree.attach(k, first)
    if label == "mark" and (clauses := tree.kids(first, "acl", "advcl", "ccomp")):
        tree.replace(first, clauses[0], keep=words)  # "in order to win"
        tree.label[clauses[0]] = "advcl"
    tree.label[first] = label or kept


def _punctuation(tree: Tree) -> None:
    """Brackets and quotes hang on what they enclose, other marks on the lower unit beside them."""
    for words in tree.sentences():
        marks = [w for w in words if tree.label[w] == "punct" and not tree.children[w]]
        rest = [w for w in words if tree.label[w] != "punct" or tree.children[w]]
        partner = _pairs(tree, marks)
        for mark in marks if rest else ():
            place = bisect(rest, mark)
            if mark in partner:
                low, high = sorted((mark, partner[mark]))
                inside = rest[bisect(rest, low) : bisect(rest, high)]
                tops = [w for w in inside if not low < tree.head[w] < high]
                if tops:
                    tree.move(mark, tops[0])
                    continue
            left = tree.top(rest[max(place - 1, 0)], mark)
            right = tree.top(rest[min(place, len(rest) - 1)], mark)
            tree.move(mark, left if tree.is_under(left, right) else right)


def _pairs(tree: Tree, marks: list[int]) -> dict[int, int]:
    partner: dict[int, int] = {}
    open_marks: list[int] = []
    for mark in marks:
        sign = tree.form[mark]
        opened = open_marks[-1] if open_marks else None
        if opened is not None and _CLOSING.get(tree.form[opened]) == sign:
            partner[mark], partner[opened] = opened, mark
            open_marks.pop()
        elif sign in _CLOSING:
            open_marks.append(mark)
    return partner


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLEARNLP_ONLY = frozenset({"dobj", "pobj", "nsubjpass", "auxpass", "npadvmod"})
_UD_ONLY = frozenset({"obj", "obl", "nsubj:pass", "aux:pass", "nmod:poss"})
_CLOSING = {"(": ")", "[": "]", "{": "}", "“": "”", "‘": "’", "``": "''", '"': '"', "«": "»"}
_PREPOSITIONAL = frozenset({"prep", "agent", "dative"})
_CLAUSES = ("ccomp", "xcomp")
_PLACES = _words(
    "here there away home out up down back over off around on in inside outside together"
)
_NOUNS = frozenset({"NOUN", "PROPN", "PRON", "NUM", "SYM", "X"})
_ARGUMENTS = frozenset({"nsubj", "nsubjpass", "dobj", "pobj", "dative", "attr", "appos"})
_NOMINAL_LABELS = frozenset({"nsubj", "obj", "iobj", "obl", "nmod", "root", "conj"})
_SAYING = _words(
    "say tell ask think add reply write note know mean believe claim report announce explain "
    "insist argue suggest admit warn shout cry call state declare"
)
_TELLING = frozenset({"tell", "ask"})
_FREE_PRONOUNS = frozenset({"what", "whatever", "whoever", "whomever"})
_FREE_PLACES = {"pcomp": "pobj", "ccomp": "attr", "csubj": "nsubj", "csubjpass": "nsubjpass"}
_MONTHS = _words(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
_NAMES = {
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "dobj": "obj",
    "auxpass": "aux:pass",
    "poss": "nmod:poss",
    "relcl": "acl:relcl",
    "predet": "det:predet",
    "preconj": "cc:preconj",
    "intj": "discourse",
    "meta": "dep",
    "neg": "advmod",
}
_LEFT_OVER = {"attr": "xcomp", "acomp": "xcomp", "oprd": "xcomp"}
_UD_LABELS = _words(
    "acl acl:relcl advcl advmod amod appos aux aux:pass case cc cc:preconj ccomp compound "
    "compound:prt conj cop csubj csubj:outer csubj:pass dep det det:predet discourse expl fixed "
    "flat iobj mark nmod nmod:poss nmod:unmarked nsubj nsubj:outer nsubj:pass nummod obj obl "
    "obl:agent obl:unmarked parataxis punct xcomp"
)


def _expressions() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """By first word: the other words and the label ("" to keep the one it has), longest first."""
    table: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for label, expressions in _FIXED_LABELS.items():
        for expression in expressions.split(", "):
            first, *rest = expression.split()
            table.setdefault(first, []).append((tuple(rest), label))
    return {first: sorted(found, key=lambda f: -len(f[0])) for first, found in table.items()}


_FIXED_LABELS = {  # the commoner ones of those UD lists for English
    "advmod": "as well, of course, kind of, sort of, more than, less than",
    "cc": "as well as, rather than, not to mention, let alone",
    "mark": "so that, in order, as if, as though, in case, whether or not, so as to",
    "": "such as, out of, up to, due to, because of, according to, instead of, prior to, as of, "
    "as to, as for, depending on, depending upon, as opposed to, each other, one another",
}
_FIXED = _expressions()
