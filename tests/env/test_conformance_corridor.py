"""The world of docs/worlds.md is a good world, and the suite finds out each way in which it could be a bad one."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_world import LineWorld

from interplay.env import registry
from interplay.env.conformance import WorldConformance
from interplay.env.conformance_checks import play
from interplay.env.task import Expert
from interplay.env.world import Action, Outcome, Start, World

PAGE = Path(__file__).parents[2] / "docs" / "worlds.md"
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module", autouse=True)
def corridor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The page's code as an installed package that offers a world."""
    site = tmp_path_factory.mktemp("site")
    (code,) = [block for block in PYTHON.findall(PAGE.read_text()) if "class Corridor(" in block]
    (site / "corridor_world.py").write_text(code)
    offer = site / "corridor_world-1.0.dist-info"
    offer.mkdir()
    (offer / "METADATA").write_text("Metadata-Version: 2.1\nName: corridor-world\nVersion: 1.0\n")
    (offer / "entry_points.txt").write_text("[interplay.worlds]\ncorridor = corridor_world:entry\n")
    sys.path.insert(0, str(site))
    yield import_module("corridor_world")
    sys.path.remove(str(site))


class TestCorridor(WorldConformance):
    def make_world(self) -> World:
        return registry.make("corridor", length=7)


class TestCorridorWithTheQuestion(WorldConformance):
    """The corridor whose source also has the question of the page."""

    def make_world(self) -> World:
        corridor: Any = import_module("corridor_world")
        (code,) = [block for block in PYTHON.findall(PAGE.read_text()) if "class AskLength(" in block]
        asked: dict[str, Any] = dict(vars(corridor))
        exec(code, asked)

        class Asking(corridor.Ends):  # type: ignore[misc]
            kinds = probes = ("walk", "length")

            def sample(self, kind: str, rng: np.random.Generator) -> Any:
                return asked["AskLength"](str(self.last + 1)) if kind == "length" else super().sample(kind, rng)

            def load(self, fields: Any) -> Any:
                asks = fields["kind"] == "length"
                return asked["AskLength"](fields["answer"]) if asks else super().load(fields)

        class AskingCorridor(corridor.Corridor):  # type: ignore[misc]
            def tasks(self) -> Any:
                return Asking(self.config.length - 1)

        made: World = AskingCorridor(corridor.CorridorConfig())
        return made


def test_its_expert_and_its_mistake_go_to_opposite_ends() -> None:
    world = registry.make("corridor")
    for misheard in (False, True):
        world.reset(Start(seed=0))
        task = world.tasks().sample("walk", np.random.default_rng(0))
        expert = (task.misread(world, np.random.default_rng(0)) if misheard else task).expert(world)
        while not expert.finished:
            world.step({"solver": expert.act(world)})
        assert task.success(world.facts(), []) is not misheard


def breaks(name: str) -> Callable[[Any], type[World]]:
    """A way to break the corridor: the method `name` of the class is replaced by the decorated function."""

    def decorate(method: Any) -> Any:
        return pytest.param(name, method, id=method.__name__.replace("_", " "))

    return decorate


@breaks("reset")
def what_was_said_outlives_the_episode(self: Any, start: Start, observers: Any = None) -> Any:
    said = self.said
    views = self.honest.reset(self, start, observers)
    self.said = said if start.state is None else self.said
    return self.views(observers) if start.state is None else views


@breaks("reset")
def any_state_is_welcome(self: Any, start: Start, observers: Any = None) -> Any:
    known = start.state is None or b"corridor" in start.state
    return self.honest.reset(self, start if known else Start(seed=0), observers)


@breaks("reset")
def only_small_seeds_are_known(self: Any, start: Start, observers: Any = None) -> Any:
    assert start.seed is None or start.seed < 2**32, "as numpy.random.RandomState"
    return self.honest.reset(self, start, observers)


@breaks("state")
def a_state_forgets_the_words(self: Any) -> bytes:
    return json.dumps({"corridor": self.config.length, "at": self.at, "said": {"setter": "", "solver": ""}}).encode()


@breaks("step")
def everything_is_accepted(self: Any, actions: Any, observers: Any = None) -> Outcome:
    kept = {role: action for role, action in actions.items() if role in self.spec.roles}
    valid = {
        role: replace(action, movement=np.clip(np.resize(action.movement, (1, 1)), 0, 2))
        for role, action in kept.items()
    }
    outcome: Outcome = self.honest.step(self, valid, observers)
    return outcome


@breaks("step")
def silence_erases_words(self: Any, actions: Any, observers: Any = None) -> Outcome:
    spoken = {role: Action(self.spec.rest(), "") for role in self.spec.roles} | dict(actions)
    outcome: Outcome = self.honest.step(self, spoken, observers)
    return outcome


@breaks("step")
def nobody_chooses_who_looks(self: Any, actions: Any, observers: Any = None) -> Outcome:
    outcome: Outcome = self.honest.step(self, actions, None)
    return outcome


@breaks("step")
def looking_pushes(self: Any, actions: Any, observers: Any = None) -> Outcome:
    outcome: Outcome = self.honest.step(self, actions, observers)
    self.at = 0 if observers is not None and not observers else self.at
    return outcome


