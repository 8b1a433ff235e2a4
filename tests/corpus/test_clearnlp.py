"""ClearNLP trees turned into UD trees, construction by construction, and whatever the labels."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gnomon.corpus.clearnlp import is_clearnlp, to_ud, ud_upos
from gnomon.errors import InputError

Ints = NDArray[np.int32]

# Three lines a sentence: the words with their tags, the ClearNLP tree, the UD tree; a tree gives
# head:label for each word, heads counted from 1, 0 for the root.
TREES = """
The/DT envoy/NN slept/VBD in/IN the/DT garden/NN
2:det 3:nsubj 0:ROOT 3:prep 6:det 4:pobj
2:det 3:nsubj 0:root 6:case 6:det 3:obl

The/DT roof/NN of/IN the/DT barn/NN leaked/VBN
2:det 6:nsubj 2:prep 5:det 3:pobj 0:ROOT
2:det 6:nsubj 5:case 5:det 2:nmod 0:root

The/DT bridge/NN was/VBD bombed/VBN by/IN rebels/NNS
2:det 4:nsubjpass 4:auxpass 0:ROOT 4:agent 5:pobj
2:det 4:nsubj:pass 4:aux:pass 0:root 6:case 4:obl:agent

The/DT cat/NN crawled/VBD out/IN of/IN the/DT box/NN
2:det 3:nsubj 0:ROOT 3:prep 4:prep 7:det 5:pobj
2:det 3:nsubj 0:root 7:case 4:fixed 7:det 3:obl

The/DT noise/NN came/VBD from/IN behind/IN the/DT wall/NN
2:det 3:nsubj 0:ROOT 3:prep 4:prep 7:det 5:pobj
2:det 3:nsubj 0:root 7:case 7:case 7:det 3:obl

They/PRP sell/VBP bread/NN to/IN farmers/NNS and/CC bakers/NNS
2:nsubj 0:ROOT 2:dobj 2:dative 4:pobj 5:cc 5:conj
2:nsubj 0:root 2:obj 5:case 2:obl 7:cc 5:conj

She/PRP left/VBD after/IN reading/VBG the/DT letter/NN
2:nsubj 0:ROOT 2:prep 3:pcomp 6:det 4:dobj
2:nsubj 0:root 4:mark 2:advcl 6:det 4:obj

She/PRP handed/VBD the/DT letter/NN to/IN the/DT clerk/NN
2:nsubj 0:ROOT 4:det 2:dobj 2:prep 7:det 5:pobj
2:nsubj 0:root 4:det 2:obj 7:case 7:det 2:obl

She/PRP handed/VBD the/DT clerk/NN a/DT letter/NN
2:nsubj 0:ROOT 4:det 2:dative 6:det 2:dobj
2:nsubj 0:root 4:det 2:iobj 6:det 2:obj

He/PRP is/VBZ the/DT president/NN
2:nsubj 0:ROOT 4:det 2:attr
4:nsubj 4:cop 4:det 0:root

The/DT soup/NN is/VBZ very/RB hot/JJ
2:det 3:nsubj 0:ROOT 5:advmod 3:acomp
2:det 5:nsubj 5:cop 5:advmod 0:root

The/DT embassy/NN is/VBZ in/IN Rome/NNP
2:det 3:nsubj 0:ROOT 3:prep 4:pobj
2:det 5:nsubj 5:cop 5:case 0:root

They/PRP will/MD not/RB be/VB ready/JJ
4:nsubj 4:aux 4:neg 0:ROOT 4:acomp
5:nsubj 5:aux 5:advmod 5:cop 0:root

There/EX is/VBZ a/DT fire/NN in/IN the/DT kitchen/NN
2:expl 0:ROOT 4:det 2:attr 4:prep 7:det 5:pobj
2:expl 0:root 4:det 2:nsubj 7:case 7:det 4:nmod

The/DT soup/NN smells/VBZ good/JJ
2:det 3:nsubj 0:ROOT 3:acomp
2:det 3:nsubj 0:root 3:xcomp

The/DT army/NN fired/VBD ,/, retreated/VBD and/CC hid/VBD
2:det 3:nsubj 0:ROOT 3:punct 3:conj 5:cc 5:conj
2:det 3:nsubj 0:root 5:punct 3:conj 7:cc 3:conj

