"""Verdicts of people on continuations of scenarios: whether the agent did what the setter had asked for."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.files import JsonLines, exclusive, private_file, private_folder, sync, write_whole
from interplay.core.settings_validation import build_config
from interplay.evaluation.estimates import Estimate, grouped_difference, pooled_share

logger = logging.getLogger(__name__)

JUDGEMENTS = Path("studio") / "judgements.jsonl"  # in the folder of a run
LOCK = JUDGEMENTS.with_suffix(".lock")  # held while that file is changed
JUDGEMENT_BOOTSTRAP_SEED = 13


@dataclass(frozen=True)
class ContinuationJudgement:
    """One verdict of a person on one continuation."""

    item: str  # what the person was given; one verdict each
    judge: str  # pseudonym
    folder: str  # of the stage that recorded it, as "continue" or "round-2/continue"
    agent: str
    recording: str  # `recording_digest` of the file that was watched, so that verdicts on an earlier one do not count
    scenario: str
    continuation: int
    done: bool
    at: float  # seconds since the epoch


def recording_digest(path: Path) -> str:
    """The sha256 of a recording's file. Raises OSError if it can't be read."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_judgements(root: Path) -> list[ContinuationJudgement]:
    """The verdicts on continuations of the run in `root`, one for each item, in the order in which they were given.

    Lines that can't be read are left out, with a warning.
    """
    rows, damaged = _lines(root).readable()
    found: dict[str, ContinuationJudgement] = {}
    for row in rows:
        try:
            judgement = build_config(ContinuationJudgement, row)
        except (ValueError, TypeError):
            damaged += 1
        else:
            found.setdefault(judgement.item, judgement)
    if damaged:
        logger.warning("%s: %d damaged lines are left out", root / JUDGEMENTS, damaged)
    return list(found.values())


def add_judgement(root: Path, judgement: ContinuationJudgement) -> None:
    """Adds a verdict; once this returns, it survives a power cut. Only the owner may read the file."""
    lines = _lines(root)
    private_folder(lines.path.parent)
    with exclusive(root / LOCK):
        private_file(lines.path)
        lines.append(asdict(judgement))
        sync(lines.path)
        sync(lines.path.parent)


def keep_judgements(root: Path, stays: Callable[[ContinuationJudgement], bool]) -> None:
    """Removes all other verdicts from the file, and lines that can't be read, because they may name anyone."""
    path = root / JUDGEMENTS
    if not path.exists():
        return
    with exclusive(root / LOCK):
        kept = [asdict(judgement) for judgement in read_judgements(root) if stays(judgement)]
        text = "".join(json.dumps(row) + "\n" for row in kept)
        if path.read_bytes() != text.encode():
            write_whole(path, text, private=True)


def _lines(root: Path) -> JsonLines:
    return JsonLines(root / JUDGEMENTS, key="at")


ContinuationKey = tuple[str, int]  # a scenario, and the number of a continuation


