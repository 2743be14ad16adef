"""The listening gap of agents on held-out demonstrations, measured in the training stages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from interplay.agent.network import Agent
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.device import find_device
from interplay.stages.heldout_episodes import HeldOutEpisodes, read_heldout
from interplay.stages.run import Run
from interplay.stages.shared_parts import PEOPLE_KINDS, start_from

logger = logging.getLogger(__name__)


def heldout_demonstrations(role: str) -> EpisodeFilter:
    """The held-out episodes in which a person or a script plays `role`."""
    return EpisodeFilter(split="heldout", kinds={role: PEOPLE_KINDS})


def listening_measure(
    run: Run, snapshot: Snapshot | None, agent: Agent, vocabulary: Vocabulary, *, most: int, cache_mb: int
) -> Callable[[], Mapping[str, float]] | None:
    """A function that measures the present listening gap of `agent` on at most `most` held-out demonstrations.

    None if there is nothing to measure: no episodes, or a world without utterances. The measurement draws no random
    numbers, so training is the same with and without it.
    """
    role = agent.layout.role
    ids = [] if snapshot is None else snapshot.select(heldout_demonstrations(role))[:most]
    if snapshot is None or not ids or not agent.layout.world.utterances:
        return None
    with run.busy("reads held-out episodes") as beat:
        heldout = read_heldout(snapshot, ids, run.make_world(), agent, vocabulary, beat, cache_mb * 2**20)
    return lambda: _measured(run, heldout, agent, most)


def warn_unless_listening(run: Run, snapshot: Snapshot) -> dict[str, float]:
    """Measures the agent that reinforcement starts from, and logs a warning if its gap is below the threshold.

    Returns the metrics of `ListeningGap`; {} without held-out demonstrations of different instructions.

    Raises:
        CheckpointError: there is no checkpoint to start from.
    """
    config = run.config.reinforce
    agent, vocabulary = start_from(run, config.start)
    agent.to(find_device(config.learner.device))
    most, cache = config.listening_episodes, config.dataset.cache_mb
    measure = listening_measure(run, snapshot, agent, vocabulary, most=most, cache_mb=cache)
    found = dict(measure()) if measure is not None else {}
    gap, error = found.get("heldout_listening"), found.get("heldout_listening_error")
    if gap is not None and gap < config.listening_threshold:
        logger.warning(
            "the agent of %s hardly listens: held-out movements are %.4f%s nats per step likelier under their own "
            "instruction than under another, less than reinforce.listening_threshold=%g. Reinforcement would then "
            "improve an agent that ignores its instructions; clone longer or from more episodes first",
            config.start,
            gap,
            "" if error is None else f" +- {error:.4f}",
            config.listening_threshold,
        )
    return found


def _measured(run: Run, heldout: HeldOutEpisodes, agent: Agent, most: int) -> Mapping[str, float]:
    with run.busy("measures listening") as beat:
        return heldout.listening(agent, most, beat).metrics()
