"""Scenarios: cut from recordings, forced upon agents, continued, judged, stored."""

from __future__ import annotations

import json
import signal
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_world import LineTask, LineWorld, make_runner, record_episode, tiny_agent
from signalled_run import AfterCall, run_and_signal
from tiny_runs import copied, interplay, refused, tiny

from interplay.actors.row_writer import RowWriter
from interplay.actors.seats import AgentSeat, ScriptedSeat
from interplay.env.world import Action, Start
from interplay.episodes.decoded_episode import decode_for_role
from interplay.episodes.encoding import load
from interplay.episodes.episode import Episode, Prompt
from interplay.episodes.recorder import EpisodeRecorder
from interplay.evaluation.continuation_player import ContinuationPlayer
from interplay.evaluation.estimates import wilson
from interplay.evaluation.report_data import ScenarioResults
from interplay.evaluation.scenario_findings import scenario_curves, shares_by_kind
from interplay.evaluation.scenario_suite import read_suite, write_suite
from interplay.evaluation.scenarios import ContinuationConfig, Scenario, cut_scenarios
from interplay.players.solver import SolverConfig
from interplay.stages import continue_stage

FEW = ContinuationConfig(scenarios=2, context_steps=3)


def test_choices_of_a_cut_are_refused_where_a_suite_is_named() -> None:
    told = r"continuation.scenarios, continuation.kinds: no effect with continuation.suite=a.zip, .* already cut"
    with pytest.raises(ValueError, match=told):
        ContinuationConfig(suite="a.zip", kinds=("go",), scenarios=3)
    ContinuationConfig(suite="a.zip", continuations=3, steps=9, seed=1)


def recorded(seed: int, asked: int = 5, steps: int = 9) -> Episode:
    """Random movement of both players; in step `asked` the setter asks to walk to the far end."""
    world, rng = LineWorld(), np.random.default_rng(seed)
    recorder = EpisodeRecorder(world, players={"setter": {"kind": "scripted"}, "solver": {"kind": "human"}})
    recorder.begin(seed=seed, views=world.reset(Start(seed=seed)))
    task = LineTask("walk", "walk to two", 15)
    for step in range(steps):
        moves = [rng.integers([3, 2], size=(2, 2)).astype(np.int8) for _ in range(2)]
        if step == asked:
            recorder.ask(task.to_json())
        said = {2: "one", 4: "hello"}.get(step)
        actions = {
            "setter": Action(moves[0], task.instruction if step == asked else None), "solver": Action(moves[1], said)
        }  # fmt: skip
        recorder.record(actions, world.step(actions))
    return recorder.finish()


def cut(*episodes: Episode) -> list[Scenario]:
    return cut_scenarios(LineWorld(), episodes, FEW)


def player(seat: Any, world: LineWorld, limit: int = 10, hold: int = 0) -> ContinuationPlayer:
    return ContinuationPlayer(worlds=[world], seat=seat, limit=limit, hold=hold, world_config={})


def test_a_suite_names_no_people(tmp_path: Path) -> None:
    episode = recorded(1)
    prompts = (Prompt(0, "lift something"), Prompt(16, "after the context"))
    people = {"solver": "p-aaaaaa"}
    scenarios = cut(replace(episode, meta=replace(episode.meta, people=people, prompts=prompts)))
    write_suite(tmp_path / "suite.zip", scenarios)
    (scenario,) = read_suite(tmp_path / "suite.zip", LineWorld())
    assert (scenario.episode.meta.people, scenario.episode.meta.prompts) == ({}, ())


def test_who_steers_after_the_context_is_not_part_of_it() -> None:
    episode = recorded(1)
    control = {"setter": [(0, "scripted")], "solver": [(0, "human"), (8, "replay"), (14, "scripted")]}
    (scenario,) = cut(replace(episode, meta=replace(episode.meta, control=control)))
    assert scenario.episode.meta.control["solver"] == [(0, "human"), (4, "replay")]


