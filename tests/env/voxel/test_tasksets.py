"""Task sets: what they draw, what they refuse, and files without pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.env.voxel.config import VoxelConfig
from interplay.env.voxel.gold_structures import GOLD_COUNTS, read_structure
from interplay.env.voxel.random_tasks import RandomTasks
from interplay.env.voxel.space import SHAPE, counts
from interplay.env.voxel.structures import draw, own_structures
from interplay.env.voxel.tasksets import CorpusTasks, CustomTasks, Subtasks, TaskSet, as_grid, load_targets
from interplay.env.voxel.world import make_voxel
from interplay.env.world import Start

RED_ROW = [(0, 0, 0, 6), (1, 0, 0, 6)]


def block(kind: str, x: int, y: int, z: int) -> str:
    return f'<DrawBlock type="cwcmod:{kind}" x="{x}" y="{y}" z="{z}"/>\n'


def test_random_tasks_have_their_number_of_blocks_near_the_first_one() -> None:
    tasks = RandomTasks(max_blocks=5, height_levels=1, max_dist=2, num_colors=3)
    for seed in range(20):
        target = tasks.sample(np.random.default_rng(seed)).target
        cells = np.argwhere(target)
        assert len(cells) == 5
        assert (cells[:, 0] == 0).all()
        assert (cells.max(0) - cells.min(0)).max() <= 4
        assert target.max() <= 3


def test_a_higher_level_of_random_tasks_is_supported_unless_it_may_float() -> None:
    tasks = RandomTasks(max_blocks=4, height_levels=3)
    for seed in range(20):
        target = tasks.sample(np.random.default_rng(seed)).target
        assert (target != 0).sum((1, 2))[:4].tolist() == [4, 4, 4, 0]
        filled = target != 0
        for level in (1, 2):
            hung = filled[level - 1] & filled[level]
            assert hung.any()
            for _ in range(3):  # each of the others is next to one that is supported
                aside = np.pad(hung, 1)
                aside = aside[2:, 1:-1] | aside[:-2, 1:-1] | aside[1:-1, 2:] | aside[1:-1, :-2]
                hung |= filled[level] & aside
            assert (hung == filled[level]).all()
    floating = RandomTasks(max_blocks=4, height_levels=3, allow_float=True)
    targets = [floating.sample(np.random.default_rng(seed)).target for seed in range(20)]
    assert all((target != 0).sum() == 12 for target in targets)
    assert any(((target[1:] != 0) & (target[:-1] == 0)).any() for target in targets)


class Limited(np.random.Generator):
    """A generator of so many whole numbers: a task takes one for each block, and one for each level."""

    def __init__(self, left: int) -> None:
        super().__init__(np.random.PCG64(0))
        self.left = left

    def integers(self, *arguments: Any, **options: Any) -> Any:
        assert self.left > 0, "the task was drawn again"
        self.left -= 1
        return super().integers(*arguments, **options)


def test_random_tasks_of_all_blocks_are_drawn_once() -> None:
    tasks = RandomTasks(max_blocks=120, max_dist=10, num_colors=6)
    drawn = counts(tasks.sample(Limited(121)).target)
    assert drawn.tolist() == [20] * 6


def test_the_generator_decides_a_random_task() -> None:
    first, second = (RandomTasks(num_colors=6).sample(np.random.default_rng(3)).target for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, RandomTasks(num_colors=6).sample(np.random.default_rng(4)).target)


@pytest.mark.parametrize(
    "settings",
    [
        {"max_blocks": 0},
        {"max_blocks": 10, "max_dist": 2},
        {"height_levels": 10},
        {"num_colors": 7},
        {"max_dist": -1},
        {"max_blocks": 4, "height_levels": 9},
        {"max_cache": -1},
        {"max_blocks": 2.5},
        {"max_dist": "2"},
    ],
)
def test_settings_that_no_structure_satisfies_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"RandomTasks: .*="):
        RandomTasks(**settings)


def test_a_cache_is_dumped_and_loaded_without_pickle(tmp_path: Path) -> None:
    tasks = RandomTasks(max_blocks=3, max_cache=4)
    drawn = {tasks.sample(np.random.default_rng(seed)).target.tobytes() for seed in range(30)}
    assert len(drawn) == 4
    tasks.dump(tmp_path / "tasks.npz")
    again = RandomTasks.load(tmp_path / "tasks.npz")
    assert again.settings == tasks.settings
    assert {again.sample(np.random.default_rng(seed)).target.tobytes() for seed in range(30)} == drawn
    tasks.dump(tmp_path / "short")
    assert len(dict(RandomTasks.load(tmp_path / "short"))) == 4, "the name is that which was given"


def test_a_cached_task_does_not_depend_on_what_was_drawn_before() -> None:
    tasks = RandomTasks(max_cache=3)
    first = tasks.sample(np.random.default_rng(1)).target
    assert np.array_equal(tasks.sample(np.random.default_rng(1)).target, first)
    assert np.array_equal(RandomTasks(max_cache=3).sample(np.random.default_rng(1)).target, first)
    assert [name for name, _ in tasks] == ["0", "1", "2"]
    with pytest.raises(TypeError, match="without end"):
        iter(RandomTasks())


def test_damaged_files_of_random_tasks_are_refused(tmp_path: Path) -> None:
    file, targets = tmp_path / "tasks.npz", np.zeros((0, *SHAPE), np.int8)

    def written(settings: str, version: int) -> Path:
        np.savez(file, version=np.array(version), settings=np.array(settings), targets=targets)
        return file

    for settings, version, fault in (
        ("{}", 9, "version 9"),
        ('{"blocks": 3}', 1, "blocks"),
        ("{", 1, "not a file of RandomTasks"),
    ):
        with pytest.raises(ValueError, match=fault):
            RandomTasks.load(written(settings, version))
    with pytest.raises(ValueError, match=r"not a file of tasks: .*directory"):
        RandomTasks.load(tmp_path)
    file.write_bytes(b"no npz")
    np.save(tmp_path / "array.npy", targets)
    for path in (file, tmp_path / "array.npy"):
        with pytest.raises(ValueError, match="not a file of tasks: it"):
            RandomTasks.load(path)


def test_a_custom_task_takes_dense_and_sparse_grids() -> None:
    dense = as_grid(RED_ROW)
    for grid in (RED_ROW, dense, dense.tolist()):
        task = CustomTasks([("<Architect> a red row", grid)]).sample(np.random.default_rng(0))
        assert np.array_equal(task.target, dense)
        assert task.chat == "<Architect> a red row"
        assert not task.start.any()


@pytest.mark.parametrize("task", ["red", ("red",), (5, RED_ROW), ("", [(0, 0, 0, 1), (0, 1)])])
def test_a_custom_task_that_is_none_is_refused(task: Any) -> None:
    with pytest.raises(ValueError, match="task 1"):
        CustomTasks([("", RED_ROW), task])


@pytest.mark.parametrize("grid", [[(6, 0, 0, 1)], [(0, 0, 0, 7)], [(0, 0, 0)], np.zeros((9, 11)), np.full(SHAPE, 7)])
def test_a_custom_grid_that_is_none_is_refused(grid: object) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        CustomTasks([("", grid)])


@pytest.mark.parametrize("task", [("", []), ("", RED_ROW, RED_ROW)])
def test_a_custom_task_with_nothing_to_build_is_refused(task: Any) -> None:
    with pytest.raises(ValueError, match=r"task 1: .*nothing to build"):
        CustomTasks([("", RED_ROW), task])


def test_more_blocks_than_a_builder_has_are_refused() -> None:
    with pytest.raises(ValueError, match="21 red blocks"):
        CustomTasks([("", [(x, 0, z, 6) for x in range(3) for z in range(-5, 2)])])


def test_custom_tasks_are_read_from_json(tmp_path: Path) -> None:
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([{"chat": "<Architect> row", "target": RED_ROW, "start": RED_ROW[:1]}]))
    (task,) = (task for _, task in CustomTasks.read(file))
    assert task.start.sum() == 6
    assert task.target.sum() == 12
    for malformed in ("{", "[1]", '{"target": []}', '[{"chat": ""}]', '[{"target": [[1, 2]]}]'):
        file.write_text(malformed)
        with pytest.raises(ValueError, match=r"tasks.json"):
            CustomTasks.read(file)


def test_own_structures_are_distinct_and_within_the_inventory() -> None:
    own = own_structures()
    assert len(own) == 24
    assert len({grid.tobytes() for grid in own.values()}) == 24
    assert len(TaskSet("own")) == 24
    assert {grid.shape for grid in own.values()} == {SHAPE}


def test_a_drawing_is_layers_of_rows() -> None:
    grid = draw("r. .b / y")
    assert [(int(y), int(grid[y, x, z])) for y, x, z in np.argwhere(grid)] == [(0, 6), (0, 1), (1, 2)]
    with pytest.raises(ValueError, match="w"):
        draw("w")
    with pytest.raises(ValueError, match="large"):
        draw("r" * 12)


def test_gold_structures_are_read_from_a_local_copy(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "gold-configurations"
    folder.mkdir(parents=True)
    text = block("cwc_minecraft_red_rn", 95, 1, 95) + block("cwc_blue_rn", 105, 9, 104)  # both kinds of name
    (folder / "C8.xml").write_text(text)
    for path in (tmp_path, folder):
        ((name, task),) = TaskSet(["C8"], path=path)
        assert name == "C8"
        assert (task.target[0, 0, 0], task.target[8, 10, 9]) == (6, 1)
        assert (task.target != 0).sum() == 2
    with pytest.raises(ValueError, match=r"no C17.xml"):
        TaskSet(["C8", "C17"], path=tmp_path)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<DrawBlock", "malformed"),
        (block("cwc_minecraft_white_rn", 95, 1, 95), "known color"),
        (block("cwc_minecraft_red_rn", 94, 1, 95), "outside"),
        (block("cwc_minecraft_red_rn", 95, 1, 95) * 2, "twice"),
        ('<DrawBlock type="cwcmod:cwc_red_rn" x="95" y="1"/>', "whole x, y and z"),
        ("<Block/>", "known color"),
    ],
)
def test_a_malformed_gold_structure_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "C1.xml").write_text(text)
    with pytest.raises(ValueError, match=fault):
        read_structure(tmp_path / "C1.xml")


def test_without_a_copy_a_gold_structure_says_what_to_fetch() -> None:
    with pytest.raises(ValueError, match=r"fetch github.com/prashant-jayan21"):
        TaskSet("C8")
    with pytest.raises(ValueError, match="has no C158"):
        TaskSet(["C158"])
    with pytest.raises(ValueError, match="an empty list"):
        TaskSet([])


def test_the_public_structures_are_counted() -> None:
    assert len(GOLD_COUNTS) == 157
    assert sum(blocks for blocks, _ in GOLD_COUNTS.values()) == 3685
    assert TaskSet.ALL["C3"] == "3 blocks, 1 color"


def test_a_turn_of_a_dialogue_starts_where_the_one_before_ended() -> None:
    grids = [RED_ROW[:1], RED_ROW, [*RED_ROW, (-5, 0, 0, 1)]]
    turns = dict(Subtasks(["<Architect> a", "<Architect> b", "<Architect> c"], grids))
    assert list(turns) == ["0", "1", "2"]
    assert turns["1"].chat == "<Architect> a\n<Architect> b"
    assert np.array_equal(turns["1"].start, as_grid(grids[0]))
    assert np.array_equal(turns["1"].target, as_grid(grids[1]))
    assert np.array_equal(turns["0"].whole, as_grid(grids[2]))
    assert turns["0"].following is turns["1"]
    assert turns["2"].following is None
    assert all(task.following is None for _, task in Subtasks(["a", "b", "c"], grids, progressive=False))
    with pytest.raises(ValueError, match="one grid a turn"):
        Subtasks(["a"], grids)


def test_turns_without_anything_to_build_are_not_sampled() -> None:
    turns = Subtasks(["a", "why?", "b", "c"], [RED_ROW, RED_ROW, RED_ROW[:1], []])
    sampled = {turns.sample(np.random.default_rng(seed)).chat.splitlines()[-1] for seed in range(20)}
    assert sampled == {"a", "b"}
    assert [task.removes for _, task in turns] == [False, False, True, True]
    with pytest.raises(ValueError, match="nothing to build"):
        Subtasks(["a"], [[]])


def test_turns_that_only_move_the_structure_are_not_sampled() -> None:
    moved = [(x, y, z + 2, color) for x, y, z, color in RED_ROW]
    turns = Subtasks(["a", "two steps further south"], [RED_ROW, moved])
    assert {turns.sample(np.random.default_rng(seed)).chat for seed in range(20)} == {"a"}
    with pytest.raises(ValueError, match="nothing to build"):
        CustomTasks([("two steps further south", moved, RED_ROW)])


def test_imported_tasks_come_back(tmp_path: Path) -> None:
    start, target = as_grid(RED_ROW[:1]), as_grid(RED_ROW)
    row = {
        "instruction": "<Architect> more",
        "chat": "<Architect> hi",
        "start": start,
        "target": target,
        "whole": target,
    }
    CorpusTasks.write(
        tmp_path / "a.npz", [{**row, "split": "train", "source": "B1"}, {**row, "split": "heldout", "source": "B2"}]
    )
    with pytest.raises(ValueError, match="allow_pickle"):
        CorpusTasks.write(tmp_path / "a.npz", [{**row, "split": "train", "source": object()}])
    assert len(CorpusTasks(tmp_path)) == 2, "a write that fails leaves the file as it was"
    ((name, task),) = CorpusTasks(tmp_path / "a.npz", split="heldout")
    assert name.startswith("B2/")
    assert task.chat == "<Architect> hi\n<Architect> more"
    assert not task.invariant
    assert np.array_equal(load_targets("mdc", str(tmp_path)).sample(np.random.default_rng(0)).target, target)
    with pytest.raises(ValueError, match="no imported tasks"):
        CorpusTasks(tmp_path / "empty")


def test_targets_of_a_corpus_are_of_one_split(tmp_path: Path) -> None:
    splits = ("train", "val", "test", "heldout")  # the last one as IGLU has it
    rows = [
        {
            "instruction": split, "chat": "", "start": as_grid([]), "target": as_grid([(x, 0, 0, 6)]),
            "whole": as_grid(RED_ROW), "split": split, "source": split,
        }
        for x, split in enumerate(splits)
    ]  # fmt: skip
    CorpusTasks.write(tmp_path / "mdc.npz", rows)

    def drawn(config: VoxelConfig) -> set[int]:
        world, found = make_voxel(config), set()
        for seed in range(30):
            world.reset(Start(seed=seed), observers=())
            target = world.facts().target
            assert target is not None
            found.add(int(np.argwhere(target)[0][1]) - 5)
        return found

    settings = {"targets": "mdc", "data": str(tmp_path), "image": (8, 8)}
    for split, wanted in (("train", {0}), ("val", {1}), ("test", {2}), ("heldout", {1, 2, 3}), ("all", {0, 1, 2, 3})):
        assert drawn(VoxelConfig(**settings, split=split)) == wanted  # type: ignore[arg-type]
    assert drawn(VoxelConfig(**settings)) == {0}  # type: ignore[arg-type]
    CorpusTasks.write(tmp_path / "mdc.npz", [rows[0], rows[3]])
    with pytest.raises(ValueError, match="no tasks of the split val; it has heldout, train, and all"):
        make_voxel(VoxelConfig(**settings, split="val"))  # type: ignore[arg-type]


def test_of_two_imported_corpora_one_is_named(tmp_path: Path) -> None:
    for name, color in (("mdc", 1), ("iglu", 2)):
        target = as_grid([(0, 0, 0, color)])
        row = {"instruction": "one", "chat": "", "start": as_grid([]), "target": target, "whole": target}
        CorpusTasks.write(tmp_path / f"{name}.npz", [{**row, "split": "train", "source": name}])
    assert len(CorpusTasks(tmp_path)) == 2
    for name in ("mdc", "iglu"):
        assert [task for task, _ in load_targets(name, str(tmp_path))] == [f"{name}/0"]


@pytest.mark.parametrize("targets", [None, "random", "own"])
def test_a_file_that_the_targets_do_not_read_is_refused(targets: Any) -> None:
    with pytest.raises(ValueError, match=r"data=mine\.json is read only with targets=custom, mdc, iglu"):
        VoxelConfig(targets=targets, data="mine.json")
    VoxelConfig(targets="custom", data="mine.json")


def test_splits_are_named() -> None:
    with pytest.raises(ValueError, match="split=valid: one of train, heldout, val, test, all"):
        VoxelConfig(targets="mdc", data="x", split="valid")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="split=val is read only with targets=mdc or iglu"):
        VoxelConfig(targets="own", split="val")
    with pytest.raises(ValueError, match="split='valid': one of"):
        CorpusTasks("x", "valid")  # type: ignore[arg-type]
    assert (
        VoxelConfig(targets="mdc", data="x").shape_hash()
        != VoxelConfig(targets="mdc", data="x", split="val").shape_hash()
    )


def test_targets_are_named_with_their_data() -> None:
    assert load_targets("own").sample(np.random.default_rng(0)).target.any()
    assert load_targets("random").sample(np.random.default_rng(0)).target.any()
    with pytest.raises(ValueError, match="no such"):
        load_targets("custom", "/none")


def test_targets_without_their_data_are_refused_before_a_world_is_made() -> None:
    with pytest.raises(ValueError, match="targets=gold: one of random"):
        VoxelConfig(targets="gold")  # type: ignore[arg-type]
    for name, example in (("mdc", "runs/run/corpus"), ("custom", r"tasks\.json")):
        with pytest.raises(ValueError, match=f"set env.data, as env.data={example}"):
            VoxelConfig(targets=name)  # type: ignore[arg-type]
