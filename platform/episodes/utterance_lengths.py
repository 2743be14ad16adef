"""A warning about recorded utterances that are longer than an agent can read or write."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping

from interplay.episodes.vocabulary import Vocabulary

logger = logging.getLogger(__name__)


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
