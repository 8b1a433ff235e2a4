"""A generated news wire with a known truth: who attacked whom, who is meant by every pronoun.

The countries are real; every event, person and town is invented.

- `vocabulary`: countries, people, towns, verbs; `process`: how often who attacks, by quarter.
- `entities`: the words for each; `sentences`: templates made into text with offsets.
- `reports`, `stories`: the templates; `compose`: articles; `truth`: what is true of each.
- `folder`: all of it as files.
"""

from gnomon.wire.compose import Article, articles
from gnomon.wire.folder import Written, write
from gnomon.wire.process import Process
from gnomon.wire.sentences import Fact, Mention
from gnomon.wire.truth import Truth, truth

__all__ = [
    "Article",
    "Fact",
    "Mention",
    "Process",
    "Truth",
    "Written",
    "articles",
    "truth",
    "write",
]
