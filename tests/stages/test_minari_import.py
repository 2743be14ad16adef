"""interplay import minari: the episodes of a Minari dataset become recorded episodes of the same environment."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from minari.data_collector import EpisodeBuffer
from minari_files import bot_policy, played, random_policy, storable, write
from minigrid.wrappers import FullyObsWrapper
from tiny_runs import AGENT, SHORT, opened, refused, tiny

from interplay.env.world import Action, Start
from interplay.episodes.encoding import iter_readable
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import EpisodeRecorder
from interplay.launch.cli import main
from interplay.launch.compose import compose
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.stages.import_stage import import_corpus
from interplay.stages.run import Run, open_run
from interplay.stages.stage_folder import read_json

pytestmark = pytest.mark.usefixtures("own_datasets")

BABYAI = ("env=gymnasium", "env.id=BabyAI-GoToLocal-v0", "env.image=[14,14]")
CARTPOLE = ("env=gymnasium", "env.id=CartPole-v1", "env.instruction=balance the pole")
PAGE = (Path(__file__).parents[2] / "docs/own_data.md").read_text()
EXTENDING = (Path(__file__).parents[2] / "docs/extending.md").read_text()
BIG = 2**63 + 5  # half of the seeds that Minari draws are as large


def run_of(folder: Path, dataset: str, *settings: str) -> Run:
    return open_run(compose([f"run.dir={folder}", "corpus.name=minari", f"corpus.path={dataset}", *settings]))


def episodes_of(run: Run) -> list[Episode]:
    with run.store() as store:
        return list(iter_readable(store, store.ids()))


def counts(run: Run) -> Mapping[str, int]:
    """The numbers of the summary that the import wrote."""
    return {row["what"]: row["here"] for row in read_json(run.root / "corpus" / "minari_counts.json")["counts"]}


def cartpole(*seeds: int, **settings: Any) -> list[EpisodeBuffer]:
    """Episodes of CartPole with random actions, and its dataset cartpole/random-v0."""
    env = gymnasium.make("CartPole-v1")
    episodes = [played(env, seed, random_policy(seed)) for seed in seeds]
    write("cartpole/random-v0", env, episodes, **settings)
    return episodes


def recorded_directly(run: Run, seed: int, actions: Any) -> Episode:
    """What a scripted setter and a solver with these actions record in the run's world."""
    world = run.make_world()
    setter = ScriptedSetter(SetterConfig(delay_steps=(0, 0)), np.random.default_rng(0))
    views = world.reset(Start(seed=seed))
    recorder = EpisodeRecorder(world, players={}, world_config=json.loads(json.dumps(run.config.env)))
    recorder.begin(seed=seed, views=views)
    setter.begin(world, "setter")
    for step, action in enumerate(actions):
        asked = setter.act(views["setter"], world)
        if step == 0:
            assert setter.task is not None
            recorder.ask(setter.task.to_json())
        done = {"setter": asked, "solver": Action(np.array([[action]], np.int8))}
        recorder.record(done, world.step(done))
    return recorder.finish()


@pytest.mark.parametrize("world", [BABYAI, CARTPOLE], ids=["babyai", "cartpole"])
def test_imported_episodes_equal_those_recorded_with_the_same_seeds_and_actions(
    tmp_path: Path, world: tuple[str, ...]
) -> None:
    env = gymnasium.make(world[1].removeprefix("env.id="))
    policy = bot_policy() if world is BABYAI else random_policy(1)
    sources = [played(env, seed, policy) for seed in (3, BIG, 4)]
    write("some/demonstrations-v0", env, sources)
    run = run_of(tmp_path, "some/demonstrations-v0", *world)
    import_corpus(run)
    imported = episodes_of(run)
    assert [each.meta.seed for each in imported] == [3, BIG, 4]
    for number, (source, here) in enumerate(zip(sources, imported, strict=True)):
        direct = recorded_directly(run, source.seed, source.actions)
        assert here.meta.players == {
            "setter": {"kind": "scripted"},
            "solver": {"kind": "scripted", "source": f"minari/some/demonstrations-v0/{number}"},
        }
        same = {"id": "", "created": 0.0, "players": {}}
        assert replace(here.meta, **same) == replace(direct.meta, **same)
        assert here.initial_state == direct.initial_state
        mission = source.observations["mission"][0] if world is BABYAI else "balance the pole"
        assert [(said.frame, said.role, said.text) for said in here.meta.utterances] == [(0, "setter", mission)]
        np.testing.assert_array_equal(here.actions["solver"][:, 0], source.actions)
        for ours, theirs in (
            (here.env_reward, direct.env_reward),
            (here.actions["setter"], direct.actions["setter"]),
            (here.images.get("solver", 0), direct.images.get("solver", 0)),
            (here.vectors["solver"], direct.vectors["solver"]),
        ):
            np.testing.assert_array_equal(ours, theirs)
    if world is CARTPOLE:
        np.testing.assert_array_equal(imported[0].vectors["solver"], sources[0].observations)


