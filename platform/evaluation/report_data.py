"""The data of a report, as plain values that the stages pass; None or empty for a stage that has not run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array, Image
from interplay.evaluation.continuation_judgements import JudgedContinuations
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.live_judgements import LiveResults

T = TypeVar("T")
R = TypeVar("R")
MeasureMeans: TypeAlias = Mapping[str, Mapping[str, float]]  # name -> "end", "low", "high", "n", "best" -> value
Measures: TypeAlias = Mapping[str, MeasureMeans]  # by kind of task; see `interplay.evaluation.probes.mean_measures`
FreePlayShares: TypeAlias = Mapping[str, int | Estimate]  # see `interplay.evaluation.free_play.free_play_shares`
ALL_KINDS = "all kinds"  # in place of a kind of task: the scenarios of all kinds


def title_of(kind: str) -> str:
    """The printed name of a kind of task: "place_near" -> "Place near", "RepeatTask" -> "RepeatTask"."""
    words = kind.replace("_", " ")
    return words[:1].upper() + words[1:]


@dataclass(frozen=True)
class StageRecord:
    """A stage that ran: its duration and its key numbers by name ("episodes": 600)."""

    name: str
    seconds: float
    numbers: Mapping[str, float | int | str] = field(default_factory=dict)
    finished: bool = True  # False while it runs, and if it was stopped or has failed


@dataclass(frozen=True)
class Filmstrip:
    """Pictures of one episode in order; `captions` has one line per picture."""

    title: str
    instruction: str
    outcome: str  # "solved at 4.3 s", "not solved in 10.7 s"
    pictures: Sequence[Image]
    captions: Sequence[str]

    def __post_init__(self) -> None:
        if len(self.pictures) != len(self.captions):
            raise ValueError(
                f"a filmstrip needs one caption a picture, got {len(self.pictures)} pictures and "
                f"{len(self.captions)} captions"
            )


@dataclass(frozen=True)
class UtilityTrace:
    """The reward model's utility along one episode of N steps, which has N + 1 rows (observations)."""

    title: str
    instruction: str
    utility: Float64Array  # [N + 1]
    seconds_per_step: float
    marks: Sequence[tuple[int, int]] = ()  # (row, +1 or -1)
    said: Sequence[tuple[int, str]] = ()  # (row, utterance)
    pictures: Sequence[tuple[int, Image]] = ()  # (row, the solver's view)


@dataclass(frozen=True)
class RewardPoint:
    """Modeled episode returns at one update of reinforcement."""

    update: int
    training: Float64Array  # [episodes], tasks trained on
    heldout: Float64Array  # [episodes], tasks never trained on
    # [episodes], true success of the held-out ones; empty in files of older versions, NaN where it is unknown
    success: Float64Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class ChanceLevel:
    """Success shares on a kind of probe without understanding the instruction."""

    resting: float  # an agent that neither moves nor speaks
    random: float  # random movement; for a question, a random draw of the kind's right answers
    answers: Mapping[str, float] = field(default_factory=dict)  # for a question: how often each answer is right
    draws: int = 1  # random movers that played each probe; `random` is their mean
    interval: tuple[float, float] | None = None  # of `random`; None: computed exactly, or one draw of an old version
    hold: int = 0  # steps for which success had to last; 0 in files of older versions
    limit: int = 0  # time limit of the probes, in steps; 0 in files of older versions
    probes: str = ""  # digest of their houses and words; "" in files of older versions
    # What the tasks measure of the two players, "resting" and "random"; empty in files of older versions.
    measures: Mapping[str, MeasureMeans] = field(default_factory=dict)
    world_version: int = 0  # of the world; 0 in files of older versions, which count as those of any

    @property
    def best_guess(self) -> float:
        """The best share without understanding: resting, random movement, guessing, or one constant answer."""
        return max(self.resting, self.random, *self.answers.values())

    @property
    def most_common_answer(self) -> tuple[str, float] | None:
        """The answer that is right most often, and how often; None for instructions."""
        return max(self.answers.items(), key=lambda pair: pair[1]) if self.answers else None


@dataclass(frozen=True)
class PairedOutcomes:
    """Success on the same probes under their own words and under those of another task."""

    own: NDArray[np.bool_]  # [n]
    other: NDArray[np.bool_]  # [n]

    def __post_init__(self) -> None:
        if self.own.shape != self.other.shape:
            raise ValueError(f"own and other words need the same probes, got {self.own.shape} and {self.other.shape}")


@dataclass(frozen=True)
class AnswerCounts:
    """Answers of an agent to the questions of a kind."""

    right: int
    wrong: int
    silent: int  # questions without an answer within the time limit
    by_answer: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # right answer -> (answered so, asked)


