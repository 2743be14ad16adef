"""Play in the terminal: a person is the learner of a CommAI world, and the episodes are recorded."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TextIO

from interplay.core.counted import counted
from interplay.env.commai.portraits import map_lines
from interplay.env.commai.world import SETTER, SOLVER, CommAI
from interplay.env.task import Task
from interplay.env.world import Action, Start
from interplay.episodes.recorder import EpisodeRecorder
from interplay.runtime.seeding import derive_seed, numpy_generator
from interplay.stages.run import Run, closes_worlds

SKIP = "SKIP"
MOST_HEARD = 2_000  # characters of a teacher without a pause, after which the person may type nevertheless
HUMAN = "human"  # kind of player, as recorded


@dataclass
class _Game:
    """One running episode."""

    world: CommAI
    recorder: EpisodeRecorder
    task: Task
    heard: str = ""
    reward: float = 0.0
    done: bool = False
    silence: Action = field(init=False)

    def __post_init__(self) -> None:
        self.silence = Action(self.world.spec.rest())

    def step(self, action: Action) -> None:
        """One step, recorded. The setter names the task in the first one."""
        named = self.task.instruction if self.recorder.steps == 0 else None
        actions = {SETTER: Action(self.world.spec.rest(), named), SOLVER: action}
        outcome = self.world.step(actions)
        self.recorder.record(actions, outcome)
        self.heard += self.world.spoken()
        self.reward += outcome.env_reward
        self.done = outcome.done

    def listen(self) -> None:
        """Stays silent until the teacher is silent or has said `MOST_HEARD` characters, or the episode has ended."""
        self.step(self.silence)
        while not self.done and not self._is_asking() and len(self.heard) < MOST_HEARD:
            self.step(self.silence)

    def _is_asking(self) -> bool:
        environment = self.world.environment
        assert environment is not None, "an episode is under way"
        return environment.is_idle() and not self.world.facts().task.has_ended()

    def say(self, line: str) -> None:
        """Sends a line, symbol by symbol or as a whole."""
        if self.world.spec.utterances:
            self.step(Action(self.world.spec.rest(), line or None))
            return
        for symbol in line:
            if self.done:
                return
            movement = self.world.spec.rest()
            movement[0, 0] = max(0, self.world.interface.symbols.find(symbol))
            self.step(Action(movement))


@closes_worlds
def play(run: Run, typed: TextIO | None = None, shown: TextIO | None = None) -> int:
    """Plays episodes until the input ends or Ctrl-C is typed, and stores them with the solver's kind `human`.

    Returns the number of episodes stored.

    Raises:
        ValueError: the world is not CommAI.
    """
    world = run.make_world()
    if not isinstance(world, CommAI):
        raise ValueError(f"play takes a terminal world, and {world.spec.name} has pictures: type env=commai")
    typed, shown = typed or sys.stdin, shown or sys.stdout
    shown.write(f"Answers end in a full stop. {SKIP} gives a task up; Ctrl-C saves and ends.\n")
    stored = 0
    with run.store() as store:
        run.record_config()
        before = len({*store.paths(), *store.deleted()})  # also those that were left out: their seeds are used
        going = True
        while going:
            game = _begin(run, world, derive_seed(run.seed, "play", before + stored))
            going = _play_one(game, typed, shown)
            if game.recorder.steps and (going or game.done):
                store.append(game.recorder.finish())
                stored += 1
    shown.write(f"\n{counted(stored, 'episode')} stored in {run.root}\n")
    return stored


def _begin(run: Run, world: CommAI, seed: int) -> _Game:
    views = world.reset(Start(seed=seed))
    task = world.tasks().sample(world.facts().kind, numpy_generator(run.seed, "play", seed))
    players = {SETTER: {"kind": "scripted"}, SOLVER: {"kind": HUMAN}}
    recorder = EpisodeRecorder(world, players=players, world_config=run.config.env)
    recorder.begin(seed=seed, views=views)
    recorder.ask(task.to_json())
    return _Game(world, recorder, task)


def _play_one(game: _Game, typed: TextIO, shown: TextIO) -> bool:
    """One episode; False if the person has left."""
    start = time.monotonic()
    skipped = False
    try:
        while not game.done:
            game.listen()
            if game.done or skipped:
                continue
            line = _asked(game, typed, shown)
            if line is None:
                return False
            skipped = line.strip() == SKIP
            if line and not skipped and not line.endswith(".") and not game.world.spec.utterances:
                shown.write("(answers end in a full stop)\n")
            game.say("" if skipped else line)
    except KeyboardInterrupt:
        return False
    kind, steps = game.task.kind, game.recorder.steps
    shown.write(f"teacher: {' '.join(game.heard.split())}\n")
    shown.write(f"  reward {game.reward:g}  task {kind}  {counted(steps, 'step')}  {time.monotonic() - start:.0f} s\n")
    return True


def _asked(game: _Game, typed: TextIO, shown: TextIO) -> str | None:
    """The line that the person types; None at the end of the input."""
    environment = game.world.environment
    for row in map_lines(environment._current_world if environment is not None else None, 9):
        shown.write(f"  {row}\n")
    if game.heard.strip():
        shown.write(f"teacher: {' '.join(game.heard.split())}\n")
    game.heard = ""
    shown.write("you: ")
    shown.flush()
    line = typed.readline()
    return line.rstrip("\r\n") if line else None
