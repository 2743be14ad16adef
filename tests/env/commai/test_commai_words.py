"""What each task in language says, how long it lasts, and what the teacher answers."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from commai_lessons import Lesson

from interplay.env.commai.tasks import task_sets
from interplay.env.commai.tasks.competition import baskets, messages, repetition

V = r"(?:say|repeat)"
P = rf"(?:{'|'.join(repetition.phrases)})"
C = rf"(?:{'|'.join(repetition.context)})"
N = rf"(?:\d|{'|'.join(messages.numbers_in_words)})"
TIMES = rf"{V} {P} {N} times"
THING = rf"(?:{'|'.join(baskets.all_objects)})"
A_THING = rf"an? {THING}"
Q = rf"(?:{'|'.join(baskets.all_properties)})"
B = r"in (?:john|mary)'s basket"
NOT = r"(?:(?:do not |don't )?)"
THINGS = r"an? \w+(?:, an? \w+)*(?: and an? \w+)?"
SIDE = r"(?:north|east|south|west)"

WORDS = {  # name: what it says first, limit in bits
    "RepeatCharacterTask": (rf"{V} [a-zA-Z]\.", 1000),
    "RepeatWhatISayTask": (rf"{V} {P}\.", 1000),
    "RepeatWhatISay2Task": (rf"{V} {P} {C}\.", 1000),
    "RepeatWhatISayMultipleTimesTask": (rf"{TIMES}\.", 10000),
    "RepeatWhatISayMultipleTimes2Task": (rf"{TIMES} {C}\.", 10000),
    "RepeatWhatISayMultipleTimesSeparatedByCommaTask": (rf"{TIMES} separated by comma \(,\)\.", 10000),
    "RepeatWhatISayMultipleTimesSeparatedByAndTask": (rf"{TIMES} separated by and\.", 10000),
    "RepeatWhatISayMultipleTimesSeparatedByCATask": (rf"{TIMES} separated by comma and and\.", 10000),
    "RepeatWhatISayDisjunctionTask": (rf"{V} {P} or {P}\.", 3000),
    "RepeatWhatISayConjunctionNegationTask": (rf"{NOT}{V} {P} and {NOT}{V} {P}\.", 3000),
    "VerbTask": (r"Say 'I (\w+)' to \1\.", 896),
    "SimpleCountingTask": (rf"I have {THINGS}\. How many \w+s do I have\?", 3000),
    "ObjectExistenceTask1": (rf"Let's play game with objects\. I have {THING}\. Do I have {THING}\?", 3000),
    "ObjectExistenceTask2": (rf"I have {THINGS}\. Do I have {A_THING}\?", 3000),
    "AssociateObjectWithPropertyTask": (rf"({THING}) {B} is {Q}\. how is \1\?", 3000),
    "VerifyThatObjectHasPropertyTask": (rf"is {THING} {Q} {B}\?", 3000),
    "ListPropertiesOfAnObjectTask": (rf"which properties does {THING} have {B}\?", 3500),
    "NameAPropertyOfAnObjectTask": (rf"can you tell me a property of {THING} {B}\?", 3000),
    "HowManyPropertiesDoesAnObjectHaveTask": (rf"how many properties does {THING} have {B}\?", 3000),
    "ListObjectsWithACertainPropertyTask": (rf"which objects are {Q} {B}\?", 3500),
    "NameAnObjectWithAPropertyTask": (rf"can you tell me an object that is {Q} {B}\?", 3000),
    "HowManyObjectsHaveACertainPropertyTask": (rf"how many objects are {Q} {B}\?", 3000),
    "WhoHasACertainObjectWithACertainPropertyTask": (rf"who has an? {Q} {THING} in the basket\?", 3000),
    "ListThePropertiesThatAnObjectHasInABasketOnlyTask": (rf"which properties does {THING} have {B} only\?", 3500),
    "ListThePropertiesThatAnObjectHasInAllBasketsTask": (rf"which properties does {THING} have in all baskets\?", 3500),
    "TurningTask": (r"Turn (?:left|right)\.", 576),
    "competition.navigation.MovingTask": (r"Move forward\.", 600),
    "MovingRelativeTask": (r"Move (?:left|right)\.", 784),
    "MovingAbsoluteTask": (rf"You are facing north, move {SIDE}\.", 2336),
    "PickUpTask": (rf"You have an? ({THING}) in front of you\. Pick up the \1\.", 1328),
    "PickUpAroundTask": (rf"There is an? ({THING}) {SIDE} from you, pick up the \1\.", 2896),
    "PickUpInFrontTask": (rf"There is an? ({THING}) {N} steps forward, pick up the \1\.", 3328),
    "GivingTask": (rf"I gave you {A_THING}\. Give it back to me\.", 1280),
    "PickUpAroundAndGiveTask": (rf"There is {A_THING} {SIDE} from you\. Pick it up and give it to me\.", 5584),
    "CountingInventoryTask": (rf"How many {THING}s do you have\?", 800),
    "CountingInventoryGivingTask": (rf"How many {THING}s do you have\?", 8000),
    "LookTask": (rf"Look to the {SIDE}\.", 1000),
    "competition.navigation.LookAroundTask": (rf"Look around\. You are facing {SIDE}\.", 5000),
    "FindObjectAroundTask": (rf"Pick the {THING} next to you\.", 10000),
    "Repeat1V1L": (r"repeat: A\.", 112),
    "Repeat3V1L": (r"repeat: [ABC]\.", 112),
    "Repeat3V2L": (r"repeat: [ABC]{1,2}\.", 136),
    "ItalianHowManyPropertiesDoesAnObjectHaveTask": (r"quante proprieta' ha \w+ nel cestino di \w+\?", 3000),
    "GuessTheNumberAskingQuestionsTask": (
        r"guess the \d-digit number I am thinking of; you can ask me for the number\.",
        3000,
    ),
    "GuessTheNumberAskingQuestionsExplicitModelTask": (
        r"guess the \d-digit number I am thinking of; you can ask me: .*number.*[.?]",
        3000,
    ),
    "GuessTheNumberAskingForDigitsTask": (r"guess the \d-digit number I am thinking of; you can ask me .*\.", 3500),
    "GuessTheNumberAskingForDigitsExplicitModelTask": (
        r"guess the \d-digit number I am thinking of; you can ask me: .*next digit.*[.?]",
        3500,
    ),
    **{f"TaskSet{n}": (r"description: [A-Za-z ]+; verify: [A-Z]+\.", 3000) for n in range(1, 6)},
}


def lesson_of(name: str, seed: int = 1) -> Lesson:
    return Lesson(task_sets.find(name)(), seed)


def test_the_table_has_every_task_in_language() -> None:
    named = {task_sets.find(name) for name in WORDS}
    sets = ("competition", "to_be_validated", "micro", "mini")
    assert named | {task_sets.find("repetition.BeSilentTask")} == set(task_sets.task_classes(sets))


def test_the_words_and_the_limit_of_each_task() -> None:
    fixed = {"Repeat1V1L", "competition.navigation.MovingTask", "competition.navigation.LookAroundTask"}
    for name, (pattern, limit) in WORDS.items():
        asked = set()
        for seed in range(12):
            lesson = lesson_of(name, seed)
            assert re.fullmatch(pattern, lesson.listen()), (name, lesson.last)
            assert lesson.task._max_time == limit, name
            asked.add(lesson.last)
        assert len(asked) > 1 or name in fixed, name


def replies(name: str, right: bool, seeds: int = 12) -> set[str]:
    """What the teacher says after an answer and before the task is over, or before it is silent."""
    found = set()
    for seed in range(seeds):
        lesson = lesson_of(name, seed)
        opening = len(lesson.listen())
        for said in lesson.task.expert() if right else lesson.task.confused(random.Random(seed)):
            if not lesson.task.has_ended():
                lesson.say(said)
        while not lesson.environment.is_silent():
            lesson.wait()
        found.add(lesson.text[opening:].strip())
    return found


def test_the_teacher_congratulates_and_corrects() -> None:
    assert replies("RepeatCharacterTask", right=True) <= set(messages.congratulations)
    assert replies("RepeatCharacterTask", right=False) <= set(messages.failed)
    assert len(replies("RepeatCharacterTask", right=True)) > 1


@pytest.mark.parametrize(
    ("name", "right", "pattern"),
    [
        ("RepeatWhatISayMultipleTimesTask", False, rf".+ correct answer is: ({P})(?: \1)+\."),
        ("RepeatWhatISayMultipleTimesSeparatedByCommaTask", False, rf".+ correct answer is: ({P})(?:, \1)+\."),
        ("RepeatWhatISayMultipleTimesSeparatedByAndTask", False, rf".+ correct answer is: ({P})(?: and \1)+\."),
        ("RepeatWhatISayMultipleTimesSeparatedByCATask", False, rf".+ correct answer is: ({P})(?:, \1)* and \1\."),
        ("VerbTask", True, r"You \w+\."),
        ("SimpleCountingTask", False, rf"Wrong\. The right answer is: {N}\."),
        ("ObjectExistenceTask1", True, r"Correct!"),
        ("ObjectExistenceTask1", False, rf"Wrong, I do (?:not )?have ({THING})\. Do I have \1\?"),
        ("ObjectExistenceTask2", False, rf"Wrong\. I do (?:not )?have {A_THING}\."),
        ("AssociateObjectWithPropertyTask", False, ""),
        ("VerifyThatObjectHasPropertyTask", False, ""),
        ("ListPropertiesOfAnObjectTask", False, ""),
        ("NameAPropertyOfAnObjectTask", False, ""),
        ("HowManyPropertiesDoesAnObjectHaveTask", False, ""),
        (
            "ListObjectsWithACertainPropertyTask",
            False,
            rf"the right objects are: {THING}(?: {THING})*\. please try again\. which objects are {Q} {B}\?",
        ),
        ("NameAnObjectWithAPropertyTask", False, rf"one right answer is: {THING}\. please try again\. can you .+\?"),
        ("HowManyObjectsHaveACertainPropertyTask", False, rf"the right answer is: {N}\. please try again\. how .+\?"),
        (
            "WhoHasACertainObjectWithACertainPropertyTask",
            False,
            r"the right answer is: (?:john|mary|nobody)(?: john| mary)?\. please try again\. who .+\?",
        ),
        (
            "ListThePropertiesThatAnObjectHasInABasketOnlyTask",
            False,
            rf"the right properties are: (?:none|{Q}(?: {Q})*)\. please try again\. which .+ only\?",
        ),
        ("TurningTask", True, r"You turned (?:left|right), you are now facing (?:west|east)\."),
        ("GivingTask", True, rf"You gave me {A_THING}\."),
        ("PickUpTask", True, rf"You picked up the {THING}\."),
        ("CountingInventoryTask", False, rf".+ You have 0 {THING}s\."),
        ("CountingInventoryTask", True, r"Correct!"),
        ("Repeat3V2L", True, r"correct\."),
        ("Repeat3V2L", False, r"wrong: [ABC]{1,2}\."),
        ("TaskSet5", False, r"Wrong\. The right answer is: (?:true|false)\."),
        ("GuessTheNumberAskingQuestionsTask", False, ""),
    ],
)
def test_the_teacher_answers_in_the_tasks_own_words(name: str, right: bool, pattern: str) -> None:
    for said in replies(name, right):
        assert re.fullmatch(pattern, said), said


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("RepeatWhatISayTask", "|".join(re.escape(text) for text in messages.failed)),
        ("VerbTask", "|".join(re.escape(text) for text in messages.failed)),
        ("ObjectExistenceTask1", r"You are too slow! Let's try something else\."),
        ("AssociateObjectWithPropertyTask", rf"the right answer is: {Q}\."),
        ("ListPropertiesOfAnObjectTask", rf"the right properties are: {Q}(?: {Q})*\."),
        ("NameAPropertyOfAnObjectTask", rf"one right answer is: {Q}\."),
        ("NameAnObjectWithAPropertyTask", rf"you are too slow\. one right answer is: {THING}\."),
        ("TurningTask", "|".join(re.escape(text) for text in messages.timeout)),
        ("GuessTheNumberAskingQuestionsTask", r"you could have asked me: .+[.?] the number is: \d+\."),
    ],
)
def test_the_teacher_says_so_when_the_time_is_over(name: str, pattern: str) -> None:
    for seed in range(4):
        lesson = lesson_of(name, seed)
        lesson.listen()
        while lesson.environment.is_silent():
            lesson.wait()
        while not lesson.environment.is_silent():
            lesson.wait()
        assert re.fullmatch(pattern, lesson.last), lesson.last
        assert lesson.finish() == 0


def test_a_question_that_goes_on_is_paid_at_the_second_try() -> None:
    for name in ("ObjectExistenceTask1", "ListObjectsWithACertainPropertyTask", "CountingInventoryTask"):
        for seed in range(4):
            lesson = lesson_of(name, seed)
            lesson.listen()
            lesson.say(next(lesson.task.confused(random.Random(seed))))
            assert lesson.follow(lesson.task.expert()) == 1, name


def test_what_is_said_while_the_teacher_speaks_is_forgotten() -> None:
    for name in ("RepeatWhatISayTask", "AssociateObjectWithPropertyTask", "SimpleCountingTask", "Repeat3V1L"):
        lesson = lesson_of(name, seed=3)
        answer = next(lesson.task.expert())
        lesson.wait(2)
        lesson.say(answer)
        assert not lesson.task.has_ended(), name
        assert lesson.follow(lesson.task.expert()) == 1


def test_lists_may_be_split_and_ordered_in_any_way() -> None:
    task = task_sets.find("ListPropertiesOfAnObjectTask")()
    paid = []
    for joined in (" ", ", ", " and ", ", and "):
        for reverse in (False, True):
            lesson = Lesson(task, seed=4)
            lesson.listen()
            items = sorted(task.answers[0].split(), reverse=reverse)
            assert len(items) > 1
            paid.append(lesson.follow(iter([f"{joined.join(items)}."])))
    assert paid == [1] * 8


@pytest.mark.parametrize("change", [lambda items: items[1:], lambda items: [*items, items[0]], lambda items: ["none"]])
def test_an_incomplete_or_repeated_list_is_wrong(change: Any) -> None:
    task = task_sets.find("ListPropertiesOfAnObjectTask")()
    lesson = Lesson(task, seed=4)
    lesson.listen()
    assert lesson.follow(iter([f"{' '.join(change(task.answers[0].split()))}."])) == 0


@pytest.mark.parametrize("name", ["HowManyPropertiesDoesAnObjectHaveTask", "CountingInventoryTask"])
def test_numbers_may_be_digits_or_words(name: str) -> None:
    for form in (0, -1):
        lesson = lesson_of(name, seed=2)
        lesson.listen()
        number = messages.string_to_number(next(lesson.task.expert()).removesuffix("."))
        assert lesson.follow(iter([f"{messages.number_to_strings(number)[form]}."])) == 1


def test_counting_takes_words_only() -> None:
    lesson = lesson_of("SimpleCountingTask", seed=2)
    lesson.listen()
    number = messages.string_to_number(lesson.task.answers[0])
    assert lesson.follow(iter([f"{number}."])) == 0


@pytest.mark.parametrize("said", ["yes", "Yes", "YES", "no", "No", "NO"])
def test_yes_and_no_in_either_case(said: str) -> None:
    lesson = lesson_of("ObjectExistenceTask2", seed=2)
    lesson.listen()
    paid = int(said.lower() == lesson.task.answers[0])
    assert lesson.follow(iter([f"{said}."])) == paid


def test_exact_answers_allow_nothing_before_them() -> None:
    for before, paid in (("  ", 1), ("well ", 0)):
        lesson = lesson_of("RepeatWhatISayDisjunctionTask", seed=2)
        lesson.listen()
        assert lesson.follow(iter([f"{before}{lesson.task.answers[1]}."])) == paid


def negations(seed: int) -> tuple[Lesson, int]:
    """A lesson of the conjunction, and how many of the phrases are wanted."""
    lesson = lesson_of("RepeatWhatISayConjunctionNegationTask", seed)
    wanted = 2 - len(re.findall("do not |don't ", lesson.listen()))
    return lesson, wanted


def test_what_is_not_negated_is_said_in_any_order() -> None:
    seen = set()
    for seed in range(30):
        lesson, wanted = negations(seed)
        assert len(lesson.task.answers) == wanted
        if wanted == 2:
            first, second = lesson.task.answers
            assert set(first.split(" and ")) == set(second.split(" and "))
            assert lesson.follow(iter([f"{second}."])) == 1
        seen.add(wanted)
    assert seen == {0, 1, 2}


def test_two_forbidden_phrases_ask_for_silence() -> None:
    """The original crashed here, or wanted the first phrase."""
    silent, noisy = 0, 0
    for seed in range(30):
        lesson, wanted = negations(seed)
        if wanted == 0:
            silent += lesson.finish() == 1
            lesson, _ = negations(seed)
            noisy += lesson.follow(iter(["x"])) == 0
    assert silent == noisy > 0


def test_silence_lasts_beyond_its_instruction() -> None:
    """The original could end before it had said what it wanted."""
    for seed in range(20):
        lesson = Lesson(task_sets.find("repetition.BeSilentTask")(), seed, bits=True)
        instruction = 8 * len(lesson.listen())
        assert instruction + 64 <= lesson.task._max_time
        assert 100 <= lesson.task._max_time <= 1000
        assert lesson.finish() == 1


def test_the_limit_of_silence_is_drawn_at_each_start() -> None:
    lesson = Lesson(task_sets.find("repetition.BeSilentTask")(), seed=1)
    limits = set()
    for _ in range(5):
        limits.add(lesson.task._max_time)
        lesson.finish()
    assert len(limits) > 1


def test_silence_is_broken_by_one_character() -> None:
    lesson = Lesson(task_sets.find("repetition.BeSilentTask")(), seed=1)
    lesson.say("a")
    assert lesson.finish() == 0


def test_the_teacher_answers_four_forms_of_its_question() -> None:
    for name in ("GuessTheNumberAskingQuestionsTask", "GuessTheNumberAskingForDigitsTask"):
        lesson = lesson_of(name, seed=3)
        lesson.listen()
        number = lesson.task.answers[0]
        assert len(lesson.task.questions) == 4
        for at, question in enumerate(lesson.task.questions):
            lesson.say(question)
            if "Digits" not in name:
                expected = f"{number}."
            elif at < len(number):
                expected = f"{number[at]}."
            else:
                expected = f"the number has only {len(number)} {messages.pluralize('digit', len(number))}."
            assert lesson.last == expected
        assert lesson.follow(iter([f"{number}."])) == 1


def test_no_answer_ends_in_another() -> None:
    """Answers count by how they end, so that "gold" would do for "old"."""
    for words in (baskets.all_properties, baskets.all_objects, repetition.phrases, list(repetition.past_tense)):
        assert not [(a, b) for a in words for b in words if a != b and a.endswith(b)]


def test_the_baskets_are_of_use_to_every_question() -> None:
    john, mary = baskets.global_properties["john"], baskets.global_properties["mary"]
    assert len(john) == len(mary) == 11
    assert len(baskets.shared_objects) > 11 / 2
    pairs = [(set(john[name]), set(mary[name])) for name in baskets.shared_objects]
    assert any(a < b or b < a or a == b for a, b in pairs), "the answer of ..InABasketOnly would never be none"
    assert any(not a & b for a, b in pairs), "the answer of ..InAllBaskets would never be none"
    for things in (john, mary):
        for properties in things.values():
            assert 0 < len(set(properties)) == len(properties) <= 10
            assert all(re.fullmatch("[a-z]+", property_) for property_ in properties)
