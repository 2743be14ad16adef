"""Sweeps: each combination is a run with its own name, all are checked before the first starts, all ends are logged."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra._internal.utils import get_args_parser
from signalled_run import AfterCall, run_and_signal

import interplay.conf
from interplay.core.settings_validation import SettingsError
from interplay.launch.cli import configured, main
from interplay.launch.sweep import CHECK_OF_HELP, _folder, _forward_stop, combinations, help_of_any_type, sweep
from interplay.launch.sweep_task import OUTCOME
from interplay.launch.verbs import SWEPT
from interplay.stages import stage_folder
from interplay.stages.stage_folder import StageConflict

LAUNCHERS = Path(interplay.conf.__file__).parent / "hydra" / "launcher"
LONG = 600.0  # seconds
TINY = ("env=room", "collect.episodes=1", "collect.heldout=1", "collect.lanes=1", "collect.steps=2")


@pytest.fixture
def without_idle_workers() -> Iterator[None]:
    """Ends joblib's processes, which wait for more work and would be children of other tests."""
    yield
    if "joblib" in sys.modules:
        sys.modules["joblib"].externals.loky.get_reusable_executor().shutdown(wait=True)


def test_the_last_value_varies_first_and_names_have_the_swept_values() -> None:
    typed = ["run.name=mine", "agent=nano,5m", "clone.learner.learning_rate=1e-4,3e-4", "evaluate.steps=9"]
    found = combinations(typed)
    assert [run.name for run in found] == [
        "mine-agent-nano-learning_rate-0.0001",
        "mine-agent-nano-learning_rate-0.0003",
        "mine-agent-5m-learning_rate-0.0001",
        "mine-agent-5m-learning_rate-0.0003",
    ]
    assert found[2].words == (
        "agent=5m", "clone.learner.learning_rate=0.0001", "evaluate.steps=9", f"run.name={found[2].name}",
    )  # fmt: skip


def test_hydra_parses_its_arguments_where_argparse_checks_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python 3.14 does, for Hydra's help of --shell-completion, which is not a string."""
    parser = argparse.ArgumentParser
    add = parser.add_argument

    def checking(self: argparse.ArgumentParser, *names: Any, **options: Any) -> argparse.Action:
        action = add(self, *names, **options)
        getattr(self, CHECK_OF_HELP)(action)
        return action

    check = lambda self, action: "%" in action.help  # noqa: E731
    monkeypatch.setattr(parser, "add_argument", checking)
    monkeypatch.setattr(parser, CHECK_OF_HELP, check, raising=False)
    with pytest.raises(TypeError, match="LazyCompletionHelp"):
        get_args_parser()
    with help_of_any_type():
        assert get_args_parser().parse_args(["--multirun", "number=0,1"]).multirun
    assert getattr(parser, CHECK_OF_HELP) is check


def test_a_plus_in_front_of_a_swept_setting_is_accepted() -> None:
    assert combinations(["+run.seed=1,2"]) == combinations(["run.seed=1,2"])


def test_a_setting_of_a_preset_is_removed_in_every_run() -> None:
    runs = combinations(["run.seed=1,2", "~collect.setter.kinds.go"])
    assert [run.words[:-1] for run in runs] == [(f"run.seed={n}", "~collect.setter.kinds.go") for n in (1, 2)]
    assert [run.name for run in runs] == ["run-seed-1", "run-seed-2"]


def test_every_sweep_has_a_folder_of_its_own() -> None:
    seeds, more = (combinations([f"run.seed={seeds}"]) for seeds in ("1,2", "1,2,3"))
    told = [_folder(verb, runs, []) for verb in ("collect", "clone") for runs in (seeds, more)]
    assert len(set(told)) == 4 and told[0] == _folder("collect", combinations(["run.seed=1,2"]), [])
    assert _folder("clone", seeds, ["run.name=mine"]).startswith("mine-clone-")


def test_a_mistyped_verb_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "colect", "run.seed=1,2"]) == 2
    assert "name a verb, as interplay sweep demo run.seed=1,2. Did you mean 'collect'?" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["watch", "replay", "explain", "doctor"])
