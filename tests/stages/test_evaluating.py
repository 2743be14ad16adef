"""The evaluate stage: what it keeps when it is typed again with other settings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from event_files import needs_tensorboard, shown_by_tensorboard
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.evaluation.probes import ProbesConfig
from interplay.learner import checkpoint
from interplay.runtime.interruption import Interrupted
from interplay.stages import evaluate_stage, probe_files
from interplay.stages.probe_files import read_films
from interplay.tracking.tensorboard_sink import EVENT_FILES

PROBES = ("evaluate.kinds=[go,exist]", "evaluate.episodes=3", "env.objects=[4,5]")


def content(root: Path, name: str) -> Any:
    return json.loads((root / "run" / "evaluate" / name).read_text())


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run whose clone has been evaluated."""
    root = tmp_path_factory.mktemp("evaluated")
    for verb in ("collect", "clone", "evaluate"):
        interplay(verb, tiny(root, *PROBES))
    return root


def test_chance_is_measured_again_with_another_number_of_draws(evaluated: Path, tmp_path: Path) -> None:
    root = copied(evaluated, tmp_path)
    first = content(root, "chance.json")
    assert first["go"]["draws"] == 5 and first["exist"]["interval"] is None
    clone = (root / "run" / "evaluate" / "bc.json").stat().st_mtime_ns
    interplay("evaluate", tiny(root, *PROBES))
    assert content(root, "chance.json") == first, "the same draws are not repeated"
    interplay("evaluate", tiny(root, *PROBES, "evaluate.chance_draws=2"))
    assert content(root, "chance.json")["go"]["draws"] == 2
    assert (root / "run" / "evaluate" / "bc.json").stat().st_mtime_ns == clone, "the agent did not play again"


@needs_tensorboard
def test_dashboards_get_the_means_of_the_newest_evaluation(evaluated: Path, tmp_path: Path) -> None:
    root = copied(evaluated, tmp_path)
    shown = [*PROBES, "tracking.tensorboard=true"]
    interplay("evaluate", tiny(root, *shown))
    stage = root / "run" / "evaluate"
    assert not list(stage.glob(EVENT_FILES)), "nothing was measured"
    for number in (1, 2):
        (stage / "bc.json").unlink()
        interplay("evaluate", tiny(root, *shown))
        curves, _ = shown_by_tensorboard(stage)
        assert {len(rows) for rows in curves.values()} == {1}, f"evaluation {number}"
    for name, words in (("success", "results"), ("success_other_words", "counterfactuals")):
        for player in ("bc", "expert"):
            solved = [each["success_step"] is not None for each in content(root, f"{player}.json")[words]]
            assert curves[f"{name}/{player}"] == [(1, pytest.approx(np.mean(solved)))], (name, player)
    walks = [each["measures"]["walk"] for each in content(root, "bc.json")["results"] if each["kind"] == "go"]
    assert curves["walk/bc/go"] == [(1, pytest.approx(np.mean(walks)))]
    assert {"success/expert/go", "success/bc/exist"} <= curves.keys()


