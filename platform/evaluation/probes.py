"""Probe tasks: procedurally generated tasks with a programmed success test, in houses not used for training.

Every agent plays the same episodes (house, task, wording), so comparisons between agents are paired. Success at a probe
doesn't show that an agent listens: in a small room a random walk passes everything. Each probe may therefore have a
counterfactual: the same house and start, in which the setter utters the words of another task of the kind, while
success is still judged by the probe's own task. An agent that understands the words succeeds less under the other ones.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from interplay.core.setting_checks import check_at_least, check_unique
from interplay.env.task import RETURN, InfeasibleTask, TaskSource
from interplay.env.world import Start, World
from interplay.evaluation.estimates import mean
from interplay.evaluation.success_judge import holding_steps

logger = logging.getLogger(__name__)

MAX_HOUSES_DRAWN = 100  # for one probe, until the task is feasible in one
MAX_WORDS_DRAWN = 20  # for one counterfactual, until a task differs from the probe's own
AGENT_NAME = re.compile(r"[A-Za-z0-9_-]+")
# Of own agents and of chance, of files next to theirs, and "BC", which reports call the clone.
RESERVED_NAMES = ("bc", "before_rl", "bc_rl", "expert", "chance", "random", "resting", "stage", "BC")
MEASURE_BOOTSTRAP_SEED = 20221125  # fixed, so that the same results always have the same interval
OTHER_WORDS_STREAM = 1  # keeps the random numbers of other words apart from those of the probes

ProbeT = TypeVar("ProbeT", bound="Probe | ProbeResult")


@dataclass(frozen=True)
class ProbesConfig:
    """Which probes are played, and how."""

    episodes: int = 50  # per kind of task
    kinds: tuple[str, ...] = ()  # empty: the world's default probes
    steps: int = 40  # time limit; kinds that need longer, and worlds that end episodes sooner, have that of the world
    limits: Mapping[str, int] = field(default_factory=dict)  # time limits of single kinds, overriding `steps`
    lanes: int = 16  # probes played side by side
    seed: int = 20261121  # of houses and tasks; the same for all runs, so that they can be compared
    greedy: bool = False  # most likely action instead of a sampled one
    expert: bool = True  # also evaluate the scripted solver without mistakes, as an upper bound
    chance: bool = True  # also measure the chance level: resting, moving at random, guessing answers
    chance_draws: int = 5  # times that the random mover plays each probe
    hold_steps: int | None = None  # steps for which an instruction must stay done; None: a second of the world
    counterfactuals: int | None = None  # probes of each kind also played under other words; None: all, 0: none
    # Stage or path of a learned setter (clone-setter): each agent also plays episodes that it sets; empty: none.
    setter_agent: str = ""
    setter_episodes: int = 30  # of each agent with the learned setter
    setter_steps: int = 120  # of such an episode
    # Further agents of the report, by name: a stage of the run, or the path of a checkpoint, also of another run.
    agents: Mapping[str, str] = field(default_factory=dict)
    # Processes that play; 0: this one. From 1 on, the results are the same for any number, and drawn with other random
    # numbers than with 0, where one stream goes through all probes of an agent.
    workers: int = 0

    def __post_init__(self) -> None:
        sizes = ("episodes", "steps", "lanes", "chance_draws", "setter_episodes", "setter_steps")
        check_at_least(1, self, *sizes, group="evaluate.")
        check_at_least(0, self, "workers", "seed", group="evaluate.")
        check_unique(self.kinds, "evaluate.kinds")
        if wrong := {kind: steps for kind, steps in self.limits.items() if steps < 1}:
            raise ValueError(f"evaluate.limits must be at least 1 step, got {wrong}")
        for name in ("hold_steps", "counterfactuals"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"evaluate.{name} must be at least 0, or null for its default, got {value}")
        if wrong_names := [name for name in self.agents if not AGENT_NAME.fullmatch(name) or name in RESERVED_NAMES]:
            raise ValueError(
                f"evaluate.agents names {', '.join(map(repr, wrong_names))}; a name is made of letters, digits, _ and "
                f"-, and can't be one of {', '.join(RESERVED_NAMES)}"
            )


@dataclass(frozen=True)
class OtherWords:
    """The task whose instruction a setter utters in place of the own one, as its JSON fields."""

    task: Mapping[str, Any]
    possible_here: bool  # a task of the probe's own house; else of another probe, and only its words mean something


@dataclass(frozen=True)
class Probe:
    """One episode to play: the house of `seed`, and the task as its JSON fields."""

    kind: str
    index: int
    seed: int
    task: Mapping[str, Any]
    limit: int  # time limit in steps
    hold: int = 0  # steps for which success must last; see `SuccessJudge`
    other_words: OtherWords | None = None  # makes it a counterfactual
    world_version: int = 0  # of the world that it was drawn in

    @property
    def instruction(self) -> str:
        """The setter's utterance."""
        task = self.task if self.other_words is None else self.other_words.task
        return str(task["instruction"])


