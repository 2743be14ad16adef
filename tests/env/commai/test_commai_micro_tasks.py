"""Tasks in single characters and bits: nano by example, small compositions, lookup tables, CommAI-mini."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import pytest
from commai_lessons import Lesson

from interplay.env.commai.tasks import mini
from interplay.env.commai.tasks.micro import lookup_tables, nano, small_comp

ANSWERS = [  # task, patient, what the learner sends from the second call on, the reward that the last one brings
    ("Task0", False, "0000000", 1),
    ("Task0", False, "0000001", 1),
    ("Task0", False, "0000011", 1),  # the task is over after five tokens, the sixth is dropped
    ("Task0", False, "000010", -1),
    ("Task0", True, "0000100", -1),
    ("Task0", True, "0000000", 1),
    ("Task1", False, "00000010", 1),
    ("Task1", False, "00000011", 1),
    ("Task1", False, "00000001", -1),
    ("Task1", False, "0000010", -1),
    ("Task1", True, "000001000", -1),
    ("Task1", True, "000000100", 1),
    ("Task10", False, "0000000100", 1),
    ("Task10", False, "0000000101", 1),
    ("Task10", False, "000000000", -1),
    ("Task10", False, "00000010", -1),
    ("Task10", False, "0000000110", -1),
    ("Task10", True, "00000010000", -1),
    ("Task11", False, "0000000110", 1),
    ("Task11", False, "0000000111", 1),
    ("Task11", False, "0000000100", -1),
    ("Task11", False, "00000010", -1),
    ("Task11", True, "00000011000", -1),
    ("Task11", True, "00000001100", 1),
]


@pytest.mark.parametrize(("name", "patient", "said", "reward"), ANSWERS)
def test_nano_by_example(name: str, patient: bool, said: str, reward: int) -> None:
    """The same answer three times in a row: the tasks follow each other without a token between."""
    lesson = Lesson(getattr(nano, name)(patient=patient))
    for rounds in range(1, 4):
        for token in said[:-1]:
            lesson._send(token)
            assert len(lesson.rewards) == rounds - 1
        lesson._send(said[-1])
        assert lesson.rewards == [reward] * rounds


@pytest.mark.parametrize(("name", "opening"), [("Task0", "011000"), ("Task1", "1111000"), ("Task10", "11101000")])
def test_nano_speaks_in_bits_and_closes_with_a_zero(name: str, opening: str) -> None:
    lesson = Lesson(task := getattr(nano, name)())
    lesson.follow(task.expert())
    said = "".join(lesson.tokens)
    assert said.startswith(opening)
    assert set(said[len(opening) : -1]) == {"0"}
    assert said[-1] == opening[0]  # the next task's


def meaning(expression: str) -> tuple[str, str]:
    """Evaluates the head of an expression by the definition of each letter; returns the value and what follows."""
    head, rest = expression[0], expression[1:]
    if head in "01":
        text = re.match("[01]+", expression)[0]  # type: ignore[index]
        return text, expression[len(text) :]
    if head == "C":
        first, rest = meaning(rest)
        assert rest[0] == ","
        second, rest = meaning(rest[1:])
        return first + second, rest
    number = 1
    if head in "PO" and not re.fullmatch("O[01]+", expression):
        digits, rest = rest.split(",", 1)
        number = int(digits)
    value, rest = meaning(rest)
    if head == "V":
        return "".join(reversed(value)), rest
    if head == "F":
        return "".join({"0": "1", "1": "0"}[bit] for bit in value), rest
    if head == "P":
        return "".join(value for _ in range(number)), rest
    turned = list(value)
    for _ in range({"T": 2, "E": 2}.get(head, number)):
        turned = turned[1:] + turned[:1] if head in "AE" else turned[-1:] + turned[:-1]
    return "".join(turned), rest


@pytest.mark.parametrize("name", list(small_comp.TASKS))
def test_a_composition_means_what_its_letters_mean(name: str) -> None:
    task = getattr(small_comp, name)()
    for seed in range(30):
        lesson = Lesson(task, seed)
        message = lesson.listen()
        assert meaning(message.removesuffix("."))[0] == task.answer.removesuffix(".")
        assert task._max_time == 8 * (len(message) + len(task.answer) - 1)


@pytest.mark.parametrize(
    ("message", "result"),
    [("V011", "110"), ("F011", "100"), ("P2,01", "0101"), ("O1,011", "101"), ("O011", "101"), ("T011", "110")],
)
def test_the_letters_by_example(message: str, result: str) -> None:
    assert meaning(message)[0] == result


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("ReverseXTask", r"V[01]{1,6}\."),
        ("OddReverseXTask", r"V[01](?:[01]{2})*\."),
        ("EvenReverseXTask", r"V(?:[01]{2})+\."),
        ("OddRepeatNXTask", r"P[13],[01]+\."),
        ("EvenRepeatNXTask", r"P[24],[01]+\."),
        ("RotateL2Task", r"E[01]+\."),
        ("ReverseRepeatNXTask", r"VP\d,[01]+\."),
        ("RepeatNConcatenateXYTask", r"P\d,C[01]+,[01]+\."),
        ("ConcatenateReverseXReverseYTask", r"CV[01]+,V[01]+\."),
        ("ConcatenateRotateRXRotateSYTask", r"CO\d,[01]+,O\d,[01]+\."),
    ],
)
def test_the_form_of_a_composition(name: str, pattern: str) -> None:
    messages = {Lesson(getattr(small_comp, name)(), seed).listen() for seed in range(30)}
    assert all(re.fullmatch(pattern, message) for message in messages), messages
    assert len(messages) > 3


def test_repetition_repeats_and_rotation_says_something() -> None:
    """Both did nothing in the original."""
    counts = Counter(Lesson(small_comp.RepeatNXTask(), seed).listen()[1] for seed in range(40))
    assert set(counts) == set("1234")
    assert Lesson(small_comp.RotateRXTask(), 1).listen().startswith("O")


def test_strings_are_as_long_as_asked_for() -> None:
    lengths = {len(Lesson(small_comp.ReverseXTask(max_string_length=12), seed).listen()) - 2 for seed in range(80)}
    assert lengths == set(range(1, 13))
    with pytest.raises(ValueError, match="at least 1, got 0"):
        small_comp.ReverseXTask(max_string_length=0)


def spell(task: Any, said: str, seed: int = 1) -> float:
    lesson = Lesson(task, seed)
    lesson.listen()
    return lesson.follow(iter([said]))


def test_an_answer_is_judged_character_by_character() -> None:
    task = small_comp.ConcatenateXYTask()
    lesson = Lesson(task, seed=2)
    lesson.listen()
    wrong = "1" if task.answer[0] == "0" else "0"
    lesson.say(wrong)
    assert task.has_ended()
    assert lesson.rewards in ([], [-1])
    assert lesson.finish(paid=0) == -1


def test_an_answer_needs_its_full_stop() -> None:
    for task in (small_comp.FlipXTask(), lookup_tables.LookupTaskR3D2()):
        lesson = Lesson(task, seed=2)
        lesson.listen()
        assert lesson.follow(iter([task.answer.removesuffix(".")])) == -1
        assert spell(task, "") == task.late


def test_what_is_said_before_the_full_stop_is_not_judged() -> None:
    task = small_comp.ConcatenateXYTask()
    lesson = Lesson(task, seed=2)
    lesson.say("111")
    assert not task.has_ended()
    assert lesson.follow(task.expert()) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("LookupTaskR2D3", r"NBc:[01]{2}\."),
        ("LookupTaskR3D16", r"NCp:[01]{3}\."),
        ("FuncLookupTaskR3D1_4", r"FCad:[01]{3}\."),
        ("CatLookupTaskR3D1_4_2", r"CCadb:[01]{3}\."),
        ("ProcLookupTestTaskR2D1_4", r"PBad:[01]{2}\."),
    ],
)
def test_a_lookup_names_its_tables(name: str, message: str) -> None:
    task = getattr(lookup_tables, name)()
    heard = {Lesson(task, seed).listen() for seed in range(20)}
    assert all(re.fullmatch(message, text) for text in heard)
    assert task._max_time == len(next(iter(heard))) + len(task.answer) + 5
    assert task.get_name() == name


@pytest.mark.parametrize("length", [2, 3])
def test_tables_are_sixteen_different_bijections(length: int) -> None:
    tables = lookup_tables.tables(length)
    assert len(set(tables)) == len(tables) == 16
    assert all(sorted(table) == list(range(2**length)) for table in tables)


def answers(name: str) -> dict[str, str]:
    """The answer to each input that a task asks for."""
    task, found = getattr(lookup_tables, name)(), {}
    for seed in range(60):
        text = Lesson(task, seed).listen()
        found[text.partition(":")[2].removesuffix(".")] = task.answer.removesuffix(".")
    return found


@pytest.mark.parametrize("kind", ["Func", "Cat", "Proc"])
def test_compositions_of_tables(kind: str) -> None:
    one, two = answers("LookupTaskR3D1"), answers("LookupTaskR3D4")
    both = answers(f"{kind}LookupTaskR3D1_4") | answers(f"{kind}LookupTestTaskR3D1_4")
    assert len(one) == len(both) == 8
    for given, answer in both.items():
        chained = two[one[given]]
        expected = {"Func": chained, "Cat": one[given] + two[given], "Proc": one[given] + chained}[kind]
        assert answer == expected


def test_two_inputs_are_kept_for_the_test() -> None:
    trained, tested = answers("FuncLookupTaskR3D2_5"), answers("FuncLookupTestTaskR3D2_5")
    assert len(tested) == 2
    assert len(trained) == 6
    assert not set(trained) & set(tested)


def test_pondering_and_silence_buy_time_but_not_for_ever() -> None:
    task = lookup_tables.LookupTaskR3D1()
    lesson = Lesson(task, seed=1)
    lesson.listen()
    assert lesson.follow(iter([f"ppp{task.answer}"])) == 1
    assert spell(task, "pppppppppppppppp") == -1
    assert spell(task, "") == -1
    lesson = Lesson(task, seed=1)
    lesson.listen()
    assert lesson.follow(iter([f"{task.answer[0]}p"])) == -1  # too late to ponder


@pytest.mark.parametrize(
    "name", ["LookupTaskR4D1", "LookupTaskR3D17", "FuncLookupTaskR3D1", "CatLookupTaskR3D1_2_3_4", "LookupTaskR3D1_2"]
)
def test_a_table_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(AttributeError, match="2 or 3 bits, tables 1 to 16"):
        getattr(lookup_tables, name)


@pytest.mark.parametrize(
    ("description", "text", "fits"),
    [
        (mini.Description(("AB",)), "ABAB", True),
        (mini.Description(("AB",)), "ABA", False),
        (mini.Description(("ABA",)), "ABABA", True),  # occurrences overlap
        (mini.Description(("AB", "C"), conjunction=False), "CCAB", True),
        (mini.Description(("AB", "C"), conjunction=False), "ABAB", True),
        (mini.Description(("AB", "C"), conjunction=True), "ABAB", False),
        (mini.Description(("AB", "C"), conjunction=True), "CAB", True),
        (mini.Description(("AB", "C"), conjunction=True), "CABX", False),
        (mini.Description(("AB",), anything=True, conjunction=True), "XABY", True),
        (mini.Description(("AB",), anything=True, conjunction=True), "XAY", False),
        (mini.Description((), anything=True), "QWE", True),
        (mini.Description(("AB",), ("C",), anything=True, conjunction=True), "ABX", True),
        (mini.Description(("AB",), ("C",), anything=True, conjunction=True), "ABXC", False),
    ],
)
def test_what_fits_a_description(description: mini.Description, text: str, fits: bool) -> None:
    assert description.fits(text) == fits


def examples(number: int, count: int = 200) -> list[tuple[str, str, str]]:
    """(description, string, answer) of a task set."""
    task = getattr(mini, f"TaskSet{number}")()
    found = []
    for seed in range(count):
        text = Lesson(task, seed).listen()
        description, verify = re.fullmatch(r"description: (.+); verify: ([A-Z]+)\.", text).groups()  # type: ignore[union-attr]
        found.append((description, verify, task.answers[0]))
    return found


@pytest.mark.parametrize("number", range(1, 6))
def test_half_of_the_strings_fit_and_none_is_too_long(number: int) -> None:
    found = examples(number)
    assert 70 < sum(answer == "true" for _, _, answer in found) < 190
    assert max(len(verify) for _, verify, _ in found) <= (10 if number <= 2 else 30)
    assert all(len(group) <= 3 for description, _, _ in found for group in re.findall("[A-Z]+", description))


def test_the_form_of_the_descriptions() -> None:
    group = "[A-Z]{1,3}"
    forms = {
        1: group,
        2: f"anything|{group}(?: or {group}){{0,2}}",
        3: f"{group}(?: and {group}){{0,2}}(?: and anything)?",
        4: f"(?:{group} and )*(?:(?:not {group} and )*anything|{group})",
    }
    for number, form in forms.items():
        for description, _, _ in examples(number, 120):
            assert re.fullmatch(form, description), description
    kinds = Counter("or" in d.split() for d, _, _ in examples(5))
    assert kinds[True] > 15 < kinds[False]


def test_half_of_the_conjunctions_take_anything() -> None:
    with_anything = sum("anything" in description for description, _, _ in examples(3))
    assert 60 < with_anything < 140
    rng = random.Random(1)
    assert 30 < sum(str(mini.disjunction(rng)) == "anything" for _ in range(1000)) < 70  # one in twenty


def test_examples_come_from_the_sessions_numbers_alone() -> None:
    drawn = [mini.example(mini.any_kind, True, random.Random(3), 30) for _ in range(2)]
    assert drawn[0] == drawn[1]
