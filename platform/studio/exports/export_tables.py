"""Tables of what people did: marks, verdicts, assignments, dialogues, episodes, agreement, minutes and items of people.

They are read from the run's files, whether a studio serves the run or not.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.files import check_replaceable, private_folder, write_whole
from interplay.core.typed_name import typed_name
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.episodes.episode import EpisodeMeta, Prompt
from interplay.episodes.store import EpisodeStore
from interplay.evaluation.continuation_judgements import read_judgements
from interplay.evaluation.live_judgements import request_of
from interplay.studio.marks import rater_quality
from interplay.studio.marks.assignment import TESTS
from interplay.studio.people.active_time import active_seconds
from interplay.studio.people.audit import AuditLog
from interplay.studio.people.studio_database import StudioDatabase

Rows = list[dict[str, Any]]
COLUMNS: Mapping[str, tuple[str, ...]] = {  # of each table, also of one without rows
    "marks": ("episode", "rater", "frame", "sign", "id", "created"),
    "episodes": ("episode", "created", "world", "split", "round", "frames", "players", "people", "ended", "flag"),
    "dialogues": ("episode", "frame", "role", "text"),
    "requests": ("episode", "frame", "text", "cue", "modifier", "verdict", "judged", "request"),
    "agreement": (
        *("raters", "episodes", "f1", "chance", "corrected", "curve"),
        *("same_sign", "lateness", "alpha", "ordered_alike"),
    ),
    "assignments": (
        *("id", "study", "version", "person", "episode", "kind", "request", "rule", "score", "probability"),
        *("created", "expires", "state", "reason", "ended"),
    ),
    "judgements": ("item", "judge", "folder", "agent", "recording", "scenario", "continuation", "done", "at"),
    "sessions": ("id", "study", "version", "started", "ended", "outcome", "episode", "seats", "agent"),
    "people": ("person", "roles", "paused", "minutes", "items", "marks", "sessions"),
    "identities": ("person", "platform", "name"),
}
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # beginnings of cells that spreadsheets execute


class Exported(NamedTuple):
    """What an export wrote, and what it left out."""

    rows: dict[str, int]  # of each table
    unread: list[str]  # recordings whose file can't be read, and why


def export(root: Path, folder: Path, *, rate: float, form: str, identities: bool) -> Exported:
    """Writes every table as `<name>.csv` or `<name>.jsonl`.

    A recording whose file can't be read is left out of `episodes`, `dialogues`, `requests` and `agreement`; its marks
    and assignments are not in that file and are written.

    Args:
        root: of the run.
        rate: frames a second of its world.
        form: "csv" or "jsonl".
        identities: also the ids of crowd platforms, by pseudonym.

    Raises:
        ValueError: no studio has served the run.
        OSError: see `check_replaceable`.
    """
    file = root / "studio" / "studio.db"
    if not file.exists():
        raise ValueError(
            f"{root} has no studio whose people could be exported; type first: interplay studio {typed_name(root)}"
        )
    check_replaceable(*(folder / f"{name}.{form}" for name in COLUMNS))
    with closing(StudioDatabase(file)) as database, EpisodeStore(root / "store") as store:
        metas, unread = _metas(store)
        tables = {**_of_store(store, metas, rate), **_of_people(database, store)}
        tables["judgements"] = [vars(judgement) for judgement in read_judgements(root)]
        if identities:
            tables["identities"] = [dict(row) for row in database.rows("SELECT * FROM identities ORDER BY person")]
    private_folder(folder)
    for name, rows in tables.items():
        text = as_csv(rows, COLUMNS[name]) if form == "csv" else as_lines(rows)
        write_whole(folder / f"{name}.{form}", text, private=True)
    AuditLog(root / "studio" / "audit.jsonl").note("export", "", tables=sorted(tables))
    return Exported({name: len(rows) for name, rows in tables.items()}, unread)


def as_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Rows as CSV, below a header of these columns; lists and objects as JSON.

    Text that a spreadsheet would execute as a formula gets an apostrophe in front.

    Raises:
        ValueError: a row has another column.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list | dict | tuple):
        return json.dumps(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value


def as_lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as one JSON object a line."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def _metas(store: EpisodeStore) -> tuple[dict[str, EpisodeMeta], list[str]]:
    """The metadata of the recordings that can be read, by id, and what is wrong with the others."""
    metas: dict[str, EpisodeMeta] = {}
    unread = []
    for episode in store.select(EpisodeFilter(flagged=True)):
        try:
            metas[episode] = store.meta(episode)
        except (DamagedEpisode, UnknownFormat) as error:
            unread.append(str(error))
    return metas, unread


def _of_store(store: EpisodeStore, metas: Mapping[str, EpisodeMeta], rate: float) -> dict[str, Rows]:
    flags = store.flags()
    rated = rater_quality.rated_marks(store, metas.keys() - flags.keys())  # as the page compares them
    return {
        "marks": [vars(mark) for mark in store.marks()],
        "episodes": [_episode(meta, flags.get(meta.id)) for meta in metas.values()],
        "dialogues": [
            {"episode": meta.id, "frame": said.frame, "role": said.role, "text": said.text}
            for meta in metas.values()
            for said in meta.utterances
        ],
        "requests": [_request(meta, prompt) for meta in metas.values() for prompt in meta.prompts],
        "agreement": rater_quality.summary_of(rated, metas, rate),
    }


def _request(meta: EpisodeMeta, prompt: Prompt) -> dict[str, Any]:
    """A card with what was asked under it; the verdict on a card under which nothing was asked judges nothing."""
    asked = request_of(meta, prompt)
    verdict = None if asked is None else prompt.verdict
    return {"episode": meta.id, **vars(prompt), "verdict": verdict, "request": None if asked is None else asked.text}


def _episode(meta: EpisodeMeta, flag: str | None) -> dict[str, Any]:
    return {
        "episode": meta.id,
        "created": meta.created,
        "world": meta.world,
        "split": meta.split,
        "round": meta.round,
        "frames": meta.frames,
        "players": {role: player["kind"] for role, player in meta.players.items()},
        "people": dict(meta.people),
        "ended": meta.ended,
        "flag": flag,
    }


def _of_people(database: StudioDatabase, store: EpisodeStore) -> dict[str, Rows]:
    assignments = [dict(row) for row in database.rows("SELECT * FROM assignments ORDER BY created")]
    sessions = [dict(row) for row in database.rows("SELECT * FROM sessions ORDER BY started")]
    for session in sessions:
        session["seats"] = json.loads(session["seats"])
    seated = [(person, session) for session in sessions for person in session["seats"].values()]
    marked, episodes = Counter(mark.rater for mark in store.marks()), Counter(person for person, _ in seated)
    ordinary = [given for given in assignments if given["kind"] not in TESTS]
    finished = Counter(given["person"] for given in ordinary if given["state"] == "finished")
    seconds = active_seconds(database)
    people = [
        {
            "person": row["id"],
            "roles": json.loads(row["roles"]),
            "paused": row["paused"],
            "minutes": round(seconds[row["id"]] / 60, 1),
            "items": finished[row["id"]],
            "marks": marked[row["id"]],
            "sessions": episodes[row["id"]],
        }
        for row in database.rows("SELECT * FROM people ORDER BY created")
    ]
    return {"assignments": assignments, "sessions": sessions, "people": people}
