"""Rounds: later ones record and improve the agent of the round before, in one store, and refuse another order."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from signalled_run import AfterCall, run_and_signal
from tiny_runs import copied, interplay, opened, recorded, refused, tiny

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.launch.cli import configured, main
from interplay.launch.opened_run import opened_for_work
from interplay.learner import checkpoint
from interplay.stages.episode_snapshot import freeze_once
from interplay.stages.rounds import config_of_round, replaced_settings
from interplay.stages.stage_folder import write_json
from interplay.tracking.run_summary import read_run_summary

TINY_ROUND = ("evaluate.kinds=[go]", "evaluate.episodes=4", "evaluate.chance=false", "experiment=demo")


def settings(root: Path, *more: str) -> list[str]:
    return tiny(root, *TINY_ROUND, *more)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run of one round, to be copied."""
    root = tmp_path_factory.mktemp("first")
    assert main(["round", "1", *settings(root)]) == 0
    return root


@pytest.fixture(scope="module")
def second(first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run of two rounds, to be copied."""
    root = copied(first, tmp_path_factory.mktemp("second"))
    assert main(["round", "2", *settings(root)]) == 0
    return root


def described(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((checkpoint.read(folder / "checkpoints").path / "checkpoint.json").read_text())
    return found


@pytest.mark.slow
def test_each_round_adds_its_recordings_and_marks_to_the_store(second: Path) -> None:
    run = opened(settings(second))
    with run.store() as store:
        by_round = {number: store.entries(EpisodeFilter(round=number)) for number in (0, 1, 2)}
        assert {number: len(entries) for number, entries in by_round.items()} == {0: 6, 1: 6, 2: 6}
        metas = {number: [store.read(e.id).meta for e in entries] for number, entries in by_round.items()}
        assert store.marks([entry.id for entry in by_round[2]])
    solvers = {number: {meta.players["solver"].get("checkpoint", "") for meta in metas[number]} for number in metas}
    assert solvers[0] == {""}
    assert all("/clone/checkpoints/" in path for path in solvers[1])
    assert all("run/reinforce/checkpoints/000000004" in path for path in solvers[2])
    seeds = [meta.seed for number in metas for meta in metas[number]]
    assert len(set(seeds)) == len(seeds) == 18  # no round repeats the houses of another


def test_snapshots_list_the_rounds_up_to_their_own(second: Path) -> None:
    folder = second / "run" / "store" / "snapshots"
    rounds = {name: {e.round for e in Snapshot(folder / f"{name}.db").entries()} for name in
              ("clone", "reward", "reinforce", "round-2-reward", "round-2-reinforce")}  # fmt: skip
    assert rounds == {
        "clone": {0},
        "reward": {0, 1},
        "reinforce": {0, 1},
        "round-2-reward": {0, 1, 2},
        "round-2-reinforce": {0, 1, 2},
    }


def test_what_is_frozen_later_for_an_early_round_has_no_episodes_of_later_ones(second: Path, tmp_path: Path) -> None:
    root = copied(second, tmp_path)
    snapshot = freeze_once(opened(settings(root)), "clone-setter", EpisodeFilter(), "collect")
    assert {entry.round for entry in snapshot.entries()} == {0, 1}


def test_a_later_round_improves_the_agent_of_the_round_before(second: Path) -> None:
    run = second / "run"
    assert described(run / "round-2" / "reinforce")["start"]["path"].endswith("run/reinforce/checkpoints/000000004")
    assert described(run / "reinforce")["start"]["path"].endswith("run/reward/checkpoints/000000004")
    model = described(run / "round-2" / "reward")
    assert model["snapshot"] == Snapshot(run / "store" / "snapshots" / "round-2-reward.db").hash
    results = json.loads((run / "round-2" / "evaluate" / "before_rl.json").read_text())
    assert results["agent"] | {"weights": ""} == {"stage": "round-1/reinforce", "update": 4, "weights": ""}
    assert not (run / "round-2" / "clone").exists() and not (run / "round-2" / "store").exists()


def test_the_report_compares_the_rounds(second: Path) -> None:
    found = json.loads((second / "run" / "round-2" / "summary.json").read_text())["results"]["rounds"]
    assert (found["before"], found["newest"]) == ("round 1", "round 2")
    assert set(found["success"]["go"]) == {"clone", "round 1", "round 2"}
    for share in found["success"]["go"].values():
        assert 0 <= share["low"] <= share["value"] <= share["high"] <= 1 and share["n"] == 4
    assert found["all_tasks"]["difference"]["n"] == 4
    page = (second / "run" / "round-2" / "report.html").read_text()
    assert page.count(", and held for 1.1 s unless a question") == 2, "the probes of this round, and those of all"
    assert "<h2>Success by round</h2>" in page and "round 2 against round 1" in page
    assert "4 scripted-agent@2" in page  # what its reward model has learned from, not the two held-out ones
    assert "Success by round" not in (second / "run" / "report.html").read_text()


def test_the_report_shows_the_rounds_side_by_side(second: Path) -> None:
    documents = [json.loads((second / "run" / folder / "summary.json").read_text()) for folder in (".", "round-2")]
    assert documents[0]["results"]["round_records"] == []
    one, two = documents[1]["results"]["round_records"]
    assert (one["name"], one["improves"], one["updates"]) == ("round 1", "reward", 4)
    assert (two["name"], two["improves"], two["updates"]) == ("round 2", "round-1/reinforce", 4)
    for each, frozen in ((one, "reward"), (two, "round-2-reward")):
        snapshot = Snapshot(second / "run" / "store" / "snapshots" / f"{frozen}.db")
        learned_from = snapshot.select(EpisodeFilter(split="train"))
        assert each["marks"] == len(snapshot.marks(learned_from)) < len(snapshot.marks()), "not the held-out ones"
        assert sum(each["episodes"].values()) == len(learned_from)
    assert set(two["episodes"]) - set(one["episodes"]) == {"scripted-agent@2"}
    assert [each["marks"] for each in (one, two)] == [sum(document["marks"].values()) for document in documents]
    assert two["marks"] > one["marks"] > 0
    assert two["pair_accuracy"]["value"] == documents[1]["reward"]["pair_accuracy_heldout"]
    assert one["pair_accuracy"]["n"] == two["pair_accuracy"]["n"] > 0, "both models see the same held-out episodes"
    assert one["pair_accuracy"]["value"] != two["pair_accuracy"]["value"]
    steps = documents[1]["results"]["rounds"]["steps"]
    assert set(steps) == {"round 1", "round 2"} and steps["round 2"]["difference"]["n"] == 4
    assert "<h2>Rounds</h2>" in (second / "run" / "round-2" / "report.html").read_text()
    assert "<h2>Rounds</h2>" not in (second / "run" / "report.html").read_text()


@pytest.mark.parametrize("field", ["seed", *(pytest.param(each, marks=pytest.mark.slow) for each in ("limit", "hold"))])
def test_rounds_of_other_probes_are_not_compared(
    field: str, second: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(second, tmp_path)
    file = root / "run" / "round-2" / "evaluate" / "bc_rl.json"
    file.write_text(file.read_text().replace(f'"{field}": ', f'"{field}": 1'))
    interplay("report", settings(root, "run.round=2"))
    found = json.loads((root / "run" / "round-2" / "summary.json").read_text())["results"]
    assert found["rounds"] is None
    assert "round 2 played other probes" in caplog.text


def test_a_mix_by_round_is_read_and_stated(second: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = copied(second, tmp_path)
    shutil.rmtree(root / "run" / "round-2" / "reward")
    mixed = settings(root, "run.round=2", "reward.dataset.mix={human-human:0.5,human-agent@2:0.5}")
    interplay("reward", mixed)
    snapshot = Snapshot(root / "run" / "store" / "snapshots" / "round-2-reward.db")
    assert snapshot.condition()["mix"] == {"human-human": 0.5, "human-agent@2": 0.5}
    assert snapshot.condition()["rounds_before"] == 3
    other = settings(root, "run.round=2", "reward.dataset.mix={human-human:1.0}")
    assert "reward.dataset.mix" in refused("reward", other, capsys)


def test_a_finished_round_is_not_repeated_and_the_one_before_stays_as_it_was(second: Path, tmp_path: Path) -> None:
    root = copied(second, tmp_path)
    files = [path for path in (root / "run").rglob("*") if path.suffix in (".pt", ".npz")]
    before = {path: path.stat().st_mtime_ns for path in files}
    for number, verb in (("1", "mark"), ("1", "reinforce"), ("2", "collect-agent"), ("2", "mark"), ("2", "reinforce")):
        interplay(verb, settings(root, f"run.round={number}"))
    assert {path: path.stat().st_mtime_ns for path in files} == before
    with opened(settings(root)).store() as store:
        assert len(store) == 18


def test_rounds_out_of_order_are_refused(first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = copied(first, tmp_path)
    said = refused("reinforce", settings(root, "run.round=3"), capsys)
    assert f"type: interplay round 2 run.name=run run.dir={root} env=room" in said and "run.round" not in said
    assert not (root / "run" / "round-3").exists()
    assert "belongs to the run" in refused("clone", settings(root, "run.round=2"), capsys)
    assert not (root / "run" / "round-2").exists(), "the refused verb did not begin the round"
    assert main(["round", *settings(root)]) == 2
    assert "as interplay round 2; got none" in capsys.readouterr().err
    for nonsense in ("zero", "0", "-1", "1.5", "\N{SUPERSCRIPT TWO}", "9" * 5000):
        assert main(["round", nonsense, *settings(root)]) == 2
        assert "round takes the number of a round, as interplay round 2; got " in capsys.readouterr().err
    assert main(["round", "2", "3", *settings(root)]) == 2
    empty = tmp_path / "empty"
    assert "interplay round 1 run.name=run" in refused("collect-agent", settings(empty, "run.round=2"), capsys)


def test_a_refused_round_leaves_the_recorded_settings(
    second: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(second, tmp_path)
    files = [root / "run/config.json", root / "run/round-2/config.json"]
    before = [file.read_bytes() for file in files]
    late = settings(root, "reward.training.updates=6", "reward.learner.learning_rate=1")
    assert "reward.learner.learning_rate" in refused("round", ["2", *late], capsys)
    assert [file.read_bytes() for file in files] == before


def test_a_refused_stage_of_a_new_round_does_not_begin_it(
    first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(first, tmp_path)
    assert "type: interplay reward" in refused("reinforce", settings(root, "run.round=2"), capsys)
    interplay("reinforce", settings(root, "reinforce.training.updates=6"))


def test_a_round_without_an_agent_of_its_own_is_neither_measured_nor_reported(
    first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(first, tmp_path)
    second = settings(root, "run.round=2")
    for verb in ("evaluate", "continue"):
        assert f"round 2 of {root / 'run'} has no agent of its own to {verb} yet; type: interplay round 2 run.name" in (
            refused(verb, second, capsys)
        )
    assert "no stage of round 2 of" in refused("report", second, capsys)
    assert "has no episodes of round 2 to mark; type: interplay collect-agent" in refused("mark", second, capsys)
    assert not list((root / "run" / "round-2").rglob("*.json")), "the round has not begun"


@pytest.mark.parametrize("typed", ["report", "inspect-reward", "score", "serve-reward", "replay 01a2"])
def test_a_verb_that_reads_another_round_than_the_newest_says_so(
    typed: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = recorded(tiny(tmp_path))
    for folder in ("round-2/reward", "round-3/mark"):
        (run.root / folder).mkdir(parents=True)
        write_json(run.root / folder / "stage.json", {"settings": {}, "finished": True, "seconds": 1.0})
    verb, *named = typed.split()
    newest = 3 if verb == "report" else 2  # which has a reward model
    main([verb, *named, *tiny(tmp_path)])
    assert f"{verb} reads round 1, and round {newest} is newer; to read that one, add run.round={newest}" in caplog.text
    caplog.clear()
    for chosen in (1, newest):  # typed: no other one is meant
        main([verb, *named, *tiny(tmp_path, f"run.round={chosen}")])
    assert "is newer" not in caplog.text


def test_an_agent_with_a_later_round_is_not_trained_further(
    second: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(second, tmp_path)
    said = refused("reinforce", settings(root, "reinforce.training.updates=6"), capsys)
    assert "round-2 began from the agent of round 1" in said
    interplay("reinforce", settings(root))  # nothing is left to do


def test_a_stage_of_another_round_is_kept_where_it_is_named() -> None:
    def agents(*typed: str) -> tuple[str, str]:
        config = config_of_round(configured("reinforce", ["experiment=demo", "run.round=3", *typed]))
        return config.reinforce.start, config.collect_agent.solver_agent

    assert agents() == ("round-2/reinforce", "round-2/reinforce"), "in place of the preset's `reward` and `clone`"
    assert agents("reinforce.start=round-1/reward") == ("round-1/reward", "round-2/reinforce")
    assert agents("collect_agent.solver_agent=round-1/reinforce") == ("round-2/reinforce", "round-1/reinforce")


def test_typed_settings_that_a_later_round_replaces_are_named(
    first: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root, said = copied(first, tmp_path), "reinforce.start is round-1/reinforce, not clone"
    assert replaced_settings(configured("reinforce", settings(root, "reinforce.start=clone")), "reinforce") == []
    later = configured("reinforce", settings(root, "run.round=2", "reinforce.start=clone"))
    assert replaced_settings(later, "reinforce") == [said] and replaced_settings(later, "collect-agent") == []
    kept = configured("reinforce", settings(root, "run.round=2", "reinforce.start=round-1/reward"))
    assert replaced_settings(kept, "reinforce") == []
    with caplog.at_level("INFO"), opened_for_work(later, "reinforce"):
        assert said in caplog.text


def test_other_sizes_may_be_chosen_for_a_later_round(first: Path, tmp_path: Path) -> None:
    root = copied(first, tmp_path)
    interplay("collect-agent", settings(root, "run.round=2", "collect_agent.episodes=5", "collect_agent.heldout=0"))
    with opened(settings(root)).store() as store:
        assert len(store.ids(round=2)) == 5


@pytest.mark.slow
def test_a_stopped_round_continues_with_the_next_stage(first: Path, tmp_path: Path) -> None:
    root = copied(first, tmp_path)
    saved = AfterCall("interplay.stages.training_loop:save", 1)
    result = run_and_signal(["round", "2", *settings(root)], signal.SIGINT, saved, tmp_path / "log")
    assert result.code == 130, result.output
    assert "the same command continues" in result.output
    assert (root / "run" / "round-2" / "reward").exists() and not (root / "run" / "round-2" / "reinforce").exists()
    shown = read_run_summary(root / "run")
    assert (shown.run, shown.stage, shown.total) == ("run", "round-2/reward", 4)
    assert main(["round", "2", *settings(root)]) == 0
    assert opened(settings(root, "run.round=2")).stage("evaluate").finished


@pytest.mark.slow
def test_towers_in_two_rounds_with_a_learned_setter(tmp_path: Path) -> None:
    sizes = ("env.image=[16,24]", "evaluate.episodes=2", "evaluate.steps=12", "reinforce.actor.learned_setters=0.5")
    few = ("evaluate.chance=false", "evaluate.kinds=[tower,place]", "evaluate.limits={tower:12}")
    tower = tiny(tmp_path, *sizes, *few, house=("experiment=tower",))
    for verb in ("collect", "clone-setter"):
        interplay(verb, tower)
    for number in ("1", "2"):
        assert main(["round", number, *tower]) == 0
    run = tmp_path / "run"
    found = json.loads((run / "round-2" / "summary.json").read_text())
    assert set(found["results"]["rounds"]["success"]) == {"tower", "place"}
    assert "clone-setter" in found["seconds"]
    rows = [json.loads(line) for line in (run / "round-2" / "reinforce" / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 3, 4] and any("return" in row for row in rows)
