"""CommAI as a world with a built-in teacher; the solver exchanges bits, characters or utterances with it."""

from __future__ import annotations

import string
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from interplay.env.arrays import Image
from interplay.env.commai.config_loader import load_scheduler
from interplay.env.commai.environment import Environment
from interplay.env.commai.interfaces import Bits, Characters, Exchange, Interface, Utterances
from interplay.env.commai.lessons import LessonFacts, LessonSource
from interplay.env.commai.portraits import portraits
from interplay.env.commai.scheduler import (
    IncrementalTaskScheduler,
    RandomTaskScheduler,
    SequentialTaskScheduler,
    TaskScheduler,
)
from interplay.env.commai.serializer import SILENCE
from interplay.env.commai.tasks import task_sets
from interplay.env.commai.worlds.grid_world import GridWorld
from interplay.env.input_controls import InputControl
from interplay.env.replayed_state import check_actions, json_values, read_state, write_state
from interplay.env.roles import check_roles
from interplay.env.task import TaskSource
from interplay.env.world import Action, Outcome, Start, View, World, WorldSpec

VERSION = 1
UTTERANCES_VERSION = 2  # of interface=utterances, where the teacher's words are heard after those of the setter
WORDS = 2  # version of the pseudo-words
SETTER, SOLVER = "setter", "solver"
PRINTABLE = SILENCE + string.ascii_letters + string.digits + string.punctuation
FEEDBACK = 100  # characters that a task may take for its feedback, in time limits
RECENT = 100  # steps whose symbols are facts
TALK = 2000  # characters of the transcript that a portrait shows, at most


@dataclass(frozen=True)
class CommAIConfig:
    """Tasks of the teacher, and the interface of the solver."""

    tasks: tuple[str, ...] = ("micro",)  # sets, or classes by name, dotted where several have it
    # What the solver reads and writes in a step: a bit, a character, or an utterance.
    interface: Literal["bits", "characters", "utterances"] = "characters"
    scheduler: Literal["random", "sequential", "incremental"] = "random"  # the order of the tasks
    instances: int = 1  # tasks of an episode
    config: str | None = None  # a tasks_config file (.json, .py), whose tasks and scheduler replace the above
    alphabet: str = PRINTABLE  # of characters; silence first
    scramble: bool = False  # words become pseudo-words
    max_reward_per_task: float | None = None  # sum after which a class of task pays no more; null: no limit
    silence: int = 16  # characters that a silent step of utterances lasts

    def __post_init__(self) -> None:
        if self.alphabet[:1] != SILENCE or len(set(self.alphabet)) != len(self.alphabet) or len(self.alphabet) > 127:
            raise ValueError(f"alphabet={self.alphabet!r}: at most 127 different characters, the space first")
        if not self.alphabet.isascii():
            raise ValueError(f"alphabet={self.alphabet!r}: ASCII only, since a step is eight bits")
        if self.instances < 1 or self.silence < 2:
            raise ValueError(f"instances={self.instances} must be at least 1, silence={self.silence} at least 2")
        if self.interface == "characters" and not self.config:
            _check_alphabet(task_sets.task_classes(self.tasks), self)


