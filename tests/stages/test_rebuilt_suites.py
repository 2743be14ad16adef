"""Results of `interplay continue` after its suite was replaced by another one with scenarios of the same names."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_runs import copied, interplay, opened, tiny

from interplay.episodes.encoding import load
from interplay.evaluation.scenario_suite import SUITE, read_suite, write_suite
from interplay.evaluation.scenarios import Scenario
from interplay.stages import continue_stage
from interplay.stages.continue_stage import CONTINUE, recording_of

FEW = ("continuation.scenarios=1", "continuation.continuations=2", "continuation.steps=4", "continuation.lanes=2")


@pytest.fixture(scope="module")
def continued(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run whose clone has continued one scenario of each kind."""
    root = tmp_path_factory.mktemp("continued")
    for verb in ("collect", "clone", "continue"):
        interplay(verb, tiny(root, *FEW))
    return root


def suite_of(settings: list[str]) -> list[Scenario]:
    run = opened(settings)
    world = run.make_world()
    try:
        return read_suite(run.stage(CONTINUE).path / SUITE, world)
    finally:
        world.close()


def content(root: Path, name: str) -> Any:
    return json.loads((root / "run" / CONTINUE / name).read_text())


def cut_again(settings: list[str]) -> list[Scenario]:
    """Records more held-out episodes, removes the suite, and continues: other scenarios have the same names."""
    folder = opened(settings).stage(CONTINUE).path
    interplay("collect", [*settings, "collect.heldout=8"])
    before = {each.name: each.digest for each in suite_of(settings)}
    (folder / SUITE).unlink()
    interplay("continue", settings)
    after = {each.name: each.digest for each in suite_of(settings)}
    assert before.keys() == after.keys() and before != after
    return suite_of(settings)


def check_results_are_of(root: Path, settings: list[str], suite: Sequence[Scenario], agent: str) -> None:
    scenarios, folder = {each.name: each for each in suite}, opened(settings).stage(CONTINUE)
    results = continue_stage.read_continuations(folder, agent)
    assert {each.scenario for each in results} == set(scenarios) and len(results) == 2 * len(scenarios)
    for each in results:
        episode = scenarios[each.scenario].episode
        assert each.scenario_digest == scenarios[each.scenario].digest
        recording = load(recording_of(folder, agent, each))
        assert recording.meta.seed == episode.meta.seed
        assert (recording.actions["solver"][: episode.meta.frames] == episode.actions["solver"]).all()


def test_a_suite_that_was_cut_again_is_continued_again(continued: Path, tmp_path: Path) -> None:
    root = copied(continued, tmp_path)
    settings = tiny(root, *FEW)
    suite = cut_again(settings)
    for agent in ("bc", "expert"):
        check_results_are_of(root, settings, suite, agent)


def test_results_and_recordings_are_of_one_suite_at_any_time(
    continued: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While scenarios are continued again, recordings are replaced one by one, and have no results."""
    root, play, seen = copied(continued, tmp_path), continue_stage._play, list[bool]()

    def watched(run: Any, name: str, *arguments: Any) -> None:
        seen.append((root / "run" / CONTINUE / f"{name}.json").exists())
        play(run, name, *arguments)

    monkeypatch.setattr(continue_stage, "_play", watched)
    cut_again(tiny(root, *FEW))
    assert seen == [False, False]


def test_unfinished_results_of_another_suite_are_dropped(continued: Path, tmp_path: Path) -> None:
    root = copied(continued, tmp_path)
    settings, folder = tiny(root, *FEW), root / "run" / CONTINUE
    old = content(root, "bc.json")
    rows = [{"number": 0, "agent": old["agent"]}]
    rows += [{"number": number, "result": result} for number, result in enumerate(old["results"], 1)]
    (folder / "bc.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "bc.json").unlink()
    check_results_are_of(root, settings, cut_again(settings), "bc")


def test_recordings_of_scenarios_that_a_suite_lacks_are_removed(continued: Path, tmp_path: Path) -> None:
    root = copied(continued, tmp_path)
    settings, folder = tiny(root, *FEW), root / "run" / CONTINUE
    first, *others = suite_of(settings)
    assert (folder / "bc" / first.name).exists()
    write_suite(folder / SUITE, [Scenario("renamed-0", first.kind, first.episode), *others])
    interplay("continue", settings)
    names = {"renamed-0", *(each.name for each in others)}
    assert {path.name for path in (folder / "bc").iterdir()} == names
    assert {row["scenario"] for row in content(root, "bc.json")["results"]} == names


def test_results_of_an_older_version_count_where_their_instruction_is_that_of_the_suite(
    continued: Path, tmp_path: Path
) -> None:
    root = copied(continued, tmp_path)
    settings, file = tiny(root, *FEW), root / "run" / CONTINUE / "bc.json"
    now = content(root, "bc.json")
    older = {**now, "results": [{**row, "scenario_digest": ""} for row in now["results"]]}
    file.write_text(json.dumps(older))
    interplay("continue", settings)
    assert content(root, "bc.json") == older
    other = {**now, "results": [{**row, "instruction": "do something else"} for row in older["results"]]}
    file.write_text(json.dumps(other))
    interplay("continue", settings)
    assert content(root, "bc.json") == now


def test_a_report_compares_no_results_of_different_suites(
    continued: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(continued, tmp_path)
    settings, old = tiny(root, *FEW), content(root=continued, name="expert.json")
    cut_again(settings)
    (root / "run" / CONTINUE / "expert.json").write_text(json.dumps(old))
    with caplog.at_level(logging.WARNING):
        interplay("report", settings)
    scenarios = json.loads((root / "run" / "summary.json").read_text())["scenarios"]
    assert scenarios and all(set(agents) == {"bc"} for agents in scenarios.values())
    assert "expert continued other scenarios than bc" in caplog.text