def test_an_import_continues_and_repeats_nothing(tmp_path: Path) -> None:
    cartpole(*range(12))
    first = run_of(tmp_path, "cartpole/random-v0", *CARTPOLE, "corpus.episodes=4")
    import_corpus(first)
    assert counts(first)["episodes written"] == 4
    folder = tmp_path / "datasets/cartpole/random-v0"
    for named, written in ((str(folder), 8), (str(folder / "data"), 0)):
        run = run_of(tmp_path, named, *CARTPOLE)
        assert "12 episodes of cartpole/random-v0" in import_corpus(run)
        assert counts(run)["episodes written"] == written
        assert counts(run)["in the store before, or deleted"] == 12 - written
    episodes = episodes_of(run)
    assert [each.meta.seed for each in episodes] == [*range(12)]
    assert [each.meta.seed for each in episodes if each.meta.split == "heldout"] == [9]


class Tiles(gymnasium.Env[Any, Any]):
    """Pictures that Minari compresses: a bright square that moves. It ends where `stopped` says, as by Ctrl-C."""

    observation_space = spaces.Box(0, 255, (40, 40, 3), np.uint8)
    action_space = spaces.Discrete(3)
    stopped = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed == 2 and Tiles.stopped:
            raise KeyboardInterrupt
        self.at = int(self.np_random.integers(30))
        return self.observed(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at = min(max(self.at + action - 1, 0), 34)
        return self.observed(), 0.5, False, False, {}

    def observed(self) -> Any:
        picture = np.full((40, 40, 3), (10, 200, 90), np.uint8)
        picture[self.at : self.at + 4, self.at : self.at + 4] = (250, 20, 60)
        return picture


@pytest.fixture
def tiles(monkeypatch: pytest.MonkeyPatch) -> gymnasium.Env[Any, Any]:
    monkeypatch.setitem(gymnasium.registry, "Tiles-v0", gymnasium.envs.registration.EnvSpec("Tiles-v0", Tiles))
    monkeypatch.setattr(Tiles, "stopped", False)
    gymnasium.registry["Tiles-v0"].entry_point = f"{Tiles.__module__}:Tiles"  # as a text it can be stored
    return gymnasium.make("Tiles-v0")


TILES = ("env=gymnasium", "env.id=Tiles-v0", "env.instruction=move the square")


def test_a_dataset_that_names_no_environment_is_compared_with_that_of_the_world(tmp_path: Path) -> None:
    """As one that a program has made of its own rows."""
    env = gymnasium.make("BabyAI-GoToLocal-v0", max_steps=9)
    episodes = [played(env, seed, random_policy(seed)) for seed in range(2)]
    episodes[1].observations["direction"][3] ^= 1
    space = storable(env.observation_space)
    write("some/unnamed-v0", None, episodes, observation_space=space, action_space=env.action_space)
    run = run_of(tmp_path, "some/unnamed-v0", *BABYAI)
    assert "1 takes another course" in import_corpus(run)
    assert [each.meta.seed for each in episodes_of(run)] == [0]
    with pytest.raises(ValueError, match=r"this world is playhouse: type env=gymnasium env\.id=ID"):
        import_corpus(run_of(tmp_path / "other", "some/unnamed-v0", "env=room"))


@pytest.mark.parametrize("compressed", [True, False])
def test_pictures_are_compared_as_minari_stores_them(
    tmp_path: Path, tiles: gymnasium.Env[Any, Any], compressed: bool
) -> None:
    episodes = [played(tiles, seed, random_policy(seed), steps=6) for seed in range(2)]
    episodes[1].observations[3] = np.roll(episodes[1].observations[3], 1, axis=0)  # the square is a pixel lower
    write("tiles/some-v0", tiles, episodes, jpeg_encoding=compressed)
    run = run_of(tmp_path, "tiles/some-v0", *TILES)
    told = import_corpus(run)
    assert "minari/tiles/some-v0/1 takes another course" in told
    assert "after step 3, the observation is not the recorded one" in told
    (episode,) = episodes_of(run)
    np.testing.assert_array_equal(episode.images["solver"], episodes[0].observations)


def test_a_stopped_import_keeps_what_it_has_written(
    tmp_path: Path, tiles: gymnasium.Env[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("tiles/some-v0", tiles, [played(tiles, seed, random_policy(seed), steps=3) for seed in range(4)])
    run = run_of(tmp_path, "tiles/some-v0", *TILES)
    monkeypatch.setattr(Tiles, "stopped", True)
    with pytest.raises(KeyboardInterrupt):
        import_corpus(run)
    assert [each.meta.seed for each in episodes_of(run)] == [0, 1]
    assert read_json(run.root / "config.json")["env"]["id"] == "Tiles-v0"
    monkeypatch.setattr(Tiles, "stopped", False)
    import_corpus(run)
    assert [each.meta.seed for each in episodes_of(run)] == [0, 1, 2, 3]


def test_what_the_recorded_player_saw_need_not_be_what_the_world_shows(tmp_path: Path) -> None:
    """MiniGrid's wrappers do not record their arguments."""
    env = FullyObsWrapper(gymnasium.make("BabyAI-GoToLocal-v0"))
    write("babyai/all-v0", env, [played(env, seed, random_policy(seed), steps=5) for seed in range(2)])
    run = run_of(tmp_path, "babyai/all-v0", *BABYAI)
    import_corpus(run)
    assert [each.images["solver"].shape for each in episodes_of(run)] == [(6, 14, 14, 3)] * 2


def changed(episode: EpisodeBuffer, part: str, at: int, value: Any) -> EpisodeBuffer:
    """A copy with another value in one row."""
    rows = [*getattr(episode, part)]
    rows[at] = value
    return replace(episode, **{part: rows})


def test_what_cannot_be_replayed_is_left_out_by_reason(tmp_path: Path) -> None:
    env = gymnasium.make("CartPole-v1")
    good = played(env, 1, random_policy(1), steps=5)
    last = played(env, 2, random_policy(2))
    assert last.terminations[-1]
    beyond = replace(
        last,
        actions=[*last.actions, 0],
        observations=[*last.observations, last.observations[-1]],
        rewards=[*last.rewards, 1.0],
        terminations=[*last.terminations, False],
        truncations=[*last.truncations, True],
    )
    episodes = [
        good,
        replace(good, seed=None),
        replace(good, options={"low": -0.01}),
        replace(good, options={"minari_autoseed": True}),
        changed(good, "observations", 2, good.observations[2] + np.float32(0.01)),
        changed(good, "rewards", 3, 0.5),
        changed(good, "terminations", 4, True),
        changed(good, "actions", 4, 7),
        replace(good, seed=3),
        beyond,
        replace(good, observations=good.observations[:-1]),
        replace(good, truncations=good.truncations[:-1]),
        changed(last, "terminations", -1, False),
    ]
    write("cartpole/mixed-v0", env, episodes, requirements=["gymnasium==0.29.1"])
    run = run_of(tmp_path, "cartpole/mixed-v0", *CARTPOLE)
    told = import_corpus(run)
    assert [each.meta.seed for each in episodes_of(run)] == [1, 1]
    assert counts(run) == {
        "episodes of cartpole/mixed-v0": 13,
        "in the store before, or deleted": 0,
        "episodes written": 2,
        "episodes without a seed": 1,
        "episodes that began with options": 1,
        "episodes with actions that the world lacks": 1,
        "episodes that take another course": 7,
        "episodes that can't be read": 1,
    }
    for words in (
        "minari/cartpole/mixed-v0/1 has no seed",
        "began with the options ['low'] of a reset",
        "mixed-v0/7: the action 7 is none of Discrete(2)",
        "mixed-v0/4 takes another course when its actions are executed again from its seed: after step 2, the "
        "observation is not the recorded one; the dataset was recorded with gymnasium==0.29.1",
    ):
        assert words in told


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda good: changed(good, "rewards", 3, 0.5), "after step 4, its reward was 0.5 and is now 1"),
        (lambda good: changed(good, "terminations", 4, True), "after step 5, it was terminated and is not now"),
        (lambda good: changed(good, "truncations", 2, True), "after step 3, it was recorded for 5 steps and ends here"),
        (lambda good: replace(good, seed=3), "after its reset, the observation is not the recorded one"),
        (lambda good: replace(good, seed=None), "has no seed"),
    ],
)
def test_a_dataset_without_an_episode_that_can_be_replayed_is_refused(
    tmp_path: Path, change: Any, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    env = gymnasium.make("CartPole-v1")
    write("cartpole/bad-v0", env, [change(played(env, 1, random_policy(1), steps=5))])
    settings = ["minari", "cartpole/bad-v0", *tiny(tmp_path, house=CARTPOLE)]
    said = refused("import", settings, capsys)
    assert "no episode of the Minari dataset cartpole/bad-v0 can be imported" in said and words in said
    assert not (tmp_path / "run").exists(), "a refused command leaves no run"


def test_continuous_actions_are_imported_if_they_are_bins_of_the_world(tmp_path: Path) -> None:
    env = gymnasium.make("Pendulum-v1")
    forces = iter([-2.0, 1.0, 0.0, 2.0, 0.7, 0.7])
    episodes = [
        played(env, seed, lambda env: np.array([next(forces)], np.float32), steps=steps)
        for seed, steps in ((0, 4), (1, 2))
    ]
    write("pendulum/some-v0", env, episodes)
    run = run_of(tmp_path, "pendulum/some-v0", "env=gymnasium", "env.id=Pendulum-v1", "env.instruction=up")
    assert "is at none of the bins [[-2.0, -1.0, 0.0, 1.0, 2.0]]; choose other bins by env.bins" in import_corpus(run)
    (episode,) = episodes_of(run)
    assert episode.actions["solver"].tolist() == [[0], [3], [2], [4]]


def test_a_shorter_time_limit_of_the_world_is_named(tmp_path: Path) -> None:
    cartpole(1)
    run = run_of(tmp_path, "cartpole/random-v0", *CARTPOLE, "env.max_steps=3")
    with pytest.raises(ValueError, match=r"in this world .*: after step 3, it was recorded .* env\.max_steps sets"):
        import_corpus(run)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (("env=room",), r"this world is playhouse: type env=gymnasium env\.id=CartPole-v1"),
        (("env=gymnasium", "env.id=Acrobot-v1"), r"in CartPole-v1, .* of Acrobot-v1: type env\.id=CartPole-v1"),
        (("env=gymnasium", "env.id=CartPole-v1"), "no instruction that a setter could give; set one"),
        ((*CARTPOLE, "env.kwargs={sutton_barto_reward: true}"), r"settings {}, .*: leave out env\.kwargs$"),
    ],
)
def test_a_world_of_another_environment_is_refused(tmp_path: Path, settings: tuple[str, ...], words: str) -> None:
    cartpole(1)
    with pytest.raises(ValueError, match=words):
        import_corpus(run_of(tmp_path, "cartpole/random-v0", *settings))


