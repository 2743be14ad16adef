"""Free play: what a learned setter says is understood by its words, and judged by the task that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isnan
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from fake_world import LineTask, LineTaskSource, LineWorld, make_runner, tiny_agent

from interplay.actors.seats import AgentSeat, LearnedSetters
from interplay.env.task import InfeasibleTask, Task, TaskSource
from interplay.env.world import Action, View
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.free_play import (
    FreePlayEpisode,
    FreePlayer,
    FreePlayRules,
    RequestEnd,
    SetterRequest,
    free_play_shares,
    request_kinds,
)
from interplay.evaluation.report_tables import free_play_rows

RULES = FreePlayRules(kinds=("walk", "count"), steps=12, limit=5, hold=1)


def played(
    setter: Mapping[int, str],
    solver: Mapping[int, str],
    seeds: tuple[int, ...] = (3,),
    lanes: int = 1,
    world: Callable[[], LineWorld] = LineWorld,
    heard: dict[str, list[str]] | None = None,
    recorded: Mapping[str, str] = MappingProxyType({}),
    **rules: Any,
) -> list[FreePlayEpisode]:
    """Episodes in which both say this, by step, and nobody moves; `heard` takes what each has observed to be said."""
    worlds = [world() for _ in range(lanes)]
    runners = [make_runner(tiny_agent(worlds[0], role=role), lanes) for role in ("setter", "solver")]
    for runner, said in zip(runners, (setter, solver), strict=True):
        decide, counts = runner.decide, [0] * lanes
        reset, observe = runner.reset, runner.observe
        ears = [] if heard is None else heard.setdefault(runner.policy.layout.role, [])

        def restart(lane: int, counts: list[int] = counts, reset: Any = reset) -> None:
            counts[lane] = 0
            reset(lane)

        def decided(said: Mapping[int, str] = said, counts: list[int] = counts, decide: Any = decide) -> Any:
            chosen = [Action(LineWorld().spec.rest(), said.get(count)) for count in counts]
            counts[:] = [count + 1 for count in counts]
            return chosen, decide()[1]

        def observed(lane: int, view: View, ears: list[str] = ears, observe: Any = observe) -> None:
            ears.append(view.heard)
            observe(lane, view)

        runner.reset, runner.decide, runner.observe = restart, decided, observed  # type: ignore[method-assign]
    player = FreePlayer(
        worlds=worlds,
        seat=AgentSeat(runners[1], "solver"),
        setters=LearnedSetters(runners[0], "setter"),
        rules=FreePlayRules(**{**vars(RULES), **rules}),
        recorded=recorded,
    )
    return list(player.play(seeds))


def test_a_question_is_judged_by_the_first_answer_after_it() -> None:
    (episode,) = played({1: "count houses", 6: "count houses"}, {1: "two", 3: "two", 8: "one"})
    assert episode.steps == 12
    first, second = episode.requests
    assert (first.kind, first.ended, first.step, first.said) == ("count", "done", 1, ("two",))
    assert (second.kind, second.ended, second.said) == ("count", "failed", ("one",))
    assert first.steps == 3 and second.steps == 3


def test_what_the_solver_says_before_it_can_hear_the_question_is_not_an_answer() -> None:
    (episode,) = played({1: "count houses"}, {1: "two"})
    assert episode.requests[0].ended == "failed" and episode.requests[0].said == ()
    assert episode.requests[0].steps == RULES.limit


def test_a_request_has_the_limit_of_its_kind() -> None:
    (episode,) = played({1: "count houses"}, {}, limits={"count": 8})
    assert (episode.requests[0].ended, episode.requests[0].steps) == ("failed", 8)
    (episode,) = played({1: "count houses"}, {}, limits={"walk": 8})
    assert episode.requests[0].steps == RULES.limit


def test_all_that_the_solver_says_counts_as_spoken() -> None:
    """Also before the first request and after its end."""
    (episode,) = played({3: "count houses"}, {1: "one", 5: "two", 8: "one", 9: "one"})
    assert episode.requests[0].said == ("two",)
    assert free_play_shares([episode])["spoken"].value == 4 / 12
    older = replace(episode, utterances=None)
    assert isnan(free_play_shares([episode, older])["spoken"].value)


def test_words_that_fit_no_task_are_kept_and_judge_nobody() -> None:
    (episode,) = played({0: "houses walk", 4: "count houses"}, {1: "two"})
    assert [(each.kind, each.ended) for each in episode.requests] == [(None, "interrupted"), ("count", "failed")]
    assert episode.requests[0].text == "houses walk" and episode.requests[0].said == ("two",)


def test_words_of_a_recorded_request_ask_for_a_task_that_this_house_may_lack() -> None:
    recorded = {"walk two houses": "walk", "count houses": "other"}
    (episode,) = played({0: "walk two houses", 2: "count houses", 5: "two two"}, {}, recorded=recorded)
    first, second, third = episode.requests
    assert (first.kind, first.recorded_kind, first.ended) == (None, "walk", "interrupted")
    assert (second.kind, second.recorded_kind) == ("count", "other")
    assert third.kind is None and third.recorded_kind is None
    shares = free_play_shares([episode])
    assert (shares["parsed"].value, shares["understood"].value) == (2 / 3, 1 / 3)
    kinds = {kind: share.value for kind, share in request_kinds([episode]).items()}
    assert kinds == {"count": 0.5, "walk": 0.5}, "of this house's task, then of the recorded one"


def test_a_recorded_request_is_compared_as_the_setter_would_say_it() -> None:
    (episode,) = played({0: "walk two"}, {}, recorded={"walk quietly two": "walk"})  # no word of its vocabulary
    assert episode.requests[0].recorded_kind == "walk"


def test_a_new_request_interrupts_the_open_one_and_so_does_the_end() -> None:
    (episode,) = played({0: "count houses", 2: "count houses", 10: "count houses"}, {})
    assert [each.ended for each in episode.requests] == ["interrupted", "failed", "interrupted"]


def test_every_seed_is_played_also_in_fewer_lanes() -> None:
    episodes = played({0: "count houses"}, {1: "two"}, seeds=(5, 6, 7), lanes=2)
    assert sorted(episode.seed for episode in episodes) == [5, 6, 7]
    assert all(episode.requests[0].ended == "done" for episode in episodes)


class Arrived(LineWorld):
    """Its tasks ask the solver to be where it is; one of twenty is worded as a walk to two."""

    def tasks(self) -> TaskSource:
        world = self

        class Here(LineTaskSource):
            def sample(self, kind: str, rng: np.random.Generator) -> Task:
                text = "walk to two" if rng.integers(20) == 0 else "walk to one"
                return LineTask("walk", text, world.at["solver"])

        return Here()


class OftenRefused(Arrived):
    """Three of four draws are infeasible, as where a block has room on one of its sides."""

    def tasks(self) -> TaskSource:
        source = super().tasks()
        draw = source.sample

        def sample(kind: str, rng: np.random.Generator) -> Task:
            if rng.integers(4):
                raise InfeasibleTask("not this one")
            return draw(kind, rng)

        source.sample = sample  # type: ignore[method-assign]
        return source


def test_a_draw_that_is_infeasible_does_not_end_the_search() -> None:
    (episode,) = played({0: "walk to two"}, {}, world=OftenRefused)
    assert episode.requests[0].kind == "walk"


def test_success_counts_from_the_step_in_which_it_began_to_last() -> None:
    (episode,) = played({0: "walk to two", 10: "walk to two"}, {}, world=Arrived, hold=3)
    assert [(each.kind, each.ended, each.steps) for each in episode.requests] == [
        ("walk", "done", 1),
        ("walk", "interrupted", 2),
    ]


def test_a_world_may_end_the_episode_with_its_task_done() -> None:
    (episode,) = played({4: "walk to two"}, {}, world=lambda: Arrived(ends_at=6), hold=3)
    assert episode.steps == 6 and episode.requests[0].ended == "done"


def test_both_observe_every_step() -> None:
    heard: dict[str, list[str]] = {}
    played({1: "count houses"}, {3: "two"}, heard=heard)
    assert heard == {"solver": [""] * 2 + ["count houses"] * 11, "setter": [""] * 4 + ["two"] * 9}


def test_a_setter_may_say_nothing() -> None:
    (episode,) = played({}, {})
    assert episode == FreePlayEpisode(3, 12, (), 0)
    shares = free_play_shares([episode])
    assert shares["silent_episodes"] == 1 and shares["requests"] == 0 and isnan(shares["success"].value)


def test_only_judged_requests_count_as_success_or_failure() -> None:
    ends = [("walk", "done"), ("walk", "failed"), ("walk", "interrupted"), (None, "interrupted")]
    requests = tuple(SetterRequest("x", 0, kind, ended, 4, ("hello",)) for kind, ended in ends)  # type: ignore[arg-type]
    shares = free_play_shares([FreePlayEpisode(0, 20, requests, 5), FreePlayEpisode(1, 20, utterances=1)])
    values = {name: each.value if isinstance(each, Estimate) else each for name, each in shares.items()}
    assert values == {
        "episodes": 2,
        "requests": 4,
        "silent_episodes": 1,
        "steps_per_request": 10,
        "parsed": 0.75,
        "understood": 0.75,
        "judged": 2,
        "success": 0.5,
        "steps_to_success": 4,
        "spoken": pytest.approx(0.15),
    }


def test_intervals_of_free_play_resample_episodes() -> None:
    """Requests of one episode are alike, so forty of them in two episodes say less than forty in forty."""

    def alternating(episodes: int, requests: int) -> list[FreePlayEpisode]:
        ends: list[RequestEnd] = ["done", "failed"]
        return [
            FreePlayEpisode(n, 40, (SetterRequest("x", 0, "walk", ends[n % 2], 3 + n % 2),) * requests, n % 2)
            for n in range(episodes)
        ]

    few, many = free_play_shares(alternating(2, 20)), free_play_shares(alternating(40, 1))
    assert few["success"] == Estimate(0.5, 0.0, 1.0, 2)
    assert many["success"].value == 0.5 and 0.3 < many["success"].low < 0.4 and many["success"].n == 40
    assert many["spoken"].low < 0.5 / 40 < many["spoken"].high
    kinds = request_kinds(alternating(40, 1))["walk"]
    assert kinds.value == 1 and 0.9 < kinds.low < 1
    row = free_play_rows({"BC": many})[0]
    assert "50% (35–68)" in row and "0.01 (0.01 to 0.02)" in row
    assert free_play_rows({"BC": free_play_shares([FreePlayEpisode(0, 9)])})[0][3:] == ("–", "–", "0", "–", "–", "–")
