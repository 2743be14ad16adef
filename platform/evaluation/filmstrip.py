"""Filmstrips: a few pictures of one episode, evenly spread from its first to its last."""

from __future__ import annotations

import numpy as np

from interplay.evaluation.probe_player import Film
from interplay.evaluation.report_data import Filmstrip


def evenly_spaced_rows(rows: int, count: int) -> list[int]:
    """Returns at most `count` of the rows 0 .. rows - 1, evenly spaced, including the first and the last."""
    return sorted({round(row) for row in np.linspace(0, rows - 1, min(count, rows)).tolist()})


def make_filmstrip(film: Film, *, title: str, seconds_per_step: float, frames: int = 8) -> Filmstrip:
    """Makes a filmstrip of a filmed probe; the solver's utterances are part of the outcome."""
    if film.result is None:
        raise ValueError(f"the film of probe {film.probe.kind} {film.probe.index} has not been played to its end")
    result = film.result
    if result.success_step is None:
        outcome = f"not solved in {result.steps * seconds_per_step:.1f} s"
    else:  # not the time at its end, which comes after success has been held
        outcome = f"solved at {result.success_step * seconds_per_step:.1f} s"
    said = "".join(f", said “{words}”" for words in result.said)
    rows = evenly_spaced_rows(len(film.pictures), frames)
    return Filmstrip(
        title=title,
        instruction=result.instruction,
        outcome=outcome + said,
        pictures=[film.pictures[row] for row in rows],
        captions=[f"{row * seconds_per_step:.1f} s" for row in rows],
    )
