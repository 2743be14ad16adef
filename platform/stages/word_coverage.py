"""Checks that the vocabulary of an agent from elsewhere contains the words that it will hear."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Sequence

from interplay.episodes.encoding import iter_readable
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore
from interplay.episodes.vocabulary import Vocabulary, warn_of_long_utterances
from interplay.learner.agents import read_description
from interplay.learner.checkpoint import Checkpoint, CheckpointError
from interplay.stages.run import Run
from interplay.stages.shared_parts import checkpoint_of, is_of_run

logger = logging.getLogger(__name__)

MAX_UNKNOWN_SHARE = 0.2  # of the spoken words; with more, instructions lose what distinguishes them
SAMPLED_EPISODES = 200
NAMED_WORDS = 10  # of the unknown words, in messages


def check_coverage(
    listener: str, vocabulary: Vocabulary, texts: Iterable[str], compared_with: Vocabulary | None = None
) -> float:
    """The share of the words of `texts` that `vocabulary` lacks; logged if there are any.

    Args:
        listener: names the owner of the vocabulary in messages.
        compared_with: counts only words that this vocabulary has, because the others are lost anyway.

    Raises:
        CheckpointError: the share exceeds `MAX_UNKNOWN_SHARE`.
    """
    counts = Counter(word for text in texts for word in vocabulary.split(text))
    if compared_with is not None and compared_with.kind == vocabulary.kind:
        counts = Counter({word: count for word, count in counts.items() if word in compared_with})
    unknown = {word: count for word, count in counts.most_common() if word not in vocabulary}
    share = sum(unknown.values()) / max(1, counts.total())
    if share == 0:
        return share
    found = (
        f"the vocabulary of {listener} lacks {len(unknown)} of {len(counts)} {vocabulary.kind}, {share:.1%} of those "
        "spoken: "
        f"{', '.join([*unknown][:NAMED_WORDS])}{', ...' if len(unknown) > NAMED_WORDS else ''}"
    )
    if share > MAX_UNKNOWN_SHARE:
        raise CheckpointError(
            f"{found}. At most {MAX_UNKNOWN_SHARE:.0%} may be unknown: use an agent and a reward model that "
            "were trained on such episodes"
        )
    logger.warning("%s; they are read as <unknown>", found)
    return share


def check_start_coverage(run: Run, name: str, source: Snapshot | EpisodeStore) -> None:
    """Check the words of these episodes in the vocabulary of the checkpoint `name`, unless it is of this run.

    Raises:
        CheckpointError: it lacks too many of them, or there is no such checkpoint.
    """
    if not is_of_run(run, name):
        check_texts(run, name, sampled_texts(source), "of this run")


def check_texts(run: Run, name: str, texts: Sequence[str], whose: str) -> None:
    """Check what the checkpoint `name` will hear against its vocabulary, unless it is of this run.

    Raises:
        CheckpointError: it lacks too many words, or there is no such checkpoint.
    """
    if is_of_run(run, name):
        return
    found = checkpoint_of(run, name)
    _, layout, vocabulary = read_description(found.description)
    check_coverage(f"the agent of {found.path}", vocabulary, texts)
    warn_of_long_utterances(Counter(texts), vocabulary, layout.utterance_length, whose)


def check_reward_coverage(run: Run, snapshot: Snapshot) -> None:
    """Check the words of these episodes in the vocabulary of the reward model, if the reinforced agent has them.

    Raises:
        CheckpointError: it lacks too many of them.
    """
    acting, scoring = (checkpoint_of(run, name) for name in (run.config.reinforce.start, "reward"))
    known, read = vocabulary_of(acting), vocabulary_of(scoring)
    if known != read:
        check_coverage(f"the reward model of {scoring.path}", read, sampled_texts(snapshot), known)


def check_setter_words(run: Run, setter: str, listener: str) -> None:
    """Check the words that a setter agent can say in the vocabulary of the agent that hears them, unless both are of
    this run.

    Args:
        setter: stage or path of the setter's checkpoint.
        listener: stage or path of the other one.

    Raises:
        CheckpointError: the listener lacks too many of them, or there is no such checkpoint.
    """
    if all(is_of_run(run, name) for name in (setter, listener)):
        return
    spoken, hearing = vocabulary_of(checkpoint_of(run, setter, "setter")), checkpoint_of(run, listener)
    known = vocabulary_of(hearing)
    if known != spoken:
        check_coverage(f"the agent of {hearing.path}", known, spoken.words)


def vocabulary_of(checkpoint: Checkpoint) -> Vocabulary:
    """The vocabulary of a checkpoint's agent."""
    return read_description(checkpoint.description)[2]


def sampled_texts(source: Snapshot | EpisodeStore) -> list[str]:
    """The utterances of at most `SAMPLED_EPISODES` episodes, evenly spaced over all."""
    ids: Sequence[str] = source.ids if isinstance(source, Snapshot) else source.ids()
    chosen = ids[:: max(1, math.ceil(len(ids) / SAMPLED_EPISODES))]
    return [said.text for episode in iter_readable(source, chosen) for said in episode.meta.utterances]
