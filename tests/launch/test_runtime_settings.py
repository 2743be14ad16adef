"""Settings of the runtime and of devices: what has no effect, can't be divided, or needs a GPU is refused."""

from __future__ import annotations

import re

import pytest

from interplay.core.settings_validation import SettingsError
from interplay.launch.compose import compose
from interplay.launch.stage_devices import check_devices


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("reinforce.reward=success", "add reinforce.actor.achieved=true"),
        ("reinforce.reward=world runtime.reward.follow=true", "reinforce.reward=world uses none"),
        (
            "reinforce.reward=scripted reinforce.actor.progress=true runtime.reward.follow=true",
            "reinforce.reward=scripted uses none",
        ),
        ("clone.learner.device=cuda", "add runtime.learner.gpus=1, or set clone.learner.device=cpu"),
        ("reinforce.learner.device=cuda:1", "reinforce.learner.device=cuda:1 needs a GPU, and under Ray"),
        (
            "runtime.learners=2 runtime.learner.gpus=1 reward.learner.device=cuda reward.learner.cuda_graph=true",
            "set reward.learner.cuda_graph=false, or runtime.learners=1",
        ),
    ],
)
def test_settings_without_effect_or_gpu_under_ray_are_refused(typed: str, told: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(told)):
        compose(["runtime=ray", *typed.split()])


@pytest.mark.parametrize("limit", ["start_limit", "restart_window", "control_limit", "stall_limit"])
@pytest.mark.parametrize("typed", ["inf", "0", "2e9"])
def test_time_limits_that_no_timer_takes_are_refused(limit: str, typed: str) -> None:
    with pytest.raises(SettingsError, match=rf"runtime.{limit} must be above 0 and at most 1,000,000,000 seconds"):
        compose(["runtime=ray", f"runtime.{limit}={typed}"])
    compose(["runtime=ray", f"runtime.{limit}=1e9"])


def test_a_gpu_is_set_aside_or_there_in_process() -> None:
    compose(["runtime=ray", "runtime.learner.gpus=1", "reinforce.learner.device=cuda"])
    compose(["clone.learner.device=cuda"])
    compose(["runtime=ray", "runtime.reward.follow=true"])
    compose(["runtime=ray", "actors.device=auto"])
    compose(["runtime=ray", "actors.device=cuda", "actors.inference=service", "actors.service.gpus=1"])
    compose(["actors.device=cuda"])


def test_only_the_actors_of_reinforcement_see_no_gpu_under_ray(gpu: str) -> None:
    """The other stages in which agents play do so in the process of the command."""
    asked = compose(["runtime=ray", "actors.device=cuda"])
    check_devices(asked, ["evaluate"])
    for stages in (["reinforce"], ["collect", "reinforce", "evaluate"]):
        told = "under Ray an actor sees none. Let a server decide with actors.inference=service actors.service.gpus=1"
        with pytest.raises(SettingsError, match=re.escape(told)):
            check_devices(asked, stages)


def test_threads_that_overlap_would_not_use_are_refused_where_a_stage_trains() -> None:
    typed = compose(["runtime.threads=4"])
    with pytest.raises(
        SettingsError, match=r"runtime.threads=4 and runtime.overlap=true: .* set runtime.overlap=false"
    ):
        check_devices(typed)
    check_devices(typed, ["collect", "evaluate"])
    assert compose(["runtime.threads=4", "runtime.overlap=false"]).runtime.learner_threads == 4
    for settings in (["runtime.threads=4", "runtime.overlap=false"], ["runtime=ray", "runtime.threads=4"]):
        check_devices(compose(settings))


def test_one_buffer_suffices_without_prefetching() -> None:
    one = ("clone.dataset.blocks=1", "reward.dataset.blocks=1", "reinforce.actor.blocks=1")
    compose([*one, "runtime.overlap=false"])
    compose([*one, "runtime=ray"])
    compose(["reinforce.dataset.blocks=1"])