@breaks("step")
def chance_decides(self: Any, actions: Any, observers: Any = None) -> Outcome:
    drift = Action(np.random.default_rng().integers(0, 3, (1, 1)).astype(np.int8))
    outcome: Outcome = self.honest.step(self, {"solver": drift} | dict(actions), observers)
    self.honest.step(self, {"solver": drift})
    return outcome


@breaks("view")
def pictures_nobody_declared(self: Any, role: str) -> Any:
    return replace(self.honest.view(self, role), image=np.zeros((8, 8, 3), np.uint8))


@breaks("view")
def numbers_of_another_type(self: Any, role: str) -> Any:
    view = self.honest.view(self, role)
    return replace(view, vector=view.vector.astype(np.float64))


@breaks("tasks")
def tasks_are_done_before_they_are_asked(self: Any) -> Any:
    source = self.honest.tasks(self)
    source.last = 0
    source.sample = lambda kind, rng: type(self.honest.tasks(self).sample("walk", rng))(self.at, 6)
    return source


@breaks("tasks")
def success_forgets_its_return(self: Any) -> Any:
    return with_task(self, success=lambda task, facts, said: None)


@breaks("tasks")
def the_expert_gives_up_before_the_end(self: Any) -> Any:
    return with_task(self, success=lambda task, facts, said: False)


@breaks("tasks")
def the_expert_never_begins(self: Any) -> Any:
    return with_task(self, expert=lambda task, world: Dawdler())


@breaks("tasks")
def progress_never_arrives(self: Any) -> Any:
    return with_task(self, progress=lambda task, facts: 0.5)


@breaks("tasks")
def tasks_are_a_list_of_kinds(self: Any) -> Any:
    return ["walk"]


@breaks("tasks")
def a_task_is_its_words(self: Any) -> Any:
    source = self.honest.tasks(self)
    source.sample = lambda kind, rng: "go to the left end"
    return source


@breaks("tasks")
def there_is_no_expert(self: Any) -> Any:
    return with_task(self, expert=lambda task, world: None)


@breaks("tasks")
def nothing_is_misread(self: Any) -> Any:
    return with_task(self, misread=lambda task, world, rng: None)


@breaks("tasks")
def a_stored_task_has_no_kind(self: Any) -> Any:
    return with_task(self, to_json=lambda task: {"goal": task.goal, "last": task.last})


@breaks("tasks")
def the_expert_repeats_that_it_is_there(self: Any) -> Any:
    return with_task(self, expert=lambda task, world: Talker(type(task).__mro__[1].expert(task, world)))


class Dawdler(Expert):
    """Stays where it is, and never finishes."""

    def act(self, world: World) -> Action:
        return Action(world.spec.rest())


class Talker(Expert):
    """Says in each step after it has arrived that it is there."""

    def __init__(self, walker: Expert) -> None:
        self.walker = walker

    def act(self, world: World) -> Action:
        action = self.walker.act(world)
        self.finished = self.walker.finished
        return replace(action, utterance="here" if self.finished else None)


def with_task(world: Any, **methods: Any) -> Any:
    """The source of the corridor's tasks, with methods of its task replaced."""
    source = world.honest.tasks(world)
    draw = source.sample

    def sample(kind: str, rng: np.random.Generator) -> Any:
        drawn = draw(kind, rng)
        return type("OddWalk", (type(drawn),), methods)(drawn.goal, drawn.last)

    source.sample = sample
    return source


BREAKS = [way for way in list(globals().values()) if type(way) is type(pytest.param(0))]


@pytest.mark.parametrize(("name", "method"), BREAKS)
def test_a_broken_corridor_fails(name: str, method: Any, corridor: Any) -> None:
    broken = type("Broken", (corridor.Corridor,), {name: method, "honest": corridor.Corridor})

    class Suite(WorldConformance):
        def make_world(self) -> World:
            made: World = broken(corridor.CorridorConfig())
            return made

    checks = [getattr(Suite(), check) for check in dir(Suite) if check.startswith("test_")]
    assert any(_fails(check) for check in checks)


def test_a_world_that_says_that_it_ends_no_episode_ends_none() -> None:
    world = LineWorld(ends_at=3)
    world.reset(Start(seed=1))
    assert len([*play(world, 5, np.random.default_rng(1))]) == 3
    world.ends = False
    world.reset(Start(seed=1))
    with pytest.raises(AssertionError, match="ends=False"):
        [*play(world, 5, np.random.default_rng(1))]


def _fails(check: Callable[[], None]) -> bool:
    try:
        check()
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("roles", [("architect", "solver"), ("solver", "setter"), ("setter",)])
def test_roles_of_other_names_are_refused(roles: tuple[str, ...], corridor: Any) -> None:
    """Their episodes could be recorded and cloned, but no setter of that name would be replayed."""
    spec = corridor.Corridor(corridor.CorridorConfig()).spec
    with pytest.raises(ValueError, match=r"has roles=.*; give \('setter', 'solver'\) or \('solver',\), in this order"):
        replace(spec, roles=roles)
