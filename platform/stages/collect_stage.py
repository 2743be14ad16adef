"""The collect stage: records episodes of a scripted setter with a scripted solver or an agent of this run."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from interplay.actors.episode_collector import EpisodeCollector, EpisodeRequest, RecordingConfig
from interplay.actors.seats import AgentSeat, ScriptedSeat, SolverSeat
from interplay.agent.agent_runner import AgentRunner
from interplay.agent.policy import LocalPolicy
from interplay.env.world import World
from interplay.episodes.encoding import iter_readable
from interplay.episodes.utterance_lengths import warn_of_long_utterances
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.agents import load_agent
from interplay.players.setter import ScriptedSetter
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.runtime.seeding import derive_seed, numpy_generator, torch_generator
from interplay.stages.config import CollectConfig
from interplay.stages.rounds import SHARED_STAGES
from interplay.stages.run import Run
from interplay.stages.shared_parts import checkpoint_of, learned_setters
from interplay.stages.stage_folder import WORK_LOCK
from interplay.stages.word_coverage import check_start_coverage
from interplay.tracking.progress import Progress

logger = logging.getLogger(__name__)

GRACE_PERIOD_S = 20.0  # for unfinished episodes after a stop request; preempted machines wait little longer


def collect(run: Run, config: CollectConfig, stage: str = "collect") -> None:
    """Records `config.episodes` episodes for training and `config.heldout` held-out ones into the run's store.

    Resumable: the k-th episode of a split starts from the same house and instruction whenever it is recorded. `stage`
    is part of the seeds, so that demonstrations and an agent's episodes are counted separately.

    Raises:
        CheckpointError: an agent plays, and its checkpoint is missing, or does not know the episodes' words.
        Interrupted: a signal requested a stop; episodes that ended within `GRACE_PERIOD_S` of it are stored.
        StageConflict: another process is recording.
    """
    with run.stage(stage).locked(WORK_LOCK):
        _collect(run, config, stage)


def _collect(run: Run, config: CollectConfig, stage: str) -> None:
    folder = run.stage(stage)
    clock = folder.begin({"collect": config, "solver": run.config.solver, "seed": run.seed})
    if folder.finished:
        return
    with run.store() as store, StopRequest() as stop:
        store.reindex()  # adds episodes that a killed writer had finished, before counting
        recorded = {(episode.meta.split, episode.meta.seed) for episode in iter_readable(store, store.ids())}
        waiting = [each for each in _requests(run, config, stage) if (each.split, each.seed) not in recorded]
        total = config.episodes + config.heldout
        progress = Progress(total, "episodes", {"steps": "steps"}, title=stage, start=total - len(waiting))
        missing, steps, texts = len(waiting), 0, Counter[str]()
        if waiting:
            if config.solver == "agent":
                check_start_coverage(run, config.checkpoint, store)
            worlds = [run.make_world() for _ in range(min(config.lanes, len(waiting)))]
            collector = EpisodeCollector(
                worlds=worlds,
                seat=_seat(run, config, stage, worlds),
                config=RecordingConfig(config.steps, config.grace_steps),
                world_config=run.config.env,
                round=0 if stage in SHARED_STAGES else run.round,
                setters=learned_setters(run, config.setter_agent, len(worlds), (stage,)),
            )
            for _, episode in collector.collect(_until(stop, waiting), _overdue(stop)):
                clock.claim()
                store.append(episode)
                missing -= 1
                steps += episode.meta.steps
                texts.update(said.text for said in episode.meta.utterances)
                progress.log(total - missing, {"steps": steps})
        progress.close()
        _warn_of_long_utterances(run, texts)
        facts = {"steps": clock.fact("steps", 0) + steps}
        if missing:
            if steps:
                clock.save(**facts)
            raise Interrupted(f"stopped with {total - missing} of {total} episodes stored; the same command continues")
        clock.finish(**facts, episodes=config.episodes, heldout_episodes=config.heldout)


def _warn_of_long_utterances(run: Run, texts: Counter[str]) -> None:
    agent = run.config.agent
    warn_of_long_utterances(texts, Vocabulary([], agent.tokens), agent.utterance_length, "recorded")


def _requests(run: Run, config: CollectConfig, stage: str) -> Iterator[EpisodeRequest]:
    for split, index in interleaved({"train": config.episodes, "heldout": config.heldout}):
        seed = derive_seed(run.seed, stage, split, index)
        rng = numpy_generator(run.seed, stage, split, index, "setter")
        yield EpisodeRequest(seed, split, None if config.setter_agent else ScriptedSetter(config.setter, rng))


def interleaved(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The episodes of all splits as (split, index), each split spread evenly over the whole, so that a collection that
    was stopped has episodes of every split."""
    everything = [(split, index) for split, count in counts.items() for index in range(count)]
    return sorted(everything, key=lambda each: (each[1] + 0.5) / counts[each[0]])


def _until(stop: StopRequest, requests: list[EpisodeRequest]) -> Iterator[EpisodeRequest]:
    """Yields the requests until a signal requests a stop."""
    for request in requests:
        if stop.requested:
            return
        yield request


def _overdue(stop: StopRequest) -> Callable[[], bool]:
    """A function that returns True once `GRACE_PERIOD_S` have passed since it first noticed a stop request.

    Episodes unfinished by then are dropped, and recorded again by the next start.
    """
    noticed: list[float] = []

    def overdue() -> bool:
        if stop.requested and not noticed:
            noticed.append(time.monotonic())
        return bool(noticed) and time.monotonic() - noticed[0] >= GRACE_PERIOD_S

    return overdue


def _seat(run: Run, config: CollectConfig, stage: str, worlds: list[World]) -> SolverSeat:
    if config.solver == "scripted":
        return ScriptedSeat(run.config.solver, len(worlds), numpy_generator(run.seed, stage, "solver"))
    path = checkpoint_of(run, config.checkpoint).path
    agent, vocabulary = load_agent(path)
    policy = LocalPolicy(agent, torch_generator(run.seed, stage, "agent"))
    return AgentSeat(AgentRunner(policy, vocabulary, len(worlds)), checkpoint=str(path))
