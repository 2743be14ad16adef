"""Questions about the house: a module a family, with the right answers and those that would be plausible mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.env.playhouse.asking import Asking
from interplay.env.playhouse.questions.comparing import ask_larger, ask_same_colour
from interplay.env.playhouse.questions.describing import ask_color, ask_count, ask_exist
from interplay.env.playhouse.questions.locating import ask_nearest, ask_on_top, ask_seen, ask_where
from interplay.env.playhouse.questions.question import OpenQuestion, Question

Ask = Callable[[Asking, np.random.Generator], Question]

USUAL: dict[str, Ask] = {"color": ask_color, "count": ask_count, "exist": ask_exist}
ON_REQUEST: dict[str, Ask] = {
    "larger": ask_larger,
    "same_colour": ask_same_colour,
    "nearest": ask_nearest,
    "on_top": ask_on_top,
    "where": ask_where,
    "seen": ask_seen,
}
QUESTIONS = {**USUAL, **ON_REQUEST}


def load_question(fields: Mapping[str, Any]) -> Question:
    """The question that `to_json` described."""
    kind = OpenQuestion if "accepted" in fields else Question
    lists = {name: tuple(fields[name]) for name in ("mistakes", "about", "accepted") if name in fields}
    return kind(**{**fields, **lists})
