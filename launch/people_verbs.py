"""The verbs about people of a studio: `invite` and `forget`."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

from interplay.launch.opened_run import refuse_missing
from interplay.launch.served_run import served_run
from interplay.launch.traceback_file import NAME as ERRORS
from interplay.stages.config import Config
from interplay.studio.people.invitation import make_invitation
from interplay.studio.people.own_data_routes import erase, kept_of
from interplay.studio.people.person import RESEARCHER
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study_folder import StudyFolder
from interplay.studio.web.server import studio_address
from interplay.studio.web.studio_context import StudioConflict, StudioContext

DAY = 86400.0


def invite(config: Config) -> int:
    """Makes an invitation and prints its address.

    Raises:
        ValueError: no studio has served the run, or a role or the study is unknown.
    """
    wanted, root = config.invite, config.run.root
    origin = studio_address(root)
    if wanted.study:
        _check_study(root, wanted.study)
    code = make_invitation(root, wanted.roles, study=wanted.study, uses=wanted.uses, seconds=wanted.days * DAY)
    people = "person" if wanted.uses == 1 else "people"
    sys.stdout.write(
        f"{origin}/i#{code}\nis good for {wanted.uses} {people} with {' and '.join(wanted.roles)}, for "
        f"{wanted.days:g} days. It is shown only here.\n"
    )
    return 0


def _check_study(root: Path, name: str) -> None:
    with closing(StudioDatabase(root / "studio" / "studio.db")) as database:
        studies = StudyFolder(root / "studio" / "studies", database)
    if studies.find(name) is None:
        known = ", ".join(study.name for study in studies.newest())
        raise ValueError(f"{root} has no study {name!r}; set invite.study to one of: {known}")


def forget(config: Config) -> int:
    """Lists what is kept of a person, and deletes it for good if `forget.confirm` is set.

    Raises:
        ValueError: there is no such run or person, or a studio serves the run: its page about people deletes then.
    """
    refuse_missing(config)
    wanted, root, served = config.forget, config.run.root, served_run(config)
    try:
        studio = StudioContext(served)
    except StudioConflict as error:
        raise ValueError(
            f"nothing is deleted: {error}. While a studio serves the run, its page /desk/studies "
            "deletes people: press Delete there"
        ) from error
    try:
        if wanted.person == RESEARCHER or studio.people.find(wanted.person) is None:
            people = ", ".join(each.id for each in studio.people.all() if each.id != RESEARCHER) or "none"
            raise ValueError(f"{root} has no person {wanted.person!r} that could be deleted; people: {people}")
        kept = kept_of(studio, wanted.person)
        lines = [f"  {what}: {', '.join(each) if isinstance(each, list) else each}\n" for what, each in kept.items()]
        sys.stdout.write(f"Of {wanted.person} the studio keeps:\n{''.join(lines)}")
        if not wanted.confirm:
            sys.stdout.write("Nothing is deleted yet. To delete all of it for good, add: forget.confirm=true\n")
            return 0
        kept_in = erase(studio, wanted.person)
    finally:
        studio.close()
    earlier = root / ERRORS  # of refused commands, which it quotes
    if earlier.exists() and wanted.person in earlier.read_text():
        earlier.unlink()
    trace = (
        "Snapshots with the checkpoints trained on them, and suites of scenarios that could not be changed, keep a "
        f"trace: {', '.join(kept_in)}.\n"
        if kept_in
        else ""
    )
    sys.stdout.write(f"All of it is deleted.\n{trace}")
    return 0
