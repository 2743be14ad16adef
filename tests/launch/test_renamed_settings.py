"""Old names are refused with the new ones when typed, and translated when read from the files of older runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import pytest
from tiny_runs import copied, interplay, opened, recorded, refused, tiny

from interplay.core import renamed_settings
from interplay.core.renamed_settings import RENAMED_SETTINGS, new_name, with_current_names
from interplay.core.settings_validation import SettingsError
from interplay.launch.compose import compose
from interplay.launch.verbs import VERBS
from interplay.stages.stage_folder import StageConflict, StageFolder


def problems(*typed: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        compose(typed)
    return caught.value.problems


def paths(settings: Mapping[str, object], group: str = "") -> Iterator[str]:
    for name, value in settings.items():
        yield f"{group}.{name}"
        if isinstance(value, Mapping):
            yield from paths(value, f"{group}.{name}")


def test_each_entry_names_something_that_exists_and_hides_nothing() -> None:
    known = [*paths(asdict(compose([]))), *paths(asdict(compose(["env=gymnasium"])))]
    for old, new in RENAMED_SETTINGS.items():
        if old.startswith("verb="):
            assert new in VERBS and old.removeprefix("verb=") not in VERBS
        elif "=" in old:
            assert any(path.endswith(f".{old.partition('=')[0]}") for path in known), old
        elif new.startswith("/"):
            assert f".{new[1:]}" in known and f".{old}" not in known, old
        else:
            assert any(path.endswith(f".{new}") for path in known), f"no setting is called {new}"
            assert not any(path.endswith(f".{old}") for path in known), f"{old} is the name of a setting"


def test_a_setting_that_left_its_group_is_refused_with_its_new_place() -> None:
    assert problems("orderings.cells=[bc_long]") == ("orderings.cells: is now called baselines: type baselines=...",)


def test_names_that_one_stage_alone_had_are_refused() -> None:
    assert problems("reinforce.heldout_every=2", "reinforce.setter=clone-setter", "evaluate.setter=clone-setter") == (
        "reinforce.heldout_every: is now called reinforce.measure_every: type reinforce.measure_every=...",
        "reinforce.setter: is now called reinforce.setter_agent: type reinforce.setter_agent=...",
        "evaluate.setter: is now called evaluate.setter_agent: type evaluate.setter_agent=...",
    )


def test_the_agent_that_is_recorded_has_the_name_of_the_solver(tmp_path: Path) -> None:
    assert problems("collect_agent.checkpoint=reward", "collect.checkpoint=reward") == (
        "collect.checkpoint: is now called collect.solver_agent: type collect.solver_agent=...",
        "collect_agent.checkpoint: is now called collect_agent.solver_agent: type collect_agent.solver_agent=...",
    )
    stage = StageFolder(tmp_path / "collect-agent")
    stage.begin({"collect": {"solver_agent": "reward"}}, lambda: None).save()
    record = stage.record()
    record["settings"] = {"collect": {"checkpoint": "reward"}}
    (stage.path / "stage.json").write_text(json.dumps(record))
    assert stage.record()["settings"] == {"collect": {"solver_agent": "reward"}}


def test_the_table_is_sorted() -> None:
    assert list(RENAMED_SETTINGS) == sorted(RENAMED_SETTINGS)


def test_old_names_are_refused_with_the_new_ones_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    renamed = {"reward=score": "ibt", "actor.strides": "steps", "experiment=tiny": "demo", "trainer": "runtime"}
    monkeypatch.setattr(renamed_settings, "RENAMED_SETTINGS", {**RENAMED_SETTINGS, **renamed})
    monkeypatch.setattr(renamed_settings, "RENAMED_TASK_KINDS", {"fetch": "bring"})
    assert problems(
        "env.unique_colours=true",
        "reinforce.actor.strides=8",
        "reinforce.reward=score",
        "collect.setter.kinds={fetch: 1}",
        "evaluate.kinds=[go, fetch]",
        "trainer.threads=2",
    ) == (
        "env.unique_colours: is now called env.unique_colors: type env.unique_colors=...",
        "trainer: is now called runtime: type runtime=...",
        "collect.setter.kinds: 'fetch' is now called 'bring': type bring",
        "reinforce.actor.strides: is now called reinforce.actor.steps: type reinforce.actor.steps=...",
        "reinforce.reward: 'score' is now called 'ibt': type ibt",
        "evaluate.kinds[1]: 'fetch' is now called 'bring': type bring",
    )
    assert problems("experiment=tiny") == ("experiment: 'tiny' is now called 'demo': type demo",)


def test_an_old_verb_is_refused_with_the_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused("catalogue", [], capsys, code=2).endswith("now called 'catalog'; type: interplay catalog\n")


def test_only_the_group_of_an_entry_is_renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        renamed_settings, "RENAMED_SETTINGS", {"dataset.blocks": "buffers", "dataset": "demonstrations"}
    )
    assert new_name("clone.dataset.blocks") == "clone.dataset.buffers"
    assert new_name("agent.blocks") is None
    stored = {"clone": {"dataset": {"blocks": 2}}, "agent": {"blocks": [1, 2]}}
    assert with_current_names({"clone": {"dataset": 1}}) == {"clone": {"demonstrations": 1}}
    monkeypatch.setattr(renamed_settings, "RENAMED_SETTINGS", {"dataset.blocks": "buffers"})
    assert with_current_names(stored) == {"clone": {"dataset": {"buffers": 2}}, "agent": {"blocks": [1, 2]}}


def test_a_stage_recorded_under_old_names_is_the_same_stage(tmp_path: Path) -> None:
    folder = StageFolder(tmp_path / "clone")
    folder.begin({"env": {"unique_colors": True}, "seed": 1}, lambda: None).save()
    record = folder.record()
    record["settings"]["env"] = {"unique_colours": True}
    (folder.path / "stage.json").write_text(json.dumps(record))
    assert folder.record()["settings"] == {"env": {"unique_colors": True}, "seed": 1}
    folder.refuse_other_settings({"env": {"unique_colors": True}, "seed": 1})
    with pytest.raises(StageConflict, match=r"env\.unique_colors: True -> False"):
        folder.refuse_other_settings({"env": {"unique_colors": False}, "seed": 1})


def test_a_run_written_under_old_names_is_read(cloned: Path, tmp_path: Path) -> None:
    settings = tiny(copied(cloned, tmp_path))
    config = opened(settings).root / "config.json"
    config.write_text(config.read_text().replace("unique_colors", "unique_colours"))
    interplay("mark", settings)
    assert "unique_colours" not in config.read_text()


def test_stages_recorded_under_old_names_are_resumed(rewarded: Path, tmp_path: Path) -> None:
    more = ("reinforce.measure_every=3", "reinforce.setter_agent=elsewhere", "reinforce.training.updates=2")
    settings = tiny(copied(rewarded, tmp_path), *more, "evaluate.kinds=[go]")
    run = opened(settings)
    for stage in ("reinforce", "evaluate"):
        interplay(stage, settings)
        text = (run.stage(stage).path / "stage.json").read_text()
        for old, new in (("heldout_every", "measure_every"), ("setter", "setter_agent")):
            text = text.replace(f'"{new}":', f'"{old}":')
        (run.stage(stage).path / "stage.json").write_text(text)
    interplay("reinforce", [*settings, "reinforce.training.updates=3"])
    assert run.stage("reinforce").record()["updates"] == 3
    interplay("evaluate", settings)
    assert '"setter":' not in (run.stage("evaluate").path / "stage.json").read_text()


def test_words_that_were_typed_under_old_names_are_repeated_under_the_new_ones(tmp_path: Path) -> None:
    typed = ("reinforce.measure_every=7", "+evaluate.setter_agent=clone-setter")
    run = recorded(tiny(tmp_path, *typed))
    (run.root / "config.json").write_text(
        (run.root / "config.json")
        .read_text()
        .replace("reinforce.measure_every", "reinforce.heldout_every")
        .replace("evaluate.setter_agent", "evaluate.setter")
    )
    again = compose([f"run.dir={tmp_path}", "run.name=run", "run.settings=recorded"])
    assert (again.reinforce, again.evaluate) == (run.config.reinforce, run.config.evaluate)
    assert set(typed) <= set(again.run.typed) and "reinforce.measure_every=7" in run.command("reinforce")
