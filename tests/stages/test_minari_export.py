"""interplay export minari: recorded episodes as a dataset that Minari reads."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import minari
import numpy as np
import pytest
import torch
from gymnasium import spaces
from minari_files import bot_policy, played, random_policy, write
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.env import registry
from interplay.env.gymnasium_world import GymnasiumConfig, GymnasiumWorld
from interplay.env.minari_export import MinariRows, OwnObservations, solver_form, writing
from interplay.env.not_reenacted import NotReenacted
from interplay.env.world import Action, Component, Start, WorldSpec
from interplay.episodes.decoded_episode import resimulate
from interplay.episodes.episode import Episode, Mark
from interplay.episodes.recorder import EpisodeRecorder
from interplay.launch.cli import main
from interplay.stages import export_stage

BABYAI = ("env=gymnasium", "env.id=BabyAI-GoToLocal-v0", "env.image=[14,14]")
CARTPOLE = ("env=gymnasium", "env.id=CartPole-v1", "env.instruction=balance the pole")
PENDULUM = ("env=gymnasium", "env.id=Pendulum-v1", "env.instruction=swing up", "env.max_steps=30")
HOUSE = ("env=room", "env.objects=[2,3]", "env.image=[32,48]", "collect.setter.kinds={go: 5, color: 5}")
UTTERED, MARKED = "zwölf 鸭", "rater/odd"


@pytest.fixture(autouse=True)
def _own_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of the Playhouse whose recordings are marked."""
    folder = tmp_path_factory.mktemp("house")
    for verb in ("collect", "mark"):
        interplay(verb, tiny(folder, house=HOUSE))
    return folder


def export(folder: Path, dataset: str, *settings: str, code: int = 0) -> None:
    assert main(["export", "minari", dataset, f"run.dir={folder}", "run.name=run", *settings]) == code


def episodes_of(folder: Path) -> list[tuple[Episode, list[Mark]]]:
    with opened(tiny(folder, house=HOUSE)).store() as store:
        return [(store.read(name), store.marks([name])) for name in store.ids()]


def texts(rows: Sequence[bytes]) -> list[str]:
    """Texts of `infos`, which Minari returns encoded."""
    return [row.decode() for row in rows]


