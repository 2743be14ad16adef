"""Every cue that people were given leads to tasks, in many words; modifiers are obeyed; tasks say which it was."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from house_scenes import StillHouse, house, tasks_of, thing

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.requests.cues import CUES, MAX_WORDS, MODIFIERS
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.tasks.kinds import KINDS, is_question
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import InfeasibleTask, Task, words
from interplay.env.world import Start

HOUSES = 8
BARE = house(thing(0, "red ball", 2, 2), thing(1, "blue block", 4, 3))


@pytest.fixture(scope="module")
def asked() -> dict[str, list[Task]]:
    """What was asked by each cue: in some houses alone, in others with one modifier after the other."""
    world = Playhouse(PlayhouseConfig())
    found: dict[str, list[Task]] = defaultdict(list)
    modifiers = (None, *MODIFIERS)
    for seed in range(HOUSES):
        world.reset(Start(seed=500 + seed), observers=())
        rng = np.random.default_rng(seed)
        for number, cue in enumerate(CUES):
            try:
                task = world.tasks().sample_by_cue(cue, modifiers[(seed + number) % 11] if seed % 2 else None, rng)
            except InfeasibleTask:
                continue
            assert world.tasks().load(json.loads(json.dumps(task.to_json()))) == task
            assert not task.success(world.facts(), ()) and task.progress(world.facts()) < 1
            found[cue].append(task)
    return found


def test_there_are_fifteen_instructions_ten_questions_and_ten_modifiers() -> None:
    asks = [{is_question(kind) for kind in cue.kinds} for cue in CUES.values()]
    assert asks.count({False}) == 15 and asks.count({True}) == 10 and len(asks) == 25
    assert len(MODIFIERS) == 10 and PlayhouseTasks.cues == tuple(CUES) and PlayhouseTasks.modifiers == tuple(MODIFIERS)
    for cue in CUES.values():
        assert cue.kinds and {*cue.kinds} <= {*KINDS} and cue.prompt.endswith(".")


@pytest.mark.slow
def test_every_cue_is_asked_and_says_so(asked: dict[str, list[Task]]) -> None:
    for cue in CUES.values():
        tasks, asks = asked[cue.name], is_question(cue.kinds[0])
        assert len(tasks) >= HOUSES // 3, cue.name
        for task in tasks:
            assert task.cue == cue.name and task.kind in cue.kinds and (task.answer is not None) == asks
            assert task.to_json()["cue"] == cue.name


def test_what_is_asked_is_short_and_good_to_read(asked: dict[str, list[Task]]) -> None:
    for task in (task for tasks in asked.values() for task in tasks):
        text = task.instruction
        assert 2 <= len(words(text)) <= MAX_WORDS, text
        assert text == text.strip() and "  " not in text and "{" not in text
        said = words(text)
        assert not any(a == b for a, b in pairwise(said)), f"{text}: a word twice"
        vowel = [b for a, b in pairwise(said) if a == "a" and b[0] in "aeiou"]
        assert not vowel, text


def test_modifiers_are_obeyed(asked: dict[str, list[Task]]) -> None:
    seen = Counter[str]()
    for task in (task for tasks in asked.values() for task in tasks):
        if task.modifier is None:
            assert "modifier" not in task.to_json()
            continue
        seen[task.modifier] += 1
        satisfied = MODIFIERS[task.modifier].is_satisfied_by
        assert task.to_json()["modifier"] == task.modifier
        assert satisfied is None or satisfied(task.instruction), task.instruction
    assert all(seen[name] >= 3 for name in MODIFIERS), seen


@pytest.mark.parametrize(
    ("name", "obeys", "fails"),
    [
        ("by_color", "lift the red ball", "lift the ball"),
        ("shape_words", "lift the round thing", "lift the rounded thing"),
        ("proximity_words", "stand next to me", "stand behind me"),
        ("horizontal_words", "stand behind me", "lift the leftover"),
        ("vertical_words", "put it on top of the table", "put it on the table"),
        ("negation_words", "the ball that isn't red", "the ball in another room"),
        ("quantifier_words", "how many balls?", "count the balls"),
        ("shunned_words", "go to the bedroom", "go to the bed"),
    ],
)
def test_words_are_heard(name: str, obeys: str, fails: str) -> None:
    satisfied = MODIFIERS[name].is_satisfied_by
    assert satisfied is not None and satisfied(obeys) and not satisfied(fails)


def test_each_cue_has_six_phrasings_and_more() -> None:
    for cue in CUES.values():
        phrasings = {text for kind in cue.kinds for text in KINDS[kind].wordings}
        assert len(phrasings) >= 6, cue.name
        few = [kind for kind in cue.kinds if len(KINDS[kind].wordings) < 6]
        assert {*few} <= {"larger", "nearest", "on_top"}, "those that were there before"


def test_unknown_names_are_refused_with_those_that_there_are() -> None:
    tasks = tasks_of(StillHouse(BARE))
    with pytest.raises(ValueError, match="has no cue 'dance'; its cues are touch, activity"):
        tasks.sample_by_cue("dance", None, np.random.default_rng(0))
    with pytest.raises(ValueError, match="has no modifier 'loudly'; its modifiers are by_color"):
        tasks.sample_by_cue("lift", "loudly", np.random.default_rng(0))


def test_what_can_not_be_said_is_infeasible_and_says_why() -> None:
    tasks = tasks_of(StillHouse(BARE))
    with pytest.raises(InfeasibleTask, match=r"by the cue 'lift' and the modifier 'vertical_words': no "):
        tasks.sample_by_cue("lift", "vertical_words", np.random.default_rng(0))
    with pytest.raises(InfeasibleTask, match=r"by the cue 'put_on': .*add them to env\.components"):
        tasks.sample_by_cue("put_on", None, np.random.default_rng(0))


def test_kinds_drawn_without_a_cue_are_worded_and_stored_as_ever() -> None:
    tasks = tasks_of(StillHouse(BARE))
    for seed in range(30):
        task = tasks.sample("go", np.random.default_rng(seed))
        assert task.cue is None and not {"cue", "modifier"} & {*task.to_json()}
        assert task.instruction.startswith(("go to the", "walk to the", "go near the"))
        assert task.instruction.endswith(("red ball", "blue block"))


def test_no_question_names_its_own_answer() -> None:
    world = Playhouse(PlayhouseConfig(rooms=(1, 2)))
    checked = 0
    for seed in range(12):
        world.reset(Start(seed=seed), observers=())
        for modifier in ("vertical_words", "proximity_words", "quantifier_words"):
            try:
                task = world.tasks().sample_by_cue("any_question", modifier, np.random.default_rng(seed))
            except InfeasibleTask:
                continue
            if task.kind in ("nearest", "on_top", "noticed") and task.answer is not None:
                checked += 1
                assert words(task.answer)[-1] not in words(task.instruction), task.instruction
    assert checked >= 5
