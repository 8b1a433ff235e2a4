"""Puts the trained parts together and writes `en_gnomon_sm` where Gnomon looks for it.

    python scripts/pack_pipeline.py build/en_gnomon_sm/final build/en_gnomon_names/final

Weights are rounded to half precision, which halves the file; the figures of the model card are of
the rounded pipeline.
"""

import argparse
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import srsly

VERSION = "1.0.0"
TARGET = Path("src/gnomon/resources/en_gnomon_sm/pipeline.xz")


def pack(parser: Path, finder: Path | None, target: Path = TARGET) -> None:
    """Writes the pipeline of a parser and a name finder to one file."""
    nlp = spacy.load(parser)
    if finder is not None:
        nlp.add_pipe("ner", source=spacy.load(finder))
    component: Any
    for _, component in nlp.pipeline:
        for node in component.model.walk():
            for name in node.param_names:
                if node.has_param(name):
                    weights = node.get_param(name)
                    node.set_param(name, weights.astype(np.float16).astype(np.float32))
    nlp.meta["name"] = "gnomon_sm"
    nlp.meta["version"] = VERSION
    nlp.meta["license"] = "CC BY-SA 4.0"
    nlp.meta["description"] = "English: tags, morphology, lemmas, dependencies, names"
    content = {"config": nlp.config.to_str(), "weights": nlp.to_bytes()}
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(lzma.compress(srsly.msgpack_dumps(content), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("parser", type=Path)
    arguments.add_argument("names", type=Path, nargs="?")
    arguments.add_argument("--target", type=Path, default=TARGET)
    given = arguments.parse_args()
    pack(given.parser, given.names, given.target)
