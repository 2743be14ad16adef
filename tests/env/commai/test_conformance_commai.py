"""CommAI obeys the contract of worlds in each of its interfaces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from interplay.env import registry
from interplay.env.commai.tasks import task_sets
from interplay.env.conformance import WorldConformance
from interplay.env.world import Action, Start, World


class TestCharacters(WorldConformance):
    steps = 30

    def make_world(self) -> World:
        return registry.make("commai", instances=2)


class TestBits(WorldConformance):
    def make_world(self) -> World:
        return registry.make("commai", tasks=["nano"], interface="bits", instances=4)


class TestBitsOfCharacters(WorldConformance):
    steps = 60
    expert_steps = 1000

    def make_world(self) -> World:
        return registry.make("commai", tasks=["Repeat3V1L", "RepeatWhatISayTask"], interface="bits")


class TestUtterances(WorldConformance):
    def make_world(self) -> World:
        return registry.make("commai", interface="utterances", instances=9)


class TestNavigation(WorldConformance):
    def make_world(self) -> World:
        return registry.make("commai", tasks=["navigation"], interface="utterances", instances=9, scramble=True)


def play(world: World, seed: int, confused: bool) -> tuple[list[float], int]:
    """The rewards of an episode that the expert plays, and its steps."""
    world.reset(Start(seed=seed))
    kind = world.facts().kind
    task = world.tasks().sample(kind, np.random.default_rng(0))
    expert = (task.misread(world, np.random.default_rng(seed)) if confused else task).expert(world)
    rewards = []
    for step in range(world.tasks().step_limits[kind]):
        outcome = world.step({"solver": expert.act(world)})
        rewards.append(outcome.env_reward)
        if outcome.done:
            assert task.success(world.facts(), []) is (not confused), f"{kind}: {world.facts()}"
            assert task.progress(world.facts()) == float(not confused)
            return rewards, step
    raise AssertionError(f"{kind} is not over within its limit: {world.facts()}")


@pytest.mark.parametrize(
    ("tasks", "interface"),
    [("micro", "characters"), ("nano", "bits"), ("nano", "characters"), ("micro", "bits"), ("micro", "utterances")],
)
def test_the_expert_succeeds_and_its_wrong_answer_fails(tasks: str, interface: str) -> None:
    world = registry.make("commai", tasks=[tasks], interface=interface)
    kinds = world.tasks().kinds
    for seed in range(2 * len(kinds)):
        for confused in (False, True):
            rewards, _ = play(world, seed, confused)
            assert (sum(rewards) > 0) is not confused


@pytest.mark.parametrize("interface", ["characters", "utterances"])
@pytest.mark.parametrize("tasks", sorted(task_sets.sets()))
def test_the_expert_says_pseudo_words(tasks: str, interface: str) -> None:
    names = task_sets.sets()[tasks]
    for name in names[:: len(names) // 30 + 1]:
        world = registry.make("commai", tasks=[name], interface=interface, scramble=True)
        for confused in (False, True):
            play(world, 1, confused)


@pytest.mark.parametrize("tasks", ["micro", "nano"])
def test_the_expert_says_pseudo_words_in_bits(tasks: str) -> None:
    world = registry.make("commai", tasks=[tasks], interface="bits", scramble=True)
    for seed in range(len(world.tasks().kinds)):
        for confused in (False, True):
            play(world, seed, confused)


def test_an_episode_with_pseudo_words_is_restored() -> None:
    """Also words that the teacher hasn't said, as "I" and "move", are the same in the replay."""
    settings = {"tasks": ["MovingRelativeTask"], "interface": "utterances", "scramble": True}
    world, other = registry.make("commai", **settings), registry.make("commai", **settings)
    world.reset(Start(seed=2))
    task = world.tasks().sample(world.facts().kind, np.random.default_rng(0))
    expert = task.expert(world)
    while not world.facts().said:
        world.step({"solver": expert.act(world)})
    other.reset(Start(state=world.state()))
    for _ in range(9):
        action = expert.act(world)
        ends = [each.step({"solver": action}).done for each in (world, other)]
        assert ends[0] == ends[1]
        if ends[0]:
            break
    assert task.success(world.facts(), []) and task.success(other.facts(), [])


def test_the_setter_names_a_task_in_pseudo_words() -> None:
    settings = {"tasks": ["TurningTask"], "interface": "utterances"}
    heard = {}
    for scramble in (False, True):
        world = registry.make("commai", scramble=scramble, **settings)
        world.reset(Start(seed=2))
        taught = world.step({}).views["solver"].heard
        heard[scramble] = world.tasks().sample("TurningTask", np.random.default_rng(0)).instruction
        assert heard[scramble] == taught
    assert heard[True] != heard[False]