@dataclass(frozen=True)
class JudgedContinuations:
    """The verdicts of people on the continuations of each agent, and the results of the tasks' own tests on them.

    A continuation counts by the mean of its verdicts, the first of each person; intervals are over scenarios, because
    the continuations of one scenario are alike.
    """

    verdicts: Mapping[str, Sequence[ContinuationJudgement]]  # by agent, on continuations of `tested`
    tested: Mapping[str, Mapping[ContinuationKey, bool]]  # by agent: success by the test of the recorded task
    outdated: int = 0  # verdicts on recordings that have been replaced or removed
    _done: Mapping[str, Mapping[ContinuationKey, list[bool]]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        done: dict[str, dict[ContinuationKey, list[bool]]] = {}
        for agent, verdicts in self.verdicts.items():
            places: dict[ContinuationKey, dict[str, bool]] = defaultdict(dict)
            for verdict in verdicts:
                places[verdict.scenario, verdict.continuation].setdefault(verdict.judge, verdict.done)
            done[agent] = {place: list(by_judge.values()) for place, by_judge in places.items()}
        object.__setattr__(self, "_done", done)

    @property
    def judges(self) -> int:
        """The number of people."""
        return len({verdict.judge for verdicts in self.verdicts.values() for verdict in verdicts})

    def counts(self, agent: str) -> tuple[int, int]:
        """The numbers of judged continuations of an agent, and of verdicts that count."""
        return len(self._done[agent]), sum(map(len, self._done[agent].values()))

    def share(self, agent: str) -> Estimate:
        """The share of judged continuations that people called done; n counts the scenarios."""
        return _over_scenarios(_means(self._done[agent]))

    def difference(self, agent: str, other: str) -> Estimate | None:
        """How much more often `agent` succeeds than `other`, with Student's interval over the scenarios in which both
        were judged; None below two."""
        return grouped_difference(*(_by_scenario(_means(self._done[each])) for each in (agent, other)))

    def agreement_with_tests(self) -> Estimate | None:
        """The share of verdicts that equal the test of the task, over all agents; None without a verdict."""
        alike = [
            (place, float(done == self.tested[agent][place]))
            for agent, places in self._done.items()
            for place, verdicts in places.items()
            for done in verdicts
        ]
        return _over_scenarios(alike) if alike else None

    def agreement_of_judges(self) -> Estimate | None:
        """The share of pairs of verdicts on the same continuation that are equal; None without a pair."""
        alike = [
            (place, float(one == other))
            for places in self._done.values()
            for place, verdicts in places.items()
            for one, other in combinations(verdicts, 2)
        ]
        return _over_scenarios(alike) if alike else None

    def to_json(self) -> dict[str, Any]:
        """The entry in summary.json: `agents` with their shares, and both agreements."""
        agents = {
            agent: asdict(self.share(agent)) | dict(zip(("continuations", "verdicts"), self.counts(agent), strict=True))
            for agent in self.verdicts
        }
        tests, judges = self.agreement_with_tests(), self.agreement_of_judges()
        return {
            "agents": agents,
            "judges": self.judges,
            "agreement_with_tests": asdict(tests) if tests else None,
            "agreement_of_judges": asdict(judges) if judges else None,
            "outdated": self.outdated,
        }


def judged_continuations(
    judgements: Iterable[ContinuationJudgement],
    recordings: Mapping[str, Mapping[ContinuationKey, str]],
    tested: Mapping[str, Mapping[ContinuationKey, bool]],
    labels: Mapping[str, str],
) -> JudgedContinuations | None:
    """The verdicts on the present continuations of the labeled agents; None without any.

    Args:
        recordings: by agent, the `recording_digest` of each of its present continuations.
        tested: by agent, the success of each of these by the test of its task.
        labels: by agent, its name in the report.
    """
    found: dict[str, list[ContinuationJudgement]] = defaultdict(list)
    outdated = 0
    for judgement in judgements:
        present = recordings.get(judgement.agent, {}).get((judgement.scenario, judgement.continuation))
        if judgement.recording != present:
            outdated += 1
        elif judgement.agent in labels:
            found[judgement.agent].append(judgement)
    if not found:
        return None
    ordered = [agent for agent in labels if agent in found]
    verdicts = {labels[agent]: found[agent] for agent in ordered}
    return JudgedContinuations(verdicts, {labels[agent]: tested[agent] for agent in ordered}, outdated)


def _means(places: Mapping[ContinuationKey, Sequence[bool]]) -> Iterator[tuple[ContinuationKey, float]]:
    """The mean verdict on each continuation."""
    for place, verdicts in places.items():
        yield place, float(np.mean(verdicts))


def _by_scenario(values: Iterable[tuple[ContinuationKey, float]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for (scenario, _), value in values:
        found[scenario].append(value)
    return found


def _over_scenarios(values: Iterable[tuple[ContinuationKey, float]]) -> Estimate:
    """The mean of values, with a bootstrap over scenarios; n counts the scenarios."""
    groups = list(_by_scenario(values).values())
    rng = np.random.default_rng(JUDGEMENT_BOOTSTRAP_SEED)
    return pooled_share([sum(group) for group in groups], [len(group) for group in groups], rng)