def test_the_settings_of_a_dataset_are_named_as_they_are_typed(tmp_path: Path) -> None:
    env = gymnasium.make("BabyAI-GoToLocal-v0", max_steps=20)
    write("babyai/short-v0", env, [played(env, 1, random_policy(1))])
    with pytest.raises(ValueError, match=r"type '(env\.kwargs={max_steps: 20})' and leave out env\.max_steps") as error:
        import_corpus(run_of(tmp_path, "babyai/short-v0", *BABYAI))
    typed = str(error.value).split("'")[-2]
    import_corpus(run_of(tmp_path, "babyai/short-v0", *BABYAI, typed))


def rewritten(folder: Path, **fields: Any) -> None:
    """Replaces fields of the metadata of a dataset; None removes one."""
    file = folder / "data/metadata.json"
    metadata = {**json.loads(file.read_text()), **fields}
    file.write_text(json.dumps({name: value for name, value in metadata.items() if value is not None}))


def test_a_dataset_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    cartpole(1)
    folder = tmp_path / "datasets/cartpole/random-v0"
    spec = json.loads(json.loads((folder / "data/metadata.json").read_text())["env_spec"])
    wrapped = {**spec, "additional_wrappers": [{"name": "Lost", "entry_point": "lost:Lost", "kwargs": None}]}
    three = {"type": "Discrete", "dtype": "int64", "start": 0, "n": 3}
    for fields, words in (
        ({"action_space": json.dumps(three)}, r"has the actions Discrete\(3\), and CartPole-v1 has Discrete\(2\)"),
        ({"env_spec": json.dumps(wrapped)}, r"\['lost:Lost'\], .* can't be made: ModuleNotFoundError: No module"),
        ({"minari_version": "9.9.9"}, "can't be read: ValueError: The installed Minari .* not support .* 9.9.9"),
        ({"data_format": "zip"}, "can't be read: KeyError: 'zip'"),
    ):
        before = (folder / "data/metadata.json").read_text()
        rewritten(folder, **fields)
        with pytest.raises(ValueError, match=words):
            import_corpus(run_of(tmp_path, "cartpole/random-v0", *CARTPOLE))
        (folder / "data/metadata.json").write_text(before)
    (folder / "data/main_data.hdf5").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="1 episodes that can't be read, as minari/cartpole/random-v0/0: OSError"):
        import_corpus(run_of(tmp_path, "cartpole/random-v0", *CARTPOLE))
    with pytest.raises(ValueError, match=r"there is no Minari dataset 'cartpole/none-v0' .* minari download"):
        import_corpus(run_of(tmp_path, "cartpole/none-v0", *CARTPOLE))
    with pytest.raises(ValueError, match=r"corpus\.episodes=0 imports tasks only"):
        run_of(tmp_path, "cartpole/random-v0", *CARTPOLE, "corpus.episodes=0")


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['minari'] = None\n"
        "from interplay.launch.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    words = ["import", "minari", "cartpole/random-v0", *tiny(tmp_path, house=CARTPOLE)]
    ran = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 1 and "Traceback" not in ran.stderr
    assert "needs the package 'minari', which is not installed" in ran.stderr
    assert "pip install '.[gymnasium,minari]'" in ran.stderr