def test_verbs_that_serve_show_or_list_are_not_swept(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", verb, "run.seed=1,2"]) == 2
    said = capsys.readouterr().err
    assert f"interplay sweep: {verb} is not swept. Name a verb" in said
    assert "Those that are swept: demo, round, collect, clone, clone-setter, collect-agent, mark, reward" in said
    assert {"studio", "studio-demo", "crowd", "serve-reward", "play"}.isdisjoint(SWEPT)


def test_an_outcome_is_written_whole(tmp_path: Path) -> None:
    """A file that is written in place would also change under its other name."""
    words, before = [*TINY, f"run.dir={tmp_path}", "run.seed=1,2"], tmp_path / "before"
    before.touch()

    def act(typed: Sequence[str]) -> int:
        (folder,) = (tmp_path / ".sweeps").iterdir()
        for number in ("0", "1"):
            (folder / number).mkdir(exist_ok=True)
            if not (folder / number / OUTCOME).exists():
                (folder / number / OUTCOME).hardlink_to(before)
        return 0

    assert sweep("collect", words, act, configured) == 0
    assert not before.read_text()


def test_keys_that_end_alike_are_named_in_full() -> None:
    names = [run.name for run in combinations(["clone.learner.warm_up=1,2", "reward.learner.warm_up=3,4"])]
    assert names[0] == "run-clone.learner.warm_up-1-reward.learner.warm_up-3"
    assert len(set(names)) == 4


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["run.seed=1"], "nothing is swept"),
        (["run.name=a,b"], r"run\.name cannot be swept"),
        (["run.seed"], "is not a setting"),
        (["run.settings=recorded", "run.seed=1,2"], "a sweep makes runs of its own"),
        (["run.seed=1,2", "run.name=a}"], "run.name: 'a}' has characters that need quotes"),
        (["run.seed=1,2,1"], "several combinations would be the run 'run-seed-1'"),
        (["tracking.project=a@b,a+b"], "several combinations would be the run 'run-project-a_b'"),
    ],
)
def test_settings_that_cannot_be_swept_are_refused(typed: list[str], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        combinations(typed)


@pytest.mark.parametrize(
    ("launcher", "says"),
    [("hydra/launcher=laptpo", "laptop slurm"), ("hydra.launcher.n_jobs_=1", "n_jobs_")],
)
def test_an_unknown_launcher_or_setting_of_one_is_refused(
    launcher: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "collect", *TINY, f"run.dir={tmp_path}", "run.seed=1,2", launcher]) == 2
    said = capsys.readouterr().err
    assert f"  - {launcher}: " in said and says in said and "provider=" not in said and "use +" not in said
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "launcher",
    [[], pytest.param(["hydra/launcher=laptop"], marks=pytest.mark.slow)],
    ids=["one after another", "laptop"],
)
@pytest.mark.usefixtures("without_idle_workers")
def test_a_sweep_makes_its_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str], launcher: list[str]) -> None:
    words = [*TINY, f"run.dir={tmp_path}", "run.name=tiny", "run.seed=1,2", *launcher]
    assert main(["sweep", "collect", *words]) == 0
    assert {path.name for path in tmp_path.glob("tiny-*")} == {"tiny-seed-1", "tiny-seed-2"}
    for seed in (1, 2):
        assert (tmp_path / f"tiny-seed-{seed}" / "collect" / "stage.json").exists()
    assert "sweep: 2 of 2 runs done" in capsys.readouterr().out


def test_a_run_that_fails_does_not_hide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The clone has no episodes to learn from."""
    assert main(["sweep", "clone", *TINY, f"run.dir={tmp_path}", "run.seed=1,2"]) == 1
    told = capsys.readouterr().out
    assert "run-seed-1: ended with code 1" in told
    assert "sweep: 0 of 2 runs done" in told


def test_a_round_is_swept_by_its_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*TINY, f"run.dir={tmp_path}", "run.seed=1,2"]
    assert main(["sweep", "round", "2", *words]) == 1
    told = capsys.readouterr()
    assert "run-seed-2: ended with code 1" in told.out and "type: interplay round 1 run.name=run-seed-2" in told.err
    assert main(["sweep", "round", *words]) == 2
    assert "round takes the number of a round" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    "launcher",
    [[], ["hydra/launcher=laptop", "hydra.launcher.n_jobs=1"]],
    ids=["one", "laptop"],
)
def test_a_stopped_sweep_starts_no_other_run(tmp_path: Path, launcher: list[str]) -> None:
    words = ["sweep", "collect", *TINY, f"run.dir={tmp_path}", "collect.episodes=40", "run.seed=1,2,3", *launcher]
    stored = AfterCall("interplay.episodes.store:EpisodeStore.append", 1)
    result = run_and_signal(words, signal.SIGINT, stored, tmp_path / "log")
    assert result.code == 130, result.output
    assert "run-seed-1: ended with code 130" in result.output
    assert "run-seed-2: did not end" in result.output and "run-seed-3: did not end" in result.output
    assert not (tmp_path / "run-seed-2").exists()


@pytest.mark.slow
def test_a_sweep_in_several_processes_stops_on_a_signal_to_it_alone(tmp_path: Path) -> None:
    words = [*TINY, f"run.dir={tmp_path}", "run.seed=1,2,3", "collect.episodes=100000", "hydra/launcher=laptop"]
    code = "import sys; from interplay.launch.cli import main; sys.exit(main())"
    with (tmp_path / "said").open("w") as said:
        asked = subprocess.Popen([sys.executable, "-c", code, "sweep", "collect", *words], stdout=said, stderr=said)
    ends = time.monotonic() + LONG
    while not all(any((tmp_path / f"run-seed-{seed}").rglob("*.npz")) for seed in (1, 2)):
        assert asked.poll() is None and time.monotonic() < ends, (tmp_path / "said").read_text()
        time.sleep(0.1)
    asked.send_signal(signal.SIGTERM)
    assert asked.wait(LONG) == 130
    told = (tmp_path / "said").read_text()
    assert "run-seed-1: ended with code 130" in told and "run-seed-2: ended with code 130" in told, told
    assert not (tmp_path / "run-seed-3").exists()


def test_a_thread_that_ends_meanwhile_does_not_block_signals_to_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (tmp_path / "children").write_text(f"{sleeper.pid} ")
    monkeypatch.setattr(Path, "glob", lambda self, pattern: [tmp_path / "gone", tmp_path / "children"])
    _forward_stop(tmp_path / "stopped", signal.SIGTERM)
    assert sleeper.wait(60) == -signal.SIGTERM and (tmp_path / "stopped").exists()


def test_a_sweep_that_is_running_is_not_started_a_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one would remove the outcomes and the stop of the first, and each would stop the other."""
    monkeypatch.setattr(stage_folder, "LOCK_SECONDS", 0.0)
    words, said = [*TINY, f"run.dir={tmp_path}", "run.seed=1,2"], list[str]()

    def act(typed: Sequence[str]) -> int:
        with pytest.raises(StageConflict) as refused:
            sweep("collect", words, act, configured)
        said.append(str(refused.value))
        return 0

    assert sweep("collect", words, act, configured) == 0
    assert len(said) == 2 and "is being worked on by process" in said[0] and "run.name=" in said[0]


