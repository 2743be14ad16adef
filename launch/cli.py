"""The `interplay` command: `interplay VERB [KEY=VALUE ...]`, with one verb for each stage and a few tools."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, NoReturn

import torch
from rich.console import Console

from interplay.core.renamed_settings import new_value
from interplay.core.settings_validation import SettingsError, did_you_mean
from interplay.env.task import InfeasibleTask
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.episodes.repair import repair
from interplay.launch import contact_sheets, doctor, people_verbs, world_sheet
from interplay.launch.compose import KEY, compose
from interplay.launch.memory_need import refuse_too_large
from interplay.launch.paper_orderings import orderings
from interplay.launch.pipeline import STAGES, PipelineStage, complete_round, stages_of_round
from interplay.launch.safe_stdio import outlive_readers
from interplay.launch.served_run import draw_once, served_run
from interplay.launch.studio_demo import studio_demo
from interplay.launch.sweep import sweep
from interplay.launch.traceback_file import keep_traceback
from interplay.learner.checkpoint import CheckpointError
from interplay.runtime.allocator import retain_freed_memory
from interplay.runtime.crashes import WorkerFailed
from interplay.runtime.interruption import INTERRUPTED, Interrupted, signals_as_keyboard_interrupt
from interplay.runtime.prefetcher import has_abandoned_thread
from interplay.stages.config import CORPORA, Config, CorpusConfig
from interplay.stages.import_stage import import_corpus
from interplay.stages.inspect_reward_stage import inspect_reward
from interplay.stages.play_stage import play
from interplay.stages.replay_stage import replay
from interplay.stages.report_stage import report
from interplay.stages.rounds import SHARED_STAGES
from interplay.stages.run import Run, open_run
from interplay.stages.score_stage import score
from interplay.stages.serve_reward_stage import serve_reward
from interplay.stages.stage_folder import WORK_LOCK, StageConflict, StageFolder
from interplay.stages.training_loop import Diverged
from interplay.studio.crowd.crowd import crowd
from interplay.studio.web import server
from interplay.tracking.dashboard import watch
from interplay.tracking.run_summary import read_run_summary
from interplay.video.writer import EncoderFailed

# Errors that a user can cause and repair: reported in a line, with the traceback kept in the run's folder. All others
# are faults of the program and are raised with their traceback.
USER_ERRORS = (
    SettingsError,
    CheckpointError,
    StageConflict,
    Diverged,
    InfeasibleTask,
    DamagedEpisode,
    UnknownFormat,
    EncoderFailed,
    ModuleNotFoundError,
    OSError,
    ValueError,
)


@dataclass(frozen=True)
class Verb:
    """A verb of the command line."""

    does: str
    act: Callable[[Config], int]
    takes: Literal["", "episode", "round", "corpus", "person"] = ""  # what a word that is not a setting names


def console() -> NoReturn:
    """Entry point of the `interplay` command; exits the process."""
    try:
        code = main()
    except Exception:
        if not has_abandoned_thread():
            raise
        traceback.print_exc()
        code = 1
    if has_abandoned_thread():
        logging.shutdown()
        os._exit(code)
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one verb and returns the exit code: 0 done, 1 refused, 2 mistyped, 130 stopped and saved."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    if typed[:1] != ["watch"]:  # watching ends with its terminal
        outlive_readers()
    if not typed or typed[0] == "help" or {"-h", "--help"} & set(typed):
        sys.stdout.write(_usage())
        return 0
    logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s", stream=sys.stderr)
    name, overrides = typed[0], typed[1:]
    if name == "sweep":
        return _sweep(overrides)
    if name not in VERBS:
        new = new_value("verb", name)
        if new is not None:
            sys.stderr.write(f"interplay: the verb {name!r} is now called {new!r}; type: interplay {new}\n")
        else:
            sys.stderr.write(f"interplay: there is no verb {name!r}.{did_you_mean(name, list(VERBS))}\n\n{_usage()}")
        return 2
    preset = ["experiment=demo"] if name == "demo" and not _chosen("experiment", overrides) else []
    try:
        config = configured(name, [*preset, *overrides])
    except SettingsError as error:
        sys.stderr.write(f"interplay {name}: {error}\n")
        return 2
    try:
        with signals_as_keyboard_interrupt():
            return VERBS[name].act(config)
    except Interrupted as stopped:
        sys.stderr.write(f"interplay {name}: {stopped}\n")
        return INTERRUPTED
    except KeyboardInterrupt:
        sys.stderr.write(f"interplay {name}: stopped at once; what was not saved is made again by the same command\n")
        return INTERRUPTED
    except WorkerFailed as failed:  # its traceback is the last thing on screen
        sys.stderr.write(f"interplay {name}: {failed}\n")
        return 1
    except USER_ERRORS as error:
        sys.stderr.write(f"interplay {name}: {_described(error)}\n")
        kept = keep_traceback(config.run.root, typed, error)
        if kept is not None:
            sys.stderr.write(f"  where it was raised: {kept}\n")
        return 1


def _described(error: Exception) -> str:
    """An error in words: of the system's errors, the file and what is wrong with it."""
    if isinstance(error, OSError) and (error.filename or error.filename2):
        file = error.filename2 or error.filename  # of two, as of a rename, the one that was to be written
        return f"{file}: {error.strerror}; remove or repair it, or choose another run with run.name=..."
    return str(error)


