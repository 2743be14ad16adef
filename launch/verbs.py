"""The verbs of the `interplay` command: for each, its help and the function that carries it out.

The modules with the functions are imported when a verb runs: networks, a plot library, a web server and the worlds take
longer to import than `interplay --help` and most verbs need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from interplay.stages.config import Config


@dataclass(frozen=True)
class LazyFunction:
    """A function of a module of `interplay.launch`, which is imported when its verb is typed."""

    module: str
    function: str
    stage: str = ""  # its first argument, for the verb of a stage


@dataclass(frozen=True)
class VerbHelp:
    """What `interplay VERB --help` prints of a verb. Paths are relative to the folder of the run."""

    does: str
    _: KW_ONLY
    reads: str = ""
    writes: str = ""
    sections: tuple[str, ...] = ()  # of settings that it uses; its own one is first
    example: str = ""  # what is typed after the verb


@dataclass(frozen=True)
class Verb(VerbHelp):
    """A verb of the command line."""

    act: Callable[[Config], int] | LazyFunction
    # What a word that is not a setting names.
    takes: Literal["", "episode", "round", "corpus", "person", "setting", "export"] = ""
    swept: bool = False  # whether `interplay sweep` runs it: its results depend on the settings of training

    def load(self) -> Callable[[Config], int]:
        """What carries the verb out, imported if necessary; returns the exit code."""
        if not isinstance(self.act, LazyFunction):
            return self.act
        module = import_module(f"interplay.launch.{self.act.module}")
        found: Callable[..., int] = getattr(module, self.act.function)
        return partial(found, self.act.stage) if self.act.stage else found


def _stage(
    name: str, does: str, *, reads: str = "", writes: str, sections: tuple[str, ...], example: str
) -> dict[str, Verb]:
    act = LazyFunction("stage_verbs", "run_one_stage", name)
    return {name: Verb(does, act, reads=reads, writes=writes, sections=sections, example=example, swept=True)}


ROUND = ("collect", "clone", "collect_agent", "mark", "reward", "reinforce", "evaluate", "baselines", "variants")
TRAINING = ("agent", "runtime", "tracking")  # sections that all training stages use

SWEEP = VerbHelp(  # runs another verb, so it is not one of VERBS
    "a verb over several values: interplay sweep demo run.seed=1,2",
    writes="a run for each combination of the values, named after them",
    example="reinforce experiment=demo run.name=mine reinforce.learner.learning_rate=1e-4,3e-4",
)

VERBS: Mapping[str, Verb] = {
    "demo": Verb(
        "run the stages of round 1, small, and write a report (experiment=demo)",
        LazyFunction("round_verbs", "run_round"),
        swept=True,
        reads="what its stages have done before: it continues there",
        writes="a folder for each stage, store/ (episodes and marks), report.html and summary.json",
        sections=ROUND,
        example="run.name=mine run.seed=2",
    ),
    "round": Verb(
        "run the stages of a round that are not done: interplay round 2",
        LazyFunction("round_verbs", "run_round"),
        swept=True,
        takes="round",
        reads="the agent of the round before, and store/",
        writes="the same as demo; from round 2 on in round-2/",
        sections=ROUND,
        example="2 experiment=demo run.name=mine",
    ),
    **_stage(
        "collect",
        "record episodes of scripted players",
        writes="store/ (episodes)",
        sections=("collect", "solver", "env"),
        example="run.name=mine collect.episodes=200",
    ),
    **_stage(
        "clone",
        "train an agent to imitate the recordings",
        reads="store/ (episodes)",
        writes="clone/checkpoints, clone/metrics.jsonl",
        sections=("clone", *TRAINING),
        example="run.name=mine clone.training.updates=500",
    ),
    **_stage(
        "clone-setter",
        "train an agent to imitate the recorded setters",
        reads="store/ (episodes)",
        writes="clone-setter/checkpoints, clone-setter/metrics.jsonl",
        sections=("clone", *TRAINING),
        example="run.name=mine clone.training.updates=500",
    ),
    **_stage(
        "collect-agent",
        "record episodes of the cloned agent",
        reads="clone/checkpoints, or those of collect_agent.solver_agent",
        writes="store/ (episodes)",
        sections=("collect_agent", "actors", "env"),
        example="run.name=mine collect_agent.episodes=200",
    ),
    **_stage(
        "mark",
        "let raters mark the recordings",
        reads="store/ (episodes)",
        writes="store/ (marks)",
        sections=("mark",),
        example="run.name=mine 'mark.raters=[rater-1,rater-2]'",
    ),
    **_stage(
        "reward",
        "train the reward model on the marks",
        reads="store/ (episodes and marks), and the agent of reward.start",
        writes="reward/checkpoints, reward/metrics.jsonl",
        sections=("reward", "runtime", "tracking"),
        example="run.name=mine reward.training.updates=2000",
    ),
    **_stage(
        "reinforce",
        "improve the agent on the reward",
        reads="store/ (episodes), reward/checkpoints, and the agent of reinforce.start",
        writes="reinforce/checkpoints, reinforce/metrics.jsonl",
        sections=("reinforce", "actors", "runtime", "tracking"),
        example="run.name=mine reinforce.learner.learning_rate=2e-4",
    ),
    **_stage(
        "evaluate",
        "test every agent on the probe tasks",
        reads="the checkpoints of all agents of the run, and those of evaluate.agents",
        writes="evaluate/",
        sections=("evaluate", "actors"),
        example="run.name=mine evaluate.episodes=50",
    ),
    **_stage(
        "continue",
        "let every agent continue from recorded scenarios",
        reads="the checkpoints of all agents of the run, and store/ (episodes)",
        writes="continue/ (results and recordings)",
        sections=("continuation", "actors"),
        example="run.name=mine",
    ),
    "report": Verb(
        "write report.html and summary.json of the stages that have run",
        LazyFunction("reading_verbs", "report"),
        swept=True,
        reads="what the stages of the run have written",
        writes="report.html, summary.json",
        example="run.name=mine",
    ),
    "orderings": Verb(
        "compare BC+RL with its baselines over seeds, and with the paper's findings",
        LazyFunction("round_verbs", "compare_seeds"),
        swept=True,
        reads="what the runs of the seeds have done before: it continues there",
        writes="a run for each seed, runs/NAME-seed-1 and so on; results.md, results.json and figures",
        sections=("orderings", *ROUND),
        example="experiment=orderings run.name=mine 'orderings.seeds=[1,2,3]'",
    ),
    "inspect-reward": Verb(
        "measure the reward model on held-out episodes, and write a page",
        LazyFunction("reading_verbs", "inspect_reward"),
        swept=True,
        reads="reward/checkpoints, store/ (episodes and marks)",
        writes="reward-inspection.html, reward-inspection.json",
        example="run.name=mine",
    ),
    "look": Verb(
        "draw a world as its players and a visitor see it",
        LazyFunction("picture_verbs", "look"),
        writes="look.png",
        sections=("env",),
        example="env=room run.seed=7",
    ),
    "play": Verb(
        "learn in the terminal: a person answers the teacher of env=commai, recorded",
        LazyFunction("recording_verbs", "play"),
        reads="the keyboard",
        writes="store/ (episodes)",
        sections=("env",),
        example="env=commai run.name=mine",
    ),
    "studio": Verb(
        "serve the pages on which people take part in a run",
        LazyFunction("studio_verbs", "serve"),
        reads="store/, and the checkpoints of agents that play",
        writes="store/ (episodes and marks), studio/ (people and studies)",
        sections=("studio",),
        example="run.name=mine studio.port=8701",
    ),
    "score": Verb(
        "score recordings by what the reward model is unsure of, for studies of what to mark next",
        LazyFunction("reading_verbs", "score"),
        reads="reward/checkpoints, store/ (episodes)",
        writes="studio/scores.json, studio/memories.npz",
        example="run.name=mine",
    ),
    "invite": Verb(
        "make an invitation to the run's studio, as invite.roles=[mark] invite.uses=5",
        LazyFunction("people_verbs", "invite"),
        reads="the address of the studio that serves the run",
        writes="studio/; prints the address of the invitation",
        sections=("invite",),
        example="run.name=mine 'invite.roles=[play,mark]' invite.uses=5",
    ),
    "forget": Verb(
        "list and delete what a run's studio keeps of a person: interplay forget PERSON",
        LazyFunction("people_verbs", "forget"),
        takes="person",
        reads="studio/, store/",
        writes="nothing; with forget.confirm=true it deletes from both",
        sections=("forget",),
        example="p-7qk2mz run.name=mine",
    ),
    "export": Verb(
        "write what people did at the run's studio as tables; episodes for other libraries: export minari DATASET",
        LazyFunction("export_verb", "export"),
        takes="export",
        reads="studio/, store/",
        writes="studio/export/, or the folder export.folder; with minari a dataset in Minari's folder",
        sections=("export",),
        example="run.name=mine export.format=jsonl",
    ),
    "studio-demo": Verb(
        "serve a small recorded run with synthetic people at work, for a person to join",
        LazyFunction("studio_verbs", "serve_demo"),
        reads="store/ (episodes); records some if it is empty",
        writes="store/ (episodes and marks), studio/",
        sections=("crowd", "studio", "collect"),
        example="run.name=studio-demo collect.episodes=12",
    ),
    "crowd": Verb(
        "let synthetic people play and mark at the studio that serves the run",
        LazyFunction("studio_verbs", "run_crowd"),
        reads="the pages of the studio",
        writes="store/ (episodes and marks) and studio/, by way of the studio",
        sections=("crowd",),
        example="run.name=mine crowd.players=4 crowd.seconds=600",
    ),
    "import": Verb(
        "read a corpus of the voxel world or a Minari dataset: interplay import mdc|iglu|minari FOLDER",
        LazyFunction("recording_verbs", "import_corpus"),
        takes="corpus",
        reads="the folder of the corpus, or the Minari dataset of an id",
        writes="corpus/ (tasks), store/ (episodes)",
        sections=("corpus", "env"),
        example="mdc minecraft-dialogue-models env=voxel env.control=fly run.name=mine",
    ),
    "serve-reward": Verb(
        "score unrolls of other programs with the reward model over HTTP",
        LazyFunction("reading_verbs", "serve_reward"),
        reads="reward/checkpoints",
        sections=("serve", "runtime"),
        example="run.name=mine serve.port=8765",
    ),
    "watch": Verb(
        "show the progress of a run from another terminal",
        LazyFunction("file_verbs", "watch_run"),
        reads="what the stages of the run write",
        example="run.name=mine",
    ),
    "catalog": Verb(
        "draw every kind of object, and many houses, as the players see them",
        LazyFunction("picture_verbs", "catalog"),
        writes="catalog/ (pictures)",
        sections=("env",),
        example="run.name=mine",
    ),
    "replay": Verb(
        "make a video of a recorded episode: interplay replay EPISODE",
        LazyFunction("reading_verbs", "replay"),
        takes="episode",
        reads="store/ (episodes and marks), and the reward model if there is one; lists episodes if none is named",
        writes="replay/EPISODE.mp4",
        sections=("replay",),
        example="01a224ad run.name=mine replay.speed=2",
    ),
    "reindex": Verb(
        "rebuild a run's catalog of episodes and marks, damaged or not, from its files",
        LazyFunction("file_verbs", "reindex"),
        reads="store/ (files of episodes and marks)",
        writes="store/ (the catalog)",
        example="run.name=mine",
    ),
    "doctor": Verb(
        "check the installation and this machine",
        LazyFunction("doctor", "check"),
        example="experiment=demo",
    ),
    "explain": Verb(
        "say what settings mean: interplay explain reinforce.actor",
        LazyFunction("explain_settings", "explain"),
        takes="setting",
        example="reinforce.actor experiment=demo",
    ),
    "print-config": Verb(
        "print the complete resolved configuration",
        LazyFunction("explain_settings", "print_config"),
        example="experiment=demo run.seed=2",
    ),
    "completion": Verb(
        'print what completes verbs and settings in bash and zsh: eval "$(interplay completion)"',
        LazyFunction("completion", "completion"),
        example="env=voxel",
    ),
}

SWEPT = [name for name, verb in VERBS.items() if verb.swept]
