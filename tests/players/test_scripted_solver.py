from dataclasses import replace

import numpy as np
import pytest
from number_line_world import NumberLine, WalkTask

from interplay.env.mission import NoopExpert
from interplay.env.task import Expert
from interplay.env.world import Action, Start, View, World
from interplay.players.solver import ScriptedSolver, SolverConfig

PERFECT = SolverConfig(skill=1.0)
FAULTLESS = SolverConfig(0.0, 0, 0, (6, 6), 0, (4, 4), 0, (0, 0), (2, 2), 0, (3, 3), 0, 0)  # skill 0, no mistakes
TASK = WalkTask("walk", "walk 8", 8, 0)
QUESTION = WalkTask("say", "say 8", 8, 0, "8")


def play(config: SolverConfig, task: WalkTask = TASK, seed: int = 0, steps: int = 30) -> tuple[list[int], list[str]]:
    """The numbers it stood on after each step, and what it said, with the task asked in step 2."""
    world = NumberLine()
    views = world.reset(Start(seed=0))
    solver = ScriptedSolver(config, np.random.default_rng(seed), lambda: task)
    solver.begin(world, "solver")
    path, said = [], []
    for step in range(steps):
        if solver.finished:
            break
        action = solver.act(views["solver"], world)
        asked = Action(world.spec.rest(), task.instruction if step == 2 else None)
        views = world.step({"setter": asked, "solver": action}).views
        path.append(world.at)
        said += [action.utterance] if action.utterance else []
    return path, said


def test_it_waits_until_it_has_heard_and_then_does_it() -> None:
    path, said = play(PERFECT)
    assert path[:3] == [0, 0, 0]
    assert path[3:11] == list(range(1, 9))
    assert said == []


def test_it_waits_for_no_words_in_a_world_without_a_setter() -> None:
    world = NumberLine()
    world.spec = replace(world.spec, roles=("solver",))
    world.reset(Start(seed=0))
    solver = ScriptedSolver(PERFECT, np.random.default_rng(0), lambda: TASK)
    solver.begin(world, "solver")
    assert solver.act(View(), world).movement.tolist() == [[2], [2]]


def test_it_answers_a_question() -> None:
    assert play(PERFECT, QUESTION)[1] == ["8"]


def test_a_confused_one_goes_to_the_wrong_place() -> None:
    path, _ = play(replace(FAULTLESS, misread_chance=1.0))
    assert path[-1] == -8


def test_one_that_notices_turns_to_what_was_asked() -> None:
    path, _ = play(replace(FAULTLESS, misread_chance=1.0, notice_chance=1.0))
    assert min(path) == -6 and path[-1] == 8


def test_one_that_gives_up_stops_and_is_finished() -> None:
    path, _ = play(replace(FAULTLESS, give_up_chance=1.0))
    assert path[-1] == 4 and len(path) == 3 + 4


def test_a_drop_takes_a_step() -> None:
    path, _ = play(replace(FAULTLESS, drop_chance=1.0))
    assert path[3:9] == [1, 2, 3, 3, 4, 5]


def test_dithering_holds_random_actions_for_its_while() -> None:
    paths = {tuple(play(replace(FAULTLESS, wander_chance=1.0), seed=seed)[0][3:6]) for seed in range(40)}
    assert len(paths) == 9  # two free steps, three ways each
    assert all(abs(path[2] - path[1]) == 1 for path in paths)  # then it walks on


def test_wrong_answers_and_silence() -> None:
    assert play(replace(FAULTLESS, wrong_answer_chance=1.0), QUESTION)[1] == ["no idea"]
    assert play(replace(FAULTLESS, no_answer_chance=1.0), QUESTION)[1] == []


def test_one_that_strays_comes_back() -> None:
    """The errand of its own leads to 8 or -8; it starts in its second step and takes six."""
    config = replace(FAULTLESS, distraction_chance=1.0, distraction_start=(2, 2), distraction_length=(6, 6))
    paths = [play(config, seed=seed, steps=40)[0] for seed in range(12)]
    assert all(path[3:5] == [1, 2] and path[-1] == 8 for path in paths)
    assert {path[10] for path in paths} == {8, -4}


def test_one_that_strayed_begins_anew() -> None:
    """What it had planned before is of no use any more."""
    begun = []

    class Counted(WalkTask):
        def expert(self, world: World) -> Expert:
            begun.append(world.facts())
            return super().expert(world)

    config = replace(FAULTLESS, distraction_chance=1.0, distraction_start=(2, 2), distraction_length=(3, 3))
    assert play(config, Counted("walk", "walk 8", 8, 0))[0][-1] == 8
    assert len(begun) == 2 and begun[0] == 0


