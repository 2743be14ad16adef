"""Which thing agents pick up first when they are asked to lift one thing, or to put one next to another.

    python benchmarks/first_pick.py experiment=orderings run.name=orderings-seed-1  # scripted solver, clone, reinforce
    python benchmarks/first_pick.py experiment=orderings run.name=orderings-seed-1 --agents clone reward
    python benchmarks/first_pick.py experiment=orderings run.name=orderings-seed-1 --episodes 100 --seed 777 --json -

Success of `position` mixes three skills: understanding which of two things is meant, carrying, and letting go. The
first thing that is picked up separates the first one from the others: among the three or four things of a room, an
agent that does not use the words picks the right one in about a third of the probes. For `position`, the table also has
the shares of probes in which the right thing was ever held, was next to its place while it was held, and was let go
there, and how often a probe lets it go elsewhere; success takes a second there. The last state of a play is not looked
at. Agents are stages of the run or paths of checkpoints. Results should be reported with another seed of the probes
than this `--seed`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reporting.agents_of_run import parser_of_agents, print_row
from reporting.json_numbers import write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

from interplay.actors.seats import CurrentTask, ScriptedSeat, SolverSeat
from interplay.env.playhouse.tasks.instructions.put import Position
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.playhouse.truth.predicates import NEXT_TO_GAP_M, gap
from interplay.env.task import Task
from interplay.env.world import Action, View, World
from interplay.evaluation.probe_player import ProbePlayer
from interplay.evaluation.probes import draw_probes
from interplay.launch.compose import compose
from interplay.players.solver import SolverConfig
from interplay.runtime.seeding import numpy_generator, torch_generator
from interplay.stages.run import Run, open_run
from interplay.stages.shared_parts import acting_agent

KINDS = ("lift", "position")
PICKS = ("target", "place", "other", "none")  # `place`: the thing that the target is to be put next to
STAGES = ("held", "there", "put")  # of the target: ever held, next to its place while held, and let go there
EXPERT = "expert"  # the scripted solver without mistakes


@dataclass
class Play:
    """One probe of one agent."""

    task: Any  # of one of `KINDS`
    first: int | None = None  # index of the thing that the solver held first
    held: bool = False  # the target, at the last step
    reached: set[str] = field(default_factory=set)  # of `STAGES`
    dropped: int = 0  # times that the target was let go away from its place

    def watch(self, world: World) -> None:
        """Notes the state before a step."""
        facts: HouseFacts = world.facts()
        holding = facts.bodies[world.spec.solver].holding
        self.first = holding if self.first is None else self.first
        if not isinstance(self.task, Position):
            return
        target, place, held = facts.things[self.task.target], facts.things[self.task.other], holding == self.task.target
        done = self.task.is_done(facts)
        there = held and gap(target, place) < NEXT_TO_GAP_M
        self.dropped += self.held and not held and not done
        self.held = held
        self.reached |= {stage for stage, is_so in zip(STAGES, (held, there, done), strict=True) if is_so}

    def pick(self) -> str:
        """One of `PICKS`."""
        if self.first is None:
            return "none"
        if self.first == self.task.target:
            return "target"
        return "place" if isinstance(self.task, Position) and self.first == self.task.other else "other"


class WatchedSeat(SolverSeat):
    """Another seat, and what its player does in each play."""

    def __init__(self, seat: SolverSeat) -> None:
        self.needs_pictures = seat.needs_pictures
        self.plays: list[Play] = []
        self._seat = seat
        self._current: dict[int, Play] = {}  # by lane

    def reset(self, lane: int, world: World, view: View, current_task: CurrentTask) -> None:
        task: Task | None = current_task()
        self._current[lane] = Play(task)
        self.plays.append(self._current[lane])
        self._seat.reset(lane, world, view, current_task)

    def observe(self, lane: int, view: View) -> None:
        self._seat.observe(lane, view)

    def decide(self, worlds: Sequence[World]) -> list[Action]:
        for lane, play in self._current.items():
            play.watch(worlds[lane])
        return self._seat.decide(worlds)


def picks(run: Run, agent: str, kind: str) -> dict[str, float]:
    """The share of probes of this kind with each first pick, those that reach each stage, and those that succeed."""
    config = replace(run.config.evaluate, kinds=(kind,))
    worlds = [run.make_world() for _ in range(config.lanes)]
    if agent == EXPERT:
        seat: SolverSeat = ScriptedSeat(SolverConfig(skill=1.0), config.lanes, numpy_generator(config.seed, EXPERT))
    else:
        generator = torch_generator(config.seed, "first-pick", agent)
        seat = acting_agent(run, agent).seat(config.lanes, generator, greedy=config.greedy)
    watched = WatchedSeat(seat)
    played = [result for result, _ in ProbePlayer(worlds=worlds, seat=watched).play(draw_probes(worlds[0], config))]
    found = Counter(play.pick() for play in watched.plays)
    shares = {pick: found[pick] / len(watched.plays) for pick in PICKS}
    shares["success"] = sum(result.solved for result in played) / len(played)
    if kind == "position":
        shares |= {stage: sum(stage in play.reached for play in watched.plays) / len(watched.plays) for stage in STAGES}
        shares["dropped"] = sum(play.dropped for play in watched.plays) / len(watched.plays)
    return shares


def main() -> None:
    parser = parser_of_agents(__doc__, [EXPERT, "clone", "reinforce"])
    parser.add_argument("--episodes", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=777, help="of the probes")
    options = parser.parse_intermixed_args()
    probes = [f"evaluate.episodes={options.episodes}", f"evaluate.seed={options.seed}"]
    run = open_run(compose([*options.overrides, *probes]))
    rows = []
    print_row("agent", ("asked", *PICKS, "success", *STAGES, "dropped"), 10)
    for agent in options.agents:
        for kind in KINDS:
            shares = picks(run, agent, kind)
            rows.append({"agent": agent, "kind": kind, **shares})
            print_row(agent, (kind, *(f"{share:.2f}" for share in shares.values())), 10)
    write_json(options.json, {"settings": vars(options), "rows": rows})


if __name__ == "__main__":
    main()