He/PRP bought/VBD apples/NNS ,/, pears/NNS and/CC plums/NNS
2:nsubj 0:ROOT 2:dobj 3:punct 3:conj 5:cc 5:conj
2:nsubj 0:root 2:obj 5:punct 3:conj 7:cc 3:conj

He/PRP was/VBD tired/JJ but/CC she/PRP was/VBD awake/JJ
2:nsubj 0:ROOT 2:acomp 2:cc 6:nsubj 2:conj 6:acomp
3:nsubj 3:cop 0:root 7:cc 7:nsubj 7:cop 3:conj

The/DT children/NNS did/VBD n't/RB eat/VB
2:det 5:nsubj 5:aux 5:neg 0:ROOT
2:det 5:nsubj 5:aux 5:advmod 0:root

The/DT mayor/NN 's/POS wife/NN sang/VBD
2:det 4:poss 2:case 5:nsubj 0:ROOT
2:det 4:nmod:poss 2:case 5:nsubj 0:root

Her/PRP$ brother/NN called/VBD
2:poss 3:nsubj 0:ROOT
2:nmod:poss 3:nsubj 0:root

The/DT man/NN who/WP left/VBD is/VBZ my/PRP$ uncle/NN
2:det 5:nsubj 4:nsubj 2:relcl 0:ROOT 7:poss 5:attr
2:det 7:nsubj 4:nsubj 2:acl:relcl 7:cop 7:nmod:poss 0:root

The/DT man/NN that/WDT we/PRP met/VBD was/VBD armed/VBN
2:det 6:nsubj 5:dobj 5:nsubj 2:relcl 0:ROOT 6:acomp
2:det 7:nsubj 5:obj 5:nsubj 2:acl:relcl 7:cop 0:root

He/PRP gave/VBD up/RP smoking/NN
2:nsubj 0:ROOT 2:prt 2:dobj
2:nsubj 0:root 2:compound:prt 2:obj

They/PRP want/VBP to/TO win/VB
2:nsubj 0:ROOT 4:aux 2:xcomp
2:nsubj 0:root 4:mark 2:xcomp

They/PRP want/VBP him/PRP to/TO leave/VB
2:nsubj 0:ROOT 5:nsubj 5:aux 2:ccomp
2:nsubj 0:root 2:obj 5:mark 2:xcomp

The/DT judge/NN let/VB him/PRP go/VB
2:det 3:nsubj 0:ROOT 5:nsubj 3:ccomp
2:det 3:nsubj 0:root 3:obj 3:xcomp

She/PRP knows/VBZ that/IN they/PRP lied/VBD
2:nsubj 0:ROOT 5:mark 5:nsubj 2:ccomp
2:nsubj 0:root 5:mark 5:nsubj 2:ccomp

What/WP he/PRP said/VBD angered/VBD them/PRP
3:dobj 3:nsubj 4:csubj 0:ROOT 4:dobj
4:nsubj 3:nsubj 1:acl:relcl 0:root 4:obj

They/PRP laughed/VBD about/IN what/WP he/PRP said/VBD
2:nsubj 0:ROOT 2:prep 6:dobj 6:nsubj 3:pcomp
2:nsubj 0:root 4:case 2:obl 6:nsubj 4:acl:relcl

The/DT goal/NN is/VBZ to/TO survive/VB
2:det 3:nsubj 0:ROOT 5:aux 3:xcomp
2:det 5:nsubj:outer 5:cop 5:mark 0:root

All/PDT the/DT guests/NNS left/VBD last/JJ week/NN
3:predet 3:det 4:nsubj 0:ROOT 6:amod 4:npadvmod
3:det:predet 3:det 4:nsubj 0:root 6:amod 4:obl:unmarked

The/DT troops/NNS marched/VBD ten/CD miles/NNS
2:det 3:nsubj 0:ROOT 5:nummod 3:npadvmod
2:det 3:nsubj 0:root 5:nummod 3:obl:unmarked

Both/DT the/DT army/NN and/CC the/DT police/NN fled/VBD
3:preconj 3:det 7:nsubj 3:cc 6:det 3:conj 0:ROOT
3:cc:preconj 3:det 7:nsubj 6:cc 6:det 3:conj 0:root