@pytest.mark.slow
def test_the_commands_of_the_page_import_episodes_and_train_on_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    env = gymnasium.make("BabyAI-GoToLocal-v0")
    write("babyai/bot-v0", env, [played(env, BIG + seed, bot_policy()) for seed in range(20)])
    monkeypatch.chdir(tmp_path)
    block, _ = re.findall(r"^```bash\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)  # the other one exports
    commands = [line.split()[1:] for line in block.splitlines()]
    assert [verb for verb, *_ in commands] == ["import", "clone", "mark", "reward"]
    for words in commands:
        assert main([*words, *AGENT, *SHORT]) == 0, words
    settings = commands[-1][1:]
    blocks = re.findall(r"```python\n(.*?)^```", EXTENDING, re.DOTALL | re.MULTILINE)
    (reading,) = [code for code in blocks if "import resimulate" in code]
    capsys.readouterr()
    exec(reading.replace("runs/demo", "runs/minari"), {})
    assert re.search(r"\(\d+, 1\) \[\(0, 'setter', 'go to .*'\)\] \[\(\d+, 'rater-1', 1\)\]", capsys.readouterr().out)
    cloned = opened(settings).stage("clone").record()
    assert cloned["episodes"] == 18
    assert cloned["vocabulary"] > 5
    assert opened(settings).stage("mark").record()["marks"] >= 15