def _sweep(typed: Sequence[str]) -> int:
    """`interplay sweep VERB KEY=VALUE,VALUE ...`."""
    if not typed or typed[0] not in VERBS:
        known = ", ".join(VERBS)
        sys.stderr.write(f"interplay sweep: name a verb, as interplay sweep demo run.seed=1,2; verbs: {known}\n")
        return 2
    try:
        return sweep(typed[0], typed[1:], main)
    except SettingsError as error:
        sys.stderr.write(f"interplay sweep: {error}\n")
        return 2


def configured(verb: str, typed: Sequence[str]) -> Config:
    """The configuration of a verb from the words typed after it.

    Raises:
        SettingsError: see `compose`.
    """
    takes = VERBS[verb].takes
    named = [word for word in typed if not KEY.match(word)] if takes else []
    config = compose([word for word in typed if word not in named])
    if takes == "corpus":
        return replace(config, corpus=_corpus(config.corpus, named))
    if len(named) > 1:
        raise SettingsError([f"{verb} takes one {takes}, got {len(named)}: {', '.join(named)}"])
    if takes == "round":
        return replace(config, run=replace(config.run, round=_round_number(named)))
    if takes == "person":
        return replace(config, forget=replace(config.forget, person=_person(named)))
    return replace(config, replay=replace(config.replay, episode=named[0])) if named else config


def _corpus(config: CorpusConfig, named: Sequence[str]) -> CorpusConfig:
    if len(named) != 2 or named[0] not in CORPORA:
        raise SettingsError(
            [f"import takes a corpus ({', '.join(CORPORA)}) and its folder, as: import mdc FOLDER; got {named}"]
        )
    return replace(config, name=named[0], path=named[1])


def _person(named: Sequence[str]) -> str:
    if not named:
        raise SettingsError(["forget takes a pseudonym, as: interplay forget p-7qk2mz; interplay export lists people"])
    return named[0]


def _round_number(named: Sequence[str]) -> int:
    if not named or not re.fullmatch("0*[1-9][0-9]{0,8}", named[0]):
        raise SettingsError(
            [f"round takes the number of a round, as interplay round 2; got {' '.join(named) or 'none'}"]
        )
    return int(named[0])


def _stage(stage: PipelineStage) -> Callable[[Config], int]:
    def act(config: Config) -> int:
        refuse_too_large(config, stage.name)
        if (number := config.run.round) > 1 and stage.name in SHARED_STAGES:  # before the run makes the round's folder
            raise ValueError(f"{stage.name} belongs to the run, not to a round: leave out run.round={number}")
        run = _open(config)
        stage.run(run)
        folder = run.stage(stage.name)
        sys.stdout.write(f"{stage.name}: done in {folder.record()['seconds']:.0f} s; {folder.path}\n")
        return 0

    return act


def _round(config: Config) -> int:
    for stage in stages_of_round(config.run.round):
        refuse_too_large(config, stage.name)
    path = complete_round(_open(config))
    sys.stdout.write(_findings(path.with_name("summary.json")))
    sys.stdout.write(f"\nThe report: {path.resolve()}\n")
    return 0


def _report(config: Config) -> int:
    sys.stdout.write(f"The report: {report(_open(config)).resolve()}\n")
    return 0


