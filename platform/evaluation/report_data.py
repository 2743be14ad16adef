"""What a report is made of: plain values that the stages hand over, None or empty where a stage has not run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array, Image


@dataclass(frozen=True)
class StageRecord:
    """One stage that ran: how long it took, and its key numbers by name ("episodes": 600)."""

    name: str
    seconds: float
    numbers: Mapping[str, float | int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Filmstrip:
    """Moments of one episode, in order; `captions` has one line a picture."""

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
    """The reward model's utility along one episode. A row is an observation: N steps have N + 1 rows."""

    title: str
    instruction: str
    utility: Float64Array  # [N + 1]
    seconds_per_step: float
    marks: Sequence[tuple[int, int]] = ()  # (row, +1 or -1)
    said: Sequence[tuple[int, str]] = ()  # (row, utterance)
    pictures: Sequence[tuple[int, Image]] = ()  # (row, what the solver saw)


@dataclass(frozen=True)
class RewardPoint:
    """Modelled episode returns at one moment of reinforcement."""

    update: int
    training: Float64Array  # [episodes], tasks trained on
    heldout: Float64Array  # [episodes], tasks never trained on


@dataclass(frozen=True)
class ChanceLevel:
    """The success shares of a kind of probe that need no understanding."""

    resting: float  # of who does and says nothing
    random: float  # of who moves at random; of a question, of who says one of the kind's right answers
    answers: Mapping[str, float] = field(default_factory=dict)  # of a question: how often each is the right one

    @property
    def guessing(self) -> float:
        """The best that can be had without understanding: resting, moving, guessing, or always saying the same."""
        return max(self.resting, self.random, *self.answers.values())

    @property
    def commonest(self) -> tuple[str, float] | None:
        """The answer that is right most often, and how often; None where nothing is answered."""
        return max(self.answers.items(), key=lambda pair: pair[1]) if self.answers else None

    @classmethod
    def load(cls, fields: Mapping[str, Any]) -> ChanceLevel:
        """What `dataclasses.asdict` made of it."""
        return cls(float(fields["resting"]), float(fields["random"]), dict(fields["answers"]))


@dataclass(frozen=True)
class ProbeResults:
    """When each agent succeeded on each probe task. Entry i of a task is the same episode for every agent."""

    success_step: Mapping[str, Mapping[str, Float64Array]]  # agent -> task -> [n], nan: never
    steps: int  # an episode's time limit
    seconds_per_step: float
    limits: Mapping[str, int] = field(default_factory=dict)  # task -> its own time limit, where that is another
    chance: Mapping[str, ChanceLevel] = field(default_factory=dict)  # task -> what it yields to who did not listen
    baseline: str = "BC"
    candidate: str = "BC+RL"
    joint: tuple[str, ...] = ("go", "lift")  # the movement tasks that are compared together
    names: Mapping[str, str] = field(default_factory=dict)  # how an agent or task is called in print

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
        """Every task that some agent played, in the order first met."""
        return tuple(dict.fromkeys(task for tasks in self.success_step.values() for task in tasks))

    @property
    def compared(self) -> tuple[str, ...]:
        """The tasks that both the baseline and the candidate played."""
        ours = self.success_step.get(self.candidate, {})
        theirs = self.success_step.get(self.baseline, {})
        return tuple(task for task in self.tasks if task in ours and task in theirs)

    def limit(self, task: str) -> int:
        """The time limit of a task, in steps."""
        return self.limits.get(task, self.steps)

    def name(self, key: str) -> str:
        """An agent's or a task's name in print."""
        return self.names.get(key, key if key in self.success_step else key.replace("_", " ").capitalize())

    def pooled(self, agent: str, tasks: Sequence[str]) -> tuple[Float64Array, NDArray[np.str_]]:
        """Success steps of one agent over several tasks, and each entry's task; both [n]."""
        found = [np.asarray(self.success_step[agent][task], np.float64) for task in tasks]
        labels = [np.full(len(steps), task) for task, steps in zip(tasks, found, strict=True)]
        if not found:
            return np.zeros(0), np.zeros(0, np.str_)
        return np.concatenate(found), np.concatenate(labels)


@dataclass(frozen=True)
class RewardModelResults:
    """How well the learned reward agrees with raters and with the truth, on held-out episodes."""

    pairs_right: Float64Array  # [episodes]: pairs of moments ordered as the rater's marks say; ties count half
    pairs: NDArray[np.int64]  # [episodes]: pairs judged
    returns: Float64Array  # [episodes]: modeled return
    success: NDArray[np.bool_]  # [episodes]: the simulator's truth
    swapped_returns: Float64Array  # [episodes]: the same episodes under another episode's instruction

    def __post_init__(self) -> None:
        uneven = len(self.pairs_right) != len(self.pairs) or len(self.returns) != len(self.success)
        if uneven or len(self.returns) != len(self.swapped_returns) or not len(self.returns) or not len(self.pairs):
            raise ValueError(
                "a reward model's results need pairs_right as long as pairs, and returns, success and swapped_returns "
                f"of one length, none empty; got {len(self.pairs_right)}, {len(self.pairs)}, {len(self.returns)}, "
                f"{len(self.success)} and {len(self.swapped_returns)}"
            )


@dataclass(frozen=True)
class MetricCurve:
    """A metric over training."""

    updates: Float64Array  # [K]
    values: Float64Array  # [K]


@dataclass(frozen=True)
class StageThroughput:
    """Speed of one stage and where its time went."""

    stage: str
    steps_per_second: float
    shares: Mapping[str, float] = field(default_factory=dict)  # part -> share of the stage's time


@dataclass(frozen=True)
class ReportData:
    """Everything a report shows. What is None or empty is reported as not run."""

    title: str = "Interplay run"
    stages: Sequence[StageRecord] = ()
    seeds: Mapping[str, int] = field(default_factory=dict)
    config: str = ""  # YAML
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    filmstrips: Sequence[Filmstrip] = ()
    traces: Sequence[UtilityTrace] = ()
    answer_rewards: Mapping[str, Sequence[float]] = field(default_factory=dict)  # best first; entry i: question i
    reward_points: Sequence[RewardPoint] = ()
    probes: ProbeResults | None = None
    reward_model: RewardModelResults | None = None
    throughput: Sequence[StageThroughput] = ()
    curves: Mapping[str, Mapping[str, MetricCurve]] = field(default_factory=dict)  # stage -> metric -> curve