About/RB fifty/CD people/NNS fled/VBD
2:advmod 3:nummod 4:nsubj 0:ROOT
2:advmod 3:nummod 4:nsubj 0:root

The/DT bank/NN lost/VBD $/$ 5/CD million/CD
2:det 3:nsubj 0:ROOT 6:quantmod 6:compound 3:dobj
2:det 3:nsubj 0:root 3:obj 6:compound 4:nummod

The/DT war/NN began/VBD on/IN May/NNP 3/CD ,/, 1808/CD
2:det 3:nsubj 0:ROOT 3:prep 4:pobj 5:nummod 5:punct 5:nummod
2:det 3:nsubj 0:root 6:case 6:nmod:unmarked 3:obl 8:punct 6:nmod:unmarked

Yes/UH ,/, the/DT road/NN is/VBZ closed/JJ
5:intj 5:punct 4:det 5:nsubj 0:ROOT 5:acomp
6:discourse 1:punct 4:det 6:nsubj 6:cop 0:root

He/PRP stayed/VBD because/IN of/IN the/DT storm/NN
2:nsubj 0:ROOT 2:prep 3:pcomp 6:det 3:pobj
2:nsubj 0:root 6:case 3:fixed 6:det 2:obl

Farmers/NNS grow/VBP crops/NNS such/JJ as/IN maize/NN
2:nsubj 0:ROOT 2:dobj 5:amod 3:prep 5:pobj
2:nsubj 0:root 2:obj 6:case 4:fixed 3:nmod

He/PRP lied/VBD in/IN order/NN to/TO win/VB
2:nsubj 0:ROOT 2:prep 3:pobj 6:aux 4:acl
2:nsubj 0:root 6:mark 3:fixed 6:mark 2:advcl

It/PRP is/VBZ clear/JJ that/IN they/PRP lost/VBD
2:nsubj 0:ROOT 2:acomp 6:mark 6:nsubj 2:ccomp
3:expl 3:cop 0:root 6:mark 6:nsubj 3:csubj

Here/RB are/VBP the/DT keys/NNS
2:advmod 0:ROOT 4:det 2:nsubj
0:root 1:cop 4:det 1:nsubj

Where/WRB is/VBZ the/DT station/NN ?/.
2:advmod 0:ROOT 4:det 2:nsubj 2:punct
0:root 1:cop 4:det 1:nsubj 1:punct

"/`` We/PRP won/VBD ,/, "/'' he/PRP said/VBD ./.
7:punct 3:nsubj 7:ccomp 7:punct 7:punct 7:nsubj 0:ROOT 7:punct
3:punct 3:nsubj 7:ccomp 3:punct 3:punct 7:nsubj 0:root 7:punct

The/DT minister/NN (/-LRB- a/DT lawyer/NN )/-RRB- resigned/VBD ./.
2:det 7:nsubj 2:punct 5:det 2:appos 2:punct 0:ROOT 7:punct
2:det 7:nsubj 5:punct 5:det 2:appos 5:punct 0:root 7:punct

He/PRP told/VBD them/PRP to/TO wait/VB
2:nsubj 0:ROOT 2:dobj 5:aux 2:xcomp
2:nsubj 0:root 2:iobj 5:mark 2:xcomp

A/DT state/NN -/HYPH owned/VBN bank/NN failed/VBD
5:det 4:npadvmod 4:punct 5:amod 6:nsubj 0:ROOT
5:det 4:compound 2:punct 5:amod 6:nsubj 0:root

The/DT problem/NN is/VBZ that/IN nobody/NN came/VBD
2:det 3:nsubj 0:ROOT 6:mark 6:nsubj 3:ccomp
2:det 6:nsubj:outer 6:cop 6:mark 6:nsubj 0:root

He/PRP ran/VBD from/IN the/DT house/NN to/IN the/DT river/NN
2:nsubj 0:ROOT 2:prep 5:det 3:pobj 2:prep 8:det 6:pobj
2:nsubj 0:root 5:case 5:det 2:obl 8:case 8:det 2:obl

She/PRP sang/VBD as/RB well/RB
2:nsubj 0:ROOT 4:advmod 2:advmod
2:nsubj 0:root 2:advmod 3:fixed

