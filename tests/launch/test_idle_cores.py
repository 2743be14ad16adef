"""The advice to use all cores of a machine."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from tiny_runs import interplay, tiny

from interplay.launch import idle_cores
from interplay.launch.compose import compose
from interplay.launch.idle_cores import idle_cores_advice
from interplay.launch.pipeline import STAGES
from interplay.launch.round_verbs import _refuse_unfit_round


def test_the_advice_names_the_stages_that_leave_cores_idle(tmp_path: Path) -> None:
    settings = [f"run.dir={tmp_path}", "mark.workers=2"]
    advice = idle_cores_advice(compose(settings), STAGES, 16)
    assert advice == (
        "of the 16 cores of this machine, collect, collect_agent, evaluate, continuation will use one. To use all: "
        "collect.workers=16 collect_agent.workers=16 evaluate.workers=16 continuation.workers=16"
    )
    compose([*settings, *advice.partition("To use all: ")[2].split()])  # as it is typed
    assert idle_cores_advice(compose(settings), STAGES, 2) is None
    assert idle_cores_advice(compose(settings), ["clone", "mark", "reward"], 16) is None
    on_gpu = idle_cores_advice(compose([*settings, "actors.device=auto"]), STAGES, 16)
    assert on_gpu is not None and on_gpu.endswith("To use all: collect.workers=16")


def test_stages_that_have_nothing_to_do_are_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(idle_cores, "usable_cores", lambda root: 8.0)
    caplog.set_level(logging.INFO)
    _refuse_unfit_round(compose(["experiment=gymnasium", f"run.dir={tmp_path}"]))
    assert "To use all: collect.workers=8 evaluate.workers=8\n" in caplog.text


def test_a_stage_that_has_begun_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(idle_cores, "usable_cores", lambda root: 8.0)
    caplog.set_level(logging.INFO)
    interplay("collect", tiny(tmp_path))
    assert "To use all: collect.workers=8" in caplog.text
    caplog.clear()
    interplay("collect", tiny(tmp_path))
    assert "To use all" not in caplog.text, "the number may not change from 0 to another one"
