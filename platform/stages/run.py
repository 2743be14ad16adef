"""A run: one folder in which every stage finds the results of the stages before it.

runs/<name>/
    config.json          the configuration of the last command that was accepted
    store/               episodes, marks, snapshots
    <stage>/             of each stage: stage.json, metrics.jsonl, ledger.jsonl, checkpoints/; status.json under Ray
    round-2/             of each later round: config.json, its stages, its report
    crashes/             workers that failed under Ray, and why
    report.html, summary.json
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from interplay.core.files import check_links
from interplay.core.renamed_settings import with_current_name, with_current_names
from interplay.core.typed_name import setting_of, typed_name
from interplay.env import registry
from interplay.env.world import World, WorldSpec
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat, load_meta
from interplay.episodes.store import EpisodeFiles, EpisodeStore
from interplay.runtime.crashes import CrashReports, config_hash
from interplay.runtime.seeding import derive_seed
from interplay.stages.config import ROUND_SETTING, Config, RunConfig
from interplay.stages.rounds import (
    SHARED_STAGES,
    check_order,
    config_of_round,
    round_folder,
    stage_folder,
    stage_of_round,
)
from interplay.stages.stage_folder import (
    CONFIG_FILE,
    StageClock,
    StageConflict,
    StageFolder,
    damaged,
    first_of,
    read_json,
    setting_differences,
    write_json,
)

if TYPE_CHECKING:  # importing Ray takes half a second, and most runs never need it
    from interplay.runtime.ray.learner_context import LearnerContext

PRESETS = ("experiment", "agent", "gpu")  # groups of settings; a world of other settings is refused instead
HELDOUT = "-heldout"  # ends the name of the snapshot that a stage measures on

ReportActivity = Callable[[str], None]  # called during long work with the current activity

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """The folder of a run and its configuration."""

    root: Path
    config: Config
    context: LearnerContext | None = None  # in the learner's process under Ray
    base: Path | None = None  # the folder of the run that this is a baseline of
    opened: ExitStack | None = None  # closes the worlds that this makes; see `closing_worlds`

    @property
    def round(self) -> int:
        """The round of the pipeline whose stages this is about."""
        return self.config.run.round

    @property
    def seed(self) -> int:
        """The seed of the round: in the first that of the run."""
        seed = self.config.run.seed
        return seed if self.round == 1 else derive_seed(seed, "round", self.round)

    @property
    def folder(self) -> Path:
        """The folder of the round: in the first that of the run."""
        return round_folder(self.root, self.round)

    @property
    def title(self) -> str:
        """The name of the run, and the round if it is a later one; of a baseline, with the run's before it."""
        return str(self.folder.relative_to((self.base or self.root).parent))

    @property
    def crashes(self) -> CrashReports:
        """The crash reports of failed workers."""
        named, runtime = config_hash(asdict(self.config)), self.config.runtime
        return CrashReports(
            (self.root / "crashes").resolve(), self.seed, named, runtime.restarts, runtime.restart_window
        )

    def beat(self, what: str) -> None:
        """Reports the learner's current activity under Ray. A learner that reports nothing new for
        `runtime.stall_limit` seconds counts as stuck."""
        if self.context is not None:
            self.context.heartbeat.set_busy(what)

    @contextmanager
    def busy(self, what: str) -> Iterator[ReportActivity]:
        """Reports a long activity while entered; see `beat`. Yields a function to report its progress with."""
        if self.context is None:
            yield ignore_activity
            return
        with self.context.heartbeat.nested(what) as beat:
            yield beat

    def make_world(self) -> World:
        """A new world of this run; `closing_worlds` closes it."""
        settings = dict(self.config.env)
        name = settings.pop("name")
        world = registry.make(name, **settings)
        if not isinstance(getattr(world, "spec", None), WorldSpec):  # only of another package
            raise ValueError(
                f"the world {name!r} was created as a {type(world).__name__} whose `spec` is not a WorldSpec; set "
                "`self.spec` in its `__init__`"
            )
        if self.opened is not None:
            self.opened.callback(world.close)
        return world

    @contextmanager
    def closing_worlds(self) -> Iterator[Run]:
        """Yields this run, and closes on leaving the worlds it has made; those of other processes end with them."""
        with ExitStack() as opened:
            yield replace(self, opened=opened)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "context": None, "opened": None}  # another process has worlds and a context of its own

    def store(self) -> EpisodeStore:
        """The run's episode store, made if necessary; one process at a time may hold it open."""
        return EpisodeStore(self.root / "store", create=True)

    def stage(self, name: str) -> StageFolder:
        """The folder of a stage of this round, or of the round that a name as "round-1/reinforce" states."""
        return stage_folder(self.root, self.round, name)

    def begin(self, name: str, settings: Mapping[str, Any]) -> StageClock:
        """Starts or resumes a stage, whose clock records the configuration before its work; see `StageFolder.begin`."""
        folder = self.stage(name)
        clock = folder.begin(settings, self.record_config)
        if folder.record() and not self._config_file.exists():  # damaged, and removed
            clock.record_config()
        return clock

    def untyped_presets(self) -> list[str]:
        """The words for presets of the run's last command that this one lacks: a run does not remember its settings."""
        before = {setting_of(word): word for word in recorded_words(self.root)}
        now = self.config.run.typed_names
        return [before[group] for group in PRESETS if group in before and group not in now]

    def record_config(self) -> None:
        """Replaces `config.json`. An accepted command does so before its work; a refused one leaves the file as it was.

        Under Ray the driver does, once: a learner that starts again would undo what another command has recorded since.
        """
        if self.context is not None:
            self.context.accepted = True
        else:
            write_json(self._config_file, asdict(self.config))

    @property
    def _config_file(self) -> Path:
        return self.folder / CONFIG_FILE

    def snapshot_path(self, stage: str) -> Path:
        """The file of the snapshot that a stage learns from.

        A baseline clones the episodes that its run has cloned; its other snapshots have names of their own, so that no
        two processes write one file.
        """
        number, stage = stage_of_round(self.round, stage)
        prefix = "" if number == 1 or stage in SHARED_STAGES else f"round-{number}-"
        if self.base is not None and stage.removesuffix(HELDOUT) not in SHARED_STAGES:
            prefix = f"{self.root.name}-"
        return self.root / "store" / "snapshots" / f"{prefix}{stage}.db"

    def command(self, verb: str) -> str:
        """What to type for a verb in this run and round.

        With the settings that are typed now or, if there are none, were typed when the run was last recorded. What a
        baseline lacks, its run lacked when it was copied.
        """
        words = [typed_name(self.base or self.root)]
        number, verb = stage_of_round(self.round, verb)
        if number > 1 and verb not in SHARED_STAGES and not verb.startswith("round "):
            words.append(f"run.round={number}")
        if self.config.run.seed != RunConfig.seed:
            words.append(f"run.seed={self.config.run.seed}")
        typed = without_round(self.config.run.typed) or recorded_words(self.root)
        return " ".join(["interplay", verb, *words, *map(shlex.quote, typed)])