@dataclass(frozen=True)
class ProbeResults:
    """The step at which each agent succeeded on each probe. Entry i of a task is the same episode for every agent."""

    success_step: Mapping[str, Mapping[str, Float64Array]]  # agent -> task -> [n]; nan: no success
    steps: int  # an episode's time limit
    seconds_per_step: float
    limits: Mapping[str, int] = field(default_factory=dict)  # task -> time limit, where it differs from `steps`
    chance: Mapping[str, ChanceLevel] = field(default_factory=dict)  # task -> chance level
    hold: int = 0  # steps for which success at an instruction had to last
    pairs: Mapping[str, Mapping[str, PairedOutcomes]] = field(default_factory=dict)  # agent -> task -> outcomes
    answers: Mapping[str, Mapping[str, AnswerCounts]] = field(default_factory=dict)  # agent -> question -> counts
    baseline: str = "BC"
    candidate: str = "BC+RL"
    joint: tuple[str, ...] = ("go", "lift")  # the movement tasks that are compared as one
    late: frozenset[str] = frozenset()  # tasks without any success within half of the limit: `late_returns`
    names: Mapping[str, str] = field(default_factory=dict)  # printed names of agents and tasks

    def __post_init__(self) -> None:
        lengths = {
            task: sorted({len(tasks[task]) for tasks in self.success_step.values() if task in tasks})
            for task in self.tasks
        }
        uneven = {task: found for task, found in lengths.items() if len(found) > 1}
        if uneven:
            raise ValueError(f"every agent plays the same episodes of a probe task, but their numbers differ: {uneven}")

    @property
    def tasks(self) -> tuple[str, ...]:
        """Every task that some agent played, in order of first appearance."""
        return tuple(dict.fromkeys(task for tasks in self.success_step.values() for task in tasks))

    @property
    def compared(self) -> tuple[str, ...]:
        """The tasks that both the baseline and the candidate played."""
        ours = self.success_step.get(self.candidate, {})
        theirs = self.success_step.get(self.baseline, {})
        return tuple(task for task in self.tasks if task in ours and task in theirs)

    def by_task(self, results: Mapping[str, Mapping[str, T]], measure: Callable[[T], R]) -> dict[str, dict[str, R]]:
        """What `measure` returns for results by agent and task: by task, then by agent; tasks without any left out."""
        found = {
            task: {agent: measure(own[task]) for agent, own in results.items() if task in own} for task in self.tasks
        }
        return {task: by_agent for task, by_agent in found.items() if by_agent}

    def limit(self, task: str) -> int:
        """The time limit of a task, in steps."""
        return self.limits.get(task, self.steps)

    def name(self, key: str) -> str:
        """The printed name of an agent or a task."""
        return self.names.get(key, key if key in self.success_step or key[:1].isupper() else title_of(key))

    def pooled(self, agent: str, tasks: Sequence[str]) -> tuple[Float64Array, NDArray[np.str_]]:
        """Success steps of one agent over several tasks, and each entry's task; both [n]."""
        by_task = [np.asarray(self.success_step[agent][task], np.float64) for task in tasks]
        labels = [np.full(len(steps), task) for task, steps in zip(tasks, by_task, strict=True)]
        if not by_task:
            return np.zeros(0), np.zeros(0, np.str_)
        return np.concatenate(by_task), np.concatenate(labels)


@dataclass(frozen=True)
class ScenarioResults:
    """The step at which each continuation succeeded. Every agent continues the same scenarios equally often."""

    success_step: Mapping[str, Mapping[str, Float64Array]]  # agent -> scenario -> [continuations]; nan: no success
    kinds: Mapping[str, str]  # scenario -> kind of task
    instructions: Mapping[str, str]  # scenario -> what the setter says
    steps: int  # time limit
    seconds_per_step: float
    hold: int = 0  # steps for which success had to last
    baseline: str = "BC"
    candidate: str = "BC+RL"
    groups: Mapping[str, Sequence[str]] = field(init=False)  # kind -> its scenarios; several kinds also ALL_KINDS

    def __post_init__(self) -> None:
        groups: dict[str, list[str]] = {}
        for scenario, kind in self.kinds.items():
            groups.setdefault(kind, []).append(scenario)
        if len(groups) > 1:
            groups[ALL_KINDS] = list(self.kinds)
        object.__setattr__(self, "groups", groups)

    def rows(self, agent: str, group: str) -> Float64Array:
        """Steps of success of an agent, [scenarios, continuations]."""
        return np.stack([self.success_step[agent][scenario] for scenario in self.groups[group]])


