"""Synthetic people: their inputs become the rows that the scripted players chose, and they play and mark for real."""

from __future__ import annotations

import re
import select
import signal
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from judged_run import add_continuations, judge_study
from small_house import ENV, fill_store, house, played
from studio_client import open_studio
from studio_process import started
from test_live_session import ROOM, check_replay, make_world, play, session, settings
from tiny_runs import interplay, opened, recorded, refused, tiny

from interplay.env.world import Action, Start, View
from interplay.episodes.store import EpisodeStore
from interplay.evaluation.continuation_judgements import read_judgements
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.players.solver import ScriptedSolver, SolverConfig
from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.crowd.crowd import Crowd
from interplay.studio.crowd.crowd_player import CrowdPlayer
from interplay.studio.crowd.crowd_truth import CrowdTruth
from interplay.studio.crowd.row_inputs import RowInputs
from interplay.studio.crowd.session_mirror import SessionMirror
from interplay.studio.crowd.synthetic_players import guessed_task
from interplay.studio.live.live_client import LiveRefused
from interplay.studio.live.seat_input import SeatInput

HOUSE = ("env=playhouse", "env.rooms=[1,1]", "env.image=[24,32]", "collect.setter.kinds={go: 3, lift: 1}")
LIVE = LiveConfig(clock="stepped", seconds=8, away_seconds=60)


def test_the_inputs_of_a_scripted_solver_become_its_rows() -> None:
    world = make_world()
    world.reset(Start(seed=5))
    setter = ScriptedSetter(SetterConfig(kinds={"lift": 1.0}), np.random.default_rng(1))
    solver = ScriptedSolver(SolverConfig(skill=1.0), np.random.default_rng(1), lambda: setter.open_task)
    setter.begin(world, "setter")
    solver.begin(world, "solver")
    controls = world.controls("solver")
    hands, seat = RowInputs([vars(each) for each in controls], world.spec), SeatInput(controls, world.spec)
    grasped, different = 0, 0
    for _ in range(60):
        setter_action = setter.act(View(), world)
        wanted = solver.act(View(heard="go"), world).movement
        made = []
        for row in wanted:
            seat.receive(*hands.encode(row[None]), seq=0)
            made.append(seat.row())
        different += int((np.stack(made) != wanted).any(axis=1).sum())
        grasped += int(np.stack(made)[:, 4:].any())
        world.step({"setter": setter_action, "solver": Action(np.stack(made))})
    assert grasped and not different


def test_a_mirror_follows_the_journal_of_its_session(tmp_path: Path) -> None:
    live = session(settings(tmp_path))
    live.begin()
    mirror = SessionMirror(Path(live.settings.journal))
    for steps in (1, 3):
        play(live, steps * 8)
        assert [step for step, _ in mirror.follow()] == list(range(mirror.steps - steps, mirror.steps))
        np.testing.assert_array_equal(mirror.world.poses(), live.world.poses())
    live.finish("time")
    Path(live.settings.journal).unlink()
    assert mirror.follow() == [], "the journal of a stored session is gone"


def test_a_solver_finds_the_task_whose_words_are_most_similar() -> None:
    world = make_world()
    world.reset(Start(seed=5))
    rng = np.random.default_rng(0)
    task = world.tasks().sample("lift", rng)
    found = guessed_task(world, f"please {task.instruction} now", rng)
    assert found is not None and found.kind == "lift"
    assert guessed_task(world, "xyzzy", rng) is None


@pytest.mark.slow
def test_a_crowd_plays_and_marks_over_the_protocol(tmp_path: Path) -> None:
    root = tmp_path / "run"
    given = tiny(tmp_path, "crowd.raters=1", "crowd.seconds=60", "crowd.speed=0", house=HOUSE)
    with started(root, ROOM, StudioConfig(size=(48, 64), live=LIVE)):
        crowd = Crowd(opened(given), opened(given).config.crowd)
        # the first recording may have nothing to mark
        report = crowd.run(lambda: crowd.report.counts["recordings marked"] >= 1 and bool(crowd.report.marks))
    assert not report.errors
    with EpisodeStore(root / "store") as store:
        episodes, marks, raters = [store.read(name) for name in store.ids()], store.marks(), store.raters()
    assert report.counts["episodes ended"] >= 1
    first = episodes[0]
    check_replay(first)
    assert {player["kind"] for player in first.meta.players.values()} == {"human"} and not first.meta.tasks
    asked = [each for each in first.meta.utterances if each.role == "setter"]
    noted = CrowdTruth(root)._with_tasks(first.meta).tasks
    assert [(each.frame, each.text) for each in asked][: len(noted)] == [(f, t["instruction"]) for f, t in noted]
    assert noted and (first.actions["solver"].std(axis=0) > 0).any()
    assert marks and {mark.id for mark in marks} == set(report.marks)
    assert {(mark.rater,) for mark in marks} == set(raters.values())


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [False, True])
def test_a_crowd_judges_by_the_tests_of_the_tasks(wrong: bool, tmp_path: Path) -> None:
    """Two agents, two continuations of each of two scenarios; raters say what the test says, or always err."""
    root = tmp_path / "run"
    add_continuations(root, [played(house())[0] for _ in range(2)])
    file = root / "studio" / "studies" / "judge-v1.json"
    file.parent.mkdir(parents=True)
    file.write_text(judge_study(title="Judge agents").model_dump_json())
    people = ("crowd.players=0", "crowd.raters=2", "crowd.seconds=60", "crowd.speed=50", "crowd.study=judge")
    given = tiny(tmp_path, *people, f"mark.rater.errors={int(wrong)}", house=HOUSE)
    with started(root, ENV, StudioConfig(size=(48, 64))):
        crowd = Crowd(opened(given), opened(given).config.crowd)
        report = crowd.run(lambda: crowd.report.counts["recordings judged"] == 8)
    assert not report.errors
    verdicts = read_judgements(root)
    assert len({(each.agent, each.scenario, each.continuation) for each in verdicts}) == 8
    assert all(each.done is ((each.agent == "bc_rl") ^ wrong) for each in verdicts)