def test_a_context_ends_with_its_instruction_and_begins_in_the_recorded_state() -> None:
    episode = recorded(1)
    (scenario,) = cut(episode)
    assert (scenario.name, scenario.kind, scenario.steps) == ("walk-0", "walk", 4)  # three steps and that of the asking
    said = [scenario.action("solver", step).utterance for step in range(4)]
    assert said == ["one", None, "hello", None]
    assert scenario.action("setter", 3).utterance == "walk to two"
    world = LineWorld()
    world.reset(Start(state=scenario.episode.initial_state))
    assert episode.poses is not None and world.poses().tolist() == episode.poses[2].tolist()


def test_the_choice_follows_from_the_seed() -> None:
    episodes = [recorded(seed) for seed in range(5)]
    once, again = cut(*episodes), cut(*reversed(episodes))
    assert [each.episode.meta.seed for each in once] == [each.episode.meta.seed for each in again]
    assert len(once) == 2


def test_an_agent_experiences_the_context_as_the_recorded_player_did() -> None:
    episode = recorded(1)
    (scenario,) = cut(episode)
    agent = tiny_agent(LineWorld())
    seat = AgentSeat(make_runner(agent, 1), "none")
    seen = []
    decide = seat.decide

    def watched(worlds: Any) -> list[Action]:
        seen.append({key: value[0, 0].copy() for key, value in seat._runner.inputs.arrays.items()})
        return decide(worlds)

    seat.decide = watched  # type: ignore[method-assign]
    ((result, lived),) = player(seat, LineWorld(), limit=2).play([(scenario, 0)])
    rows = RowWriter(agent.layout, seat._runner.vocabulary).encode_episode(
        decode_for_role(lived, "solver", world=LineWorld())
    )
    for row in range(scenario.steps + 1):  # the context, and the first view of its own
        for key, value in seen[row].items():
            np.testing.assert_array_equal(value, rows[key][row, 0], err_msg=f"{key} of row {row}")
    assert (result.steps, len(seen)) == (2, scenario.steps + 2)


def test_the_recording_says_who_acted_and_repeats_the_context() -> None:
    (scenario,) = cut(recorded(1))
    seat = ScriptedSeat(SolverConfig(skill=1.0), 1, np.random.default_rng(0))
    ((result, episode),) = player(seat, LineWorld(), limit=12).play([(scenario, 3)])
    assert (result.scenario, result.continuation) == ("walk-0", 3)
    assert result.success_step is not None and result.success_step == result.steps
    frames = scenario.episode.meta.frames
    assert episode.meta.control["solver"] == [(0, "human"), (frames, "scripted")]
    for role in ("setter", "solver"):
        np.testing.assert_array_equal(episode.actions[role][:frames], scenario.episode.actions[role])
    assert episode.meta.tasks == scenario.episode.meta.tasks


def test_a_suite_survives_being_written_and_damage_is_named(tmp_path: Path) -> None:
    scenarios, path = cut(recorded(1), recorded(2)), tmp_path / "suite.zip"
    write_suite(path, scenarios)
    back = read_suite(path, LineWorld())
    assert [each.name for each in back] == ["walk-0", "walk-1"]
    assert back[0].episode.initial_state == scenarios[0].episode.initial_state
    with zipfile.ZipFile(tmp_path / "new.zip", "w") as archive:
        archive.writestr("suite.json", json.dumps({"version": 99, "scenarios": []}))
    with pytest.raises(ValueError, match="format version 99"):
        read_suite(tmp_path / "new.zip", LineWorld())
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match=r"suite\.zip is damaged"):
        read_suite(path, LineWorld())
    with pytest.raises(ValueError, match="no suite of scenarios"):
        read_suite(tmp_path / "none.zip", LineWorld())


def test_a_suite_of_another_world_is_refused(tmp_path: Path) -> None:
    write_suite(tmp_path / "suite.zip", cut(recorded(1)))
    other = LineWorld()
    other.spec = type(other.spec)(**{**vars(other.spec), "version": 2})
    with pytest.raises(ValueError, match=r"recorded in line version 1 .*; this run has line version 2"):
        read_suite(tmp_path / "suite.zip", other)


