"""The verbs of the `interplay` command: for each, what it does and the function that carries it out.

The modules with the functions are imported when a verb runs: networks, a plot library, a web server and the worlds take
longer to import than `interplay --help` and most verbs need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from interplay.stages.config import Config


@dataclass(frozen=True)
class Later:
    """A function of a module of `interplay.launch`, which is imported when its verb is typed."""

    module: str
    function: str
    stage: str = ""  # its first argument, for the verb of a stage


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
        found: Callable[..., int] = getattr(module, self.act.function)
        return partial(found, self.act.stage) if self.act.stage else found


def _stage(name: str, does: str) -> dict[str, Verb]:
    return {name: Verb(does, Later("stage_verbs", "run_one_stage", name))}


VERBS: Mapping[str, Verb] = {
    "demo": Verb(
        "run the stages of round 1, small, and write a report (experiment=demo)", Later("round_verbs", "run_round")
    ),
    "round": Verb(
        "run the stages of a round that are not done: interplay round 2",
        Later("round_verbs", "run_round"),
        takes="round",
    ),
    **_stage("collect", "record episodes of scripted players"),
    **_stage("clone", "train an agent to imitate the recordings"),
    **_stage("clone-setter", "train an agent to imitate the recorded setters"),
    **_stage("collect-agent", "record episodes of the cloned agent"),
    **_stage("mark", "let raters mark the recordings"),
    **_stage("reward", "train the reward model on the marks"),
    **_stage("reinforce", "improve the agent on the reward"),
    **_stage("evaluate", "test every agent on the probe tasks"),
    **_stage("continue", "let every agent continue from recorded scenarios"),
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
    "watch": Verb("show the progress of a run from another terminal", Later("file_verbs", "watch_run")),
    "catalog": Verb(
        "draw every kind of object, and many houses, as the players see them", Later("picture_verbs", "catalog")
    ),
    "replay": Verb(
        "make a video of a recorded episode: interplay replay EPISODE",
        Later("reading_verbs", "replay"),
        takes="episode",
    ),
    "reindex": Verb(
        "rebuild a run's catalog of episodes and marks, damaged or not, from its files", Later("file_verbs", "reindex")
    ),
    "doctor": Verb("check the installation and this machine", Later("doctor", "check")),
    "explain": Verb(
        "say what settings mean: interplay explain reinforce.actor",
        Later("explain_settings", "explain"),
        takes="setting",
    ),
    "print-config": Verb("print the complete resolved configuration", Later("explain_settings", "print_config")),
}
