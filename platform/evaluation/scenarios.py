"""Scenarios: recorded contexts that end with a setter's instruction, from which agents continue.

The scripted form of the Standardised Test Suite (arXiv 2205.13274; section 6.4 of the paper). A scenario is a piece of
a recorded episode: some steps before an instruction, and the step in which the setter gives it. Agents live through the
context with the recorded actions as their own, and act from then on; the recorded task judges their success.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from itertools import islice

import numpy as np

from interplay.core.renamed_settings import RENAMED_TASK_KINDS
from interplay.core.setting_checks import check_at_least
from interplay.env.task import Task
from interplay.env.world import Action, Start, World
from interplay.episodes.episode import Episode
from interplay.episodes.transcript import DialogueTask, dialogue


@dataclass(frozen=True)
class ContinuationConfig:
    """Which scenarios are cut from the run's episodes, and how agents continue from them.

    `workers`: processes that play, each `lanes` continuations side by side; 0: this one. Their number does not change
    results, but random numbers differ between 0 and more.
    """

    suite: str = ""  # file of scenarios; empty: `continue/suite.zip` of the run, cut if it is missing
    split: str = "heldout"  # of the episodes that scenarios are cut from
    scenarios: int = 10  # of each kind of task, if the recordings have as many
    kinds: tuple[str, ...] = ()  # empty: all kinds that were asked
    context_steps: int = 8  # before the step of the instruction, as far as the episode has them
    continuations: int = 10  # of each scenario, by each agent
    steps: int = 40  # time limit of a continuation
    hold_steps: int | None = None  # steps for which an instruction must stay done; None: a second of the world
    lanes: int = 16  # continuations played side by side, in each process
    workers: int = 0  # processes that play; 0: this one
    seed: int = 20261122  # of the choice of scenarios and of the agents' actions
    expert: bool = True  # the scripted solver without mistakes continues too, as an upper bound

    def __post_init__(self) -> None:
        check_at_least(1, self, "scenarios", "continuations", "steps", "lanes", group="continuation.")
        check_at_least(0, self, "context_steps", "seed", "workers", group="continuation.")
        if self.hold_steps is not None and self.hold_steps < 0:
            raise ValueError(
                f"continuation.hold_steps must be at least 0, or null for a second of the world, got {self.hold_steps}"
            )
        of_cutting = [each for each in fields(self) if each.name in ("split", "scenarios", "kinds", "context_steps")]
        changed = [each.name for each in of_cutting if getattr(self, each.name) != each.default]
        if self.suite and changed:
            names = ", ".join(f"continuation.{name}" for name in changed)
            raise ValueError(
                f"{names}: no effect with continuation.suite={self.suite}, whose scenarios are already cut; leave out "
                "one or the other"
            )


@dataclass(frozen=True)
class Scenario:
    """A context and its instruction. `name` addresses it within its suite."""

    name: str
    kind: str
    episode: Episode  # the context alone; its last step is that of the instruction, its only task the one to judge

    @property
    def steps(self) -> int:
        """Steps of the context, with the step of the instruction."""
        return self.episode.meta.steps

    @cached_property
    def digest(self) -> str:
        """Hash of all that affects an agent's results; another suite has other scenarios under the same names."""
        episode, meta = self.episode, self.episode.meta
        facts = {
            "kind": self.kind,
            "world": [meta.world, meta.world_version, meta.frames_per_step],
            "said": [asdict(each) for each in meta.utterances],
            "task": meta.tasks[-1],
        }
        content = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        content.update(episode.initial_state)
        for role, actions in sorted(episode.actions.items()):
            content.update(f"{role} {actions.shape}".encode() + actions.tobytes())
        return content.hexdigest()[:16]

    def task(self, world: World) -> Task:
        """The task that judges success; the world is at a state of the scenario."""
        return world.tasks().load(self.episode.meta.tasks[-1][1])

    def action(self, role: str, step: int) -> Action:
        """The recorded action of a role in a step of the context."""
        return _recorded_action(self.episode, role, step)