def test_episodes_without_tasks_are_refused() -> None:
    silent, _ = record_episode(LineWorld(), seed=0, steps=1)
    with pytest.raises(ValueError, match="no heldout episode of scripted or human players has a task"):
        cut(silent)


def test_kinds_that_nobody_asked_for_are_refused() -> None:
    with pytest.raises(ValueError, match=r"names wlak, and no heldout episode .* has such a task; they have walk"):
        cut_scenarios(LineWorld(), [recorded(1)], replace(FEW, kinds=("walk", "wlak")))
    episode = recorded(1)
    old = tuple((frame, {**task, "kind": "colour_of"}) for frame, task in episode.meta.tasks)
    episode = replace(episode, meta=replace(episode.meta, tasks=old))
    (scenario,) = cut_scenarios(LineWorld(), [episode], replace(FEW, kinds=("color_of",)))
    assert scenario.name == "color_of-0", "of recordings of older versions"


def test_a_digest_tells_scenarios_apart_by_all_that_an_agent_meets(tmp_path: Path) -> None:
    scenario = cut(recorded(1))[0]
    write_suite(tmp_path / "suite.zip", [scenario])
    (stored,) = read_suite(tmp_path / "suite.zip", LineWorld())
    assert stored.digest == scenario.digest == replace(scenario, name="renamed").digest == cut(recorded(1))[0].digest
    episode, meta = scenario.episode, scenario.episode.meta
    ((frame, task),) = meta.tasks
    moved = {**episode.actions, "solver": 1 - episode.actions["solver"]}
    changed = [
        replace(episode, initial_state=cut(recorded(2))[0].episode.initial_state),
        replace(episode, actions=moved),
        replace(episode, meta=replace(meta, utterances=meta.utterances[1:])),
        replace(episode, meta=replace(meta, tasks=((frame, {**task, "target": 3}),))),
        replace(episode, meta=replace(meta, world_version=meta.world_version + 1)),
    ]
    digests = {replace(scenario, episode=each).digest for each in (episode, *changed)}
    assert len(digests) == 1 + len(changed)


def test_shares_resample_scenarios() -> None:
    steps = {"BC": {"a": np.array([1.0, 2.0]), "b": np.array([np.nan, np.nan])}}
    results = ScenarioResults(steps, {"a": "go", "b": "go"}, {"a": "go", "b": "go"}, steps=4, seconds_per_step=0.5)
    share = shares_by_kind(results)["go"]["BC"]
    assert (share.value, share.low, share.high, share.n) == (0.5, 0, 1, 2)
    curve = scenario_curves(results, "go")["BC"]
    assert curve.share.tolist() == [0, 0.25, 0.5, 0.5, 0.5]
    assert (curve.low[0], curve.high[0]) == (0, wilson(0, 2).high), "before anything succeeds, too"


def test_a_kind_called_all_is_not_the_total() -> None:
    steps = {"BC": {"a": np.array([1.0]), "b": np.array([np.nan])}}
    results = ScenarioResults(steps, {"a": "all", "b": "go"}, {"a": "all", "b": "go"}, steps=4, seconds_per_step=0.5)
    assert {group: share["BC"].value for group, share in shares_by_kind(results).items()} == {
        "all": 1.0, "go": 0.0, "all kinds": 0.5
    }  # fmt: skip


