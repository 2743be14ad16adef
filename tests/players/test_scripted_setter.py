from dataclasses import replace

import numpy as np
import pytest
from number_line_world import NumberLine

from interplay.env.task import InfeasibleTask
from interplay.env.world import Start, View
from interplay.players.setter import ScriptedSetter, SetterConfig


def setter(seed: int = 0, **settings: object) -> ScriptedSetter:
    return ScriptedSetter(SetterConfig(**settings), np.random.default_rng(seed))  # type: ignore[arg-type]


def episode(player: ScriptedSetter, steps: int = 6) -> list[str | None]:
    world = NumberLine()
    world.reset(Start(seed=0))
    player.begin(world, "setter")
    return [player.act(View(), world).utterance for _ in range(steps)]


def test_it_speaks_once_after_its_delay_and_remembers_what_it_asked() -> None:
    player = setter(kinds={"walk": 1.0}, delay_steps=(2, 2))
    said = episode(player)
    assert player.task is not None
    assert said == [None, None, player.task.instruction, None, None, None]
    assert player.asked_step == 2
    assert player.finished


def test_a_world_that_samples_no_task_is_refused_by_the_name_of_its_method(monkeypatch: pytest.MonkeyPatch) -> None:
    world = NumberLine()
    monkeypatch.setattr(type(world.tasks()), "sample", lambda source, kind, rng: None)
    with pytest.raises(ValueError, match=r"^`tasks\(\).sample` of the world .* returned NoneType, not Task"):
        episode(setter(kinds={"walk": 1.0}))


def test_a_world_without_a_source_of_tasks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NumberLine, "tasks", lambda world: ["walk"])
    with pytest.raises(ValueError, match=r"^`tasks` of the world .* returned list, not TaskSource"):
        episode(setter(kinds={"walk": 1.0}))


def test_delays_cover_their_whole_range() -> None:
    player = setter(delay_steps=(0, 2))
    delays = set()
    for _ in range(40):
        episode(player)
        delays.add(player.asked_step)
    assert delays == {0, 1, 2}


def test_a_solver_that_is_alone_has_its_task_from_the_first_step_on() -> None:
    player, world = setter(delay_steps=(2, 2)), NumberLine()
    world.spec = replace(world.spec, roles=("solver",))
    world.reset(Start(seed=0))
    player.begin(world, "solver")
    player.act(View(), world)
    assert player.asked_step == 0


def test_a_new_episode_is_asked_anew() -> None:
    player = setter(delay_steps=(1, 1))
    episode(player)
    player.begin(NumberLine(), "setter")
    assert player.task is None and not player.finished


def test_kinds_are_drawn_by_weight() -> None:
    player = setter(kinds={"walk": 3.0, "say": 1.0})
    kinds = [player.sample_task(NumberLine()).kind for _ in range(400)]
    assert 0.68 < kinds.count("walk") / 400 < 0.82


def test_an_infeasible_kind_gives_way_to_another() -> None:
    player = setter(kinds={"never": 100.0, "walk": 1.0})
    assert {player.sample_task(NumberLine()).kind for _ in range(20)} == {"walk"}


def test_nothing_feasible_lists_what_was_tried() -> None:
    with pytest.raises(InfeasibleTask, match="never: it is never possible"):
        setter(kinds={"never": 1.0, "walk": 0.0}).sample_task(NumberLine())


def test_a_further_kind_is_proposed_where_the_only_one_is_impossible() -> None:
    with pytest.raises(InfeasibleTask, match=r"as setter.kinds={never: 1, walk: 0.001}; there are also say"):
        setter(kinds={"never": 1.0}).sample_task(NumberLine())
    assert setter(kinds={"never": 1.0, "walk": 0.001}).sample_task(NumberLine()).kind == "walk"


def test_an_unknown_kind_names_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"fly.*walk, say, never, count"):
        setter(kinds={"fly": 1.0}).sample_task(NumberLine())


def test_kinds_on_request_are_asked_only_where_they_are_named() -> None:
    usual, told = setter(), setter(kinds={"count": 1.0, "walk": 1.0})
    assert {usual.sample_task(NumberLine()).kind for _ in range(60)} == {"walk", "say"}
    assert {told.sample_task(NumberLine()).kind for _ in range(60)} == {"walk", "count"}


def test_weights_and_delays_are_validated() -> None:
    with pytest.raises(ValueError, match="weights"):
        SetterConfig(kinds={"walk": 0.0})
    with pytest.raises(ValueError, match="delay_steps"):
        SetterConfig(delay_steps=(2, 1))
