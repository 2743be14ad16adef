"""Learned setters: cloned on the setter's side, at play in the setter's seat, refused in the solver's."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from outcomes import assert_equal_nested
from test_solver_alone import SolverAlone
from tiny_runs import copied, interplay, opened, refused, rows, tiny

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner import checkpoint
from interplay.learner.agents import load_agent
from interplay.stages import evaluate_stage, free_play_stage
from interplay.stages.clone_stage import clone_setter
from interplay.stages.collect_stage import collect
from interplay.stages.shared_parts import Demonstrations, Share, dataset_actor
from interplay.stages.stage_folder import write_json


@pytest.fixture(scope="module")
def with_setter(rewarded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run up to its reward model and its learned setter, to be copied."""
    root = copied(rewarded, tmp_path_factory.mktemp("setter"))
    interplay("clone-setter", tiny(root))
    return root


def test_a_setter_is_cloned_from_the_setters_side(with_setter: Path) -> None:
    run = opened(tiny(with_setter))
    (setter, words), (solver, _) = (load_agent(run.stage(name).checkpoints) for name in ("clone-setter", "clone"))
    assert (setter.layout.role, solver.layout.role) == ("setter", "solver")
    with run.store() as store:
        said = {u.text for name in store.ids(split="train") for u in store.read(name).meta.utterances}
    assert said and all(word in words for text in said for word in text.replace("?", "").split())
    assert [row["step"] for row in rows(with_setter / "run/clone-setter/metrics.jsonl")] == [1, 2, 3, 4]
    assert run.stage("clone-setter").record()["finished"]


def test_the_utterances_to_imitate_are_the_setters(with_setter: Path) -> None:
    run = opened(tiny(with_setter))
    agent, words = load_agent(run.stage("clone-setter").checkpoints)
    snapshot = Snapshot(run.snapshot_path("clone-setter"))
    what = Demonstrations("clone-setter", snapshot.path, agent.layout, words, run.config.clone.dataset)
    demonstrated = dataset_actor(run, what).unroll()
    spoken = [words.decode(tokens) for tokens in demonstrated.arrays["tokens"][demonstrated.arrays["spoke"]]]
    metas = [snapshot.read(name).meta for name in snapshot.ids]
    asked = {words.decode(words.encode(u.text, 99)) for meta in metas for u in meta.utterances if u.role == "setter"}
    assert spoken and all(any(one.startswith(text) for one in asked) for text in spoken)


def test_actors_share_the_windows_around_utterances(with_setter: Path) -> None:
    run = opened(tiny(with_setter, "clone.dataset.around_utterances=0.5", "clone.dataset.lanes=4"))
    agent, words = load_agent(run.stage("clone-setter").checkpoints)
    snapshot, dataset = run.snapshot_path("clone-setter"), run.config.clone.dataset
    actor = dataset_actor(run, Demonstrations("clone-setter", snapshot, agent.layout, words, dataset), Share(1, 2))
    spoken = actor.state()["spoken"]
    assert (spoken["rank"], spoken["world_size"], spoken["spoken by"]) == (1, 2, "setter")