@dataclass(frozen=True)
class ProbeResult:
    """The result of an agent on a probe."""

    kind: str
    index: int
    seed: int
    instruction: str
    success_step: int | None  # step of the first success; None: no success
    said: tuple[str, ...]
    steps: int
    limit: int = 0  # time limit of the probe; 0 in files of older versions, which had one limit for all
    hold: int = 0  # steps for which success had to last; 0 in files of older versions
    answer: str | None = None  # the right answer of a question; None for instructions, and in files of older versions
    measures: Mapping[str, float] = field(default_factory=dict)  # `Task.measure` at the end; empty: it has none
    best_measures: Mapping[str, float] = field(default_factory=dict)  # at the step where its first measure was best
    world_version: int = 0  # of the world; 0 in files of older versions, which count as those of any

    @property
    def solved(self) -> bool:
        """Whether the agent succeeded."""
        return self.success_step is not None

    @property
    def solved_early(self) -> bool:
        """Whether it succeeded within half of the time limit."""
        return self.success_step is not None and self.success_step <= self.limit // 2


def grouped_by_kind(probes: Iterable[ProbeT]) -> dict[str, list[ProbeT]]:
    """Probes, or results of probes, by kind, in order of first appearance."""
    groups: dict[str, list[ProbeT]] = {}
    for each in probes:
        groups.setdefault(each.kind, []).append(each)
    return groups


def identities(probes: Iterable[Probe | ProbeResult]) -> set[tuple[str, int, int, str, int, int]]:
    """What results must share to be of the same probes: house and words, time limit and holding time."""
    return {(each.kind, each.index, each.seed, each.instruction, each.limit, each.hold) for each in probes}


def draw_probes(world: World, config: ProbesConfig) -> list[Probe]:
    """Draws the probes; the same world and configuration always give the same ones.

    Raises:
        ValueError: the world has no probes or lacks a kind, or a kind is hardly ever feasible.
    """
    kinds, tasks = probe_kinds(world, config), world.tasks()
    limits = {kind: probe_limit(tasks, config, kind) for kind in kinds}
    hold, version = holding_steps(world.spec, config.hold_steps), world.spec.version
    drawn = [
        _draw(
            world,
            [config.seed, number, index],
            Probe(kind, index, 0, {}, limits[kind], hold, world_version=version),
        )
        for number, kind in enumerate(kinds)
        for index in range(config.episodes)
    ]
    longest = {kind: max(probe.limit for probe in rows) for kind, rows in grouped_by_kind(drawn).items()}
    return [replace(probe, limit=longest[probe.kind]) for probe in drawn]