def test_a_job_that_ends_the_launcher_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def act(typed: Sequence[str]) -> int:
        if "run.seed=1" in typed:
            return 0
        raise MemoryError("the job was killed")

    assert sweep("collect", [*TINY, f"run.dir={tmp_path}", "run.seed=1,2"], act, configured) == 1
    told = capsys.readouterr()
    assert "run-seed-1: done" in told.out and "run-seed-2: did not end" in told.out
    assert "the job was killed" in told.err


def test_no_run_starts_if_one_combination_is_invalid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "collect", *TINY, f"run.dir={tmp_path}", "collect.lanes=1,0"]) == 2
    assert "collect: lanes must be at least 1, got 0" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_a_variant_that_baselines_does_not_name_is_refused_before_a_run_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*TINY, f"run.dir={tmp_path}", "run.seed=1,2", "variants.few.reward.marked_share=0.25"]
    assert main(["sweep", "demo", *words]) == 2
    assert "variants.few is typed, but not trained" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_a_setting_needs_an_effect_in_some_run_of_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "collect", *TINY, f"run.dir={tmp_path}", "run.name=tiny"]
    assert main([*words, "run.seed=1,2", "reinforce.actor.hold_steps=4"]) == 2
    assert main([*words, "reinforce.actor.hold_steps=0,4"]) == 2
    assert capsys.readouterr().err.count("actor.hold_steps has no effect with reinforce.actor.until=time") == 2
    assert not any(tmp_path.iterdir())
    assert main([*words, "reinforce.actor.until=time,done", "reinforce.actor.hold_steps=4"]) == 0
    assert {path.name for path in tmp_path.glob("tiny-*")} == {"tiny-until-time", "tiny-until-done"}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["sweep", "collect", *TINY, f"run.dir={tmp_path}/file", "run.seed=1,2"]) == 1
    assert f"interplay sweep: {tmp_path}/file" in capsys.readouterr().err


def test_a_swept_demo_is_checked_with_the_settings_of_the_demo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "demo", f"run.dir={tmp_path}", "reinforce.dataset.steps=50,60"]) == 2
    assert "reinforce.actor.steps=10 and reinforce.dataset.steps=50 differ" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "file", sorted(set(LAUNCHERS.glob("*.yaml")) - {LAUNCHERS / "slurm.yaml"}), ids=lambda file: file.stem
)
def test_every_launcher_takes_the_fields_that_its_preset_sets(file: Path) -> None:
    from hydra import compose, initialize_config_module

    with initialize_config_module("interplay.conf", version_base="1.3"):
        composed = compose("sweep", overrides=[f"hydra/launcher={file.stem}"], return_hydra_config=True)
    preset = {key: value for key, value in yaml.safe_load(file.read_text()).items() if key != "defaults"}
    assert preset
    for key, value in preset.items():
        assert composed.hydra.launcher[key] == value
    assert "_target_" in composed.hydra.launcher
