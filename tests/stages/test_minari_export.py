"""interplay export minari: what a dataset holds, as Minari reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium
import minari
import numpy as np
import pytest
import torch
from gymnasium import spaces
from minari_files import bot_policy, played, random_policy, write
from minari_house import HOUSE, export
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.env.world import Action, Start
from interplay.episodes.decoded_episode import resimulate
from interplay.episodes.episode import Episode, Mark
from interplay.episodes.recorder import EpisodeRecorder
from interplay.launch.cli import main

pytestmark = pytest.mark.usefixtures("own_datasets")
BABYAI = ("env=gymnasium", "env.id=BabyAI-GoToLocal-v0", "env.image=[14,14]")
CARTPOLE = ("env=gymnasium", "env.id=CartPole-v1", "env.instruction=balance the pole")
PENDULUM = ("env=gymnasium", "env.id=Pendulum-v1", "env.instruction=swing up", "env.max_steps=30")
MARKED = "rater/odd"


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
    packages = ["gymnasium", *(["minigrid"] if world is BABYAI else [])]
    named = copy.storage.metadata["requirements"]
    assert named == [f"{name}=={version(name)}" for name in packages], "those that recover the environment"
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
