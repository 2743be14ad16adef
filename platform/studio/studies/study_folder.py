"""The studies of a run, `studio/studies/<name>-v<n>.json`."""

from __future__ import annotations

import threading
from pathlib import Path

from pydantic import ValidationError

from interplay.core.files import write_whole
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study import FIRST_PLAY, FIRST_STUDY, Study, problems_of


class StudyChanged(ValueError):
    """A definition would replace one that is not the one it was made from."""


class StudyFolder:
    """Reads, validates and writes studies. A run begins with `FIRST_STUDY` and `FIRST_PLAY`.

    Raises:
        ValueError: a file is no valid study.
    """

    def __init__(self, folder: Path, database: StudioDatabase) -> None:
        self._folder = folder
        self._database = database
        self._studies: dict[tuple[str, int], Study] = {}
        self._changing = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(folder.glob("*.json")):
            study = _read(file)
            self._studies[study.name, study.version] = study
        if not self._studies:
            self._write(FIRST_STUDY)
        if not any(study.is_live for study in self._studies.values()):
            self._write(FIRST_PLAY)

    def newest(self) -> list[Study]:
        """The newest version of every study, by name."""
        versions = dict(sorted(self._studies))
        return [self._studies[name, version] for name, version in versions.items()]

    def find(self, name: str, version: int | None = None) -> Study | None:
        """A study, by default its newest version."""
        versions = [number for known, number in self._studies if known == name]
        return self._studies.get((name, max(versions) if version is None else version)) if versions else None

    def keep(self, study: Study, replaces: str | None = None) -> Study:
        """Writes a study: over the newest version if no one has taken part in it, else as a new one.

        A study that does not state `open` stays paused if it is.

        Args:
            replaces: the `revision` of the study from which this one was made; None: whatever is there is replaced.

        Raises:
            StudyChanged: there is a study of this name with another revision.
            ValueError: its consent is another than that of the same version to which people have agreed, or its kind
                is another one and people have taken part.
        """
        with self._changing:
            return self._keep(study, replaces)

    def _keep(self, study: Study, replaces: str | None) -> Study:
        before = self.find(study.name)
        if before is not None and replaces not in (None, before.revision):
            raise StudyChanged(
                f"{study.name} is another definition now than the one you changed, by someone else or in another tab, "
                "and was not replaced. What you typed is still here: copy it, press Change at "
                f"{study.name}, and type it in again; or give it a new name"
            )
        self._refuse_changed_consent(study)
        is_used = before is not None and self._is_used(before)
        if before is not None and is_used and before.kind != study.kind:
            raise ValueError(
                f"kind: people have taken part in {study.name} of the kind {before.kind}; give the other one a new name"
            )
        changed: dict[str, object] = {"version": 1 if before is None else before.version + is_used}
        if before is not None and "open" not in study.model_fields_set:
            changed["open"] = before.open
        kept = study.model_copy(update=changed)
        self._write(kept)
        return kept

    def set_open(self, name: str, *, is_open: bool) -> Study | None:
        """Opens or pauses a study, which makes no new version; None if there is no such study."""
        with self._changing:
            study = self.find(name)
            if study is None:
                return None
            kept = study.model_copy(update={"open": is_open})
            self._write(kept)
            return kept

    def _refuse_changed_consent(self, study: Study) -> None:
        version = study.consent.version
        query = "SELECT 1 FROM consents WHERE study = ? AND version = ? LIMIT 1"
        consents = [each.consent for (name, _), each in self._studies.items() if name == study.name]
        changed = any(each != study.consent for each in consents if each.version == version)
        if changed and self._database.rows(query, study.name, version):
            following = max(each.version for each in consents) + 1
            raise ValueError(
                f"consent: people have agreed to another text of version {version}; give the changed one version "
                f"{following}, so that they are asked again"
            )

    def _is_used(self, study: Study) -> bool:
        tables = ("assignments", "consents", "sessions")
        return any(
            self._database.rows(f"SELECT 1 FROM {table} WHERE study = ? LIMIT 1", study.name) for table in tables
        )

    def _write(self, study: Study) -> None:
        text = study.model_dump_json(indent=1)
        write_whole(self._folder / f"{study.name}-v{study.version}.json", text + "\n")
        self._studies[study.name, study.version] = study


def _read(file: Path) -> Study:
    try:
        study = Study.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise ValueError(f"{file} is not a study: {problems_of(error.errors())}") from error
    if file.stem != f"{study.name}-v{study.version}":
        raise ValueError(f"{file} holds version {study.version} of {study.name!r}; name it so, or correct it")
    return study
