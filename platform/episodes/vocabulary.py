"""The vocabulary of agents: built once from recorded utterances, then fixed for a run.

An encoded utterance is its tokens, then `END`, then `PAD` to the length. Tokens are words, or characters.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from interplay.env.task import words

logger = logging.getLogger(__name__)

PAD: Final = 0
UNKNOWN: Final = 1
START: Final = 2
END: Final = 3
SPECIAL: Final = ("<pad>", "<unknown>", "<start>", "<end>")
FORMAT_VERSION: Final = 2
READABLE_VERSIONS: Final = (1, 2)  # format 1 has words only
MAX_WORDS: Final = 2**15 - len(SPECIAL)  # a token is an int16

TokenKind = Literal["words", "characters"]


@dataclass(frozen=True)
class VocabularyConfig:
    """Which words, or characters, of the data are in the vocabulary; the others are read as unknown."""

    limit: int | None = None  # how many at most: the most frequent ones
    least_count: int = 1  # occurrences in the data that it takes

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"agent.vocabulary.limit must be at least 1, or null for no limit; got {self.limit}")
        if self.least_count < 1:
            raise ValueError(f"agent.vocabulary.least_count must be at least 1, got {self.least_count}")


class Vocabulary:
    """Words by token and tokens by word; the first `len(SPECIAL)` tokens are special. Immutable.

    With `kind` "words", texts are lower-case words without punctuation. With "characters", a word is one character of
    the text, upper case and punctuation included.
    """

    def __init__(self, known: Sequence[str], kind: TokenKind = "words") -> None:
        if kind not in get_args(TokenKind):
            raise ValueError(f"agent.tokens must be one of {', '.join(get_args(TokenKind))}; got {kind!r}")
        if len(set(known)) != len(known):
            twice = sorted(word for word, count in Counter(known).items() if count > 1)
            raise ValueError(f"a vocabulary lists each word once; these come more often: {twice}")
        if len(known) > MAX_WORDS:
            raise ValueError(
                f"a vocabulary has at most {MAX_WORDS:,} {kind}, because a token is an int16; this one has "
                f"{len(known):,}: set agent.vocabulary.limit={MAX_WORDS}, or agent.vocabulary.least_count=2 or more"
            )
        self.kind: TokenKind = kind
        self._words = (*SPECIAL, *known)
        self._tokens = {word: token for token, word in enumerate(self._words)}

    @classmethod
    def build(
        cls, texts: Iterable[str], config: VocabularyConfig | None = None, kind: TokenKind = "words"
    ) -> Vocabulary:
        """The words of these utterances that `config` admits, the most frequent first, alphabetical among equals.

        `texts` may be a `Counter` of utterances.
        """
        config, split = config or VocabularyConfig(), cls([], kind).split
        counts = Counter[str]()
        for text, times in (texts if isinstance(texts, Counter) else Counter(texts)).items():
            for word in split(text):
                counts[word] += times
        frequent = [word for word, count in counts.items() if count >= config.least_count]
        ordered = sorted(frequent, key=lambda word: (-counts[word], word))
        return cls(ordered[: config.limit], kind)

    def __len__(self) -> int:
        """The number of tokens, special ones included: the size of the network's embeddings."""
        return len(self._words)

    def __contains__(self, word: str) -> bool:
        return self._tokens.get(word, PAD) >= len(SPECIAL)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and (self.kind, self._words) == (other.kind, other._words)

    def __hash__(self) -> int:
        return hash((self.kind, self._words))

    @property
    def words(self) -> tuple[str, ...]:
        """The words without the special tokens, in the order of their tokens."""
        return self._words[len(SPECIAL) :]

    def split(self, text: str) -> list[str]:
        """The words of a text, in the vocabulary or not."""
        return words(text) if self.kind == "words" else list(text)

    def token(self, word: str) -> int:
        """The token of a word; `UNKNOWN` if the vocabulary lacks it."""
        return self._tokens.get(word, UNKNOWN)

    def encode(self, text: str, length: int) -> NDArray[np.int16]:
        """int16 [length]: words, `END`, then `PAD`. A text that is too long loses its last words, never its `END`.

        The empty text (no utterance yet) is all `PAD`.
        """
        tokens = np.full(length, PAD, np.int16)
        said = [self.token(word) for word in self.split(text)][: length - 1]
        if said:
            tokens[: len(said)] = said
            tokens[len(said)] = END
        return tokens

    def decode(self, tokens: Iterable[int]) -> str:
        """The text up to the first `END`; other special tokens are skipped."""
        said = []
        for token in tokens:
            if token == END:
                break
            if token >= len(SPECIAL):
                said.append(self._words[token])
        return (" " if self.kind == "words" else "").join(said)

    def to_json(self) -> str:
        """One line of JSON for `from_json`."""
        return json.dumps({"version": FORMAT_VERSION, "tokens": self.kind, "words": self.words})

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        """Builds the vocabulary that `to_json` wrote, in this format or an older one.

        Raises:
            ValueError: the format version is unknown.
        """
        fields = json.loads(text)
        version = fields.get("version")
        if version not in READABLE_VERSIONS:
            raise ValueError(
                f"this vocabulary has format version {version!r}; this program reads "
                f"{' and '.join(map(str, READABLE_VERSIONS))}"
            )
        return cls(fields["words"], fields["tokens"] if version > 1 else "words")


def warn_of_long_utterances(texts: Mapping[str, int], vocabulary: Vocabulary, length: int, where: str) -> int:
    """Returns how many of these texts (with their counts) lose their end in `length` tokens; logs a warning if any do.

    Args:
        texts: utterances and how often each was said.
        vocabulary: splits them into tokens; its words do not matter.
        length: `agent.utterance_length`.
        where: names the episodes in the message.
    """
    needed = {text: len(vocabulary.split(text)) + 1 for text in texts}  # tokens, with the end
    cut = Counter({text: count for text, count in texts.items() if needed[text] > length})
    if cut:
        longest = max(cut, key=lambda text: (needed[text], text))
        logger.warning(
            "%s of %s utterances %s (%.0f%%) do not fit into agent.utterance_length=%d and lose their last %s; the "
            "longest has %d: %r. agent.utterance_length=%d fits them all",
            f"{cut.total():,}",
            f"{sum(texts.values()):,}",
            where,
            100 * cut.total() / sum(texts.values()),
            length,
            vocabulary.kind,
            needed[longest] - 1,
            longest,
            needed[longest],
        )
    return cut.total()
