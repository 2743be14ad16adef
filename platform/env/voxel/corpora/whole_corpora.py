"""What the whole corpora hold, and a table that compares a local copy with it.

The numbers were counted in the repositories at the commits named; a copy may hold less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from interplay.env.voxel.corpora.sessions import REPEATED


@dataclass(frozen=True)
class WholeCorpus:
    """Counts of a whole corpus, of what can be read and of what a reader leaves out."""

    repository: str
    counts: Mapping[str, int]
    left_out: Mapping[str, int] = field(default_factory=dict)
    note: str = ""


WHOLE_CORPORA: Mapping[str, WholeCorpus] = {
    "mdc": WholeCorpus(
        "github.com/prashant-jayan21/minecraft-dialogue-models, commit 9becd5cc",
        {
            "sessions": 547,
            "utterances": 16_198,
            "additions": 19_901,
            "removals": 7_339,
            "runs of changes": 6_747,
            "several changes at once": 191,
            "sessions that end at the gold": 520,
            "gold structures": 157,
            "blocks of gold structures": 3_685,
            "structures in split train": 85,
            "structures in split val": 29,
            "structures in split test": 39,
        },
        {"failed snapshots": 59, "blocks outside the zone": 204},
        "The paper (Narayan-Chen et al., ACL 2019) speaks of 509 conversations; its repository holds 547 sessions.",
    ),
    "iglu": WholeCorpus(
        "github.com/microsoft/iglu-datasets, commit 73429319, single turns",
        {
            "rows of single turns": 6_828,
            "unclear instructions": 890,
            "targets that somebody rebuilt": 5_383,
            "targets rebuilt equally": 3_618,
            "words of an instruction, median": 16,
            "words of an instruction, most": 101,
        },
        {"single turns without a target": 734},
        "Of the dialogues of several turns no numbers are known here.",
    ),
}

WHY: Mapping[str, str] = {
    "failed snapshots": "the builder's position is null; the state before holds",
    "blocks outside the zone": "the grid has no cell for them",
    "single turns without a target": "the file of the world that was built is absent",
    "turns that were not qualified": "IsHITQualified is not true",
    REPEATED: "an earlier row has the same GameId or PartitionKey",
    "runs of changes without a task": "they leave the grid as it was, or empty: there is no target to match",
    "sessions that could not be re-enacted": "the flying builder does not reach the recorded end",
}


class Compared(NamedTuple):
    """One row of the table."""

    what: str
    here: int
    whole: int | None  # None: not known
    why: str = ""  # why it is left out; empty for what was read

    @property
    def differs(self) -> bool:
        """Whether this copy has another number than the whole corpus."""
        return self.whole is not None and self.here != self.whole

    @property
    def difference(self) -> str:
        """How far this copy is from the whole corpus, in words."""
        if self.whole is None:
            return ""
        if not self.differs:
            return "same"
        return f"{abs(self.here - self.whole):,} {'more' if self.here > self.whole else 'fewer'}"


def compare(name: str, read: Mapping[str, int], left_out: Mapping[str, int]) -> list[Compared]:
    """Compares what was read of a corpus, and what was left out, with the whole corpus.

    Args:
        name: of the corpus, a key of `WHOLE_CORPORA`.
        read: counts of what was read.
        left_out: counts by reason; a reason may end in details, as "damaged sessions (file: error)".
    """
    whole = WHOLE_CORPORA[name]
    rows = [Compared(what, read.get(what, 0), whole.counts.get(what)) for what in {**read, **whole.counts}]
    for what in sorted({**left_out, **whole.left_out}):
        reason, _, details = what.removesuffix(")").partition(" (")
        rows.append(
            Compared(reason, left_out.get(what, 0), whole.left_out.get(what), WHY.get(reason, details or "damaged"))
        )
    return rows


def table(name: str, rows: list[Compared]) -> str:
    """The rows as text, and whether this copy is the whole corpus."""
    whole = WHOLE_CORPORA[name]
    wide = max(len(row.what) for row in rows)
    lines = [f"  {'':{wide}} {'this copy':>10} {'whole':>8}  difference"]
    for title, part in (("read", [row for row in rows if not row.why]), ("left out", [row for row in rows if row.why])):
        lines.append(f"  {title}:")
        for row in part:
            known = "" if row.whole is None else f"{row.whole:,}"
            noted = "; ".join(text for text in (row.difference, row.why) if text)
            lines.append(f"  {row.what:{wide}} {row.here:>10,} {known:>8}  {noted}")
    numbers, differ = sum(row.whole is not None for row in rows), sum(row.differs for row in rows)
    verdict = (
        f"{differ} of {numbers} numbers DIFFER from the whole corpus: this copy is a part of it, or another version."
        if differ
        else f"All {numbers} numbers are those of the whole corpus."
    )
    lines += [f"  {verdict}", f"  The whole corpus: {whole.repository}.", f"  {whole.note}"]
    return "\n".join(line.rstrip() for line in lines)
