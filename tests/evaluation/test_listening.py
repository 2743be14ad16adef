"""Counterfactuals tell agents that follow the words from agents that ignore them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from interplay.actors.seats import CurrentTask, ScriptedSeat, SolverSeat
from interplay.env import registry
from interplay.env.world import Start, View, World
from interplay.evaluation.chance import RestingSeat
from interplay.evaluation.headlines import headlines
from interplay.evaluation.listening import (
    answer_shares,
    count_answers,
    joint_listening,
    listening,
    pair_outcomes,
)
from interplay.evaluation.probe_player import ProbePlayer
from interplay.evaluation.probes import (
    Probe,
    ProbeResult,
    ProbesConfig,
    draw_counterfactuals,
    draw_probes,
    success_steps,
)
from interplay.evaluation.report_data import ProbeResults, ReportData
from interplay.evaluation.report_page import render_page
from interplay.players.solver import SolverConfig

KINDS = ("go", "position", "color", "exist")


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    room = {"rooms": [1, 1], "room_size": [3.6, 3.6], "furniture": [0, 0], "objects": [4, 5], "unique_colors": True}
    return [registry.make("playhouse", image=[16, 24], **room) for _ in range(2)]


@pytest.fixture(scope="module")
def probes(worlds: list[World]) -> list[Probe]:
    return draw_probes(worlds[0], ProbesConfig(episodes=4, kinds=KINDS))


@pytest.fixture(scope="module")
def others(worlds: list[World], probes: list[Probe]) -> list[Probe]:
    return draw_counterfactuals(worlds[0], probes, ProbesConfig())


class DeafSeat(ScriptedSeat):
    """Carries out these tasks, one after the other, whatever the setter says."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        super().__init__(SolverConfig(skill=1.0), 1, np.random.default_rng(0))
        self._tasks = [probe.task for probe in probes]

    def reset(self, lane: int, world: World, view: View, current_task: CurrentTask) -> None:
        own = world.tasks().load(self._tasks.pop(0))
        super().reset(lane, world, view, lambda: own)


def play(worlds: list[World], seat: SolverSeat, probes: Sequence[Probe]) -> list[ProbeResult]:
    return [result for result, _ in ProbePlayer(worlds=worlds, seat=seat).play(probes)]


def test_other_words_ask_for_something_else_in_the_same_house(
    worlds: list[World], probes: list[Probe], others: list[Probe]
) -> None:
    assert [(probe.kind, probe.index) for probe in others] == [(probe.kind, probe.index) for probe in probes]
    for probe, other in zip(probes, others, strict=True):
        assert replace(other, other_words=None) == probe
        assert other.other_words is not None and other.instruction != probe.instruction
        worlds[0].reset(Start(seed=probe.seed))
        own, told = (worlds[0].tasks().load(task) for task in (probe.task, other.other_words.task))
        if own.answer is not None:
            assert told.answer is not None and own.rate_answer(told.answer) == -1
        elif other.other_words.possible_here:
            targets = [
                {task.to_json()[name] for name in ("target", "other") if name in task.to_json()} for task in (own, told)
            ]
            assert targets[0] != targets[1]


def outcome(own: list[ProbeResult], other: list[ProbeResult]) -> ProbeResults:
    return ProbeResults(
        {"BC+RL": success_steps(own)},
        steps=40,
        seconds_per_step=0.25,
        pairs={"BC+RL": pair_outcomes(own, other)},
        answers={"BC+RL": count_answers(own)},
    )


def test_a_solver_that_does_as_it_is_told_listens(
    worlds: list[World], probes: list[Probe], others: list[Probe]
) -> None:
    seat = ScriptedSeat(SolverConfig(skill=1.0), 2, np.random.default_rng(0))
    told = [probe for probe in others if probe.other_words is not None and probe.other_words.possible_here]
    found = outcome(play(worlds, seat, probes), play(worlds, seat, told))
    for task, by_agent in listening(found).items():
        assert by_agent["BC+RL"].own.value == 1 and by_agent["BC+RL"].difference.value > 0.7, task
    assert "it listens" in headlines(ReportData(probes=found))[2].sentence


def test_a_solver_that_ignores_the_words_succeeds_and_does_not_listen(
    worlds: list[World], probes: list[Probe], others: list[Probe]
) -> None:
    own, other = (play(worlds[:1], DeafSeat(probes), asked) for asked in (probes, others))
    found = outcome(own, other)
    joint = joint_listening(found, "BC+RL")
    assert joint is not None and joint.own.value == joint.other.value == 1 and joint.difference.value == 0
    assert "no sign that it listens" in headlines(ReportData(probes=found))[2].sentence
    assert "<td>100%</td><td>100%</td><td>+0 points</td><td>-49 to +49</td><td>4</td>" in render_page(
        ReportData(probes=found)
    )