def test_agents_continue_and_the_report_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ("continuation.scenarios=1", "continuation.continuations=2", "continuation.steps=5", "continuation.lanes=2")
    settings = tiny(tmp_path, *few)
    assert "has no agent to continue" in refused("continue", settings, capsys)
    for verb in ("collect", "clone", "continue", "report"):
        interplay(verb, settings)
    folder = tmp_path / "run" / "continue"
    found = json.loads((folder / "bc.json").read_text())
    names = {row["scenario"] for row in found["results"]}
    assert len(found["results"]) == 2 * len(names) >= 2
    for row in found["results"]:
        episode = load(folder / "bc" / row["scenario"] / f"{row['continuation']}.npz")
        assert episode.meta.control["solver"][-1][1] == "agent"
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert all(set(agents) == {"bc", "expert"} for agents in summary["scenarios"].values()) and summary["scenarios"]
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Continuations of recorded scenarios" in page and sorted(names)[0] in page
    before = (folder / "bc.json").stat().st_mtime_ns
    (folder / "bc.jsonl").touch()  # as after a kill just before the end of the agent
    interplay("continue", settings)
    assert (folder / "bc.json").stat().st_mtime_ns == before, "what is done is not repeated"
    assert not (folder / "bc.jsonl").exists()
    (folder / "bc.json").unlink()
    interplay("continue", settings)
    assert json.loads((folder / "bc.json").read_text()) == found, "the same seed, the same continuations"


@pytest.mark.slow
def test_workers_continue_alike_whatever_their_number(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("continuation.scenarios=2", "continuation.continuations=3", "continuation.steps=5", "continuation.lanes=2")
    one, two = (copied(cloned, tmp_path / name) for name in ("one", "two"))
    for root, workers in ((one, 1), (two, 2)):
        interplay("continue", tiny(root, *few, f"continuation.workers={workers}"))
    for name in ("bc.json", "expert.json"):
        first, second = (json.loads((root / "run/continue" / name).read_text()) for root in (one, two))
        assert first == second and len(first["results"]) >= 3
    in_process = tiny(two, *few, "continuation.workers=0")  # would draw other random numbers
    assert "workers" in refused("continue", in_process, capsys)


def test_continuations_of_an_agent_that_was_trained_meanwhile_are_not_kept(
    cloned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("continuation.scenarios=1", "continuation.steps=4", "continuation.expert=false")
    root = copied(cloned, tmp_path)
    play = continue_stage._play

    def slowly(*arguments: Any) -> None:
        interplay("clone", tiny(root, "clone.training.updates=6"))
        play(*arguments)

    monkeypatch.setattr(continue_stage, "_play", slowly)
    said = refused("continue", tiny(root, *few), capsys)
    assert "clone was trained on while bc played: from update 4 to 6" in said and "interplay continue" in said
    assert not (root / "run/continue/bc.json").exists()


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_killed_continuations_are_kept_and_the_others_played(tmp_path: Path, workers: int) -> None:
    few = ("continuation.scenarios=2", "continuation.continuations=3", "continuation.steps=5", "continuation.lanes=2")
    settings = tiny(tmp_path, *few, "continuation.expert=false", f"continuation.workers={workers}")
    for verb in ("collect", "clone"):
        interplay(verb, settings)
    added = AfterCall("interplay.stages.continue_stage:_Partial.add", 3)
    assert run_and_signal(["continue", *settings], signal.SIGKILL, added, tmp_path / "log").code == -signal.SIGKILL
    folder = tmp_path / "run" / "continue"
    partial = [json.loads(line)["result"] for line in (folder / "bc.jsonl").read_text().splitlines()[1:]]
    kept = {file: file.stat().st_mtime_ns for file in folder.glob("bc/*/*.npz")}
    assert len(partial) == 3 <= len(kept) and not (folder / "bc.json").exists()
    interplay("continue", settings)
    found = json.loads((folder / "bc.json").read_text())["results"]
    assert all(result in found for result in partial)
    assert sorted({(row["scenario"], row["continuation"]) for row in found}) == [
        (row["scenario"], row["continuation"]) for row in found
    ]
    assert len(found) == 3 * len({row["scenario"] for row in found}) == len([*folder.glob("bc/*/*.npz")])
    done = [folder / "bc" / row["scenario"] / f"{row['continuation']}.npz" for row in partial]
    assert all(file.stat().st_mtime_ns == kept[file] for file in done), "what was recorded is not played again"
    assert not (folder / "bc.jsonl").exists()
