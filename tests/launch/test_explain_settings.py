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
    assert [f"{stage}.dataset.around_utterances = 0  (float)\n" in told for stage in ("clone", "reward", "reinforce")]


def test_an_unknown_setting_is_refused_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "silence_cost_"]) == 2
    assert "there is no setting 'silence_cost_'. Did you mean 'silence_costs'?" in capsys.readouterr().err


def test_the_page_has_a_row_for_every_setting_and_world() -> None:
    page = settings_page()
    runtime = page.partition("## runtime\n")[2].partition("\n## ")[0]
    assert "| `runtime.` | type | default | meaning |" in runtime
    assert "| `restarts` | `int` | `5` | of a worker, before the run is given up |" in runtime
    assert "| `tokens` | `words or characters` | `words` |" in page
    for world in WORLDS:
        assert f"## env={world}\n" in page