class CommAI(World):
    """A session with a scripted teacher, one episode of `instances` tasks.

    The setter only names the task, because the teacher is part of the world. A saved state consists of the settings,
    the seed and the actions since then, which a restore replays.
    """

    def __init__(self, config: CommAIConfig) -> None:
        self.config = config
        if config.config is not None and config.interface == "characters":
            tasks = getattr(load_scheduler(config.config), "tasks", ())
            _check_alphabet([type(task) for task in tasks], config)
        self.interface = _interface(config)
        speaks = config.interface == "utterances"
        self.spec = WorldSpec(
            name="commai",
            version=UTTERANCES_VERSION if speaks else VERSION,
            roles=(SETTER, SOLVER),
            frames_per_step=1,
            frames_per_second=10.0,
            image=None,
            vector=len(self.interface.symbols) + 2,
            movement=self.interface.movement,
            utterances=speaks,
            poses=0,
        )
        self.environment: Environment | None = None
        self._seed = 0
        self._history: list[Any] = []  # the solver's action in each step, and the setter's utterance
        self._talk: list[tuple[str, str]] = []  # messages of the last steps: (role, text)
        self._last = Exchange()
        self._said = dict.fromkeys(self.spec.roles, "")
        self._heard = self._unheard = ""
        self._opening = ""
        self._results: tuple[tuple[str, float], ...] = ()

    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        if start.state is None:
            assert start.seed is not None
            self._begin(start.seed)
        else:
            saved = read_state(start.state, self._identity())
            self._begin(saved["seed"])
            for said, named in saved["history"]:
                self._advance(said, named)
        return self._views(observers)

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        check_actions(self.spec, actions)
        self._advance(*self._said_by(actions))
        return Outcome(self._views(observers), len(self._results) >= self.config.instances, sum(self._last.rewards))

    def state(self) -> bytes:
        return write_state(self._identity(), seed=self._seed, history=self._history)

    def facts(self) -> LessonFacts:
        task = self._running()._current_task
        return LessonFacts(
            kind=kind_of(type(task)),
            opening=self._opening,
            number=len(self._results),
            results=self._results,
            heard=self._heard if self.spec.utterances else self._symbols("teacher"),
            said=self._said[SOLVER] if self.spec.utterances else self._symbols(SOLVER),
            task=task,
            environment=self.environment,
        )

    def tasks(self) -> TaskSource:
        kinds = tuple(dict.fromkeys(kind_of(type(task)) for task in self._scheduler(0).tasks))
        return LessonSource(kinds, _step_limits(self.config), self.facts)

    def seed_for(self, kind: str, rng: np.random.Generator) -> int:
        """A seed whose first task is of this kind."""
        kinds = [kind_of(task) for task in task_sets.task_classes(self.config.tasks)]
        if self.config.config or kind not in kinds:
            return super().seed_for(kind, rng)
        return int(rng.integers(2**31 // len(kinds))) * len(kinds) + kinds.index(kind)

    def view(self, role: str) -> View:
        return self._views((role,))[role]

    def portrait(self, height: int, width: int) -> Mapping[str, Image]:
        """The transcript, and the map of a grid world."""
        return portraits(self._talk, self._running()._current_world, height, width)

    def controls(self, role: str) -> tuple[InputControl, ...]:
        """None where the learner types its symbols or speaks; its bits are on keys."""
        return () if self.spec.utterances or self.symbols(role) else super().controls(role)

    def symbols(self, role: str) -> str:
        return self.interface.symbols if role == SOLVER and self.config.interface == "characters" else ""

    def spoken(self) -> str:
        """The teacher's output in the last step or reset: symbols, or an utterance."""
        return self._last.heard

    @property
    def gives_tasks(self) -> bool:
        return True

    @property
    def waits(self) -> bool:
        return self._running().is_idle() and not self.facts().task.has_ended()

    def _begin(self, seed: int) -> None:
        config = self.config
        self._seed, self._history, self._talk, self._results = seed, [], [], ()
        self._said = dict.fromkeys(self.spec.roles, "")
        self._heard = self._unheard = ""
        self.environment = Environment(
            self.interface.serializer, self._scheduler(seed), config.scramble, config.max_reward_per_task, seed
        )
        self.environment.reward_given.register(self._on_reward)
        self.environment.task_updated.register(self._on_task)
        self._last = self.interface.open(self.environment)

    def _advance(self, said: Any, named: str | None) -> None:
        """Advances by one step with the solver's symbol or utterance and the setter's utterance."""
        if self.environment is None or len(self._results) >= self.config.instances:
            raise ValueError("no episode is under way; call reset(Start(seed=...)) first")
        self._history.append([said, named])
        self._last = self.interface.step(self.environment, said)
        if self.spec.utterances:
            self._said |= {role: text for role, text in ((SETTER, named), (SOLVER, said)) if text is not None}
            self._hear(named, f"{self._unheard} {self._last.heard.strip()}".strip())
        spoken = (said or "") if self.spec.utterances else self.interface.symbols[said]
        self._talk = [*self._talk[-TALK:], (SOLVER, spoken), ("teacher", self._last.heard)]

    def _hear(self, named: str | None, taught: str) -> None:
        """The solver's view: the setter's utterance; a step later, what the teacher said in the same step."""
        if named:
            self._heard, self._unheard = named, taught if taught != named else ""
        elif taught:
            self._heard, self._unheard = taught, ""

    def _symbols(self, role: str) -> str:
        """What a role has said in the last `RECENT` steps, without the silence around it."""
        return "".join(text for name, text in self._talk[-2 * RECENT :] if name == role).strip()

    def _on_task(self, task: Any) -> None:
        environment = self._running()
        self._opening = environment.scramble(environment._output_channel.get_text().strip())

    def _on_reward(self, task: Any, reward: float) -> None:
        self._results = (*self._results, (kind_of(type(task)), float(reward)))

    def _scheduler(self, seed: int) -> TaskScheduler:
        """The scheduler of an episode, whose first task is number `seed` modulo the number of tasks."""
        if self.config.config is not None:
            loaded: TaskScheduler = load_scheduler(self.config.config)
            return loaded
        classes = task_sets.task_classes(self.config.tasks)
        grid = GridWorld()
        tasks = [made(world=grid) if hasattr(made, "grid") else made() for made in classes]
        first = seed % len(tasks)
        tasks = tasks[first:] + tasks[:first]
        if self.config.scheduler == "random":
            return _FirstThenRandom(tasks)
        if self.config.scheduler == "sequential":
            return SequentialTaskScheduler(tasks)
        return IncrementalTaskScheduler(tasks)

    def _said_by(self, actions: Mapping[str, Action]) -> tuple[Any, str | None]:
        """The solver's symbol or utterance, and the setter's utterance."""
        action = actions.get(SOLVER, Action(self.spec.rest()))
        if not self.spec.utterances:
            return int(action.movement[0, 0]), None
        return action.utterance, actions[SETTER].utterance if SETTER in actions else None

    def _views(self, observers: Collection[str] | None) -> Mapping[str, View]:
        wanted = self.spec.roles if observers is None else observers
        check_roles(wanted, self.spec.roles)
        vector = self.interface.senses(self._last)
        if not self.spec.utterances:
            return {role: View(vector=vector) for role in wanted}
        heard = {SETTER: self._said[SOLVER], SOLVER: self._heard}
        return {role: View(vector=vector, heard=heard[role], said=self._said[role]) for role in wanted}

    def _running(self) -> Environment:
        if self.environment is None:
            self._begin(0)
        assert self.environment is not None
        return self.environment

    def _identity(self) -> Mapping[str, Any]:
        words = {"words": WORDS} if self.config.scramble else {}
        return json_values({"name": "commai", "version": self.spec.version, **words, **asdict(self.config)})


class _FirstThenRandom(RandomTaskScheduler):
    """The first task of the list, then any."""

    _begun = False

    def get_next_task(self, train_mode: bool = True) -> Any:
        task = super().get_next_task(train_mode) if self._begun else self.tasks[0]
        self._begun = True
        return task


def kind_of(task: type[Any]) -> str:
    """The kind of a task: the name of its class, with its module where several have that name."""
    try:
        task_sets.find(task.__name__)
    except ValueError:
        return f"{task.__module__.rpartition('.tasks.')[2]}.{task.__name__}"
    return task.__name__


def _interface(config: CommAIConfig) -> Interface:
    if config.interface == "characters":
        return Characters(config.alphabet)
    if config.interface == "utterances":
        return Utterances(config.silence)
    classes = [] if config.config else task_sets.task_classes(config.tasks)
    return Bits(nano=bool(classes) and all(made.__module__.endswith(".nano") for made in classes))


def _check_alphabet(tasks: Iterable[type[Any]], config: CommAIConfig) -> None:
    """Raises ValueError if the alphabet lacks characters of answers; a task without `spoken` does not name them."""
    needed = {made.__name__: _spoken(made, config.scramble) - set(config.alphabet) for made in tasks}
    if listed := "; ".join(f"{name} needs {''.join(sorted(lacks))!r}" for name, lacks in needed.items() if lacks):
        raise ValueError(f"the alphabet cannot say the answers of these tasks: {listed}")


def _spoken(task: type[Any], scramble: bool) -> set[str]:
    """The characters of the answers of a task. Pseudo-words have any letter in place of another one of its case."""
    spoken = set(getattr(task, "spoken", ""))
    if not scramble or getattr(task, "literal", False):
        return spoken
    cases = [set(letters) for letters in (string.ascii_lowercase, string.ascii_uppercase)]
    return spoken.union(*(letters for letters in cases if letters & spoken))


@cache
def _step_limits(config: CommAIConfig) -> Mapping[str, int]:
    """Upper bound of the steps of an instance of each kind: the longest limit of a few draws, plus feedback."""
    world = CommAI(config)
    limits: dict[str, int] = {}
    bits = 1 if isinstance(world.interface, Bits) and world.interface.nano else 8
    for seed in range(4 * len(world._scheduler(0).tasks)):
        world.reset(Start(seed=seed), observers=())
        facts = world.facts()
        characters = facts.task._max_time / bits + (FEEDBACK if bits > 1 else 2)
        limits[facts.kind] = max(limits.get(facts.kind, 0), int(characters / world.interface.characters_per_step) + 2)
    return limits