John/NNP Smith/NNP and/CC Mary/NNP Jones/NNP met/VBD
2:compound 6:nsubj 2:cc 5:compound 2:conj 0:ROOT
2:compound 6:nsubj 5:cc 5:compound 2:conj 0:root

If/IN it/PRP rains/VBZ ,/, we/PRP will/MD stay/VB home/RB
3:mark 3:nsubj 7:advcl 7:punct 7:nsubj 7:aux 0:ROOT 7:advmod
3:mark 3:nsubj 7:advcl 3:punct 7:nsubj 7:aux 0:root 7:advmod

The/DT idea/NN of/IN leaving/VBG scared/VBD him/PRP
2:det 5:nsubj 2:prep 3:pcomp 0:ROOT 5:dobj
2:det 5:nsubj 4:mark 2:acl 0:root 5:obj

They/PRP elected/VBD her/PRP mayor/NN
2:nsubj 0:ROOT 2:dobj 2:oprd
2:nsubj 0:root 2:obj 2:xcomp

They/PRP walked/VBD in/IN and/CC around/IN the/DT town/NN
2:nsubj 0:ROOT 2:prep 3:cc 3:conj 7:det 5:pobj
2:nsubj 0:root 7:case 5:cc 3:conj 7:det 2:obl

They/PRP slept/VBD in/IN barns/NNS or/CC under/IN bridges/NNS
2:nsubj 0:ROOT 2:prep 3:pobj 3:cc 3:conj 6:pobj
2:nsubj 0:root 4:case 2:obl 7:cc 7:case 4:conj

The/DT door/NN they/PRP came/VBD through/IN was/VBD open/JJ
2:det 6:nsubj 4:nsubj 2:relcl 4:prep 0:ROOT 6:acomp
2:det 7:nsubj 4:nsubj 2:acl:relcl 4:obl 7:cop 0:root

Officials/NNS said/VBD the/DT rebels/NNS fled/VBD according/VBG to/IN plan/NN
2:nsubj 0:ROOT 4:det 5:nsubj 2:ccomp 5:prep 6:prep 7:pobj
2:nsubj 0:root 4:det 5:nsubj 2:ccomp 8:case 6:fixed 5:obl

That/DT helped/VBD ,/, did/VBD n't/RB it/PRP ?/.
2:nsubj 4:ccomp 4:punct 0:ROOT 4:neg 4:nsubj 4:punct
2:nsubj 0:root 4:punct 2:parataxis 4:advmod 4:nsubj 2:punct

A/DT time/NN to/TO rest/VB
2:det 0:ROOT 4:aux 2:relcl
2:det 0:root 4:mark 2:acl

See/VB page/NN 12/CD
0:ROOT 1:dobj 2:nummod
0:root 1:obj 2:flat

At/RB least/JJS ten/CD died/VBD
2:advmod 3:advmod 4:nsubj 0:ROOT
2:case 3:obl 4:nsubj 0:root

She/PRP asked/VBD me/PRP
2:nsubj 0:ROOT 2:dobj
2:nsubj 0:root 2:iobj

This/DT is/VBZ what/WP they/PRP want/VBP
2:nsubj 0:ROOT 5:dobj 5:nsubj 2:ccomp
3:nsubj 3:cop 0:root 5:nsubj 3:acl:relcl

That/IN he/PRP lied/VBD was/VBD known/VBN
3:mark 3:nsubj 5:csubjpass 5:auxpass 0:ROOT
3:mark 3:nsubj 5:csubj:pass 5:aux:pass 0:root

She/PRP is/VBZ away/RB
2:nsubj 0:ROOT 2:advmod
3:nsubj 3:cop 0:root

Steel/NN and/CC coal/NN prices/NNS fell/VBD a/DT lot/NN
4:nmod 1:cc 1:conj 5:nsubj 0:ROOT 7:det 5:npadvmod
4:compound 3:cc 1:conj 5:nsubj 0:root 7:det 5:obl:unmarked