@needs_tensorboard
def test_an_evaluation_that_was_stopped_after_its_last_result_shows_its_means_when_it_continues(
    evaluated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = copied(evaluated, tmp_path)
    shown, stage = [*PROBES, "tracking.tensorboard=true"], root / "run" / "evaluate"
    for name in ("bc.json", "chance.json"):
        (stage / name).unlink()
    with monkeypatch.context() as stopped, pytest.raises(Interrupted):
        stopped.setattr(evaluate_stage, "measure_chance", Mock(side_effect=Interrupted("stopped")))
        evaluate_stage.evaluate(opened(tiny(root, *shown)))
    assert (stage / "bc.json").exists() and not list(stage.glob(EVENT_FILES))
    interplay("evaluate", tiny(root, *shown))
    curves, texts = shown_by_tensorboard(stage)
    assert "success/bc" in curves and texts == ["settings/text_summary"]


def test_chance_of_an_older_version_is_measured_again(evaluated: Path, tmp_path: Path) -> None:
    root = copied(evaluated, tmp_path)
    old = {
        kind: {key: level[key] for key in ("resting", "random", "answers")}
        for kind, level in content(root, "chance.json").items()
    }
    (root / "run" / "evaluate" / "chance.json").write_text(json.dumps(old))
    interplay("report", tiny(root, *PROBES))  # reads it as one draw without an interval
    assert json.loads((root / "run" / "summary.json").read_text())["chance"]["go"]["draws"] == 1
    interplay("evaluate", tiny(root, *PROBES))
    assert content(root, "chance.json")["go"]["draws"] == 5


def test_every_agent_plays_its_probes_under_other_words_too(evaluated: Path, tmp_path: Path) -> None:
    found = content(evaluated, "bc.json")
    for own, other in zip(found["results"], found["counterfactuals"], strict=True):
        assert (own["kind"], own["seed"]) == (other["kind"], other["seed"]) and own["instruction"] != other[
            "instruction"
        ]
        assert own["answer"] == other["answer"], "success is judged by the own task"
    root = copied(evaluated, tmp_path)
    interplay("report", tiny(root, *PROBES))
    summary = json.loads((root / "run" / "summary.json").read_text())
    assert set(summary["listening"]) == {"go", "exist"}
    for by_agent in summary["listening"].values():
        own, other = by_agent["bc"]["own"]["value"], by_agent["bc"]["other"]["value"]
        assert by_agent["bc"]["difference"]["value"] == pytest.approx(own - other)
    shares = summary["answers"]["exist"]["bc"]
    assert sum(shares[what]["value"] for what in ("right", "wrong", "silent")) == pytest.approx(1)
    assert "Do the agents listen?" in (root / "run" / "report.html").read_text()


def test_probes_are_played_again_where_success_has_to_last_longer(evaluated: Path, tmp_path: Path) -> None:
    root = copied(evaluated, tmp_path)
    assert {row["hold"] for row in content(root, "bc.json")["results"]} == {4}
    interplay("evaluate", tiny(root, *PROBES, "evaluate.hold_steps=1", "evaluate.counterfactuals=0"))
    again = content(root, "bc.json")
    assert {row["hold"] for row in again["results"]} == {1} and again["counterfactuals"] == []
    assert content(root, "chance.json")["go"]["hold"] == 1
    interplay("evaluate", tiny(root, *PROBES, "evaluate.hold_steps=1"))
    assert len(content(root, "bc.json")["counterfactuals"]) == 6


def test_a_report_states_the_limits_that_the_probes_had(evaluated: Path, tmp_path: Path) -> None:
    root = copied(evaluated, tmp_path)
    record = root / "run/evaluate/stage.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "finished": False}))
    interplay("report", tiny(root, "evaluate.steps=40"))
    page = (root / "run/report.html").read_text()
    assert "probe episodes solved within 2.1 s, and held" in page, "8 steps, whatever is typed for the report"
    assert page.count("s, not finished<") == 1, "the evaluation alone"


def test_films_of_another_evaluation_than_the_results_are_not_shown(
    evaluated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = copied(evaluated, tmp_path)
    settings = tiny(root, *PROBES, "evaluate.hold_steps=1")
    folder = opened(settings).stage("evaluate")
    files = [folder.path / "bc.json", folder.path / "bc.npz"]
    before = [file.read_bytes() for file in files]
    assert len(read_films(folder, "bc")) == 6
    with monkeypatch.context() as stopped, pytest.raises(OSError, match="No space"):
        stopped.setattr(probe_files, "write_whole", Mock(side_effect=OSError("No space left on device")))
        evaluate_stage.evaluate(opened(settings))
    now = [file.read_bytes() for file in files]
    assert now[0] == before[0] and now[1] != before[1], "new films, old results"
    assert read_films(folder, "bc") == []
    interplay("evaluate", settings)
    assert len(read_films(folder, "bc")) == 6
    films = dict(np.load(files[1]))
    del films["digest"]
    np.savez(files[1], **films)
    assert len(read_films(folder, "bc")) == 6, "of an older version"


def test_results_of_another_holding_time_are_not_compared(
    evaluated: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(evaluated, tmp_path)
    old = {name: content(root, name) for name in ("expert.json", "chance.json")}
    interplay("evaluate", tiny(root, *PROBES, "evaluate.hold_steps=1"))
    for name, document in old.items():
        (root / "run" / "evaluate" / name).write_text(json.dumps(document))
    interplay("report", tiny(root, *PROBES, "evaluate.hold_steps=1"))
    summary = json.loads((root / "run" / "summary.json").read_text())
    assert set(summary["probes"]["go"]) == {"bc"} and set(summary["chance"]) == {"exist"}
    assert set(summary["measures"]) == {"bc"}
    assert "expert played other probes than bc, or with other limits" in caplog.text


def test_results_and_chance_of_another_time_limit_are_measured_again(evaluated: Path, tmp_path: Path) -> None:
    """As of a version of the world that gives a kind of task more time."""
    root = copied(evaluated, tmp_path)
    now = {name: content(root, name) for name in ("bc.json", "expert.json", "chance.json")}
    parts = {"bc.json": "counterfactuals", "expert.json": "results"}
    before = {
        name: {**now[name], part: [{**row, "limit": 6} for row in now[name][part]]} for name, part in parts.items()
    }
    before["chance.json"] = {**now["chance.json"], "go": {**now["chance.json"]["go"], "limit": 6}}
    for name, document in before.items():
        assert document != now[name]
        (root / "run" / "evaluate" / name).write_text(json.dumps(document))
    interplay("report", tiny(root, *PROBES))
    summary = json.loads((root / "run" / "summary.json").read_text())
    assert set(summary["probes"]["go"]) == {"bc"} and set(summary["chance"]) == {"exist"}
    interplay("evaluate", tiny(root, *PROBES))
    assert {name: content(root, name) for name in now} == now


def test_results_of_other_words_in_the_same_houses_are_neither_kept_nor_compared(
    evaluated: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As of a version that drew other tasks."""
    root = copied(evaluated, tmp_path)
    now = content(root, "expert.json")
    before = {**now, "results": [{**row, "instruction": "do something else"} for row in now["results"]]}
    (root / "run" / "evaluate" / "expert.json").write_text(json.dumps(before))
    interplay("report", tiny(root, *PROBES))
    assert set(json.loads((root / "run" / "summary.json").read_text())["probes"]["go"]) == {"bc"}
    assert "expert played other probes than bc" in caplog.text
    interplay("evaluate", tiny(root, *PROBES))
    assert content(root, "expert.json") == now, "it has played again"


def test_chance_on_other_words_in_the_same_houses_is_neither_kept_nor_shown(evaluated: Path, tmp_path: Path) -> None:
    """As of a version that drew other tasks."""
    root = copied(evaluated, tmp_path)
    now, file = content(root, "chance.json"), root / "run" / "evaluate" / "chance.json"
    for level in now.values():
        assert level["probes"]
    file.write_text(json.dumps({**now, "exist": {**now["exist"], "probes": "of other words"}}))
    interplay("report", tiny(root, *PROBES))
    assert set(json.loads((root / "run" / "summary.json").read_text())["chance"]) == {"go"}
    interplay("evaluate", tiny(root, *PROBES))
    assert content(root, "chance.json") == now, "it has been measured again"


def test_an_agent_trained_again_to_the_same_update_plays_again(evaluated: Path, tmp_path: Path) -> None:
    root = copied(evaluated, tmp_path)
    first, played = content(root, "bc.json"), root / "run" / "evaluate" / "bc.json"
    assert first["agent"]["update"] == 4
    older = {**first, "agent": {"stage": "clone", "update": 4}}
    played.write_text(json.dumps(older))
    interplay("evaluate", tiny(root, *PROBES))
    assert content(root, "bc.json") == older, "a result of an older version counts"
    played.write_text(json.dumps(first))
    shutil.rmtree(root / "run" / "clone")
    interplay("clone", tiny(root, *PROBES, "clone.learner.learning_rate=0.01"))
    interplay("evaluate", tiny(root, *PROBES))
    again = content(root, "bc.json")["agent"]
    assert again["update"] == 4 and again["weights"] != first["agent"]["weights"]


def test_the_report_names_results_of_an_agent_that_was_trained_since(
    evaluated: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(evaluated, tmp_path)
    interplay("report", tiny(root, *PROBES))
    summary = root / "run" / "summary.json"
    assert json.loads(summary.read_text())["outdated"] == []
    before = json.loads((root / "run" / "evaluate" / "bc.json").read_text())["agent"]["update"]
    interplay("clone", tiny(root, *PROBES, f"clone.training.updates={before + 2}"))
    interplay("report", tiny(root, *PROBES))
    sentence = (
        f"BC played the probes at update {before} of clone; the agent is at update {before + 2} of clone now. "
        f"Measure it again with: interplay evaluate"
    )
    (stated,) = json.loads(summary.read_text())["outdated"]
    assert stated.startswith(sentence) and stated in caplog.text
    assert sentence in (root / "run" / "report.html").read_text()
    interplay("evaluate", tiny(root, *PROBES))
    interplay("report", tiny(root, *PROBES))
    assert json.loads(summary.read_text())["outdated"] == []


def test_a_stage_keeps_the_agent_that_it_began_with(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(rewarded, tmp_path)
    checkpoints, summary = root / "run" / "reward" / "checkpoints", root / "run" / "summary.json"
    began = checkpoint.read(checkpoints).description["start"]
    interplay("clone", tiny(root, f"clone.training.updates={began['step'] + 2}"))
    caplog.clear()
    interplay("reward", tiny(root, "reward.training.updates=6"))
    newest = checkpoint.read(checkpoints)
    assert newest.step == 6 and newest.description["start"] == began
    sentence = (
        f"reward began with the agent of update {began['step']} of clone, which is at update {began['step'] + 2} now"
    )
    assert sentence in caplog.text
    interplay("report", tiny(root))
    assert any(each.startswith(sentence) for each in json.loads(summary.read_text())["outdated"])
    shutil.rmtree(root / "run" / "clone")
    interplay("clone", tiny(root, "clone.learner.learning_rate=0.01"))
    interplay("report", tiny(root))
    assert any("has been trained again since" in each for each in json.loads(summary.read_text())["outdated"])


def test_a_damaged_checkpoint_is_not_an_agent_that_was_trained_since(
    evaluated: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(evaluated, tmp_path)
    newest = checkpoint.complete(root / "run/clone/checkpoints")[-1] / "agent.pt"
    newest.write_bytes(newest.read_bytes()[:1000])
    interplay("report", tiny(root, *PROBES))
    assert json.loads((root / "run/summary.json").read_text())["outdated"] == []
    assert f"{newest} is damaged" in caplog.text and "trained again" not in caplog.text


def test_an_evaluation_of_other_settings_may_be_moved_away(
    evaluated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(evaluated, tmp_path)
    others = tiny(root, *PROBES, "evaluate.seed=5")
    assert "or move this folder out of the run, to measure again" in refused("evaluate", others, capsys)
    (root / "run/evaluate").rename(root / "before")
    interplay("evaluate", others)


@pytest.mark.parametrize("name", ["stage", "random", "resting", "bc"])
def test_an_agent_may_not_have_the_name_of_other_results(name: str) -> None:
    with pytest.raises(ValueError, match=f"evaluate.agents names '{name}'; a name is made of letters"):
        ProbesConfig(agents={name: "reward"})


def test_results_of_an_agent_that_was_trained_meanwhile_are_not_kept(
    evaluated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(evaluated, tmp_path)
    shutil.rmtree(root / "run" / "evaluate")
    play = evaluate_stage._play

    def slowly(*arguments: Any) -> Any:
        interplay("clone", tiny(root, *PROBES, "clone.training.updates=6"))
        return play(*arguments)

    monkeypatch.setattr(evaluate_stage, "_play", slowly)
    said = refused("evaluate", tiny(root, *PROBES), capsys)
    assert (
        "clone was trained on while bc played: from update 4 to 6" in said and "interplay evaluate run.name=run" in said
    )
    assert not (root / "run" / "evaluate" / "bc.json").exists()


def test_one_pool_of_processes_plays_for_all_players_what_one_for_each_would(
    evaluated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools: list[list[str]] = []

    def in_this_process(make: Any, units: Any, **_: Any) -> Any:
        pools.append([name for name, *_ in units])
        yield from map(make(lambda: False), units)

    monkeypatch.setattr(evaluate_stage, "map_in_processes", in_this_process)
    root, settings = copied(evaluated, tmp_path), [*PROBES, "evaluate.lanes=2", "evaluate.workers=1"]
    shutil.rmtree(root / "run" / "evaluate")
    interplay("evaluate", tiny(root, *settings))
    assert [list(dict.fromkeys(pool)) for pool in pools] == [["bc", "chance", "expert"]]
    at_once = {name: content(root, f"{name}.json") for name in ("bc", "chance", "expert")}
    for name, found in at_once.items():
        (root / "run" / "evaluate" / f"{name}.json").unlink()
        interplay("evaluate", tiny(root, *settings))
        assert set(pools[-1]) == {name} and content(root, f"{name}.json") == found


@pytest.mark.slow
def test_workers_find_the_same_results_whatever_their_number(
    evaluated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fresh = copied(evaluated, tmp_path)
    shutil.rmtree(fresh / "run" / "evaluate")
    one, two = (copied(fresh, tmp_path / name) for name in ("one", "two"))
    for root, workers in ((one, 1), (two, 2)):
        interplay("evaluate", tiny(root, *PROBES, "evaluate.lanes=2", f"evaluate.workers={workers}"))
    for name in ("bc.json", "expert.json", "chance.json"):
        assert content(two, name) == content(one, name)
    assert (two / "run/evaluate/bc.npz").read_bytes() == (one / "run/evaluate/bc.npz").read_bytes()
    assert [row["seed"] for row in content(one, "bc.json")["results"]] == [
        row["seed"] for row in content(evaluated, "bc.json")["results"]
    ]
    in_process = tiny(two, *PROBES, "evaluate.lanes=2", "evaluate.workers=0")  # would draw other random numbers
    assert "workers" in refused("evaluate", in_process, capsys)


def test_results_of_an_older_version_are_reported_as_they_are(evaluated: Path, tmp_path: Path) -> None:
    root = copied(evaluated, tmp_path)
    for file in (root / "run" / "evaluate").glob("[be]*.json"):
        found = json.loads(file.read_text())
        newer = ("hold", "answer")
        rows = [{key: row[key] for key in row if key not in newer} for row in found["results"]]
        file.write_text(json.dumps({"agent": found["agent"], "results": rows}))
    interplay("report", tiny(root, *PROBES))
    summary = json.loads((root / "run" / "summary.json").read_text())
    assert set(summary["probes"]) == {"go", "exist"} and summary["listening"] == summary["answers"] == {}


@pytest.mark.parametrize("name", ["bc", "BC", "a/b"])
def test_a_name_that_cannot_be_a_file_of_its_own_is_refused(
    name: str, evaluated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused("evaluate", tiny(evaluated, f"evaluate.agents={{{name}: clone}}"), capsys, code=2)
    assert "letters, digits" in said and name in said
