"""Agents that play decide on the device and in the precision of `actors`, in every stage."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.core.settings_validation import SettingsError
from interplay.stages.rollout_parts import _inference_model, local_policy
from interplay.stages.shared_parts import start_from

PAID_BY_TRUTH = ("reinforce.reward=scripted", "reinforce.actor.progress=true")


@pytest.mark.parametrize("verb", ["collect-agent", "evaluate", "continue"])
def test_a_device_that_is_not_here_is_refused_by_every_stage_that_plays(
    verb: str, cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(verb, tiny(copied(cloned, tmp_path), "actors.device=cuda:63"), capsys)
    assert "actors.device=cuda:63 is not available: " in said and "Choose actors.device=auto" in said


def test_reinforcement_refuses_it_before_it_plays(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused("reinforce", tiny(copied(cloned, tmp_path), *PAID_BY_TRUTH, "actors.device=cuda:63"), capsys)
    assert "actors.device=cuda:63 is not available" in said


def test_a_name_that_is_not_a_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"actors\.device must be one of auto, cpu, cuda"):
        opened(tiny(tmp_path, "actors.device=gpu"))


@pytest.mark.slow
def test_everything_that_plays_or_scores_computes_in_bf16_where_it_is_asked_to(cloned: Path, tmp_path: Path) -> None:
    settings = tiny(copied(cloned, tmp_path), *PAID_BY_TRUTH, "actors.precision=bf16")
    settings.append("reinforce.scoring_precision=bf16")
    run = opened(settings)
    policies = [local_policy(each, start_from(run, "clone")[0], "train") for each in (run, opened(settings[:-2]))]
    state = policies[0].initial_state(2)
    rows = policies[0].layout.observations(1, 2)
    values = [policy.decide(rows, state).value for policy in policies]
    assert (values[0] != values[1]).any() and abs(values[0] - values[1]).max() < 0.05
    for verb in ("collect-agent", "reinforce", "evaluate"):
        interplay(verb, settings)


def test_the_inference_server_uses_no_kernels_that_are_planned_for_one_batch_size(cloned: Path, tmp_path: Path) -> None:
    torch.backends.cuda.enable_cudnn_sdp(True)
    run = opened(tiny(copied(cloned, tmp_path), *PAID_BY_TRUTH))
    threads = torch.get_num_threads()
    try:
        assert _inference_model(run, ()).versions == []
        assert not torch.backends.cuda.cudnn_sdp_enabled()
    finally:
        torch.backends.cuda.enable_cudnn_sdp(True)
        torch.set_num_threads(threads)


def test_a_stage_does_not_change_the_precision_of_its_rewards(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tiny(copied(cloned, tmp_path), *PAID_BY_TRUTH)
    interplay("reinforce", [*settings, "reinforce.training.updates=2"])
    assert "scoring_precision" in refused("reinforce", [*settings, "reinforce.scoring_precision=bf16"], capsys)
    interplay("reinforce", [*settings, "actors.device=auto"])  # where it acts may change
