"""The page of `interplay inspect-reward`, and the same numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interplay.core.files import write_whole
from interplay.evaluation import figures
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.figures import SvgFigure
from interplay.evaluation.headlines import decimals_with_interval, percent, span
from interplay.evaluation.report import to_json
from interplay.evaluation.report_data import RewardPoint
from interplay.evaluation.report_page import answer_bars, page_environment
from interplay.evaluation.reward_inspection import (
    InspectedEpisode,
    KindOfEpisode,
    by_kind,
    calibration,
    calibration_error,
    inspection_results,
    pairs_by_gap,
    parting,
)

PAGE, NUMBERS = "reward-inspection.html", "reward-inspection.json"


def write_inspection(
    folder: Path,
    name: str,
    episodes: Sequence[InspectedEpisode],
    points: Sequence[RewardPoint],
    answers: Mapping[str, Estimate],
) -> Path:
    """Writes the page and the numbers of an inspection of the run `name`, and returns the path of the page.

    `points` are empty where reinforcement has not run, `answers` (the mean reward by kind of answer) where no held-out
    question was answered.
    """
    document = to_json(inspection_results(episodes, points, answers))
    write_whole(folder / NUMBERS, json.dumps(document, indent=2, allow_nan=False) + "\n")
    page = page_environment().get_template("reward_inspection.html.j2")
    write_whole(folder / PAGE, page.render(name=name, **_shown(episodes, points, answers)))
    return folder / PAGE


def _shown(
    episodes: Sequence[InspectedEpisode], points: Sequence[RewardPoint], answers: Mapping[str, Estimate]
) -> dict[str, Any]:
    kinds, gaps, parted = by_kind(episodes), pairs_by_gap(episodes), parting(points)
    held = [point for point in points if len(point.heldout)]
    return {
        "episodes": len(episodes),
        "kind_rows": [_kind_row(kind, found) for kind, found in kinds.items()],
        "pairs": [
            figures.pair_bars(gaps, "By the time between the moments", "steps"),
            figures.pair_bars(
                {kind: found.pairs for kind, found in kinds.items() if found.pairs.n},
                "By kind of task",
                "first task of the episode",
            ),
            _calibration(episodes),
        ]
        if gaps
        else [],
        "answers": answer_bars(answers, " in which the solver answers"),
        "returns": [
            figures.reward_curve(held, "Modeled return", "Means with bands of two standard errors."),
            figures.true_success_curve(
                held, None if parted is None else parted.update, "True success of the held-out episodes",
                "The same episodes at every measurement; bands of two standard errors. A dashed line: the first "
                "measurement at which true success is below its best (exact sign test over the episodes, corrected for "
                "the number of pairs of measurements) while the modeled return is not lower.",
            ),
        ] if held else [],
        "parting": "" if not held else "The two do not clearly diverge." if parted is None else (
            f"They diverge by update {parted.update}: since update {parted.best_update} true success has gone from "
            f"{percent(parted.success[0])} to {percent(parted.success[1])}, and the modeled return from "
            f"{parted.modeled[0]:z.2f} to {parted.modeled[1]:z.2f}."
        ),
    }  # fmt: skip


def _calibration(episodes: Sequence[InspectedEpisode]) -> SvgFigure:
    bins = calibration(episodes)
    return figures.calibration_curve(
        [(each.confidence, each.right, each.low, each.high) for each in bins],
        "Calibration",
        f"{sum(each.pairs for each in bins):,} pairs in {len(bins)} equal groups; whiskers: bootstrapped 95% interval "
        f"over episodes; expected calibration error "
        f"{calibration_error(bins):.3f}. The dashed line is perfect.",
    )


def _kind_row(kind: str, found: KindOfEpisode) -> tuple[str, ...]:
    swap = found.swap_loss
    return (
        kind,
        f"{found.episodes}",
        "–" if found.solved is None else f"{found.solved}",
        f"{percent(found.pairs.value)} ({span(found.pairs, share=True)})" if found.pairs.n else "no pairs",
        decimals_with_interval(found.auc),
        "–" if swap is None else f"{swap.value:z.2f} ({span(swap)})",
    )