def assert_same(one: Any, other: Any) -> None:
    """Equal arrays of equal types, part by part."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    else:
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)


def pendulum_policy(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return lambda env: np.array([rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0])], np.float32)


@pytest.mark.parametrize("world", [BABYAI, CARTPOLE, PENDULUM], ids=["babyai", "cartpole", "pendulum"])
def test_a_dataset_that_was_imported_is_exported_as_it_was(tmp_path: Path, world: tuple[str, ...]) -> None:
    limit = {"max_episode_steps": 30} if world is PENDULUM else {}
    env = gymnasium.make(world[1].removeprefix("env.id="), **limit)
    policy = {BABYAI: bot_policy(), CARTPOLE: random_policy(1), PENDULUM: pendulum_policy(1)}[world]
    seeds = (3, 2**63 + 5, 4)
    write("some/source-v0", env, [played(env, seed, policy) for seed in seeds])
    assert main(["import", "minari", "some/source-v0", *tiny(tmp_path, house=world)]) == 0
    export(tmp_path, "some/copy-v0")
    source, copy = minari.load_dataset("some/source-v0"), minari.load_dataset("some/copy-v0")
    assert len(copy) == len(source) == 3
    assert copy.total_steps == source.total_steps
    assert copy.action_space == source.action_space
    for before, after in zip(source, copy, strict=True):
        for part in ("observations", "actions", "rewards", "terminations", "truncations"):
            assert_same(getattr(after, part), getattr(before, part))
    for name, dataset in (("source", source), ("copy", copy)):
        metadata = dataset.storage.get_episode_metadata(range(3))
        assert [each["seed"] for each in metadata] == list(seeds), name
    again = copy.recover_environment()
    observed, _ = again.reset(seed=4)
    first = copy[2].observations
    assert_same(observed, {key: rows[0] for key, rows in first.items()} if isinstance(first, dict) else first[0])
    assert again.spec is not None and again.spec.max_episode_steps == env.spec.max_episode_steps  # type: ignore[union-attr]
    assert main(["import", "minari", "some/copy-v0", *tiny(tmp_path / "again", house=world)]) == 0


def test_a_dataset_of_the_playhouse_holds_what_the_store_holds(house: Path, tmp_path: Path) -> None:
    copied(house, tmp_path)
    with opened(tiny(tmp_path, house=HOUSE)).store() as store:
        name = store.ids()[0]
        store.add_marks([Mark(name, MARKED, 9, -1), Mark(name, MARKED, 8, 1), Mark(name, MARKED, 15, -1)])
    export(tmp_path, "house/recordings-v0")
    dataset = minari.load_dataset("house/recordings-v0")
    recorded = episodes_of(tmp_path)
    world = opened(tiny(tmp_path, house=HOUSE)).make_world()
    assert len(dataset) == len(recorded) == 6
    answers = 0
    facts = dataset.storage.metadata["interplay"]
    assert (facts["world"], facts["frames_per_step"], len(facts["movement"])) == ("playhouse", 8, 4)
    metadata = dataset.storage.get_episode_metadata(range(6))
    for data, kept, (episode, marks) in zip(dataset, metadata, recorded, strict=True):
        meta = episode.meta
        views = [views["solver"] for _, views, _ in resimulate(world, episode, ["solver"])]
        np.testing.assert_array_equal(data.observations["image"], [view.image for view in views])
        assert data.observations["heard"] == [view.heard for view in views]
        assert data.observations["said"] == [view.said for view in views]
        np.testing.assert_array_equal(data.actions.reshape(-1, 4), episode.actions["solver"])
        np.testing.assert_array_equal(data.rewards, episode.env_reward)
        assert not data.terminations.any()
        assert np.flatnonzero(data.truncations).tolist() == [meta.steps - 1]
        assert (kept["episode"], kept["seed"], kept["split"]) == (meta.id, meta.seed, meta.split)
        assert json.loads(kept["players"]) == meta.players
        for role in ("setter", "solver"):
            uttered = texts(data.infos["uttered"][role])
            assert uttered == ["", *(said or "" for said in episode.said(role))]
        answers += len(set(data.observations["said"])) - 1
        ((frame, task),) = meta.tasks
        row = frame // 8 + 1
        asked = {key: texts(rows) for key, rows in data.infos["task"].items()}
        assert asked["instruction"][row] == task["instruction"] and asked["kind"][row] == task["kind"]
        assert sum(map(bool, asked["instruction"])) == 1
        each = [json.loads(row) for row in texts(data.infos["marks"]["by_rater"])]
        assert sorted(tuple(mark) for row in each for mark in row) == sorted((m.rater, m.sign, m.frame) for m in marks)
        assert data.infos["marks"]["positive"].sum() == sum(mark.sign > 0 for mark in marks)
        assert set(json.loads(kept["raters"])) >= {mark.rater for mark in marks}
    assert answers, "the solver has answered questions"
    first = dataset[0].infos["marks"]
    assert [first["negative"][2], first["positive"][2]] == [2, 1], "frames 8 to 15 are step 1, whose row is 2"


def test_an_agent_can_be_trained_on_an_export_without_this_platform(house: Path) -> None:
    """As with Minari's tutorials: batches of steps from its iterator, in its spaces."""
    export(house, "house/train-v0", "export.minari.split=train", "export.minari.overwrite=true")
    dataset = minari.load_dataset("house/train-v0")
    pictures, choices = [], []
    for episode in dataset.iterate_episodes():
        assert len(episode.observations["image"]) == len(episode) + 1
        for step in range(len(episode)):
            observed = {key: rows[step] for key, rows in episode.observations.items()}
            assert dataset.observation_space.contains(observed)
            assert dataset.action_space.contains(episode.actions[step])
        pictures.append(torch.as_tensor(episode.observations["image"][:-1]))
        choices.append(torch.as_tensor(episode.actions))
        done = episode.terminations | episode.truncations
        assert done[-1] and not done[:-1].any()
    assert len(dataset.sample_episodes(2)) == 2
    data = torch.cat(pictures).flatten(1).float() / 255, torch.cat(choices)
    bins = torch.as_tensor(dataset.action_space.nvec)
    generator = torch.Generator().manual_seed(1)
    weights = torch.zeros(data[0].shape[1], int(bins.sum()), requires_grad=True)
    adam, losses = torch.optim.Adam([weights], 1e-3), []
    for _ in range(100):
        rows = torch.randint(len(data[0]), (16,), generator=generator)
        logits = (data[0][rows] @ weights).split(bins.tolist(), dim=1)
        parts = [torch.nn.functional.cross_entropy(each, data[1][rows, part]) for part, each in enumerate(logits)]
        loss = torch.stack(parts).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_the_command_and_the_program_of_the_page_work(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs/own_data.md").read_text()
    (section,) = re.findall(r"^## Export to Minari\n(.*?)^## ", page, re.DOTALL | re.MULTILINE)
    (command,) = re.findall(r"^```bash\ninterplay (.*?)\n```", section, re.DOTALL | re.MULTILINE)
    (program,) = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert main([*command.replace("run.name=demo", "run.name=run").split(), f"run.dir={house}"]) == 0
    capsys.readouterr()
    exec(program, {})
    said = capsys.readouterr().out.splitlines()
    with opened(tiny(house, house=HOUSE)).store() as store:
        metas = [store.meta(name) for name in store.ids(split="train")]
        marks = [sum(mark.sign > 0 for mark in store.marks([meta.id])) for meta in metas]
    instructions = [[each.text for each in meta.utterances if each.role == "setter"][-1] for meta in metas]
    expected = zip(metas, instructions, marks, strict=True)
    assert said == [f"{meta.steps} {text} {count}" for meta, text, count in expected]


def commai(tmp_path: Path, *settings: str) -> list[str]:
    return tiny(tmp_path, *settings, house=("env=commai", "env.tasks=[micro]"))


def recorded_by_hand(folder: Path, settings: Sequence[str], **fields: Any) -> Episode:
    """An episode of five steps at most in a new run."""
    run = opened(tiny(folder, house=tuple(settings)))
    run.root.mkdir(parents=True)
    run.record_config()
    world = run.make_world()
    recorder = EpisodeRecorder(
        world,
        players={role: {"kind": "human"} for role in world.spec.roles},
        world_config=json.loads(json.dumps(dict(run.config.env))),
        **fields,
    )
    recorder.begin(seed=2, views=world.reset(Start(seed=2)))
    for step in range(5):
        movement = (world.spec.rest() + np.int8(step % 2)) % np.array(
            [each.bins for each in world.spec.movement], np.int8
        )
        actions = {"setter": Action(world.spec.rest(), "go" if step == 0 else None), "solver": Action(movement)}
        outcome = world.step(actions)
        recorder.record(actions, outcome)
        if outcome.done:
            break
    episode = recorder.finish()
    with run.store() as store:
        store.append(episode)
    return episode


def test_a_dataset_of_the_voxel_world_has_pictures_vectors_and_words(tmp_path: Path) -> None:
    settings = ("env=voxel", "env.image=[16,24]")
    episode = recorded_by_hand(tmp_path, settings)
    export(tmp_path, "site/recordings-v0")
    (data,) = minari.load_dataset("site/recordings-v0")
    world = opened(tiny(tmp_path, house=settings)).make_world()
    views = [views["solver"] for _, views, _ in resimulate(world, episode, ["solver"])]
    np.testing.assert_array_equal(data.observations["image"], [view.image for view in views])
    np.testing.assert_array_equal(data.observations["vector"], [view.vector for view in views])
    assert data.observations["heard"] == ["", *["go"] * 5]
    np.testing.assert_array_equal(data.actions.reshape(episode.actions["solver"].shape), episode.actions["solver"])
    assert data.truncations.tolist() == [False] * 4 + [True]


def test_a_lesson_of_commai_that_the_teacher_ends_is_terminated(tmp_path: Path) -> None:
    interplay("collect", commai(tmp_path, "collect.steps=400"))
    interplay("collect", commai(tmp_path / "short", "collect.steps=3"))
    ends = []
    for folder in (tmp_path, tmp_path / "short"):
        export(folder, "lessons/micro-v0", "export.minari.overwrite=true")
        dataset = minari.load_dataset("lessons/micro-v0")
        assert isinstance(dataset.action_space, spaces.Discrete) and [*dataset.observation_space] == ["vector"]
        assert "heard" not in dataset[0].observations
        for (episode, _), data in zip(episodes_of(folder), dataset, strict=True):
            np.testing.assert_array_equal(data.observations["vector"], episode.vectors["solver"])
            np.testing.assert_array_equal(data.actions, episode.actions["solver"][:, 0])
            assert [*data.terminations | data.truncations] == [False] * (len(data) - 1) + [True]
        ends.append([bool(data.terminations[-1]) for data in dataset])
    assert ends == [[True] * 6, [False] * 6]


def test_a_world_whose_solver_acts_by_words_alone_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interplay("collect", commai(tmp_path, "env.interface=utterances"))
    said = refused("export", ["minari", "lessons/words-v0", *commai(tmp_path)], capsys)
    assert "the solver of the world commai acts by words alone" in said and "is a movement" in said
    assert not [*tmp_path.glob("datasets/**/*.hdf5")]


def test_the_solvers_observations_of_a_gymnasium_world(tmp_path: Path) -> None:
    recorded_by_hand(tmp_path, BABYAI)
    export(tmp_path, "babyai/seen-v0", "export.minari.observations=solver")
    dataset = minari.load_dataset("babyai/seen-v0")
    ((episode, _),) = episodes_of(tmp_path)
    (data,) = dataset
    assert isinstance(dataset.action_space, spaces.Discrete) and dataset.env_spec is None
    np.testing.assert_array_equal(data.observations["image"], episode.images["solver"])
    np.testing.assert_array_equal(data.observations["vector"], episode.vectors["solver"])
    np.testing.assert_array_equal(data.actions, episode.actions["solver"][:, 0])
    assert data.observations["heard"] == ["", *["go"] * 5]


def test_pictures_are_compressed_on_request_only(tmp_path: Path, house: Path) -> None:
    sizes = {}
    for jpeg in ("false", "true"):
        export(house, f"house/jpeg-v{len(sizes)}", f"export.minari.jpeg={jpeg}")
        sizes[jpeg] = (tmp_path / f"datasets/house/jpeg-v{len(sizes)}/data/main_data.hdf5").stat().st_size
    plain, lossy = (minari.load_dataset(f"house/jpeg-v{number}")[0].observations["image"] for number in (0, 1))
    assert plain.shape == lossy.shape and (plain != lossy).any()
    assert sizes["true"] < sizes["false"]


def digest(folder: Path) -> dict[str, str]:
    """Hashes of the files of a store, without those that SQLite makes while it is open."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix not in (".db-shm", ".db-wal")]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_episodes_are_chosen_as_by_a_filter_of_the_store_which_stays_as_it_is(
    tmp_path: Path, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(house, tmp_path)
    with opened(tiny(tmp_path, house=HOUSE)).store() as store:
        ids = store.ids()
        heldout, marked, color = store.ids(split="heldout"), store.ids(marked=True), store.ids(tasks=["color"])
    before = digest(tmp_path / "run/store")
    for number, (settings, chosen) in enumerate(
        [
            ((), ids),
            (("export.minari.split=heldout",), heldout),
            (("export.minari.marked=true",), marked),
            (("export.minari.tasks=[color]",), color),
            (("export.minari.solver=[scripted,agent]", "export.minari.round=0", "export.minari.episodes=2"), ids[:2]),
        ]
    ):
        export(tmp_path, f"house/some-v{number}", *settings)
        storage = minari.load_dataset(f"house/some-v{number}").storage
        assert [each["episode"] for each in storage.get_episode_metadata(range(storage.total_episodes))] == chosen
    assert digest(tmp_path / "run/store") == before
    for settings in (("export.minari.solver=[human]",), ("export.minari.round=7",)):
        words = ["minari", "house/none-v0", *tiny(tmp_path, *settings, house=HOUSE)]
        assert "has 6 episodes, and export.minari chooses none of them" in refused("export", words, capsys)
    assert not (tmp_path / "datasets/house/none-v0").exists()


def test_a_dataset_that_exists_is_replaced_on_request_only(
    tmp_path: Path, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(house, "house/taken-v0", "export.minari.episodes=1")
    words = ["minari", "house/taken-v0", *tiny(house, house=HOUSE)]
    said = refused("export", words, capsys)
    assert "house/taken-v0 exists already" in said and "export.minari.overwrite=true to replace it" in said
    assert len(minari.load_dataset("house/taken-v0")) == 1
    export(house, "house/taken-v0", "export.minari.overwrite=true")
    assert len(minari.load_dataset("house/taken-v0")) == 6
    assert [*minari.list_local_datasets()] == ["house/taken-v0"]
    assert sorted(each.name for each in (tmp_path / "datasets").iterdir()) == ["house"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")], ids=["Ctrl-C", "full"])
def test_an_export_writes_episode_by_episode_and_when_stopped_leaves_nothing(
    tmp_path: Path, house: Path, monkeypatch: pytest.MonkeyPatch, error: Any
) -> None:
    export(house, "house/kept-v0", "export.minari.episodes=1")
    before = digest(tmp_path / "datasets")
    reads = iter(range(10))

    def stopped(*arguments: Any) -> Any:
        if next(reads) == 3:
            (file,) = (tmp_path / "datasets").glob(".interplay-export.*/*/*/data/main_data.hdf5")
            assert len(minari.MinariDataset(file.parent)) == 3, "each episode is written before the next one is read"
            raise error
        return read(*arguments)

    read = export_stage._read
    monkeypatch.setattr(export_stage, "_read", stopped)
    code = 130 if error is KeyboardInterrupt else 1
    for dataset, settings in (("house/kept-v0", ("export.minari.overwrite=true",)), ("other/new-v0", ())):
        reads = iter(range(10))
        export(house, dataset, *settings, code=code)
        assert digest(tmp_path / "datasets") == before
        assert sorted(each.name for each in (tmp_path / "datasets").iterdir()) == ["house"]


def test_what_can_not_be_read_or_written_is_left_out_and_named(
    tmp_path: Path, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(house, tmp_path)
    with opened(tiny(tmp_path, house=HOUSE)).store() as store:
        first, second, third, *_ = store.ids()
        path, episode = store.root / store.path(first), store.read(third)
        said = [replace(each, text=f"{UTTERED}\0") for each in episode.meta.utterances]
        odd = replace(episode, meta=replace(episode.meta, id=f"{third[:-1]}x", utterances=tuple(said)))
        said = [replace(each, text=UTTERED) for each in episode.meta.utterances]
        fine = replace(episode, meta=replace(episode.meta, id=f"{third[:-1]}y", utterances=tuple(said)))
        for each in (odd, fine):
            store.append(each)
    path.write_bytes(b"damaged")
    export(tmp_path, "house/most-v0", code=1)
    out = capsys.readouterr().out
    assert "6 episodes written" in out
    assert f"1 episodes that can't be read or drawn, as {first}: " in out
    assert "1 episodes with a text that HDF5 can't store, as episode " in out
    dataset = minari.load_dataset("house/most-v0")
    assert next(iter(dataset.storage.get_episode_metadata([0])))["episode"] == second
    heard = {text for episode in dataset for text in episode.observations["heard"]}
    assert UTTERED in heard and all(text in dataset.observation_space["heard"] for text in heard)
    for file in (tmp_path / "run/store/episodes").glob("*/*.npz"):
        file.write_bytes(b"damaged")
    said_then = refused("export", ["minari", "house/none-v0", *tiny(tmp_path, house=HOUSE)], capsys)
    assert "no episode can be exported" in said_then and "8 episodes that can't be read" in said_then
    assert [*minari.list_local_datasets()] == ["house/most-v0"]


def cartpole(seed: int, steps: int = 12, before: int = 0) -> tuple[GymnasiumWorld, Episode]:
    """An episode that begins after some steps."""
    world = registry.make("gymnasium", id="CartPole-v1", instruction="balance", max_steps=before + steps)
    assert isinstance(world, GymnasiumWorld)
    views = world.reset(Start(seed=seed))
    right = {"solver": Action(np.ones((1, 1), np.int8))}
    left = {"solver": Action(np.zeros((1, 1), np.int8))}
    for step in range(before):
        views = world.step((left, right)[step % 2]).views
    recorder = EpisodeRecorder(world, players={})
    recorder.begin(seed=seed, views=views)
    for step in range(steps):
        actions = (left, right)[step % 2]
        recorder.record(actions, world.step(actions))
    return world, recorder.finish()


def own_rows(world: GymnasiumWorld, episode: Episode) -> Any:
    own = OwnObservations(world)
    try:
        return export_stage._own_rows(own, episode)
    finally:
        own.close()


def test_an_episode_that_begins_in_the_middle_has_no_seed_and_a_time_limit_truncates() -> None:
    world, whole = cartpole(5)
    rows = own_rows(world, whole)
    assert (rows.seed, rows.terminated, rows.truncated) == (5, False, True)
    assert export_stage._solver_rows(world, whole).seed == 5
    world, later = cartpole(5, before=3)
    rows = own_rows(world, later)
    assert rows.seed is None, "a reset with it would not lead to the first observation"
    np.testing.assert_array_equal(rows.observations, later.vectors["solver"])
    assert export_stage._solver_rows(world, later).seed is None


def test_an_episode_of_another_course_is_not_exported() -> None:
    world, episode = cartpole(5)
    vectors = episode.vectors["solver"].copy()
    vectors[4] += 0.01
    paid = episode.env_reward.copy()
    paid[6] = 0.5
    longer = {"solver": np.concatenate([episode.actions["solver"]] * 2)}
    for changed, words in (
        (replace(episode, vectors={"solver": vectors}), "after step 4, the vector is not the recorded one"),
        (replace(episode, env_reward=paid), r"after step 7, its reward was 0\.5 and is now 1"),
        (replace(episode, actions=longer, env_reward=np.ones(24, np.float32), vectors={}), "had 24 steps and now ends"),
    ):
        with pytest.raises(NotReenacted, match=words):
            own_rows(world, changed)
    with pytest.raises(ValueError, match="the state was saved by"):
        own_rows(GymnasiumWorld(GymnasiumConfig("CartPole-v1", instruction="balance")), episode)


class Chatty(gymnasium.Env[Any, Any]):
    """Shows a picture, a text and numbers in parts of parts, and in `odd` episodes a text that its space lacks."""

    observation_space = spaces.Dict(
        image=spaces.Box(0, 255, (8, 8, 3), np.uint8),
        mission=spaces.Text(9, charset="abc"),
        body=spaces.Tuple([spaces.Discrete(5), spaces.Dict(at=spaces.Box(-1, 1, (2,), np.float64))]),
    )
    action_space = spaces.MultiDiscrete([3, 2], start=[1, 0])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.count, self.odd = 0, seed == 1
        return self._observed(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.count += int(action[0])
        return self._observed(), 0.25, self.count > 6, False, {}

    def _observed(self) -> Any:
        place = {"at": np.full(2, self.count / 100)}
        text = "zzz" if self.odd and self.count else "abc"
        picture = np.full((8, 8, 3), self.count, np.uint8)
        return {"image": picture, "mission": text, "body": (self.count % 5, place)}


def test_parts_of_parts_and_texts_of_an_environment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gymnasium.register("Chatty-v0", f"{Chatty.__module__}:Chatty")
    try:
        env, settings = gymnasium.make("Chatty-v0"), ("env=gymnasium", "env.id=Chatty-v0")
        run = opened(tiny(tmp_path, house=settings))
        run.root.mkdir()
        run.record_config()
        world = run.make_world()
        with run.store() as store:
            for seed in (0, 1):
                recorder = EpisodeRecorder(world, players={})
                recorder.begin(seed=seed, views=world.reset(Start(seed=seed)))
                outcome = None
                while outcome is None or not outcome.done:
                    actions = {"solver": Action(np.array([[1, 1]], np.int8))}
                    outcome = world.step(actions)
                    recorder.record(actions, outcome)
                store.append(recorder.finish())
        export(tmp_path, "chatty/rows-v0", code=1)
        assert "1 episodes with a text that the dataset can't hold, as episode " in capsys.readouterr().out
        (data,) = minari.load_dataset("chatty/rows-v0")
        expected = played(env, 0, lambda env: np.array([2, 1]))
        assert_same(data.observations["image"], expected.observations["image"])
        assert data.observations["mission"] == ["abc"] * 5
        number, parts = data.observations["body"]
        assert number.tolist() == [0, 2, 4, 1, 3]
        np.testing.assert_allclose(parts["at"][:, 0], [0, 0.02, 0.04, 0.06, 0.08])
        assert data.actions.tolist() == [[2, 1]] * 4
        assert data.terminations.tolist() == [False] * 3 + [True] and not data.truncations.any()
    finally:
        del gymnasium.registry["Chatty-v0"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["minari"],
            r"minari and the id of a dataset to write, as: export minari house/recordings-v0; got \['minari'\]",
        ),
        (["mdc", "some/x-v0"], "takes no words, for the tables"),
        (["minari", "some/x-v0", "export.format=jsonl"], "export.format is about tables"),
        (["export.minari.split=train"], "export.minari.split is about a Minari dataset: type export minari DATASET"),
        (["export.minari.dataset=some/x-v0"], "type the id of the dataset after the verb"),
        (["minari", "some/x-v0", "export.minari.episodes=0"], "export.minari.episodes must be at least 1"),
    ],
)
def test_mistyped_words_are_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert re.search(said, refused("export", [*words, f"run.dir={tmp_path}"], capsys, code=2))


@pytest.mark.parametrize("name", ["recordings", "house/recordings", "../x-v0", "house/x-v", "/abs/x-v0", "x/y-v0"])
def test_an_id_that_minari_would_not_read_is_refused(
    name: str, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused("export", ["minari", name, *tiny(house, house=HOUSE)], capsys)
    assert f"{name!r} is no id of a Minari dataset: type NAME-vNUMBER" in said


def test_a_place_that_another_folder_takes_is_refused(
    tmp_path: Path, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also with export.minari.overwrite, which would otherwise remove the datasets in it."""
    export(house, "all-v0/first-v0", "export.minari.episodes=1")
    before = digest(tmp_path / "datasets")
    for name, words in (("all-v0", "is a folder of datasets"), ("all-v0/first-v0/second-v0", "first-v0 is a dataset")):
        typed = ["minari", name, *tiny(house, "export.minari.overwrite=true", house=HOUSE)]
        assert words in refused("export", typed, capsys)
    assert digest(tmp_path / "datasets") == before


def test_observations_of_an_environment_need_one(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["minari", "house/x-v0", *tiny(house, "export.minari.observations=environment", house=HOUSE)]
    assert "is for Gymnasium worlds, and this one is playhouse" in refused("export", words, capsys)


def test_a_missing_run_and_a_missing_package_are_named(tmp_path: Path, house: Path) -> None:
    script = (
        "import sys; sys.modules['minari'] = None\n"
        "from interplay.launch.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    for folder, words in ((house, "export minari needs the package 'minari'"), (tmp_path, "there is no run in")):
        typed = ["export", "minari", "house/x-v0", f"run.dir={folder}", "run.name=run"]
        ran = subprocess.run([sys.executable, "-c", script, *typed], capture_output=True, text=True, timeout=300)
        assert ran.returncode == 1 and "Traceback" not in ran.stderr and words in ran.stderr


def test_spaces_that_minari_lacks_are_refused(tmp_path: Path) -> None:
    sequence = replace(solver_form(spec(), ()), observations=spaces.Sequence(spaces.Discrete(2)))
    with (
        pytest.raises(ValueError, match="Minari can't store the spaces of this world"),
        writing("some/odd-v0", sequence, overwrite=False, jpeg=False, metadata={}, description="none"),
    ):
        pass
    assert not [*(tmp_path / "datasets").iterdir()]


def test_an_episode_for_which_the_disk_has_no_space_is_not_begun(tmp_path: Path) -> None:
    """HDF5 ends the process on a full disk, so that it could remove nothing and say nothing."""
    form = replace(solver_form(spec(), ()), observations=spaces.Box(0, 255, (2, 2, 3), np.uint8))
    picture = np.broadcast_to(np.uint8(0), (3, 10**5, 10**5, 3))  # 90 GB without its memory
    rows = MinariRows(np.broadcast_to(picture, (10**5, *picture.shape)), [1] * 2, np.zeros(2), False, True, None)
    with (
        pytest.raises(OSError, match=r"No space left on device for the next episode, which may need \d+ MB"),
        writing("some/huge-v0", form, overwrite=False, jpeg=False, metadata={}, description="none") as writer,
    ):
        writer.add(rows)
    assert not [*(tmp_path / "datasets").iterdir()]


def test_a_dataset_that_another_program_has_written_in_the_meantime_stays(tmp_path: Path) -> None:
    rows = MinariRows({"vector": np.zeros((3, 2), np.float32)}, [1] * 2, np.zeros(2), False, True, None)
    form, other = solver_form(spec(), ()), tmp_path / "datasets/some/rows-v0/data"
    with (
        pytest.raises(ValueError, match="some/rows-v0 exists already"),
        writing("some/rows-v0", form, overwrite=False, jpeg=False, metadata={}, description="none") as writer,
    ):
        writer.add(rows)
        other.mkdir(parents=True)
        (other / "mine").touch()
    assert [each.name for each in other.iterdir()] == ["mine"]
    assert [each.name for each in (tmp_path / "datasets").iterdir()] == ["some"]


def spec() -> WorldSpec:
    walk = (Component("walk", 3, 1),)
    return WorldSpec("walks", 1, ("solver",), 1, 10.0, None, 2, walk, utterances=False, poses=0)
