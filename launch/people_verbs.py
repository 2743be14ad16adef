"""The verbs about people of a studio: `invite`, `forget` and `export`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from interplay.launch.traceback_file import NAME as ERRORS
from interplay.stages.config import Config
from interplay.stages.run import Run
from interplay.studio.exports.export_tables import export
from interplay.studio.people.invitation import make_invitation
from interplay.studio.people.own_data_routes import erase, kept_of
from interplay.studio.people.person import RESEARCHER
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study_folder import StudyFolder
from interplay.studio.web.server import studio_address
from interplay.studio.web.studio_context import ServedRun, StudioConflict, StudioContext

DAY = 86400.0


def invite(run: Run) -> str:
    """Makes an invitation; returns the sentence that holds its address.

    Raises:
        ValueError: no studio has served the run, or a role or the study is unknown.
    """
    wanted = run.config.invite
    origin = studio_address(run.root)
    if wanted.study:
        _check_study(run.root, wanted.study)
    code = make_invitation(run.root, wanted.roles, study=wanted.study, uses=wanted.uses, seconds=wanted.days * DAY)
    people = "person" if wanted.uses == 1 else "people"
    return (
        f"{origin}/i#{code}\nis good for {wanted.uses} {people} with {' and '.join(wanted.roles)}, for "
        f"{wanted.days:g} days. It is shown only here.\n"
    )


def _check_study(root: Path, name: str) -> None:
    with closing(StudioDatabase(root / "studio" / "studio.db")) as database:
        studies = StudyFolder(root / "studio" / "studies", database)
    if studies.find(name) is None:
        known = ", ".join(study.name for study in studies.newest())
        raise ValueError(f"{root} has no study {name!r}; set invite.study to one of: {known}")


def forget(run: Run, served: ServedRun) -> str:
    """Lists what is kept of a person, and deletes it for good if `forget.confirm` says so.

    Raises:
        ValueError: there is no such person, or a studio serves the run: its page about people deletes then.
    """
    wanted = run.config.forget
    try:
        studio = StudioContext(served)
    except StudioConflict as error:
        raise ValueError(
            f"nothing is deleted: {error}. While a studio serves the run, its page /desk/studies "
            "deletes people: press Delete there"
        ) from error
    try:
        if wanted.person == RESEARCHER or studio.people.find(wanted.person) is None:
            people = ", ".join(each.id for each in studio.people.all() if each.id != RESEARCHER)
            raise ValueError(f"{run.root} knows no person {wanted.person!r} that could be deleted; people: {people}")
        kept = kept_of(studio, wanted.person)
        lines = [f"  {what}: {', '.join(each) if isinstance(each, list) else each}\n" for what, each in kept.items()]
        listed = f"Of {wanted.person} the studio keeps:\n{''.join(lines)}"
        if not wanted.confirm:
            return f"{listed}Nothing is deleted yet. To delete all of it for good, add: forget.confirm=true\n"
        kept_in = erase(studio, wanted.person)
    finally:
        studio.close()
    earlier = run.root / ERRORS  # of refused commands, which it quotes
    if earlier.exists() and wanted.person in earlier.read_text():
        earlier.unlink()
    trace = (
        "Snapshots with the checkpoints trained on them, and suites of scenarios that could not be changed, keep a "
        f"trace: {', '.join(kept_in)}.\n"
        if kept_in
        else ""
    )
    return f"{listed}All of it is deleted.\n{trace}"


def export_people(config: Config, root: Path, rate: float) -> tuple[str, str]:
    """Writes the studio's tables; returns what was written, and what was left out (empty: nothing).

    Raises:
        ValueError: no studio has served the run.
    """
    wanted = config.export
    folder = Path(wanted.folder) if wanted.folder else root / "studio" / "export"
    rows, unread = export(root, folder, rate=rate, form=wanted.format, identities=wanted.identities)
    lines = [f"  {name}.{wanted.format}: {count} rows\n" for name, count in rows.items()]
    left_out = "".join(f"  {problem}\n" for problem in unread)
    return (
        f"Into {folder.resolve()}:\n{''.join(lines)}",
        f"{len(unread)} recordings can't be read and were left out, except their marks and assignments:\n{left_out}"
        if unread
        else "",
    )