@pytest.mark.parametrize(
    ("verb", "setting"),
    [
        ("reinforce", "reinforce.start=clone-setter"),
        ("reward", "reward.start=clone-setter"),
        ("collect-agent", "collect_agent.solver_agent=clone-setter"),
    ],
)
def test_a_setter_is_refused_in_the_solvers_seat(
    with_setter: Path, tmp_path: Path, verb: str, setting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(with_setter, tmp_path)
    for path in (root / "run").glob(f"{verb}/stage.json"):
        path.unlink()
    said = refused(verb, tiny(root, setting, "collect_agent.episodes=20"), capsys)
    assert "plays the setter, and a solver is wanted here" in said


def test_a_world_without_a_setter_has_none_to_clone(with_setter: Path) -> None:
    run = opened(tiny(with_setter))
    with pytest.raises(ValueError, match="has no setter to clone: its only role is 'solver'"):
        clone_setter(SolverAlone(run.root, run.config))


def test_a_checkpoint_of_an_older_version_plays_the_solver(with_setter: Path, tmp_path: Path) -> None:
    found = checkpoint.read(copied(with_setter, tmp_path) / "run" / "clone" / "checkpoints")
    file = found.path / "checkpoint.json"
    text = file.read_text()
    assert '"role": "solver"' in text
    file.write_text(text.replace('"role": "solver",', "").replace(', "role": "solver"', ""))
    assert load_agent(found.path.parent)[0].layout.role == "solver"


LEARNED = ("reinforce.actor.learned_setters=0.5",)


def test_an_agent_is_recorded_with_a_learned_setter(
    with_setter: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = tiny(copied(with_setter, tmp_path), "run.round=2", "collect_agent.setter_agent=clone-setter")
    run = opened(settings)
    setter = run.stage("clone-setter")
    write_json(setter.path / "stage.json", {**setter.record(), "finished": False})
    collect(run, replace(run.config.collect_agent, solver_agent="clone"), "collect-agent")
    assert "clone-setter has not finished, and collect-agent begins with its agent of update 4" in caplog.text
    with run.store() as store:
        metas = [store.read(name).meta for name in store.ids(round=2)]
    assert len(metas) == 6
    for meta in metas:
        assert meta.players["setter"]["kind"] == meta.players["solver"]["kind"] == "agent"
        assert "/clone-setter/checkpoints/" in meta.players["setter"]["checkpoint"]
        assert meta.tasks == ()


def test_free_play_with_another_setter_or_by_other_rules_is_not_compared(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As after an evaluation that was stopped between two agents and continued with other settings."""
    run = opened(tiny(tmp_path))
    folder = run.stage("evaluate").path / free_play_stage.FOLDER
    folder.mkdir(parents=True)
    setter = {"stage": "clone-setter", "update": 4}
    first = {"setter": {**setter, "weights": "a"}, "rules": {"steps": 8}, "seeds": [1]}
    changed = {
        "bc": {},
        "bc_rl": {"rules": {"steps": 6}},
        "longer": {"setter": {**setter, "weights": "b"}},
        "older": {"setter": setter},  # of a version that did not state the weights
    }
    for name, change in changed.items():
        episodes = [{"seed": 1, "steps": 8, "requests": [], "utterances": 0}]
        (folder / f"{name}.json").write_text(json.dumps({**first, **change, "episodes": episodes}))
    assert list(free_play_stage.comparable_free_play(run, changed)) == ["bc", "older"]
    assert "bc_rl played freely with another setter than bc, or by other rules" in caplog.text
    assert "longer played freely" in caplog.text


@pytest.mark.slow
def test_agents_are_evaluated_with_a_learned_setter(
    with_setter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(with_setter, tmp_path)
    learned = ("evaluate.setter_agent=clone-setter", "evaluate.setter_episodes=3", "evaluate.setter_steps=8")
    settings = tiny(root, *learned, "evaluate.kinds=[go]", "evaluate.limits.go=9")
    interplay("evaluate", settings)
    file = root / "run/evaluate/free-play/bc.json"
    kept = json.loads(file.read_text())
    setter = checkpoint.read(root / "run/clone-setter/checkpoints")
    assert kept["setter"] == {"stage": "clone-setter", "update": 4, "weights": setter.fingerprint}
    assert kept["agent"]["stage"] == "clone" and "color" in kept["rules"]["kinds"], "as the setter asks"
    assert kept["rules"]["limits"] == {"go": 9}, "as that of the probes"
    assert [episode["steps"] for episode in kept["episodes"]] == [8, 8, 8]
    assert [episode["seed"] for episode in kept["episodes"]] == kept["seeds"]
    written = file.stat().st_mtime_ns
    interplay("evaluate", settings)
    assert file.stat().st_mtime_ns == written  # what has been played is not played again
    interplay("report", settings)
    summary = json.loads((root / "run/summary.json").read_text())["free_play"]["bc"]
    requests = [request for episode in kept["episodes"] for request in episode["requests"]]
    assert (summary["episodes"], summary["requests"]) == (3, len(requests))
    assert "With a learned setter" in (root / "run/report.html").read_text()
    snapshot = Snapshot(opened(settings).snapshot_path("clone-setter"))
    asked = Counter(task["kind"] for meta in snapshot.metas(EpisodeFilter(split="train")) for _, task in meta.tasks)
    shown = json.loads((root / "run/summary.json").read_text())["free_play_kinds"]
    recorded = {kind: share["value"] for kind, share in shown["recorded"].items()}
    assert recorded == {kind: count / asked.total() for kind, count in asked.items()} and "bc" in shown
    shutil.rmtree(root / "run/clone-setter")
    interplay("clone-setter", [*settings, "clone.learner.learning_rate=0.01"])
    interplay("evaluate", settings)
    trained_again = json.loads(file.read_text())["setter"]
    assert trained_again["update"] == 4 and trained_again["weights"] != kept["setter"]["weights"]
    interplay("evaluate", [*settings, "evaluate.setter_steps=6"])
    assert json.loads(file.read_text())["rules"]["steps"] == 6
    said = refused("evaluate", [*settings, "evaluate.setter_agent=clone"], capsys)
    assert "plays the solver, and a setter is wanted here" in said


@pytest.mark.parametrize(
    ("verb", "module", "function"),  # called after the checkpoint has been stated and before one is loaded
    [("clone", evaluate_stage, "has_results"), ("clone-setter", free_play_stage, "learned_setters")],
)
def test_free_play_with_a_player_that_was_trained_meanwhile_is_not_kept(
    with_setter: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: str,
    module: ModuleType,
    function: str,
) -> None:
    root = copied(with_setter, tmp_path)
    probes = ("evaluate.kinds=[go]", "evaluate.expert=false", "evaluate.chance=false")
    learned = ("evaluate.setter_agent=clone-setter", "evaluate.setter_episodes=1", "evaluate.setter_steps=4")
    interplay("evaluate", tiny(root, *probes))
    original = getattr(module, function)

    def slowly(*arguments: Any) -> Any:
        interplay(verb, tiny(root, "clone.training.updates=6"))
        return original(*arguments)

    monkeypatch.setattr(module, function, slowly)
    said = refused("evaluate", tiny(root, *probes, *learned), capsys)
    assert f"{verb} was trained on while bc played: from update 4 to 6" in said
    assert not (root / "run/evaluate/free-play/bc.json").exists()
    monkeypatch.undo()
    interplay("evaluate", tiny(root, *probes, *learned))
    kept = json.loads((root / "run/evaluate/free-play/bc.json").read_text())
    assert kept["agent" if verb == "clone" else "setter"]["update"] == 6


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["true", "false"])
def test_reinforcement_with_learned_setters_resumes_bit_for_bit(
    with_setter: Path, tmp_path: Path, overlap: str
) -> None:
    straight, stopped = (copied(with_setter, tmp_path / name) for name in ("straight", "stopped"))
    more = (*LEARNED, f"runtime.overlap={overlap}", "reinforce.training.checkpoint_every=3")
    interplay("reinforce", tiny(straight, *more, "reinforce.training.updates=7"))
    interplay("reinforce", tiny(stopped, *more, "reinforce.training.updates=3"))
    interplay("reinforce", tiny(stopped, *more, "reinforce.training.updates=7"))
    mine, theirs = (checkpoint.read(root / "run" / "reinforce" / "checkpoints") for root in (straight, stopped))
    assert mine.step == theirs.step == 7
    assert_equal_nested(mine.weights(), theirs.weights(), "agent.pt")
    assert_equal_nested(mine.training(), theirs.training(), "training.pt")
    lanes = mine.training()["rollout"]["lanes"][0]["actor"]
    assert lanes["setters"]["inputs"]["first"].shape == (1, 1)  # one of two lanes


def test_a_missing_setter_and_a_solver_in_its_seat_are_refused(
    with_setter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(with_setter, tmp_path)
    said = refused("reinforce", tiny(root, *LEARNED, "reinforce.setter_agent=clone"), capsys)
    assert "plays the solver, and a setter is wanted here" in said
    said = refused("reinforce", tiny(root, *LEARNED, "reinforce.setter_agent=nobody"), capsys)
    assert "no checkpoint of the stage 'nobody'" in said
    shutil.rmtree(root / "run" / "clone-setter")
    said = refused("reinforce", tiny(root, *LEARNED), capsys)
    assert "type: interplay clone-setter run.name=run" in said
    assert not (root / "run" / "reinforce" / "stage.json").exists()
    scripted = refused("collect", tiny(root, "collect.setter_agent=clone-setter"), capsys, code=2)
    assert "set solver=agent" in scripted
    for reward in ("scripted", "success"):
        paid = refused("reinforce", tiny(root, *LEARNED, f"reinforce.reward={reward}"), capsys, code=2)
        assert "a learned setter states no task" in paid


def test_a_setter_of_another_world_is_refused(
    with_setter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = with_setter / "run" / "clone-setter" / "checkpoints"
    other = tiny(tmp_path, "env.image=[24,32]", *LEARNED, f"reinforce.setter_agent={path}", "reinforce.reward=world")
    for verb in ("collect", "clone"):
        interplay(verb, other)
    assert "is for another world: image is [16, 24, 3] there" in refused("reinforce", other, capsys)


@pytest.mark.parametrize(
    ("verb", "settings"),
    [
        ("reinforce", (*LEARNED, "reinforce.setter_agent=PATH")),
        ("collect-agent", ("collect_agent.setter_agent=PATH", "collect_agent.episodes=30")),
        ("evaluate", ("evaluate.setter_agent=PATH", "evaluate.kinds=[go]")),
    ],
)
def test_a_setter_from_elsewhere_whose_words_the_agent_does_not_know_is_refused(
    with_setter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str, settings: tuple[str, ...]
) -> None:
    root, elsewhere = copied(with_setter, tmp_path / "here"), tmp_path / "elsewhere"
    shutil.copytree(root / "run" / "clone-setter" / "checkpoints", elsewhere)
    file = checkpoint.read(elsewhere).path / "checkpoint.json"
    fields = json.loads(file.read_text())
    own = Vocabulary.from_json(fields["vocabulary"])
    fields["vocabulary"] = Vocabulary([f"zebra-{number}" for number in range(len(own.words))]).to_json()
    file.write_text(json.dumps(fields))
    named = [setting.replace("PATH", str(elsewhere)) for setting in settings]
    shutil.rmtree(root / "run" / "collect-agent", ignore_errors=True)
    said = refused(verb, tiny(root, *named), capsys)
    assert "the agent of" in said and "100.0% of those spoken: zebra-0" in said
