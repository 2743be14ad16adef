"""A studio to look at: on a small run, which is recorded if it is absent, with synthetic people at work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from interplay.core.files import private_folder
from interplay.runtime.interruption import StopRequest
from interplay.stages.collect_stage import collect
from interplay.stages.run import Run
from interplay.studio.crowd.crowd import Crowd
from interplay.studio.people.invitation import make_invitation
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study import FIRST_STUDY, MOST_RATERS
from interplay.studio.studies.study_folder import StudyFolder
from interplay.studio.web import server
from interplay.studio.web.studio_context import ServedRun

ROLES = ("play", "mark")  # of the invitation that it prints
USES, SECONDS = 20, 86400.0


def studio_demo(run: Run, served: ServedRun, say: Callable[[str], None]) -> str:
    """Serves the run with the crowd of its settings until Ctrl-C, or until `crowd.seconds` are over.

    Returns the crowd's report.

    Raises:
        ValueError: the studio does not start; it has printed the reason.
    """
    with run.store() as store:
        empty = not len(store)
    if empty:
        collect(run, run.config.collect)
    _let_everyone_mark(run)
    with StopRequest() as stop, server.running(served):
        code = make_invitation(run.root, ROLES, uses=USES, seconds=SECONDS)
        config = run.config.crowd
        say(
            f"{config.players} synthetic players and {config.raters} raters are at work.\n"
            f"To play with them and to mark, open this address ({USES} people, one day):\n"
            f"  {server.studio_address(run.root)}/i#{code}\n"
        )
        return Crowd(run, replace(config, studio="")).run(lambda: stop.requested).sentences()


def _let_everyone_mark(run: Run) -> None:
    """Gives a run without studies one in which the synthetic raters leave recordings to the people that are invited."""
    folder = run.root / "studio"
    if (folder / "studies").exists():
        return
    private_folder(folder)
    with closing(StudioDatabase(folder / "studio.db")) as database:
        raters = min(run.config.crowd.raters + USES, MOST_RATERS)
        StudyFolder(folder / "studies", database).keep(FIRST_STUDY.model_copy(update={"raters": raters}))