def test_words_of_the_teacher_are_heard_one_step_after_those_of_the_setter() -> None:
    world = registry.make("commai", interface="utterances", instances=9)
    world.reset(Start(seed=0))
    taught, heard = [], []
    for step in range(6):
        said = {"setter": Action(world.spec.rest(), "setter's words")} if step in (1, 2, 4) else {}
        heard.append(world.step(said).views["solver"].heard)
        taught.append(world.spoken().strip())
    assert all(taught[:4])
    setter = "setter's words"
    assert heard[:4] == [taught[0], setter, setter, f"{taught[1]} {taught[2]} {taught[3]}"]
    assert heard[4] == setter and heard[5] == f"{taught[4]} {taught[5]}".strip()


def test_the_same_words_of_setter_and_teacher_are_heard_once() -> None:
    world = registry.make("commai", interface="utterances", instances=9)
    world.reset(Start(seed=0))
    opening = world.step({}).views["solver"].heard
    world.reset(Start(seed=0))
    assert world.step({"setter": Action(world.spec.rest(), opening)}).views["solver"].heard == opening
    assert world.step({}).views["solver"].heard == world.spoken().strip()


def test_states_with_the_pseudo_words_of_earlier_versions_are_refused() -> None:
    world = registry.make("commai", scramble=True)
    world.reset(Start(seed=0))
    saved = json.loads(world.state())
    del saved["world"]["words"]
    with pytest.raises(ValueError, match="the state was saved by"):
        world.reset(Start(state=json.dumps(saved).encode()))


def test_the_seed_chooses_the_first_task() -> None:
    world = registry.make("commai", tasks=["micro", "nano"])
    kinds = world.tasks().kinds
    for seed in range(len(kinds)):
        world.reset(Start(seed=seed))
        assert world.facts().kind == kinds[seed]
    rng = np.random.default_rng(3)
    for kind in kinds:
        world.reset(Start(seed=world.seed_for(kind, rng)))
        assert world.facts().kind == kind


def test_an_alphabet_must_be_able_to_answer() -> None:
    with pytest.raises(ValueError, match="Repeat3V1L needs 'C'"):
        registry.make("commai", alphabet=" AB.")
    with pytest.raises(ValueError, match=r"Repeat3V1L needs 'D.*Z'"):
        registry.make("commai", alphabet=" ABC.", scramble=True)


def test_an_alphabet_must_be_able_to_answer_the_tasks_of_a_file(tmp_path: Path) -> None:
    tasks = {"a": {"type": "tasks.micro.micro.Repeat3V1L"}}
    scheduler = {"type": "core.scheduler.RandomTaskScheduler", "args": {"tasks": ["a"]}}
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps({"worlds": {}, "tasks": tasks, "scheduler": scheduler}))
    with pytest.raises(ValueError, match="Repeat3V1L needs 'C'"):
        registry.make("commai", config=str(file), alphabet=" AB.")
    registry.make("commai", config=str(file), alphabet=" ABC.")


def test_an_answer_that_the_alphabet_or_a_class_lacks_is_named_when_an_expert_says_it(tmp_path: Path) -> None:
    """A task of one's own that does not state what its answers are written in."""
    file = tmp_path / "sevens.py"
    file.write_text(
        "from core.scheduler import SequentialTaskScheduler\n"
        "from core.task import Task, on_start\n"
        "class Seven(Task):\n"
        "    def __init__(self, world=None):\n"
        "        super().__init__(max_time=100, world=world)\n"
        "    @on_start()\n"
        "    def ask(self, event):\n"
        "        self.set_message('?')\n"
        "    def expert(self):\n"
        "        yield '7.'\n"
        "def create_tasks():\n"
        "    return SequentialTaskScheduler([Seven()])\n"
    )
    world = registry.make("commai", config=str(file), alphabet=" .AB")
    world.reset(Start(seed=0))
    task = world.tasks().sample(world.facts().kind, np.random.default_rng(0))
    expert = task.expert(world)
    with pytest.raises(ValueError, match=r"Seven says '7\.', and env.alphabet=' \.AB' lacks '7'; add what"):
        for _ in range(5):
            world.step({"solver": expert.act(world)})
    world.reset(Start(seed=0))
    confused = task.misread(world, np.random.default_rng(0)).expert(world)
    with pytest.raises(ValueError, match=r"cannot answer .*Seven, whose class has no method `confused`; add it"):
        for _ in range(5):
            world.step({"solver": confused.act(world)})


def test_a_transcript_stands_below_the_label_of_a_replay() -> None:
    world = registry.make("commai")
    world.reset(Start(seed=0))
    for _ in range(2):
        talk = world.portrait(480, 640)["talk"]
        inked = np.flatnonzero((talk != talk[0, 0]).any((1, 2)))
        assert inked.size and inked.min() > 25, "a picture without words, or under the label"
        for _ in range(12):
            world.step({})


def test_facts_hold_what_was_said_in_characters() -> None:
    world = registry.make("commai")
    world.reset(Start(seed=0))
    for symbol in "BB":
        movement = world.spec.rest()
        movement[0, 0] = world.interface.symbols.index(symbol)
        world.step({"solver": Action(movement)})
    while not world.environment.is_idle():
        world.step({})
    assert world.facts().said == "BB"
    assert world.facts().heard.startswith("repeat: ")
