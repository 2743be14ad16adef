"""The verbs of the `interplay` command: for each, what it does with a configuration."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import torch
from rich.console import Console

from interplay.core.settings_group import settings_group
from interplay.core.settings_validation import did_you_mean
from interplay.episodes.repair import repair
from interplay.launch import contact_sheets, doctor, people_verbs, world_sheet
from interplay.launch.complete_round import complete_round
from interplay.launch.memory_need import TRAINED, refuse_too_large, refuse_too_large_baselines
from interplay.launch.paper_orderings import orderings
from interplay.launch.pipeline import STAGES, PipelineStage, stages_of_round
from interplay.launch.served_run import draw_once, served_run
from interplay.launch.stage_devices import refuse_unavailable
from interplay.launch.studio_demo import studio_demo
from interplay.runtime.allocator import retain_freed_memory
from interplay.stages.config import Config
from interplay.stages.import_stage import import_corpus
from interplay.stages.inspect_reward_stage import inspect_reward
from interplay.stages.play_stage import play
from interplay.stages.replay_stage import replay
from interplay.stages.report_stage import report
from interplay.stages.rounds import SHARED_STAGES
from interplay.stages.run import Run, open_run
from interplay.stages.score_stage import score
from interplay.stages.serve_reward_stage import serve_reward
from interplay.stages.stage_folder import WORK_LOCK, StageFolder
from interplay.studio.crowd.crowd import crowd
from interplay.studio.web import server
from interplay.tracking.dashboard import watch
from interplay.tracking.run_summary import read_run_summary


@dataclass(frozen=True)
class Verb:
    """A verb of the command line."""

    does: str
    act: Callable[[Config], int]
    takes: Literal["", "episode", "round", "corpus", "person"] = ""  # what a word that is not a setting names


def _stage(stage: PipelineStage) -> Callable[[Config], int]:
    def act(config: Config) -> int:
        refuse_unavailable(config, {settings_group(stage.name)} & set(TRAINED))
        refuse_too_large(config, stage.name)
        if (number := config.run.round) > 1 and stage.name in SHARED_STAGES:  # before the run makes the round's folder
            raise ValueError(f"{stage.name} belongs to the run, not to a round: leave out run.round={number}")
        is_new = not config.run.root.exists()
        run = _open(config)
        try:
            stage.run(run)
        except Exception:
            if is_new and stage.name != "collect":
                _remove_unused(run, stage.name)
            raise
        folder = run.stage(stage.name)
        sys.stdout.write(f"{stage.name}: done in {folder.record()['seconds']:.0f} s; {folder.path}\n")
        return 0

    return act


def _remove_unused(run: Run, stage: str) -> None:
    """Removes the folder of a new run in which nothing but a refused stage has begun, as of a mistyped name."""
    entries = {path.name for path in run.root.iterdir()}
    recorded = any((run.root / "store" / "episodes").glob("*/*"))
    if entries <= {"store", stage} and not recorded and not run.stage(stage).record():
        shutil.rmtree(run.root)


def _writes(label: str, act: Callable[[Run], Path]) -> Callable[[Config], int]:
    """A verb that writes one file about an existing run and says where it is."""

    def write(config: Config) -> int:
        sys.stdout.write(f"{label}: {act(_open_existing(config)).resolve()}\n")
        return 0

    return write


def _round(config: Config) -> int:
    _refuse_unfit_round(config)
    path = complete_round(_open(config))
    sys.stdout.write(_findings(path.with_name("summary.json")))
    sys.stdout.write(f"\nThe report: {path.resolve()}\n")
    return 0


def _refuse_unfit_round(config: Config) -> None:
    refuse_unavailable(config)
    for stage in stages_of_round(config.run.round):
        refuse_too_large(config, stage.name)
    if config.run.round == 1:
        refuse_too_large_baselines(config)


def _orderings(config: Config) -> int:
    _refuse_unfit_round(config)
    sys.stdout.write(f"The results: {orderings(config, _open).resolve()}\n")
    return 0


def _play(config: Config) -> int:
    play(_open(config))
    return 0


def _import(config: Config) -> int:
    run = _open(config)
    sys.stdout.write(f"{config.corpus.name}, into {run.root}:\n{import_corpus(run)}\n")
    return 0


def _look(config: Config) -> int:
    run = _open(config)
    path = world_sheet.draw_world_sheet(run.make_world(), seed=run.seed, path=run.root / "look.png")
    sys.stdout.write(f"What the players see, and the whole: {path.resolve()}\n")
    return 0


def _serve_reward(config: Config) -> int:
    def announce(host: str, port: int) -> None:
        sys.stdout.write(f"The reward service: http://{host}:{port}/about (Ctrl-C ends it)\n")
        sys.stdout.flush()

    serve_reward(_open_existing(config), announce)
    return 0


def _studio(config: Config) -> int:
    root = config.run.root
    if not (root / "config.json").exists() and (runs := _names_of_runs(root.parent)):
        sys.stdout.write(
            f"{root.name} is a new run in {root.parent}. To serve another one of this folder, stop with Ctrl-C and "
            f"give run.name=NAME: {', '.join(runs)}\n"
        )
    served = served_run(config)
    draw_once(served)
    sys.stdout.flush()
    os.execv(sys.executable, server.command(served))


def _studio_demo(config: Config) -> int:
    def say(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    run = _open(config)
    served = served_run(config)
    draw_once(served)
    say(studio_demo(run, served, say))
    return 0


def _invite(config: Config) -> int:
    sys.stdout.write(people_verbs.invite(Run(config.run.root, config)))
    return 0


def _forget(config: Config) -> int:
    _refuse_missing(config)
    sys.stdout.write(people_verbs.forget(Run(config.run.root, config), served_run(config)))
    return 0


def _export(config: Config) -> int:
    _refuse_missing(config)
    rate = served_run(config).rate
    written, left_out = people_verbs.export_people(config, config.run.root, rate)
    sys.stdout.write(written)
    sys.stderr.write(left_out)
    return 1 if left_out else 0


def _crowd(config: Config) -> int:
    root = config.run.root
    found = crowd(Run(root, config))
    sys.stdout.write(f"The crowd of {root} ({config.crowd.players} players, {config.crowd.raters} raters):\n")
    sys.stdout.write(found.sentences())
    return 1 if found.errors else 0


def _catalog(config: Config) -> int:
    run = _open(config)
    paths = contact_sheets.draw_contact_sheets(run.make_world(), seed=run.seed, folder=run.root / "catalog")
    lines = [f"  {path.resolve()}\n" for path in paths]
    sys.stdout.write(
        f"All kinds of things and {contact_sheets.NUM_HOUSES} houses as the players see them:\n{''.join(lines)}"
    )
    return 0


def _replay(config: Config) -> int:
    torch.set_num_threads(config.runtime.threads)
    path = replay(config)
    sys.stdout.write(f"The video: {path.resolve()}\n")
    return 0


def _reindex(config: Config) -> int:
    root = config.run.root
    with ExitStack() as held:
        # Of stages that record, mark or evaluate, and of those of later rounds.
        for file in sorted([*root.glob(f"*/{WORK_LOCK}"), *root.glob(f"round-*/*/{WORK_LOCK}")]):
            held.enter_context(StageFolder(file.parent).locked(WORK_LOCK))
        sys.stdout.write("".join(f"{line}\n" for line in repair(root / "store").sentences()))
    return 0


def _watch(config: Config) -> int:
    root = config.run.root
    try:
        watch(lambda: read_run_summary(root), Console())
    except KeyboardInterrupt:
        sys.stderr.write("no longer watching; the run itself continues\n")
    return 0


def _doctor(config: Config) -> int:
    checks = [
        *doctor.doctor(Path(config.run.dir)),
        *doctor.devices_of_stages(config),
        *doctor.memory_of_stages(config),
    ]
    sys.stdout.write(doctor.table(checks))
    return doctor.exit_code(checks)


def _print_config(config: Config) -> int:
    sys.stdout.write(json.dumps(asdict(config), indent=2) + "\n")
    return 0


def _open(config: Config) -> Run:
    retain_freed_memory()
    torch.set_num_threads(config.runtime.learner_threads)
    return open_run(config)


def _open_existing(config: Config) -> Run:
    """The run, for verbs that only read it. Raises ValueError as `_refuse_missing`."""
    _refuse_missing(config)
    return _open(config)


def _refuse_missing(config: Config) -> None:
    """Refuses a run that does not exist, so that a mistyped name makes no folder.

    Raises:
        ValueError: there is no such run.
    """
    root = config.run.root
    if not any((root / part).exists() for part in ("config.json", "store")):  # a damaged config.json may be removed
        raise ValueError(
            f"there is no run in {root}; name one with run.name=NAME and, if it is not in runs/, "
            f"run.dir=FOLDER.{did_you_mean(root.name, _names_of_runs(root.parent))}"
        )


def _names_of_runs(folder: Path) -> list[str]:
    return sorted(file.parent.name for file in folder.glob("*/config.json"))


def _findings(summary: Path) -> str:
    """The headlines of a report as text."""
    lines = ["\nResults:\n"]
    for finding in json.loads(summary.read_text())["results"]["headlines"]:
        lines.append(f"  {finding['label']}: {finding['number'] or 'not run'}\n    {finding['sentence']}\n")
    return "".join(lines)


VERBS: Mapping[str, Verb] = {
    "demo": Verb("run the stages of round 1, small, and write a report (experiment=demo)", _round),
    "round": Verb("run the stages of a round that are not done: interplay round 2", _round, takes="round"),
    **{name: Verb(stage.does, _stage(stage)) for name, stage in STAGES.items()},
    "report": Verb("write report.html and summary.json of the stages that have run", _writes("The report", report)),
    "orderings": Verb("compare BC+RL with its baselines over seeds, and with the paper's findings", _orderings),
    "inspect-reward": Verb(
        "measure the reward model on held-out episodes, and write a page", _writes("The reward model", inspect_reward)
    ),
    "look": Verb("draw a world as its players and a visitor see it", _look),
    "play": Verb("learn in the terminal: a person answers the teacher of env=commai, recorded", _play),
    "studio": Verb("serve the pages on which people take part in a run", _studio),
    "score": Verb(
        "score recordings by what the reward model is unsure of, for studies of what to mark next",
        _writes("The scores of all recordings", score),
    ),
    "invite": Verb("make an invitation to the run's studio, as invite.roles=[mark] invite.uses=5", _invite),
    "forget": Verb("list and delete what a run's studio keeps of a person: interplay forget PERSON", _forget, "person"),
    "export": Verb("write what people did at the run's studio as tables, without their identities", _export),
    "studio-demo": Verb("serve a small recorded run with synthetic people at work, for a person to join", _studio_demo),
    "crowd": Verb("let synthetic people play and mark at the studio that serves the run", _crowd),
    "import": Verb("read a corpus of the voxel world: interplay import mdc|iglu FOLDER", _import, takes="corpus"),
    "serve-reward": Verb("score unrolls of other programs with the reward model over HTTP", _serve_reward),
    "watch": Verb("show the progress of a run from another terminal", _watch),
    "catalog": Verb("draw every kind of object, and many houses, as the players see them", _catalog),
    "replay": Verb("make a video of a recorded episode: interplay replay EPISODE", _replay, takes="episode"),
    "reindex": Verb("rebuild a run's catalog of episodes and marks, damaged or not, from its files", _reindex),
    "doctor": Verb("check the installation and this machine", _doctor),
    "print-config": Verb("print the complete resolved configuration", _print_config),
}