def probe_kinds(world: World, config: ProbesConfig) -> tuple[str, ...]:
    """The kinds of probes; resets the world. Raises ValueError if the world has no probes or lacks a kind."""
    world.reset(Start(seed=config.seed), observers=())  # some worlds have tasks only after a reset
    tasks = world.tasks()
    offered = list(dict.fromkeys((*tasks.probes, *tasks.kinds, *tasks.optional_kinds)))
    kinds = config.kinds or tasks.probes
    if not kinds:
        raise ValueError(f"{world.spec.name} offers no probe tasks, so there is nothing to evaluate on")
    for name, given in (("kinds", kinds), ("limits", config.limits)):
        if unknown := sorted(set(given) - set(offered)):
            raise ValueError(f"evaluate.{name} names {', '.join(unknown)}; {world.spec.name} has {', '.join(offered)}")
    return kinds


def probe_limit(tasks: TaskSource, config: ProbesConfig, kind: str) -> int:
    """The time limit of probes of a kind, in steps."""
    return config.limits.get(kind, max(config.steps, tasks.step_limits.get(kind, 0)))


def draw_counterfactuals(world: World, probes: Sequence[Probe], config: ProbesConfig) -> list[Probe]:
    """The same probes under other words: the first `config.counterfactuals` of each kind that have other words.

    The words are those of a task that is possible in the same house and asks for something else. A house without one,
    as in worlds with one mission a house, takes the words of the next probe of the kind that differ. A world without
    utterances has none, because players do not hear the setter there, and a world without a setter.
    """
    if not world.spec.says_tasks:
        return []
    return [
        replace(probe, other_words=words)
        for probe in probes
        if config.counterfactuals is None or probe.index < config.counterfactuals
        if (words := _words_from_here(world, probe, config.seed) or _words_from_elsewhere(world, probe, probes))
    ]


def _draw(world: World, seeds: Sequence[int], probe: Probe) -> Probe:
    """The probe with a house that allows its kind, and its task; its limit is at most that of the world."""
    refusal = ""
    for attempt in range(MAX_HOUSES_DRAWN):
        rng = np.random.default_rng([*seeds, attempt])
        house = world.seed_for(probe.kind, rng)
        world.reset(Start(seed=house), observers=())
        try:
            task = (tasks := world.tasks()).sample(probe.kind, rng)
        except InfeasibleTask as error:
            refusal = str(error)
            continue
        limit = probe.limit if tasks.episode_limit is None else min(probe.limit, tasks.episode_limit)
        return replace(probe, seed=house, task=dict(task.to_json()), limit=limit)
    raise ValueError(f"none of {MAX_HOUSES_DRAWN} houses allows the probe {probe.kind!r}; the last one: {refusal}")


def _words_from_here(world: World, probe: Probe, seed: int) -> OtherWords | None:
    """The words of another task in the probe's own house; leaves the world at the probe's start."""
    world.reset(Start(seed=probe.seed), observers=())
    tasks, rng = world.tasks(), np.random.default_rng([seed, probe.seed, OTHER_WORDS_STREAM])
    own = tasks.load(probe.task)
    for _ in range(MAX_WORDS_DRAWN):
        try:
            other = tasks.sample(probe.kind, rng)
        except InfeasibleTask:
            continue
        if own.differs_from(other):
            return OtherWords(dict(other.to_json()), possible_here=True)
    return None


def _words_from_elsewhere(world: World, probe: Probe, probes: Sequence[Probe]) -> OtherWords | None:
    """The words of the next probe of the kind that differs; the world is at the start of `probe`."""
    tasks = world.tasks()
    own = tasks.load(probe.task)
    kin = sorted((each for each in probes if each.kind == probe.kind), key=lambda each: each.index <= probe.index)
    for each in kin:
        if own.differs_from(tasks.load(each.task)):
            return OtherWords(each.task, possible_here=False)
    return None


