"""Settings of live sessions, in which people play in the studio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PERSON, SCRIPTED = "person", "scripted"
SETTER, SOLVER, COPILOT = "setter", "solver", "copilot"


@dataclass(frozen=True)
class LiveConfig:
    """Seats, length and clock of live sessions.

    A seat is held by a "person", a "scripted" player, or an agent: a stage of the run as "clone" or
    "round-1/reinforce", or the path of a checkpoint. A scripted solver does the task of a scripted setter; of another
    setter, the feasible task whose words are most similar to what was said. With a co-pilot, a person may take over
    from the solver's agent at any frame, by a key of its own or by any key that moves. `clock=stepped` runs a frame
    once every person has sent an input for it, so that a session does not depend on time.
    """

    setter: str = "person"  # "person", "scripted", a stage, or the path of a checkpoint
    solver: str = "person"  # the same
    copilot: Literal["none", "person"] = "none"  # a person may take over from the solver's agent
    take_over_by: Literal["key", "moving"] = "key"  # a key of its own, or any key that moves
    seconds: float = 300.0  # of an episode
    prompts: Literal["cues", "free"] = "cues"  # cards with a cue and perhaps a modifier, or any request
    modifier_chance: float = 0.5  # that a card has a modifier
    card: str = ""  # the text of every card in place of cues
    judge_open: bool = False  # the setter judges the request that is open at the end, before the episode is over
    clock: Literal["real", "stepped"] = "real"  # wall-clock time, or a frame for each input of everyone
    pictures: int = 30  # a second, at most
    wait_seconds: float = 300.0  # for a partner
    no_partner: Literal["end", "wait", "stand_in"] = "end"  # after that time: a code, more time, or a scripted player
    on_leave: Literal["end", "stand_in"] = "end"  # where a person has left: the end, or a scripted player in its seat
    away_seconds: float = 3.0  # without a message from a page, after which the world pauses
    leave_seconds: float = 30.0  # of absence, after which the episode ends
    idle_seconds: float = 45.0  # without a key or a movement, after which a page asks whether its person is there
    practice: bool = True  # a room of one's own while one waits for a partner, not recorded
    resume_seconds: float = 120.0  # after a kill, within which the same people continue
    sessions: int = 4  # at the same time; as many people may practice
    inputs_per_second: int = 120  # of one socket, with all its other messages
    utterances: int = 5  # of one socket in `utterance_seconds`
    utterance_seconds: float = 10.0  # see `utterances`
    utterance_letters: int = 200  # of one utterance, at most

    def __post_init__(self) -> None:
        numbers = {name: value for name, value in vars(self).items() if type(value) in (int, float)}
        numbers.pop("modifier_chance", None)
        wrong = [f"studio.live.{name} must be above 0, got {value}" for name, value in numbers.items() if value <= 0]
        if not 0 <= self.modifier_chance <= 1:
            wrong.append(f"studio.live.modifier_chance must be a chance from 0 to 1, got {self.modifier_chance}")
        wrong += self._wrong_seats()
        if wrong:
            raise ValueError("; ".join(wrong))

    @property
    def seats(self) -> dict[str, str]:
        """What holds each seat: PERSON, SCRIPTED, or the name of an agent."""
        seats = {SETTER: self.setter, SOLVER: self.solver}
        return seats | ({COPILOT: PERSON} if self.copilot == PERSON else {})

    @property
    def agents(self) -> dict[str, str]:
        """The names of the agents by seat."""
        return {seat: kind for seat, kind in self.seats.items() if kind not in (PERSON, SCRIPTED)}

    def _wrong_seats(self) -> list[str]:
        wrong = [
            f"studio.live.{seat} is empty: a person, scripted, or an agent"
            for seat, kind in self.seats.items()
            if not kind
        ]
        if self.copilot == PERSON and self.solver == PERSON:
            wrong.append("studio.live.copilot=person takes over from an agent: set studio.live.solver=clone")
        if PERSON not in self.seats.values():
            wrong.append("no seat of studio.live is held by a person; set setter, solver or copilot to person")
        return wrong