@dataclass(frozen=True)
class RewardModelResults:
    """Agreement of the learned reward with raters and with ground truth, on held-out episodes."""

    pairs_right: Float64Array  # [episodes]: pairs of moments ordered as the rater marked them; ties count half
    pairs: NDArray[np.int64]  # [episodes]: pairs judged
    returns: Float64Array  # [episodes]: modeled return
    success: Float64Array  # [episodes]: ground-truth success; NaN where it is unknown
    # [episodes]: the same episodes under another episode's instruction, NaN where no other differs; None in a world
    # without utterances
    swapped_returns: Float64Array | None

    def __post_init__(self) -> None:
        swapped = self.returns if self.swapped_returns is None else self.swapped_returns
        uneven = len(self.pairs_right) != len(self.pairs) or len(self.returns) != len(self.success)
        if uneven or len(self.returns) != len(swapped) or not len(self.returns) or not len(self.pairs):
            raise ValueError(
                "a reward model's results need pairs_right as long as pairs, and returns, success and swapped_returns "
                f"of one length, none empty; got {len(self.pairs_right)}, {len(self.pairs)}, {len(self.returns)}, "
                f"{len(self.success)} and {len(swapped)}"
            )

    @property
    def under_both(self) -> tuple[Float64Array, Float64Array] | None:
        """The returns of the episodes that have another instruction, under their own and under the other one; None
        without such episodes."""
        if self.swapped_returns is None or np.isnan(self.swapped_returns).all():
            return None
        told = ~np.isnan(self.swapped_returns)
        return self.returns[told], self.swapped_returns[told]


@dataclass(frozen=True)
class RoundRecord:
    """A round: what its agent began from, and what its reward model learned from."""

    name: str  # of its agent in `ReportData.rounds`
    improves: str  # the agent that reinforcement began from
    updates: int  # of reinforcement
    episodes: Mapping[str, int]  # of the reward model, by players and round, as "scripted-agent@1"
    mix: Mapping[str, float]  # shares of the kinds, as `reward.dataset.mix`; empty: all episodes alike
    marks: int
    reward_model: RewardModelResults | None  # None without ordered pairs


@dataclass(frozen=True)
class MetricCurve:
    """A metric over training."""

    updates: Float64Array  # [K]
    values: Float64Array  # [K]


@dataclass(frozen=True)
class KindTraining:
    """The tasks of one kind during reinforcement, in its first and in its last third; entries are (first, last)."""

    kind: str
    tasks: int  # finished in all of it
    success: tuple[float, float]
    answered: tuple[float, float] | None  # share of the questions; None for instructions
    returns: tuple[float, float]


@dataclass(frozen=True)
class StageThroughput:
    """Speed of one stage."""

    stage: str
    steps_per_second: float


LEARNED = "the reward model"  # the usual `ReportData.reward_source`


@dataclass(frozen=True)
class ReportData:
    """All data of a report. None or empty entries are reported as not run."""

    title: str = "Interplay run"
    shows_pictures: bool = True  # whether the world has pictures
    says_tasks: bool = True  # whether the solver hears its tasks
    stages: Sequence[StageRecord] = ()
    seeds: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)  # of the world and of each stage, as JSON
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    filmstrips: Sequence[Filmstrip] = ()
    traces: Sequence[UtilityTrace] = ()
    answer_rewards: Mapping[str, Sequence[float]] = field(default_factory=dict)  # best first; entry i: question i
    reward_points: Sequence[RewardPoint] = ()
    reward_source: str = LEARNED  # what gave the returns of `reward_points`
    kinds: Sequence[KindTraining] = ()
    outdated: Sequence[str] = ()  # sentences about results of agents that have been trained since
    probes: ProbeResults | None = None
    measures: Mapping[str, Measures] = field(default_factory=dict)  # printed agent -> what its tasks measure
    free_play: Mapping[str, FreePlayShares] = field(default_factory=dict)  # by printed agent
    free_play_kinds: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)  # by agent and kind of task
    rounds: ProbeResults | None = None  # the agents are those of the rounds; None with fewer than two rounds
    round_records: Sequence[RoundRecord] = ()  # empty with fewer than two rounds
    scenarios: ScenarioResults | None = None
    judged: JudgedContinuations | None = None  # continuations that people judged
    live: LiveResults | None = None  # of live evaluations
    reward_model: RewardModelResults | None = None
    throughput: Sequence[StageThroughput] = ()
    curves: Mapping[str, Mapping[str, MetricCurve]] = field(default_factory=dict)  # stage -> metric -> curve
