"""Questions about the house: a module a family, with the right answers and those that would be plausible mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.asserting import ask_fact
from interplay.env.playhouse.tasks.questions.colors import ask_color_of, ask_same_or_different
from interplay.env.playhouse.tasks.questions.comparing import ask_larger, ask_same_color
from interplay.env.playhouse.tasks.questions.counting import ask_how_many, ask_present
from interplay.env.playhouse.tasks.questions.describing import ask_color, ask_count, ask_exist
from interplay.env.playhouse.tasks.questions.locating import ask_nearest, ask_on_top, ask_seen, ask_where
from interplay.env.playhouse.tasks.questions.looking import ask_noticed
from interplay.env.playhouse.tasks.questions.numbering import ask_number_fact
from interplay.env.playhouse.tasks.questions.question import OpenQuestion, Question
from interplay.env.playhouse.tasks.questions.search_question import SearchQuestion
from interplay.env.playhouse.tasks.questions.size_comparison import ask_size
from interplay.env.playhouse.tasks.questions.whereabouts import ask_whereabouts

Ask = Callable[[TaskContext, np.random.Generator], Question]

USUAL: dict[str, Ask] = {"color": ask_color, "count": ask_count, "exist": ask_exist}
ON_REQUEST: dict[str, Ask] = {
    "larger": ask_larger,
    "same_color": ask_same_color,
    "nearest": ask_nearest,
    "on_top": ask_on_top,
    "where": ask_where,
    "seen": ask_seen,
    "fact": ask_fact,
    "whereabouts": ask_whereabouts,
    "how_many": ask_how_many,
    "noticed": ask_noticed,
    "color_of": ask_color_of,
    "same_or_different": ask_same_or_different,
    "number_fact": ask_number_fact,
    "present": ask_present,
    "size": ask_size,
}
QUESTIONS = {**USUAL, **ON_REQUEST}


def load_question(fields: Mapping[str, Any]) -> Question:
    """The question that `to_json` described."""
    kind = SearchQuestion if "room" in fields else OpenQuestion if "accepted" in fields else Question
    lists = {name: tuple(fields[name]) for name in ("mistakes", "about", "accepted") if name in fields}
    return kind(**{**fields, **lists})