@pytest.mark.parametrize("ended", [True, False])
def test_a_session_that_ended_before_its_player_sat_down_is_no_error(
    ended: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def until(kind: str) -> dict[str, Any]:
        if kind == "end" and not ended:
            raise LiveRefused("no end came")
        return {"frames": 1, "controls": []}

    socket = SimpleNamespace(until=until, close=lambda: None)
    monkeypatch.setattr(CrowdPlayer, "_wait_in_lobby", lambda self: ("gone", "solver"))
    shared: Any = SimpleNamespace(run=SimpleNamespace(root=tmp_path))  # without a journal
    visitor: Any = SimpleNamespace(sit=lambda name, role: socket)
    with nullcontext() if ended else pytest.raises(LiveRefused, match="no end came"):
        CrowdPlayer(visitor, shared)._play_one()


def test_a_crowd_without_a_studio_says_what_to_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed = f"interplay studio run.name=run run.dir={tmp_path}"
    assert typed in refused("crowd", tiny(tmp_path), capsys)
    recorded(tiny(tmp_path))
    assert typed in refused("export", tiny(tmp_path), capsys)


def test_a_crowd_leaves_a_studio_that_has_ended(tmp_path: Path) -> None:
    people = ("crowd.players=0", "crowd.raters=1", "crowd.films=false", "crowd.speed=0")
    given = tiny(tmp_path, *people, "crowd.seconds=100000", "crowd.patience=1", house=HOUSE)
    fill_store(tmp_path / "run", 1)
    with started(tmp_path / "run", ENV) as studio:
        run = opened(given)
        crowd = Crowd(run, run.config.crowd)

        def ends_the_studio() -> bool:
            if crowd.report.counts["recordings marked"]:
                studio.process.kill()
            return False

        said = crowd.run(ends_the_studio).sentences()
    assert f"the studio at {studio.origin} has ended" in said and "interplay studio run.name=run" in said


@pytest.mark.slow
def test_the_demo_serves_a_run_that_it_records_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = ("crowd.players=0", "crowd.raters=1", "crowd.seconds=4", "crowd.speed=0", "crowd.films=false")
    interplay("studio-demo", tiny(tmp_path, "collect.episodes=1", "studio.port=0", *people, house=HOUSE))
    said = capsys.readouterr().out
    assert re.search(r"http://127.0.0.1:\d+/i#", said) and "recordings marked: " in said and "error" not in said
    with open_studio(tmp_path / "run") as studio:
        study = studio.studies.find("marks")
        assert study is not None
        episodes = [entry.id for entry in studio.choice.episodes(study)]
        assert episodes and studio.assignments.wanted("p-invited", study, episodes) == episodes, (
            "raters leave all to people"
        )


@pytest.mark.slow
def test_ctrl_c_ends_a_crowd_with_its_report(tmp_path: Path) -> None:
    verb = [sys.executable, "-c", "from interplay.launch.cli import console; console()", "crowd"]
    with started(tmp_path / "run", ROOM, StudioConfig(size=(48, 64), live=LIVE)):
        words = [*verb, *tiny(tmp_path, "crowd.raters=0", "crowd.seconds=600", house=HOUSE)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ledger = tmp_path / "run" / "studio" / "crowd.jsonl"
        while not ledger.exists():
            assert process.poll() is None
            select.select([], [], [], 0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in err, err
    assert "pictures: " in out and "people: 2" in out and "error" not in out


def test_a_press_is_made_in_its_frame() -> None:
    world = make_world()
    grasp = next(each for each in world.controls("solver") if each.component == "grasp")
    controls = [replace(grasp, mode="press")]
    hands, seat = RowInputs([vars(each) for each in controls], world.spec), SeatInput(controls, world.spec)
    column = [part.name for part in world.spec.movement].index("grasp")
    rest = world.spec.rest()[:1]
    wanted, made = [1, 0, 0, 1, 1, 1, 0], []
    for value in wanted:
        row = rest.copy()
        row[0, column] = grasp.bins[0] if value else rest[0, column]
        seat.receive(*hands.encode(row), seq=0)
        made.append(int(seat.row()[column] == grasp.bins[0]))
    assert made == [1, 0, 0, 1, 0, 1, 0]