def test_one_that_blurts_answers_wrong_and_at_once() -> None:
    asked = replace(FAULTLESS, guess_chance=1.0)
    assert play(asked, QUESTION, steps=5)[1][0] == "no idea"
    assert play(asked)[1] == []  # nothing was asked


def test_one_that_chatters_says_it_once() -> None:
    config = replace(FAULTLESS, chatter_chance=1.0, chatter_steps=(3, 3), chatter=("done",))
    path, said = play(config)
    assert said == ["done"] and path[-1] == 8
    with pytest.raises(ValueError, match="chatter is empty"):
        SolverConfig(chatter_chance=0.1, chatter=())


def test_what_never_happens_draws_nothing() -> None:
    """Mistakes that are off leave the random numbers of the others alone: recorded settings play as they always did."""
    ended = [(len(path), path[-1]) for path, _ in (play(SolverConfig(skill=0.2), seed=seed) for seed in range(10))]
    assert ended == [(7, 4), (12, 8), (15, -5), (27, 8), (15, 8), (12, 8), (15, 8), (15, 8), (12, -8), (12, 8)]


def test_it_rests_while_nothing_is_wanted_and_sets_out_again() -> None:
    world, wanted = NumberLine(), [TASK]
    world.reset(Start(seed=0))
    solver = ScriptedSolver(PERFECT, np.random.default_rng(0), lambda: wanted[0] if wanted else None)
    solver.begin(world, "solver")

    def walk(steps: int) -> list[int]:
        path = []
        for _ in range(steps):
            world.step({"solver": solver.act(View(heard="walk"), world)})
            path.append(world.at)
        return path

    assert walk(3) == [1, 2, 3]
    wanted.clear()
    assert walk(3) == [3, 3, 3]
    wanted.append(WalkTask("walk", "walk -8", -8, 3))
    assert walk(3) == [2, 1, 0]


def test_it_says_nothing_more_once_its_answer_was_heard() -> None:
    world, wanted = NumberLine(), [QUESTION]
    solver = ScriptedSolver(PERFECT, np.random.default_rng(0), lambda: wanted[0] if wanted else None)
    solver.begin(world, "solver")
    assert solver.act(View(heard="say 8"), world).utterance == "8"
    wanted.clear()
    assert [solver.act(View(heard="thank you"), world).utterance for _ in range(4)] == [None] * 4


def test_a_task_whose_expert_does_nothing_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    class Unsolved(WalkTask):
        def expert(self, world: World) -> Expert:
            return NoopExpert()

    for _ in range(2):
        play(PERFECT, Unsolved("unsolved", "walk 8", 8, 0), steps=6)
    (said,) = [record.message for record in caplog.records]
    assert "tasks of kind 'unsolved' of number line have no expert" in said


@pytest.mark.parametrize(("method", "expected"), [("expert", "Expert"), ("misread", "Task")])
def test_a_task_that_returns_something_else_is_refused(method: str, expected: str) -> None:
    wrong = type("Wrong", (WalkTask,), {method: lambda *args: None})("walk", "walk 8", 8, 0)
    with pytest.raises(ValueError, match=rf"`Task\.{method}` of the world .* NoneType, not {expected}, as in every"):
        play(SolverConfig(skill=0.0, misread_chance=1.0), wrong, steps=4)


def test_mistakes_are_seeded() -> None:
    config = SolverConfig(skill=0.2)
    assert [play(config, seed=seed) for seed in range(8)] == [play(config, seed=seed) for seed in range(8)]
    assert len({tuple(play(config, seed=seed)[0]) for seed in range(8)}) > 3


@pytest.mark.parametrize(("skill", "low", "high"), [(1.0, 1.0, 1.0), (0.5, 0.68, 0.85), (0.0, 0.4, 0.65)])
def test_success_follows_skill(skill: float, low: float, high: float) -> None:
    reached = [8 in play(SolverConfig(skill=skill), seed=seed, steps=43)[0] for seed in range(200)]
    assert low <= np.mean(reached) <= high


def test_a_new_episode_forgets_the_last_one() -> None:
    world = NumberLine()
    solver = ScriptedSolver(PERFECT, np.random.default_rng(0), lambda: TASK)
    solver.begin(world, "solver")
    solver.act(View(heard="walk 8"), world)
    solver.begin(world, "solver")
    assert not solver.finished
    assert (solver.act(View(), world).movement == world.spec.rest()).all()


def test_it_says_how_skilled_it_is() -> None:
    assert ScriptedSolver(SolverConfig(skill=0.25), np.random.default_rng(0), lambda: None).describe() == {
        "skill": "0.25"
    }


def test_chances_are_validated() -> None:
    with pytest.raises(ValueError, match=r"skill=1.5, drop_chance=-0.1"):
        SolverConfig(skill=1.5, drop_chance=-0.1)