def _orderings(config: Config) -> int:
    sys.stdout.write(f"The results: {orderings(config, _open).resolve()}\n")
    return 0


def _inspect_reward(config: Config) -> int:
    sys.stdout.write(f"The reward model: {inspect_reward(_open(config)).resolve()}\n")
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

    serve_reward(_open(config), announce)
    return 0


def _studio(config: Config) -> int:
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
    sys.stdout.write(people_verbs.forget(Run(config.run.root, config), served_run(config)))
    return 0


def _export(config: Config) -> int:
    rate = served_run(config).rate
    sys.stdout.write(people_verbs.export_people(config, config.run.root, rate))
    return 0


def _score(config: Config) -> int:
    sys.stdout.write(f"The scores of all recordings: {score(_open(config)).resolve()}\n")
    return 0


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
    path = replay(config)  # does not open the run, which would overwrite its config.json
    sys.stdout.write(f"The video: {path.resolve()}\n")
    return 0


def _reindex(config: Config) -> int:
    root = config.run.root  # opens no run: its settings are left as they are
    with ExitStack() as held:
        for file in sorted(root.glob(f"*/{WORK_LOCK}")):  # of stages that record, mark or evaluate
            held.enter_context(StageFolder(file.parent).locked(WORK_LOCK))
        sys.stdout.write("".join(f"{line}\n" for line in repair(root / "store").sentences()))
    return 0


def _watch(config: Config) -> int:
    root = config.run.root  # does not open the run, which would overwrite its config.json
    try:
        watch(lambda: read_run_summary(root), Console())
    except KeyboardInterrupt:
        sys.stderr.write("no longer watching; the run itself continues\n")
    return 0


def _doctor(config: Config) -> int:
    checks = [*doctor.doctor(Path(config.run.dir)), *doctor.memory_of_stages(config)]
    sys.stdout.write(doctor.table(checks))
    return doctor.exit_code(checks)


def _print_config(config: Config) -> int:
    sys.stdout.write(json.dumps(asdict(config), indent=2) + "\n")
    return 0


VERBS: Mapping[str, Verb] = {
    "demo": Verb("run the stages of round 1, small, and write a report (experiment=demo)", _round),
    "round": Verb("run the stages of a round that are not done: interplay round 2", _round, takes="round"),
    **{name: Verb(stage.does, _stage(stage)) for name, stage in STAGES.items()},
    "report": Verb("write report.html and summary.json of the stages that have run", _report),
    "orderings": Verb("compare BC+RL with its baselines over seeds, and with the paper's findings", _orderings),
    "inspect-reward": Verb("measure the reward model on held-out episodes, and write a page", _inspect_reward),
    "look": Verb("draw a world as its players and a visitor see it", _look),
    "play": Verb("learn in the terminal: a person answers the teacher of env=commai, recorded", _play),
    "studio": Verb("serve the pages on which people take part in a run", _studio),
    "score": Verb("score recordings by what the reward model is unsure of, for studies of what to mark next", _score),
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


def _open(config: Config) -> Run:
    retain_freed_memory()
    # With overlap, acting and learning run at the same time, on one thread each; more threads slow both down.
    torch.set_num_threads(1 if config.runtime.overlap else config.runtime.threads)
    return open_run(config)


def _chosen(group: str, overrides: Sequence[str]) -> bool:
    return any(override.startswith(f"{group}=") for override in overrides)


def _findings(summary: Path) -> str:
    """The headlines of a report as text."""
    lines = ["\nResults:\n"]
    for finding in json.loads(summary.read_text())["results"]["headlines"]:
        lines.append(f"  {finding['label']}: {finding['number'] or 'not run'}\n    {finding['sentence']}\n")
    return "".join(lines)


def _usage() -> str:
    lines = ["usage: interplay VERB [KEY=VALUE ...]\n\n"]
    lines += [f"  {name:<14} {verb.does}\n" for name, verb in VERBS.items()]
    lines.append(f"  {'sweep':<14} a verb over several values: interplay sweep demo run.seed=1,2\n")
    return "".join(lines) + (
        "\nSettings: run.name=mine run.seed=2, env=gymnasium env.id=BabyAI-GoToLocal-v0, agent=5m, experiment=demo;\n"
        "print-config shows them all. A stage that was stopped continues when its command is typed again.\n"
    )