He/PRP sank/VBD well/UH you/PRP know/VBP
2:nsubj 0:ROOT 2:meta 5:nsubj 2:parataxis
2:nsubj 0:root 2:dep 5:nsubj 2:parataxis
"""

CASES = [block.splitlines() for block in TREES.strip().split("\n\n")]

UPOS = {
    "CC": "CCONJ", "CD": "NUM", "DT": "DET", "EX": "PRON", "IN": "ADP", "JJ": "ADJ", "JJS": "ADJ",
    "MD": "AUX", "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "PDT": "DET", "POS": "PART",
    "PRP": "PRON", "PRP$": "DET", "RB": "ADV", "RP": "ADP", "TO": "PART", "UH": "INTJ",
    "VB": "VERB", "VBD": "VERB", "VBG": "VERB", "VBN": "VERB", "VBP": "VERB", "VBZ": "VERB",
    "WDT": "DET", "WP": "PRON", "WRB": "ADV", "$": "SYM",
}  # fmt: skip
LEMMA = dict.fromkeys(("is", "are", "was", "be"), "be") | {
    "said": "say", "told": "tell", "asked": "ask", "did": "do",
}  # fmt: skip


def words(line: str) -> tuple[list[str], list[str], list[str], list[str]]:
    """The forms, lemmas, UPOS and XPOS of a sentence written word/tag."""
    form, xpos = zip(*(word.rsplit("/", 1) for word in line.split()), strict=True)
    lemma = [LEMMA.get(f.lower(), f.lower()) for f in form]
    return list(form), lemma, [UPOS.get(tag, "PUNCT") for tag in xpos], list(xpos)


def tree(line: str) -> tuple[Ints, list[str]]:
    """The heads and labels of a tree written head:label."""
    head, label = zip(*(word.split(":", 1) for word in line.split()), strict=True)
    return np.array([int(h) - 1 for h in head], dtype=np.int32), list(label)


def written(head: Ints, label: list[str]) -> str:
    return " ".join(f"{h + 1}:{name}" for h, name in zip(head.tolist(), label, strict=True))


@pytest.mark.parametrize(("text", "clearnlp", "ud"), CASES, ids=[case[0] for case in CASES])
def test_each_construction_becomes_its_ud_tree(text: str, clearnlp: str, ud: str) -> None:
    assert written(*to_ud(*words(text), *tree(clearnlp))) == ud


def test_a_document_gives_what_its_sentences_give() -> None:
    text = " ".join(case[0] for case in CASES)
    starts = np.cumsum([0, *(len(case[0].split()) for case in CASES)])[:-1].tolist()

    def joined(trees: list[tuple[Ints, list[str]]]) -> tuple[list[int], list[str]]:
        heads = [
            h + start if h >= 0 else -1
            for start, (head, _) in zip(starts, trees, strict=True)
            for h in head.tolist()
        ]
        return heads, [name for _, label in trees for name in label]

    heads, labels = joined([tree(clearnlp) for _, clearnlp, _ in CASES])
    got = to_ud(*words(text), np.array(heads, dtype=np.int32), labels)
    assert (got[0].tolist(), got[1]) == joined([tree(ud) for _, _, ud in CASES])
    assert got[0].dtype == np.int32


def test_nothing_in_nothing_out() -> None:
    head, label = to_ud([], [], [], [], np.array([], dtype=np.int32), [])
    assert (len(head), label) == (0, [])


CLEARNLP = (
    "ROOT acl acomp advcl advmod agent amod appos attr aux auxpass case cc ccomp compound conj "
    "csubj csubjpass dative dep det dobj expl intj mark meta neg nmod npadvmod nsubj nsubjpass "
    "nummod oprd parataxis pcomp pobj poss preconj predet prep prt punct quantmod relcl xcomp"
)
FORMS = (
    "is be it here there what of because as well such in order so that to out may 3 1808 ( ) , x"
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[list[str], list[str], list[str], Ints, list[str]]:
    """Random forests with random labels: forms, UPOS, XPOS, heads, labels."""
    n = draw(st.integers(1, 14))
    order = draw(st.permutations(range(n)))
    head = np.full(n, -1, dtype=np.int32)
    for place, word in enumerate(order):
        parent = draw(st.integers(-1 if draw(st.booleans()) else 0, place - 1)) if place else -1
        head[word] = order[parent] if parent >= 0 else -1

    def column(values: str) -> list[str]:
        return draw(st.lists(st.sampled_from(values.split()), min_size=n, max_size=n))

    tags = column("IN VBZ VB NN NNP JJ RB TO CD $ DT WP EX HYPH RP VBG PRP")
    upos = column("ADP SCONJ VERB AUX NOUN PROPN ADJ ADV PART NUM SYM DET PRON PUNCT")
    labels = column(" ".join([CLEARNLP, "prep pobj pcomp conj cc punct " * 4, "attr ccomp " * 4]))
    return column(FORMS), upos, tags, head, labels


def roots(head: Ints) -> list[int]:
    """The root above each word; fails where there is a cycle."""
    above = []
    for word in range(len(head)):
        top, steps = word, 0
        while head[top] >= 0:
            top, steps = int(head[top]), steps + 1
            assert steps <= len(head), "a cycle"
        above.append(top)
    return above


@given(documents())
def test_any_tree_stays_a_tree_of_the_same_words(
    document: tuple[list[str], list[str], list[str], Ints, list[str]],
) -> None:
    form, upos, xpos, head, label = document
    before = head.copy()
    lemma = ["be" if f == "is" else f for f in form]
    new, labels = to_ud(form, lemma, upos, xpos, head, label)
    assert np.array_equal(head, before)
    assert len(new) == len(labels) == len(head)
    old_roots, new_roots = roots(head), roots(new)
    groups = set(zip(old_roots, new_roots, strict=True))
    assert len(groups) == len(set(old_roots)) == len(set(new_roots))
    assert [name == "root" for name in labels] == (new == -1).tolist()
    only_clearnlp = {"dobj", "pobj", "prep", "attr", "acomp", "relcl", "ROOT", "auxpass", "neg"}
    assert not only_clearnlp & set(labels)


def test_label_sets_tell_the_schemes_apart(data: Path) -> None:
    with gzip.open(data / "gum" / "dev.conllu.gz", "rt", encoding="utf-8") as lines:
        gold = {line.split("\t")[7] for line in lines if line[0].isdigit()}
    assert "obl" in gold
    assert not is_clearnlp(gold)
    assert is_clearnlp(CLEARNLP.split())
    assert not is_clearnlp([])


def test_parts_of_speech_follow_the_labels() -> None:
    rows = [
        ("VERB", "VBZ", "cop", "AUX"),
        ("VERB", "MD", "aux", "AUX"),
        ("AUX", "VBD", "root", "VERB"),  # "there was", "had a car"
        ("AUX", "MD", "root", "AUX"),
        ("ADP", "IN", "mark", "SCONJ"),
        ("ADP", "TO", "mark", "PART"),
        ("SCONJ", "IN", "case", "ADP"),
        ("PART", "POS", "case", "PART"),
        ("DET", "PRP$", "nmod:poss", "PRON"),
        ("DET", "DT", "nsubj:pass", "PRON"),
        ("DET", "DT", "det", "DET"),
        ("NOUN", "NN", "obl", "NOUN"),
    ]
    upos, xpos, label, expected = zip(*rows, strict=True)
    assert ud_upos(upos, xpos, label) == list(expected)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ([1, 0], "word 1 of the document: its heads never reach a root; give trees"),
        (
            [-1, 2],
            "word 2 of the document: its head is 2; "
            "give another word's number from 0 to 1, or -1 for a root",
        ),
        (
            [0, -1],
            "word 1 of the document: its head is 0; "
            "give another word's number from 0 to 1, or -1 for a root",
        ),
        (
            [-1],
            "the columns of the words: their lengths differ: form 2, lemma 2, upos 2, xpos 2, "
            "head 1, deprel 2; give one value a word in each",
        ),
    ],
)
def test_what_is_no_tree_is_refused(head: list[int], message: str) -> None:
    two = ["a", "b"]
    with pytest.raises(InputError) as caught:
        to_ud(two, two, two, two, np.array(head, dtype=np.int32), two)
    assert str(caught.value) == message


def test_columns_of_unequal_length_have_no_parts_of_speech() -> None:
    with pytest.raises(InputError, match="upos 1, xpos 2, deprel 1"):
        ud_upos(["NOUN"], ["NN", "NN"], ["obj"])
