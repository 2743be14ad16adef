"""Configuration files as users of CommAI-env write them run unchanged, in JSON and in Python."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
from test_commai_task_files import IMPORTS

from interplay.env.commai.config_loader import JSONConfigLoader, PythonConfigLoader, load_scheduler
from interplay.env.commai.environment import Environment
from interplay.env.commai.serializer import StandardSerializer

pytestmark = pytest.mark.usefixtures("old_names")

ORIGINAL_TYPES = """
tasks.competition.repetition: BeSilentTask RepeatCharacterTask RepeatWhatISayTask RepeatWhatISayMultipleTimesTask
tasks.competition.repetition: RepeatWhatISayMultipleTimes2Task RepeatWhatISayMultipleTimesSeparatedByCommaTask
tasks.competition.repetition: RepeatWhatISayMultipleTimesSeparatedByAndTask RepeatWhatISayDisjunction VerbTask
tasks.competition.repetition: RepeatWhatISayMultipleTimesSeparatedByCATask RepeatWhatISayConjunctionNegation
tasks.competition.counting: SimpleCountingTask
tasks.competition.objects_properties: ObjectExistenceTask1 ObjectExistenceTask2 AssociateObjectWithPropertyTask
tasks.competition.objects_properties: VerifyThatObjectHasPropertyTask ListPropertiesofAnObjectTask
tasks.competition.objects_properties: NameAPropertyOfAnObjectTask HowManyPropertiesDoesAnObjectHaveTask
tasks.competition.objects_properties: ListObjectsWithACertainPropertyTask NameAnObjectWithAPropertyTask
tasks.competition.objects_properties: HowManyObjectsHaveACertainPropertyTask
tasks.competition.objects_properties: WhoHasACertainObjectWithACertainPropertyTask
tasks.competition.objects_properties: ListThePropertiesThatAnObjectHasInABasketOnlyTask
tasks.competition.objects_properties: ListThePropertiesThatAnObjectHasInAllBasketsTask
tasks.competition.navigation: TurningTask MovingTask MovingRelativeTask MovingAbsoluteTask PickUpTask
tasks.competition.navigation: PickUpInFrontTask PickUpAroundTask GivingTask PickUpAroundAndGiveTask
tasks.competition.navigation: CountingInventoryTask CountingInventoryGivingTask LookTask LookAroundTask
tasks.competition.navigation: FindObjectAroundTask
tasks.micro.micro: Repeat3V2L
tasks.micro.small_comp: ReverseXTask
tasks.micro.lookup_tables: FuncLookupTaskR3D1_4
tasks.sample.sample_tasks: RepeatingCharTask
tasks.mini: TaskSet1
"""
TYPES = [
    f"{module}.{name}"
    for module, names in (line.split(": ") for line in ORIGINAL_TYPES.split("\n") if line)
    for name in names.split()
]


def test_a_configuration_of_all_tasks_in_one_world(tmp_path: Path) -> None:
    """As the original's sample configuration: each task by its name, all in the same grid."""
    ids = {f"t{number}": {"type": name, "world": "gw"} for number, name in enumerate(TYPES)}
    content = {
        "worlds": {"gw": {"type": "worlds.grid_world.GridWorld"}},
        "tasks": ids,
        "scheduler": {"type": "core.scheduler.RandomTaskScheduler", "args": {"tasks": list(ids)}},
    }
    (path := tmp_path / "tasks_config.json").write_text(json.dumps(content))
    scheduler = load_scheduler(path)
    assert len(scheduler.tasks) == len(TYPES)
    assert len({id(task.get_world()) for task in scheduler.tasks}) == 1
    environment = Environment(StandardSerializer(), scheduler, seed=1)
    environment.next(None)
    ended: list[str] = []
    environment.reward_given.register(lambda task, reward: ended.append(task.get_name()))
    for bit in "00100000" * 10_000:
        environment.next(bit)
    assert len(ended) > 10


def test_a_configuration_with_arguments_and_dependencies() -> None:
    scheduler = JSONConfigLoader().create_tasks(
        {
            "tasks": {
                "short": {"type": "tasks.micro.small_comp.ReverseXTask", "args": {"max_string_length": 2}},
                "patient": {"type": "tasks.micro.nano.Task1", "args": {"patient": True}},
            },
            "scheduler": {
                "type": "core.scheduler.DependenciesTaskScheduler",
                "args": {"tasks": ["short", "patient"], "tasks_dependencies": [["short", "patient"]]},
            },
        }
    )
    assert scheduler.get_next_task().max_string_length == 2


def test_a_configuration_in_python_with_tasks_next_to_it(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "of_a_friend.py").write_text(
        IMPORTS
        + textwrap.dedent("""
        class FriendlyTask(BaseTask):
            def __init__(self, world=None):
                super(FriendlyTask, self).__init__(max_time=800, world=world)

            @on_start()
            def greet(self, event):
                self.set_message("hello.")
        """)
    )
    (path := tmp_path / "tasks_config.py").write_text(
        textwrap.dedent("""
        from core.scheduler import SequentialTaskScheduler
        from tasks.micro.micro import Repeat3V1L
        from tasks.of_a_friend import FriendlyTask
        from worlds.grid_world import GridWorld


        def create_tasks():
            gw = GridWorld()
            return SequentialTaskScheduler([FriendlyTask(gw), Repeat3V1L(world=gw)])
        """)
    )
    scheduler = PythonConfigLoader().create_tasks(path)
    names = [scheduler.get_next_task().get_name() for _ in range(3)]
    assert names == ["FriendlyTask", "Repeat3V1L", "FriendlyTask"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"tasks": {"a": {"type": "tasks.micro.micro.Repeat3V2"}}, "scheduler": {}}, "Repeat3V2L"),
        ({"tasks": {"a": {"type": "tasks.macro.Task"}}, "scheduler": {}}, "tasks.macro"),
        ({"tasks": {"a": {"type": "tasks.micro.small_comp.FlipX"}}, "scheduler": {}}, "FlipX"),
        ({"tasks": {}}, "scheduler"),
    ],
)
def test_a_configuration_that_is_wrong_says_what_and_where(content: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JSONConfigLoader().create_tasks(content)