def closes_worlds(function: Callable[Concatenate[Run, P], T]) -> Callable[Concatenate[Run, P], T]:
    """A decorator of functions of a run: closes the worlds that the run makes within, also on an error."""

    @wraps(function)
    def closing(run: Run, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with run.closing_worlds() as opened:
            return function(opened, *args, **kwargs)

    return closing


def open_run(config: Config) -> Run:
    """Creates the folder of the run and its round if necessary; records nothing, see `Run.record_config`.

    Raises:
        ValueError: the folder can't be made, or is a link to a folder that does not exist.
        StageConflict: the run holds episodes of another world.
        MissingResults: the round before has no agent.
    """
    root = config.run.root
    check_order(root, config.run.round, Run(root, config).command)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        check_links(root)
        raise ValueError(
            f"the run's folder {root} can't be made ({error.strerror}); choose another with run.dir=..."
        ) from error
    _check_same_world(root, config)
    run = Run(root, config_of_round(config))
    run.folder.mkdir(exist_ok=True)
    return run


def ignore_activity(activity: str) -> None:
    """In process, nothing watches the learner."""


def recorded_env(root: Path | str) -> Mapping[str, Any]:
    """The settings of the world of the run in `root`, under their current names.

    Raises:
        ValueError: there is no run, or its configuration is damaged.
    """
    env = env_if_recorded(Path(root))
    if env is None:
        raise ValueError(f"there is no run in {root}: it has no {CONFIG_FILE}; give the folder of a run, as runs/demo")
    return env


def env_if_recorded(root: Path) -> Mapping[str, Any] | None:
    """As `recorded_env`; None if there is no run yet.

    Before the first command, the episodes that another program has recorded state their world.

    Raises:
        ValueError: the run's configuration is damaged.
    """
    file = root / CONFIG_FILE
    if not file.exists():
        env = _env_of_episodes(root)
        if env is None:
            return None
    elif not isinstance(env := read_json(file).get("env"), dict):
        raise damaged(file, f"its 'env' is {env!r}")
    current: Mapping[str, Any] = with_current_names(env, "env")
    return current


def _env_of_episodes(root: Path) -> dict[str, Any] | None:
    """The settings of the world that the first readable episode names; None without any."""
    for _, path in EpisodeFiles(root / "store").found():
        with suppress(DamagedEpisode, UnknownFormat):  # the stages that read it report it
            env = dict(load_meta(path).world_config)
            return env if "name" in env else None
    return None


def recorded_words(root: Path) -> tuple[str, ...]:
    """The settings that the last command of the run in `root` was typed with; none if they can't be read."""
    try:
        return recorded_command(root)[1] or ()
    except ValueError:
        return ()


def recorded_command(root: Path) -> tuple[int, tuple[str, ...] | None]:
    """The seed of the run in `root`, and the settings that its last command was typed with, under their current names;
    None if it was one of an older version, which did not record them.

    Raises:
        ValueError: its configuration can't be read.
    """
    try:
        recorded = json.loads((root / CONFIG_FILE).read_text())["run"]
        seed, typed = int(recorded["seed"]), recorded.get("typed")
        return seed, None if typed is None else without_round([with_current_name(str(word)) for word in typed])
    except FileNotFoundError as error:
        raise ValueError(f"{root} has no {CONFIG_FILE}, which records the settings of its last command") from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{root} has no readable {CONFIG_FILE} ({error!r})") from error


def without_round(typed: Sequence[str]) -> tuple[str, ...]:
    """The typed settings without the round, which each command names itself."""
    return tuple(word for word in typed if setting_of(word) != ROUND_SETTING)


def _check_same_world(root: Path, config: Config) -> None:
    """Refuses a second world in one store: its episodes would be cloned as if they were of the first."""
    before, now = env_if_recorded(root), json.loads(json.dumps(dict(config.env)))
    if before is None or not any((root / "store" / "episodes").glob("*/*.npz")):
        return
    # A setting that is newer than the run had its default's effect then, so only settings of both are compared.
    both = before.keys() & now.keys()
    changed = setting_differences({key: before[key] for key in both}, {key: now[key] for key in both}, "env")
    if changed:
        raise StageConflict(
            f"{root} holds episodes of another world ({first_of(changed)}). {_again(root, before, now)}, or give the "
            "new world a run of its own with run.name=..."
        )


def _again(root: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What to type for the world of a run."""
    if not (root / CONFIG_FILE).exists():
        own = {key: value for key, value in before.items() if key in now and value != now[key]}
        words = [f"env={own['name']}"] if "name" in own else [f"env.{key}={json.dumps(own[key])}" for key in own]
        return f"Type the settings of its episodes: {shlex.join(words)}"
    _, typed = recorded_command(root)
    again = "Type the settings of this run again" if typed is None else "This run has the default settings of env"
    if typed:
        again = f"Type the settings of this run again, or run.settings=recorded in their place: {shlex.join(typed)}"
    return f"{again} ({root / CONFIG_FILE} has all)"