def cut_scenarios(world: World, episodes: Iterable[Episode], config: ContinuationConfig) -> list[Scenario]:
    """Cuts up to `config.scenarios` scenarios of each kind; the same episodes and seed always give the same ones.

    Tasks that are already done when they are asked are passed over, and episodes in which an agent played the solver.

    Raises:
        ValueError: no episode has a task to cut at, or none has one of a kind that `config.kinds` names.
    """
    solver = world.spec.solver
    asked: dict[str, list[tuple[Episode, DialogueTask]]] = {}
    for episode in episodes:
        if episode.meta.players.get(solver, {}).get("kind") == "agent":
            continue
        for task in dialogue(episode.meta):
            kind = str(task.fields["kind"])
            if task.step < episode.meta.steps:
                asked.setdefault(RENAMED_TASK_KINDS.get(kind, kind), []).append((episode, task))
    if asked and (missing := [kind for kind in config.kinds if kind not in asked]):
        raise ValueError(
            f"continuation.kinds names {', '.join(missing)}, and no {config.split} episode of scripted or human "
            f"players has such a task; they have {', '.join(sorted(asked))}"
        )
    scenarios = []
    for number, kind in enumerate(sorted(asked.keys() & (config.kinds or asked))):
        choices = sorted(asked[kind], key=lambda choice: (choice[0].meta.seed, choice[1].step))
        order = np.random.default_rng([config.seed, number]).permutation(len(choices)).tolist()
        cuts = (_cut(world, *choices[place], context_steps=config.context_steps) for place in order)
        usable = islice((cut for cut in cuts if cut is not None), config.scenarios)
        scenarios += [Scenario(f"{kind}-{index}", kind, cut) for index, cut in enumerate(usable)]
    if not scenarios:
        kinds = f" of the kinds {', '.join(config.kinds)}" if config.kinds else ""
        raise ValueError(
            f"no {config.split} episode of scripted or human players has a task{kinds} to cut a scenario at; record "
            "some with `interplay collect`, choose continuation.split=train, or name a suite: continuation.suite=FILE"
        )
    return scenarios


def _cut(world: World, episode: Episode, task: DialogueTask, *, context_steps: int) -> Episode | None:
    """The part of an episode up to the step in which a task is asked; None if the task is done by then."""
    meta = episode.meta
    start, stop = max(0, task.step - context_steps), task.step + 1
    world.reset(Start(state=episode.initial_state), observers=())
    state = world.state()
    for step in range(stop):
        if step == start:
            state = world.state()
        world.step({role: _recorded_action(episode, role, step) for role in episode.actions}, observers=())
    judged = world.tasks().load(task.fields)
    if judged.answer is None and judged.success(world.facts(), []):
        return None
    first, last = start * meta.frames_per_step, stop * meta.frames_per_step
    return Episode(
        meta=replace(
            meta,
            frames=last - first,
            control={role: _within(runs, first, last) for role, runs in meta.control.items()},
            utterances=tuple(
                replace(each, frame=each.frame - first) for each in meta.utterances if first <= each.frame < last
            ),
            tasks=((task.step * meta.frames_per_step - first, task.fields),),
            endings=(),
            prompts=(),
            people={},  # suites are shared
            reasons=(),
        ),
        initial_state=state,
        actions={role: actions[first:last] for role, actions in episode.actions.items()},
        env_reward=episode.env_reward[start:stop],
    )


def _recorded_action(episode: Episode, role: str, step: int) -> Action:
    frames = episode.meta.frames_per_step
    return Action(episode.actions[role][step * frames : (step + 1) * frames], episode.said(role)[step])


def _within(runs: Sequence[tuple[int, str]], first: int, last: int) -> list[tuple[int, str]]:
    """The players that steer from frame `first` on, before frame `last`, with frames counted from the first one."""
    before = [who for frame, who in runs if frame <= first]
    return [
        (0, before[-1] if before else runs[0][1]),
        *((frame - first, who) for frame, who in runs if first < frame < last),
    ]