@pytest.mark.parametrize(("count", "listens"), [(1, False), (5, False), (6, True)])
def test_few_probes_are_not_a_sign_that_an_agent_listens(count: int, listens: bool) -> None:
    own = [ProbeResult("go", index, 0, "go", 3, (), 9) for index in range(count)]
    found = outcome(own, [replace(each, success_step=None) for each in own])
    sentence = headlines(ReportData(probes=found))[2].sentence
    assert ("no sign that it listens" not in sentence) is listens, sentence
    assert render_page(ReportData(probes=found))


class Listener(RestingSeat):
    """Records what it hears."""

    needs_pictures = True  # as an agent: it hears what the world says

    def __init__(self) -> None:
        self.heard: list[str] = []

    def observe(self, lane: int, view: View) -> None:
        self.heard.append(view.heard)


def test_the_solver_hears_the_other_words_only(worlds: list[World], others: list[Probe]) -> None:
    listener = Listener()
    (result,) = play(worlds[:1], listener, [replace(others[0], limit=3)])
    assert listener.heard == [others[0].instruction] * 3 and result.instruction == others[0].instruction


def test_two_wordings_of_one_goal_do_not_differ(worlds: list[World], probes: list[Probe]) -> None:
    source = worlds[0].tasks()
    position = next(probe.task for probe in probes if probe.kind == "position")
    reversed_order = {"target": position["other"], "other": position["target"], "instruction": "put y next to x"}
    own, same = source.load(position), source.load({**position, **reversed_order})
    other = source.load({**position, **reversed_order, "other": 9})
    assert not own.differs_from(same) and not own.differs_from(own) and own.differs_from(other)


def test_the_words_come_from_another_house_where_a_house_has_one_task(worlds: list[World]) -> None:
    world = registry.make("gymnasium", id="BabyAI-GoToLocal-v0")
    probes = draw_probes(world, ProbesConfig(episodes=3))
    told = draw_counterfactuals(world, probes, ProbesConfig())
    for probe in told:
        assert probe.other_words is not None and not probe.other_words.possible_here
        assert probe.instruction != probe.task["instruction"]
        assert probe.instruction in {each.instruction for each in probes}
    world.close()


def test_a_world_without_utterances_has_no_other_words() -> None:
    world = registry.make("commai")
    probes = draw_probes(world, ProbesConfig(episodes=3))
    assert draw_counterfactuals(world, probes, ProbesConfig()) == []
    world.close()


def test_counterfactuals_are_limited_and_turned_off(worlds: list[World], probes: list[Probe]) -> None:
    few = draw_counterfactuals(worlds[0], probes, ProbesConfig(counterfactuals=1))
    assert [(probe.kind, probe.index) for probe in few] == [(kind, 0) for kind in KINDS]
    assert draw_counterfactuals(worlds[0], probes, ProbesConfig(counterfactuals=0)) == []
    with pytest.raises(ValueError, match="counterfactuals must be at least 0"):
        ProbesConfig(counterfactuals=-1)


def answered(index: int, answer: str | None, *said: str) -> ProbeResult:
    return ProbeResult(
        "exist", index, 1, "is there a ball?", 2 if said[:1] == (answer,) else None, said, 3, 40, answer=answer
    )


def test_right_and_wrong_answers_and_silence_are_told_apart() -> None:
    results = [
        answered(0, "yes", "yes"),
        answered(1, "yes", "no"),
        answered(2, "no", "yes"),
        answered(3, "no"),
        answered(4, "no", "no"),
    ]
    counts = count_answers(results)["exist"]
    assert (counts.right, counts.wrong, counts.silent) == (2, 2, 1)
    assert counts.by_answer == {"no": (1, 3), "yes": (1, 2)}
    found = ProbeResults({"BC": success_steps(results)}, 40, 0.25, answers={"BC": {"exist": counts}})
    shares = answer_shares(found)["exist"]["BC"]
    assert (shares.right.value, shares.silent.value, shares.by_answer["yes"].value) == (0.4, 0.2, 0.5)
    assert "no 33% of 3, yes 50% of 2" in render_page(ReportData(probes=found))
    assert count_answers([answered(0, None, "yes")]) == {}, "older results do not say what was asked"
