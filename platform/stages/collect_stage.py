"""The collect stage: records episodes of a scripted setter with a scripted solver or an agent of this run."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from interplay.actors.episode_collector import EpisodeCollector, EpisodeRequest, RecordingConfig
from interplay.actors.seats import ScriptedSeat, SolverSeat
from interplay.core.settings_group import settings_group
from interplay.core.typed_name import setting_of
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.episode import EPISODE_IDS, Episode, new_episode_id
from interplay.episodes.store import EpisodeStore
from interplay.episodes.vocabulary import Vocabulary, warn_of_long_utterances
from interplay.players.setter import ScriptedSetter
from interplay.runtime.interruption import Interrupted, StopRequest, grace_period
from interplay.runtime.seeding import derive_seed, numpy_generator, torch_generator
from interplay.stages.episode_snapshot import warn_of_agent
from interplay.stages.process_pool import map_in_processes
from interplay.stages.rounds import SHARED_STAGES
from interplay.stages.run import Run, closes_worlds
from interplay.stages.shared_parts import acting_agent, learned_setters, warn_of_unfinished_agent
from interplay.stages.stage_config import LEARNED_REWARDS, CollectConfig
from interplay.stages.stage_folder import WORK_LOCK, StageConflict
from interplay.stages.word_coverage import check_setter_words, check_start_coverage
from interplay.tracking.progress import Progress

logger = logging.getLogger(__name__)

NUMBERS = ("episodes", "heldout")  # of episodes; they only grow

EpisodeNumber = tuple[str, int]  # a split, and the number in it
EpisodeStart = tuple[str, int]  # a split, and the seed of the house


@closes_worlds
def collect(run: Run, config: CollectConfig, stage: str = "collect") -> None:
    """Records `config.episodes` episodes for training and `config.heldout` held-out ones into the run's store.

    Resumable: the k-th episode of a split starts from the same house and instruction whenever it is recorded. Larger
    numbers extend a finished stage. `stage` is part of the seeds, so that demonstrations and an agent's episodes are
    counted separately.

    Raises:
        CheckpointError: an agent plays, and its checkpoint is missing, or its vocabulary lacks the episodes' words.
        Interrupted: a signal requested a stop; episodes that ended within `GRACE_SECONDS` of it are stored.
        StageConflict: another process is recording.
    """
    with run.stage(stage).locked(WORK_LOCK):
        _collect(run, config, stage)


def collect_settings(run: Run, config: CollectConfig, stage: str = "collect") -> dict[str, Any]:
    """The settings that may not change when the stage is resumed; raises StageConflict as `_grown`."""
    settings = replace(_grown(run, config, stage), workers=min(config.workers, 1))  # their number may change
    return {"collect": settings, "solver": run.config.solver, "seed": run.seed}


def _grown(run: Run, config: CollectConfig, stage: str) -> CollectConfig:
    """`config` with at least the numbers of episodes that the stage was started with.

    Raises:
        StageConflict: a number is larger and was not typed; it may be that of a preset, because the one typed before
            was left out.
    """
    folder, section = run.stage(stage), settings_group(stage)
    before = folder.record().get("settings", {}).get("collect", {})
    numbers = {}
    for name in NUMBERS:
        wanted, setting = getattr(config, name), f"{section}.{name}"
        begun = before.get(name, wanted)
        if wanted > begun and run.config.run.typed_names.isdisjoint((setting, section)):
            raise StageConflict(
                f"{folder.path} was started with {setting}={begun}, and the settings typed now state {wanted}: add "
                f"{setting}={begun} to keep it, or {setting}={wanted} to record more"
            )
        numbers[name] = max(wanted, begun)
    return replace(config, **numbers)


def _collect(run: Run, config: CollectConfig, stage: str) -> None:
    grown = _grown(run, config, stage)
    _log_smaller_numbers(config, grown, stage)
    config = grown
    clock = run.begin(stage, collect_settings(run, config, stage))
    counts = {"episodes": config.episodes, "heldout_episodes": config.heldout}
    if run.stage(stage).finished and all(clock.fact(name, 0) == number for name, number in counts.items()):
        if not sum(counts.values()) or _has_episodes(run, stage):
            return
        logger.warning("%s has no episode of %s any more: they are recorded again", run.root / "store", stage)
    with run.store() as store, StopRequest() as stop:
        store.reindex()  # adds episodes that a killed writer had finished, before counting
        EPISODE_IDS.continue_after(max(store.paths(), default=""))
        stored = _stored(store)
        starts = _starts(run, config, stage)
        waiting = _waiting(starts, stored.episodes)
        total = config.episodes + config.heldout
        with Progress(total, "episodes", {"steps": "steps"}, title=stage, start=total - len(waiting)) as progress:
            missing, steps, texts = len(waiting), 0, Counter[str]()
            before = sum(stored.steps[start] for start in set(starts.values()))
            if waiting:
                clock.note(finished=False)
                _warn_of_other_version(run, stage, stored.worlds)
                _log_merged_kinds(run, config, stage)
                _check_agents(run, config, stage, store)
                record = _recorded_by_workers if config.workers else _recorded_here
                for episode in record(run, config, stage, waiting, stop):
                    clock.save(steps=before + steps)
                    store.append(episode)
                    steps += episode.meta.steps
                    missing -= 1
                    texts.update(said.text for said in episode.meta.utterances)
                    progress.log(total - missing, {"steps": steps})
        agent = run.config.agent
        warn_of_long_utterances(texts, Vocabulary([], agent.tokens), agent.utterance_length, "recorded")
        facts = {"steps": before + steps}
        if missing:
            if steps:
                clock.save(**facts)
            raise Interrupted(
                f"stopped with {total - missing:,} of {total:,} episodes stored; the same command continues"
            )
        clock.finish(**facts, **counts)


def _log_smaller_numbers(config: CollectConfig, grown: CollectConfig, stage: str) -> None:
    """Logs which numbers of `config` are smaller than those that the stage was started with, which `grown` keeps."""
    for name in NUMBERS:
        wanted, begun = getattr(config, name), getattr(grown, name)
        if wanted < begun:
            setting = f"{settings_group(stage)}.{name}"
            logger.info("%s=%d: the %d that %s was started with stay", setting, wanted, begun, stage)


class _Stored(NamedTuple):
    """What the intact episodes of a store are."""

    episodes: Counter[EpisodeStart]
    steps: Counter[EpisodeStart]
    worlds: Mapping[tuple[str, int], str]  # the id of an episode of each world and version


def _stored(store: EpisodeStore) -> _Stored:
    episodes, steps, worlds = Counter[EpisodeStart](), Counter[EpisodeStart](), dict[tuple[str, int], str]()
    for meta in store.intact_metas():
        episodes[meta.split, meta.seed] += 1
        steps[meta.split, meta.seed] += meta.steps
        worlds.setdefault((meta.world, meta.world_version), meta.id)
    return _Stored(episodes, steps, worlds)


def _check_agents(run: Run, config: CollectConfig, stage: str, store: EpisodeStore) -> None:
    """Warns of agents that still train, or that learned from other recordings.

    Raises:
        CheckpointError: its vocabulary lacks the words that it will hear.
    """
    if config.solver == "agent":
        warn_of_agent(run, stage, config.solver_agent)
        check_start_coverage(run, config.solver_agent, store)
        if config.setter_agent:
            warn_of_unfinished_agent(run, stage, config.setter_agent)
            check_setter_words(run, config.setter_agent, config.solver_agent)


def _warn_of_other_version(run: Run, stage: str, recorded: Mapping[tuple[str, int], str]) -> None:
    """Warns that the store has episodes of another version of the world than the one that is recorded now.

    `recorded` is the id of an episode of each world and version.
    """
    spec = run.make_world().spec
    for (world, version), episode in recorded.items():
        if (world, version) != (spec.name, spec.version):
            logger.warning(
                "%s records in %s version %d, and the store has recordings of another version of the world: episode %s "
                "is of %s version %d. Stages would learn from both, and what was done and marked in one may not "
                "succeed in the other. To keep them apart, stop this, and give the new recordings a run of their own "
                "(run.name=...), or install that version of the world",
                *(stage, spec.name, spec.version, episode, world, version),
            )
            return


def _log_merged_kinds(run: Run, config: CollectConfig, stage: str) -> None:
    """Logs the kinds of task that the setter gives if a preset adds some to those that are typed."""
    setting = f"{settings_group(stage)}.setter.kinds"
    typed = [word.partition("=")[2] for word in run.config.run.typed if setting_of(word) == setting]
    named = {kind for value in typed for kind in re.findall(r"[\w-]+", value)}
    asked = {kind: weight for kind, weight in config.setter.kinds.items() if weight}
    if named and not config.setter_agent and not asked.keys() <= named:
        total = sum(asked.values())
        logger.info(
            "%s asks for %s: %s changes the kinds that it names and keeps the others of the preset. To ask for those "
            "that it names alone, type '~%s' in front of it",
            stage,
            ", ".join(f"{kind} ({weight / total:.1%})" for kind, weight in asked.items()),
            *(setting, setting),
        )


def _has_episodes(run: Run, stage: str) -> bool:
    """Whether the store has any episode of a recording stage.

    These are episodes of its round. Earlier versions stored the episodes of agents without a round; for these, whether
    there are more than `collect` has recorded.
    """
    collected = run.stage("collect").record()
    before = collected.get("episodes", 0) + collected.get("heldout_episodes", 0)
    with run.store() as store:
        return bool(store.select(EpisodeFilter(round=_round(run, stage)))) or len(store.ids()) > before


def _round(run: Run, stage: str) -> int:
    return 0 if stage in SHARED_STAGES else run.round


def _starts(run: Run, config: CollectConfig, stage: str) -> dict[EpisodeNumber, EpisodeStart]:
    """Where each episode of the stage starts, in the order of their recording."""
    numbers = interleaved({"train": config.episodes, "heldout": config.heldout})
    return {each: (each[0], house_seed(run, config, stage, each)) for each in numbers}


def _waiting(starts: Mapping[EpisodeNumber, EpisodeStart], recorded: Counter[EpisodeStart]) -> list[EpisodeNumber]:
    """The episodes that are not in the store, whose episodes of each start are counted in `recorded`.

    Houses recur in turn, so the episodes of a house count as recorded in order. If one of them was stored before an
    earlier one, as in lanes of one process that play the same house at once, or if an earlier one is damaged, the later
    one is recorded again in place of the earlier one.
    """
    waiting, left = [], recorded.copy()
    for number, start in starts.items():
        left[start] -= 1
        if left[start] < 0:
            waiting.append(number)
    return waiting


def house_seed(run: Run, config: CollectConfig, stage: str, episode: EpisodeNumber) -> int:
    """The seed of the house in which an episode (split, index) starts."""
    split, index = episode
    return derive_seed(run.seed, stage, split, index % config.houses if config.houses else index)


def _recorded_here(
    run: Run, config: CollectConfig, stage: str, waiting: Sequence[EpisodeNumber], stop: StopRequest
) -> Iterator[Episode]:
    """Records in this process, in all lanes at once."""
    recorder = _Recorder(run, config, stage, lanes=min(config.lanes, len(waiting)))
    yield from recorder.record((), takewhile(lambda _: not stop.requested, waiting), _overdue(stop))


def _recorded_by_workers(
    run: Run, config: CollectConfig, stage: str, waiting: Sequence[EpisodeNumber], stop: StopRequest
) -> Iterator[Episode]:
    """Records in processes.

    Which episodes are played together, and share a stream of random numbers, does not depend on the number of
    processes: a scripted solver plays each episode alone, an agent as many as there are lanes.
    """
    alone = config.solver == "scripted"
    size = 1 if alone else config.lanes
    everything = interleaved({"train": config.episodes, "heldout": config.heldout})
    wanted = set(waiting)
    groups = [(number, everything[at : at + size]) for number, at in enumerate(range(0, len(everything), size))]
    units = [(number, kept) for number, group in groups if (kept := [each for each in group if each in wanted])]
    make = partial(_unit_recorder, run, config, stage, size)
    for episodes in map_in_processes(
        make, units, workers=config.workers, stopped=lambda: stop.requested, overdue=_overdue(stop)
    ):
        for episode in episodes:  # ids sort by time: in the order of the units, not by which process was faster
            yield replace(episode, meta=replace(episode.meta, id=new_episode_id()))


def _unit_recorder(
    run: Run, config: CollectConfig, stage: str, lanes: int, stopped: Callable[[], bool]
) -> Callable[[tuple[int, Sequence[EpisodeNumber]]], list[Episode]]:
    recorder = _Recorder(run, config, stage, lanes)

    def record(unit: tuple[int, Sequence[EpisodeNumber]]) -> list[Episode]:
        number, episodes = unit
        order = {recorder.seed(each): place for place, each in enumerate(episodes)}
        return sorted(recorder.record((number,), episodes, stopped), key=lambda episode: order[episode.meta.seed])

    return record


class _Recorder:
    """Records episodes in several worlds of one process."""

    def __init__(self, run: Run, config: CollectConfig, stage: str, lanes: int) -> None:
        self._run, self._config, self._stage = run, config, stage
        self._worlds = [run.make_world() for _ in range(lanes)]
        self._agent = None if config.solver == "scripted" else acting_agent(run, config.solver_agent)

    def record(
        self, names: Sequence[int], episodes: Iterable[EpisodeNumber], stopped: Callable[[], bool]
    ) -> Iterator[Episode]:
        """Yields the episodes as they end; `names` are further names of the random streams of the solver."""
        collector = EpisodeCollector(
            worlds=self._worlds,
            seat=self._seat(names),
            config=RecordingConfig(self._config.steps, self._config.grace_steps),
            world_config=self._run.config.env,
            round=_round(self._run, self._stage),
            setters=learned_setters(self._run, self._config.setter_agent, len(self._worlds), (self._stage, *names)),
        )
        for _, episode in collector.collect(map(self._request, episodes), stopped):
            yield episode

    def seed(self, episode: EpisodeNumber) -> int:
        """The seed of an episode's start."""
        return house_seed(self._run, self._config, self._stage, episode)

    def _request(self, episode: EpisodeNumber) -> EpisodeRequest:
        rng = numpy_generator(self._run.seed, self._stage, *episode, "setter")
        setter = None if self._config.setter_agent else ScriptedSetter(self._config.setter, rng)
        return EpisodeRequest(self.seed(episode), episode[0], setter)

    def _seat(self, names: Sequence[int]) -> SolverSeat:
        run, lanes = self._run, len(self._worlds)
        if self._agent is None:
            rng = numpy_generator(run.seed, self._stage, "solver", *names)
            return ScriptedSeat(run.config.solver, lanes, rng, imitated=_is_imitated(run))
        return self._agent.seat(lanes, torch_generator(run.seed, self._stage, "agent", *names))


def _is_imitated(run: Run) -> bool:
    """Whether the result of a run depends on what its agents imitate; `experiment=gymnasium` learns from the reward of
    the world alone."""
    config = run.config.reinforce
    return config.reward in LEARNED_REWARDS or config.learner.objective.weights.needs_demonstrations


def interleaved(counts: Mapping[str, int]) -> list[EpisodeNumber]:
    """The episodes of all splits, each split spread evenly over the whole, so that a collection that
    was stopped has episodes of every split."""
    everything = [(split, index) for split, count in counts.items() for index in range(count)]
    return sorted(everything, key=lambda each: (each[1] + 0.5) / counts[each[0]])


def _overdue(stop: StopRequest) -> Callable[[], bool]:
    """Whether episodes that are under way after a stop request are dropped, to be recorded again by the next start."""
    return grace_period(lambda: stop.requested, "the episodes under way")
