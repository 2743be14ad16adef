"""The verbs of the `interplay` command: for each, what it does with a configuration.

The modules of most verbs are imported when the verb runs: a plot library, a web server and the worlds take longer to
import than most verbs need for their work.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from rich.console import Console

from interplay.core.settings_group import settings_group
from interplay.episodes.repair import repair
from interplay.launch import doctor
from interplay.launch.memory_need import refuse_too_large
from interplay.launch.opened_run import opened_for_work
from interplay.launch.pipeline import STAGES, PipelineStage
from interplay.launch.stage_devices import check_devices
from interplay.stages.config import Config
from interplay.stages.rounds import SHARED_STAGES
from interplay.stages.stage_folder import WORK_LOCK, StageFolder
from interplay.tracking.dashboard import watch
from interplay.tracking.run_summary import read_run_summary


@dataclass(frozen=True)
class Later:
    """A function of a module of `interplay.launch`, which is imported when its verb is typed."""

    module: str
    function: str


@dataclass(frozen=True)
class Verb:
    """A verb of the command line."""

    does: str
    act: Callable[[Config], int] | Later
    # What a word that is not a setting names.
    takes: Literal["", "episode", "round", "corpus", "person", "setting"] = ""

    def load(self) -> Callable[[Config], int]:
        """What carries the verb out, imported if necessary; returns the exit code."""
        if not isinstance(self.act, Later):
            return self.act
        module = import_module(f"interplay.launch.{self.act.module}")
        found: Callable[[Config], int] = getattr(module, self.act.function)
        return found


def _stage(stage: PipelineStage) -> Callable[[Config], int]:
    def act(config: Config) -> int:
        check_devices(config, {settings_group(stage.name)})
        refuse_too_large(config, stage.name)
        if (number := config.run.round) > 1 and stage.name in SHARED_STAGES:  # before the run makes the round's folder
            raise ValueError(f"{stage.name} belongs to the run, not to a round: leave out run.round={number}")
        with opened_for_work(config, stage.name) as run:
            stage.run(run)
        folder = run.stage(stage.name)
        sys.stdout.write(f"{stage.name}: done in {folder.record()['seconds']:.0f} s; {folder.path}\n")
        return 0

    return act


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


VERBS: Mapping[str, Verb] = {
    "demo": Verb(
        "run the stages of round 1, small, and write a report (experiment=demo)", Later("round_verbs", "run_round")
    ),
    "round": Verb(
        "run the stages of a round that are not done: interplay round 2",
        Later("round_verbs", "run_round"),
        takes="round",
    ),
    **{name: Verb(stage.does, _stage(stage)) for name, stage in STAGES.items()},
    "report": Verb("write report.html and summary.json of the stages that have run", Later("reading_verbs", "report")),
    "orderings": Verb(
        "compare BC+RL with its baselines over seeds, and with the paper's findings",
        Later("round_verbs", "compare_seeds"),
    ),
    "inspect-reward": Verb(
        "measure the reward model on held-out episodes, and write a page", Later("reading_verbs", "inspect_reward")
    ),
    "look": Verb("draw a world as its players and a visitor see it", Later("picture_verbs", "look")),
    "play": Verb(
        "learn in the terminal: a person answers the teacher of env=commai, recorded", Later("recording_verbs", "play")
    ),
    "studio": Verb("serve the pages on which people take part in a run", Later("studio_verbs", "serve")),
    "score": Verb(
        "score recordings by what the reward model is unsure of, for studies of what to mark next",
        Later("reading_verbs", "score"),
    ),
    "invite": Verb(
        "make an invitation to the run's studio, as invite.roles=[mark] invite.uses=5", Later("people_verbs", "invite")
    ),
    "forget": Verb(
        "list and delete what a run's studio keeps of a person: interplay forget PERSON",
        Later("people_verbs", "forget"),
        "person",
    ),
    "export": Verb(
        "write what people did at the run's studio as tables, without their identities",
        Later("people_verbs", "export_people"),
    ),
    "studio-demo": Verb(
        "serve a small recorded run with synthetic people at work, for a person to join",
        Later("studio_verbs", "serve_demo"),
    ),
    "crowd": Verb(
        "let synthetic people play and mark at the studio that serves the run", Later("studio_verbs", "run_crowd")
    ),
    "import": Verb(
        "read a corpus of the voxel world: interplay import mdc|iglu FOLDER",
        Later("recording_verbs", "import_corpus"),
        takes="corpus",
    ),
    "serve-reward": Verb(
        "score unrolls of other programs with the reward model over HTTP", Later("reading_verbs", "serve_reward")
    ),
    "watch": Verb("show the progress of a run from another terminal", _watch),
    "catalog": Verb(
        "draw every kind of object, and many houses, as the players see them", Later("picture_verbs", "catalog")
    ),
    "replay": Verb(
        "make a video of a recorded episode: interplay replay EPISODE",
        Later("reading_verbs", "replay"),
        takes="episode",
    ),
    "reindex": Verb("rebuild a run's catalog of episodes and marks, damaged or not, from its files", _reindex),
    "doctor": Verb("check the installation and this machine", _doctor),
    "explain": Verb(
        "say what settings mean: interplay explain reinforce.actor",
        Later("explain_settings", "explain"),
        takes="setting",
    ),
    "print-config": Verb("print the complete resolved configuration", _print_config),
}
