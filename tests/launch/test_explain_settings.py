"""`interplay explain` and the page of settings: every setting has a meaning."""

from __future__ import annotations

import pytest

from interplay.launch.cli import main
from interplay.launch.compose import compose
from interplay.launch.explain_settings import WORLDS, settings_of, settings_page


@pytest.mark.parametrize("world", WORLDS)
def test_every_setting_has_a_meaning(world: str) -> None:
    settings = settings_of(compose([f"env={world}", *WORLDS[world]]))
    assert len(settings) > 400
    assert [each.key for each in settings if not each.meaning] == []


def test_settings_are_explained_with_the_values_of_an_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "reinforce.actor", "experiment=orderings", "reinforce.actor.lanes=6"]) == 0
    told = capsys.readouterr().out
    assert "reinforce.actor.lanes = 6  (int)\n    worlds, and lanes of an unroll\n" in told
    assert "reinforce.actor.until = done  (time or done)\n" in told
    assert "clone." not in told


def test_a_part_of_a_name_finds_the_settings_of_all_sections(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "around_utterances"]) == 0
    told = capsys.readouterr().out
    for stage in ("clone", "reward", "reinforce"):
        assert f"{stage}.dataset.around_utterances = 0  (float)\n" in told
    assert told.count(" = ") == 3


def test_what_no_user_sets_is_neither_explained_nor_proposed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "run"]) == 0
    assert "run.settings = typed" in (told := capsys.readouterr().out) and "run.typed" not in told
    assert main(["collect", "typed=[a]"]) == 2
    assert "typed: unknown setting" in (said := capsys.readouterr().err) and "run.typed" not in said


def test_the_name_of_a_section_finds_that_section_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "agent", "reinforce.reward=world"]) == 0
    told = capsys.readouterr().out
    assert "agent.lstm = 128  (int)\n" in told and "collect_agent" not in told and "evaluate.agents" not in told
    assert main(["explain", "reinforce.reward", "reinforce.reward=world"]) == 0
    assert capsys.readouterr().out.startswith("reinforce.reward = world  (str)\n")


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("crowd.seconds=1234567.5", "crowd.seconds = 1234567.5  (float)"),
        ("runtime.stall_limit=600", "runtime.stall_limit = 600  (float)"),
        ("clone.learner.learning_rate=1e-5", "clone.learner.learning_rate = 1e-05  (float)"),
        ("collect.setter.kinds={go: 0.5}", "collect.setter.kinds = {go: 0.5}  (mapping from str to float)"),
        ("runtime.address=null", "runtime.address = null  (str or null)"),
        ("baselines=[bc_long,ar]", "baselines = [bc_long,ar]  (list of str)"),
    ],
)
def test_values_are_shown_as_they_are_typed(typed: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", typed.partition("=")[0], typed]) == 0
    assert capsys.readouterr().out.startswith(f"{line}\n")


def test_an_unknown_setting_is_refused_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "silence_cost_"]) == 2
    assert "there is no setting 'silence_cost_'. Did you mean 'silence_costs'?" in capsys.readouterr().err


def test_an_unknown_setting_that_resembles_none_is_refused_without_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "xyzzy"]) == 2
    said = capsys.readouterr().err
    assert said == "interplay explain: there is no setting 'xyzzy'. interplay explain lists the sections\n"


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        (["env.targets"], "interplay explain env.targets env=voxel\n"),
        (["on_surfaces", "env=commai"], "interplay explain on_surfaces env=playhouse\n"),
        (["env.bins"], "interplay explain env.bins env=gymnasium env.id=CartPole-v1\n"),
    ],
)
def test_a_setting_of_another_world_is_proposed_with_that_world(
    typed: list[str], proposed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *typed]) == 2
    said = capsys.readouterr().err
    assert said.endswith(f"another world has. Type {proposed}")
    assert main(proposed.split()[1:]) == 0
    assert f"env.{typed[0].removeprefix('env.')} = " in capsys.readouterr().out


def test_the_page_has_a_row_for_every_setting_and_world() -> None:
    page = settings_page()
    runtime = page.partition("## runtime\n")[2].partition("\n## ")[0]
    assert "| `runtime.` | type | default | meaning |" in runtime
    assert "| `restarts` | `int` | `5` | of a worker, before the run is given up |" in runtime
    assert "| `tokens` | `words or characters` | `words` |" in page
    for world in WORLDS:
        assert f"## env={world}\n" in page