def mean_measures(results: Sequence[ProbeResult]) -> dict[str, dict[str, dict[str, float]]]:
    """Means of the measures by kind of task and name; kinds without measures are left out.

    Each is {"end": mean at the end of a probe, "low", "high": its 95% interval, left out where all are equal, "n":
    number of probes, "best": mean at the step at which the first measure was best, of each probe its own}. Where a
    probe was played several times, the mean of these plays counts once.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for kind, rows in grouped_by_kind(result for result in results if result.measures).items():
        found[kind] = {}
        for name in rows[0].measures:
            end, best = (
                _by_probe([(row.index, getattr(row, at)[name]) for row in rows]) for at in ("measures", "best_measures")
            )
            estimate = mean(end, np.random.default_rng(MEASURE_BOOTSTRAP_SEED))
            interval = {} if math.isnan(estimate.low) else {"low": estimate.low, "high": estimate.high}
            found[kind][name] = {"end": estimate.value, **interval, "n": estimate.n, "best": float(np.mean(best))}
    return found


def _by_probe(values: Iterable[tuple[int, float]]) -> list[float]:
    """The mean value of each probe, from (index of the probe, value) of each play."""
    plays = defaultdict[int, list[float]](list)
    for index, value in values:
        plays[index].append(value)
    return [float(np.mean(each)) for each in plays.values()]


def on_same_probes(by_agent: Mapping[str, Sequence[ProbeResult]]) -> dict[str, Sequence[ProbeResult]]:
    """The results of the first agent that has any, and of those that played the same probes with the same words, time
    limits and holding time in the same version of the world; others are named in a warning."""
    played = {agent: results for agent, results in by_agent.items() if results}
    probes = {agent: identities(results) for agent, results in played.items()}
    first = next(iter(played), "")
    for agent in list(played):
        if probes[agent] == probes[first] and is_of_version(played[agent], played[first]):
            continue
        logger.warning(
            "%s played other probes than %s, or with other limits, or in another version of the world, so the report "
            "does not compare it",
            *(agent, first),
        )
        del played[agent]
    return played


def late_returns(results: Iterable[ProbeResult]) -> frozenset[str]:
    """The kinds whose success is a return that no agent has reached within half of the time limit: where the return
    grows with each step, as in CartPole, none can. Files of older versions do not state the limit."""
    kinds, reached = set[str](), set[str]()
    for each in results:
        if RETURN in each.measures and each.limit:
            kinds.add(each.kind)
            if each.solved_early:
                reached.add(each.kind)
    return frozenset(kinds - reached)


def agree(one: int, other: int) -> bool:
    """Whether two stated numbers are equal, or one of them is 0: files of older versions do not state it."""
    return one == other or 0 in (one, other)


def is_of_version(results: Sequence[ProbeResult], probes: Sequence[Probe | ProbeResult]) -> bool:
    """Whether results may be of the version of the world of these probes; files of older versions do not state it."""
    stated, wanted = ({each.world_version for each in rows if each.world_version} for rows in (results, probes))
    return not stated or not wanted or stated == wanted


def digests_by_kind(probes: Sequence[Probe | ProbeResult]) -> dict[str, str]:
    """A digest of the houses and the words of the probes of each kind, in order of their index: another version of the
    world may draw other tasks in the same houses."""
    found = {}
    for kind, rows in grouped_by_kind(probes).items():
        told = sorted((each.index, each.seed, each.instruction) for each in rows)
        found[kind] = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
    return found


def common_limit(results: Sequence[ProbeResult]) -> int:
    """The time limit of most probes, in steps; 0 for files of older versions, which do not state it."""
    return Counter(result.limit for result in results).most_common(1)[0][0]


def success_steps(results: Sequence[ProbeResult]) -> dict[str, NDArray[np.float64]]:
    """The step of success of each probe by kind of task, NaN without success; [episodes], in order of `index`."""
    by_kind: dict[str, NDArray[np.float64]] = {}
    for kind, rows in grouped_by_kind(results).items():
        steps = {row.index: np.nan if row.success_step is None else float(row.success_step) for row in rows}
        by_kind[kind] = np.array([steps[index] for index in sorted(steps)])
    return by_kind
