"""How reward models judge that a thing is picked up, carried, and let go at its place or elsewhere.

    python benchmarks/seen_drop.py experiment=orderings run.name=mine
    python benchmarks/seen_drop.py experiment=orderings run.name=mine run.round=2 --agents round-1/reward reward

The change of utility in each of these events over the episodes of `position` that agents played in the run's round,
from the snapshot of its `reward` stage: an agent drops things where demonstrators hardly ever do. An event is that the
solver takes the thing that is meant, carries it nearer to its place or away from it in a step, or lets it go. +- is a
standard error over episodes with such an event, and the number of events follows. A reward model has learned from the
training episodes of its own round and of those before, and not from held-out ones and those of later rounds.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from reporting.agents_of_run import parser_of_agents, print_table

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from interplay.env.playhouse.tasks.instructions.put import Position
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.playhouse.truth.predicates import gap
from interplay.env.world import World
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.decoded_episode import resimulate
from interplay.episodes.episode import Episode
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.transcript import dialogue
from interplay.launch.compose import compose
from interplay.reward.diagnostics import utilities
from interplay.stages.heldout_episodes import read_heldout
from interplay.stages.run import Run, open_run
from interplay.stages.shared_parts import start_from

KIND = "position"
EVENTS = ("taken", "carried nearer", "carried away", "let go there", "let go elsewhere")
STILL_M = 0.02  # nearer or away by less in a step: neither


class Moment(NamedTuple):
    """The state of a task before a step."""

    held: bool
    done: bool
    gap: float  # meters between the thing and its place, edge to edge


class Event(NamedTuple):
    """What happens in the step that follows `row`."""

    row: int
    kind: str  # of `EVENTS`


def events(moments: dict[int, Moment]) -> Iterator[Event]:
    """The events of a task, from its moments by row."""
    for row, before in moments.items():
        after = moments.get(row + 1)
        if after is None:
            continue
        if before.held and after.held:
            moved = before.gap - after.gap
            if abs(moved) >= STILL_M:
                yield Event(row, "carried nearer" if moved > 0 else "carried away")
        elif before.held:
            yield Event(row, "let go there" if after.done else "let go elsewhere")
        elif after.held:
            yield Event(row, "taken")


def moments_of_tasks(world: World, episode: Episode) -> list[dict[int, Moment]]:
    """The moments of each `position` task of an episode, by row."""
    tasks = [task for task in dialogue(episode.meta) if task.fields["kind"] == KIND]
    found: list[dict[int, Moment]] = [{} for _ in tasks]
    for row, _, present in resimulate(world, episode, observers=()):
        for task, moments in zip(tasks, found, strict=True):
            if not task.step < row <= task.judged:
                continue
            meant, facts = present.tasks().load(task.fields), present.facts()
            assert isinstance(meant, Position) and isinstance(facts, HouseFacts)
            thing, place = facts.things[meant.target], facts.things[meant.other]
            moments[row] = Moment(thing.held_by == world.spec.solver, meant.is_done(facts), gap(thing, place))
    return found


def changes(run: Run, name: str, most: int) -> dict[str, tuple[float, float, int]]:
    """Of each kind of event: the mean change of utility, its standard error over episodes, and the number of events.

    Raises:
        CheckpointError: the agent has no reward model.
        ValueError: no agent has played `position` in this round.
    """
    model, vocabulary = start_from(run, name, head="utility")
    snapshot = Snapshot(run.snapshot_path("reward"))
    wanted = EpisodeFilter(round=run.round, kinds={"solver": ["agent"]}, tasks=[KIND])
    ids = snapshot.select(wanted)[:most]
    if not ids:
        raise ValueError(f"no agent has played {KIND} in round {run.round} of {run.root}")
    world = run.make_world()
    played = read_heldout(snapshot, ids, world, model, vocabulary)
    arrays = [each for _, each in played.readable(range(len(played)))]
    by_kind = defaultdict[str, list[list[float]]](list)
    for meta, utility in zip(played.episodes, utilities(model, arrays), strict=True):
        of_episode = defaultdict[str, list[float]](list)
        for moments in moments_of_tasks(world, snapshot.read(meta.id)):
            for event in events(moments):
                of_episode[event.kind].append(float(utility[event.row + 1] - utility[event.row]))
        for kind, found in of_episode.items():
            by_kind[kind].append(found)
    return {kind: _summary(by_kind[kind]) for kind in EVENTS}


def _summary(episodes: list[list[float]]) -> tuple[float, float, int]:
    means = np.array([np.mean(each) for each in episodes])
    error = float(means.std(ddof=1) / len(means) ** 0.5) if len(means) > 1 else float("nan")
    return float(means.mean()) if len(means) else float("nan"), error, sum(len(each) for each in episodes)


def main() -> None:
    parser = parser_of_agents(__doc__, ["reward"])
    parser.add_argument("--episodes", type=int, default=400, help="at most")
    options = parser.parse_intermixed_args()
    run = open_run(compose(options.overrides))
    print_table(
        options,
        ("reward model", *EVENTS),
        22,
        lambda agent: changes(run, agent, options.episodes),
        "{:.2f} +- {:.2f} {:5}".format,
    )


if __name__ == "__main__":
    main()
