"""One live session: a world that runs frame by frame, its seats, its recording and its journal. No clock, no socket.

The same object plays on (`tick`) and executes a journal again (`resume`), so both lead to the same episode.
"""

from __future__ import annotations

import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.world import Action, Outcome, Start, View, World
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import EpisodeRecorder, check_returned
from interplay.players.player import Player
from interplay.stages.live_config import COPILOT, PERSON, SETTER
from interplay.studio.live.cards import draw_card
from interplay.studio.live.seat_input import SeatInput
from interplay.studio.live.session_dialogue import SessionDialogue
from interplay.studio.live.session_journal import SessionJournal
from interplay.studio.live.session_players import SessionPlayers
from interplay.studio.live.session_settings import SEATS, SessionSettings
from interplay.studio.live.shared_control import SharedControl
from interplay.studio.live.stand_in import stand_in

NOT_STEERING = "Take over to talk: only the player that steers may."


class JournalMismatch(ValueError):
    """A journal leads elsewhere than it did: it was written by another version of the world, or is damaged."""


class LiveSession:
    """A session under way.

    Args:
        world: of the session's settings.
        settings: the session's.
        players: the scripted players and agents by role; all other seats are people's.
    """

    def __init__(self, world: World, settings: SessionSettings, players: Mapping[str, Player]) -> None:
        self.world, self.settings = world, settings
        self._roles = world.spec.roles
        self.inputs = {
            seat: SeatInput(world.controls(self._role_of(seat)), world.spec, world.symbols(self._role_of(seat)))
            for seat, kind in settings.seats.items()
            if kind == PERSON and self._role_of(seat) in self._roles
        }
        self._control: SharedControl | None = None
        if COPILOT in self.inputs:
            self._control = SharedControl(world.spec.frames_per_step, settings.players()[world.spec.solver]["kind"])
        self.news: list[dict[str, Any]] = []  # for the seats, emptied by the caller
        self._talk = SessionDialogue(world, self.inputs, self.news)
        self.unexecuted: dict[str, str] = {}  # by seat, what was typed and not executed before the end
        self.left: list[str] = []  # seats whose person has left and in which another player plays on
        self._leaving: list[str] = []  # those of the next step
        self._steers: dict[str, str] = {}  # players that begin to steer a role with this step
        self._recorder = EpisodeRecorder(
            world,
            players=settings.players(),
            world_config=settings.env,
            people=settings.people,
            split=settings.split,
        )
        self._players = SessionPlayers(world, players, self._recorder)
        recorded = () if world.spec.poses and not world.spec.vector else (world.spec.solver,)
        self._see = tuple({*recorded, *self._players.agents})
        self._executed = {role: world.spec.rest()[0] for role in self._roles}  # rows of the last frame
        self._journal: SessionJournal | None = None
        self._ended: float | None = None  # of a recorded session, in seconds since 1970
        self.frame = 0
        self._rows: dict[str, list[NDArray[np.int8]]] = {}
        self._said: dict[str, str] = {}
        self._chunks: dict[str, Action] = {}
        self._reward = 0.0
        self.done = False  # the world or the time has ended it

    @property
    def frames(self) -> int:
        """The frames of a whole episode, a whole number of steps."""
        spec = self.world.spec
        wanted = int(self.settings.live.seconds * spec.frames_per_second)
        return max(wanted // spec.frames_per_step, 1) * spec.frames_per_step

    def begin(self) -> None:
        """Starts a new episode, and its journal if the session is recorded."""
        views = self.world.reset(Start(seed=self.settings.seed), observers=self._see)
        self._start(views)
        if self.settings.recorded:
            self._journal = SessionJournal(Path(self.settings.journal))
            state = b64encode(self._recorder.initial_state).decode()
            head = {"settings": self.settings.to_json(), "state": state, "id": self.episode}
            self._journal.write(head, durable=True)
        self._draw_card()

    def resume(self) -> str | None:
        """Executes a journal again, and continues it; returns why the episode had ended, if it had.

        Raises:
            JournalMismatch: a step leads to other poses than it did.
        """
        journal = SessionJournal(Path(self.settings.journal))
        head, *lines = journal.lines()
        views = self.world.reset(Start(state=b64decode(head["state"])), observers=self._see)
        self._start(views, head["id"])
        for line in lines:
            if "end" in line:
                journal.close()
                self._ended = line["at"] if "at" in line else head["created"]  # of earlier versions: when it began
                return str(line["end"])
            if "say" in line:
                seat, text = line["say"]
                self._talk.queue(seat, text, line.get("id", ""), self.frame)  # earlier versions wrote no id
            elif "event" in line:
                self._apply(line["event"])
            else:
                self._repeat(line)
        self._journal = journal
        if not self._recorder.prompts:
            self._draw_card()
        return None

    def say(self, seat: str, text: str, utterance_id: str, problem: str = "") -> None:
        """Queues an utterance; it is said at the start of the next free step, and `accepted` in the news then.

        Only the player that steers talks. What is refused is in the news as `unsaid`. An utterance that the seat sends
        again is not queued again.

        Args:
            utterance_id: unique in the seat.
            problem: why the utterance is refused, unless it was received before; empty if it is not.
        """
        if self._talk.is_repeated(seat, utterance_id):
            return
        if seat == COPILOT and self._control is not None and not self._control.taken:
            problem = NOT_STEERING
        if problem:
            self._talk.refuse(seat, text, utterance_id, problem)
            return
        self._write({"say": [seat, text], "id": utterance_id})
        self._talk.queue(seat, text, utterance_id, self.frame)

    def waits(self) -> bool:
        """Whether the world pauses until somebody types, where a person steers its solver."""
        typing = any(seat.is_typing for seat in self.inputs.values()) or self._talk.is_waiting
        return self.world.waits and not typing and self._talk.takes(self._speaker(self.world.spec.solver))

    def take(self) -> None:
        """The co-pilot steers from the next frame on; what the agent still wanted to do and say is dropped."""
        if self._control is not None and not self._control.taken:
            self._note("take")

    def give(self) -> None:
        """The agent steers again from the next step on."""
        if self._control is not None and self._control.taken:
            self._note("give")

    def explain(self, why: str) -> None:
        """Records why the co-pilot has taken over, the last time; nothing before it ever did."""
        if self._control is not None and self._control.last_taken is not None:
            self._note("reason", self._control.last_taken, why)

    def replace(self, seat: str) -> None:
        """Has another player play on for a person that has left, from the next step on: a scripted one, or for a
        co-pilot the agent.

        Raises:
            ValueError: the world has no tasks for scripted players.
        """
        if seat == COPILOT:
            self.give()
        else:
            stand_in(self.world, seat, (self.settings.seed,))  # as far as this world has any
        self._leaving.append(seat)

    def judge(self, verdict: str) -> None:
        """Ends the request of the current card, and draws the next one."""
        if number := len(self._recorder.prompts):
            self._note("judge", number - 1, verdict)
            self._draw_card()

    def is_open(self) -> bool:
        """Whether the setter has asked for something since the last card, and has not judged it."""
        prompts = self._recorder.prompts
        asked = [each["frame"] for each in self._talk.said if each["role"] == SETTER]
        return bool(prompts and asked) and prompts[-1].verdict is None and asked[-1] >= prompts[-1].frame

    def tick(self) -> None:
        """Runs one frame with what the seats do now."""
        within = self.frame % self.world.spec.frames_per_step
        if within == 0:
            while self._leaving:
                self._note("left", self._leaving.pop(0))
            self._begin_step()
        rows = {role: self._row(role, within) for role in self._roles}
        self._advance(rows, self._said if within == 0 else {})

    @property
    def dialogue(self) -> list[dict[str, Any]]:
        """What was said so far."""
        return self._talk.said

    def card(self) -> dict[str, Any]:
        """The setter's current card, as its page gets it; number 0 before the first."""
        prompts = self._recorder.prompts
        text = prompts[-1].text if prompts else ""
        return {"kind": "card", "seat": SETTER, "number": len(prompts), "text": text}

    def finish(self, why: str) -> Episode | None:
        """Ends the session; the episode, unless no step was played or it is not recorded.

        Symbols that were typed are shown before they are executed: frames run until none waits, or the world is over.
        Those that still wait then are in `unexecuted`.
        """
        while not self.done and any(seat.is_typing for seat in self.inputs.values()):
            self.tick()
        self.done = True
        typed = {seat: given.untype() for seat, given in self.inputs.items()}
        self.unexecuted = {seat: text for seat, text in typed.items() if text.strip()}
        if self._journal is not None:
            self._ended = time.time()
            self._journal.write({"end": why, "at": self._ended}, durable=True)
            self._journal.close()
            self._journal = None
        if not self.settings.recorded or not self._recorder.steps:
            return None
        return self._recorder.finish(why, created=self._ended)

    def picture(self, role: str, size: tuple[int, int]) -> NDArray[np.uint8]:
        """What a seat sees."""
        return self.world.picture(self.world.seen_by(role), *size)

    def toggles(self, seat: str) -> int:
        """Bit i: the i-th toggle among the controls of a seat was on in the last frame, for any player that steered."""
        return self.inputs[seat].toggles_of(self._executed[self._role_of(seat)]) if seat in self.inputs else 0

    def _start(self, views: Mapping[str, View], episode: str | None = None) -> None:
        self._recorder.begin(seed=self.settings.seed, views=views, id=episode)
        self.episode = self._recorder.id
        self._players.begin()
        self._talk.listen(self.frame)
        self._players.observe(views)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._journal is not None:
            self._journal.write(line)

    def _draw_card(self) -> None:
        if SETTER in self.inputs:
            number = len(self._recorder.prompts)
            card = draw_card(self.world.tasks(), self.settings.live, self.settings.seed, number)
            self._note("prompt", card.text, card.cue, card.modifier)

    def _note(self, what: str, *values: Any) -> None:
        """Records a prompt or a verdict at the current frame, now and in the journal."""
        event = [what, self.frame % self.world.spec.frames_per_step, *values]
        self._apply(event)
        self._write({"event": event})

    def _apply(self, event: Sequence[Any]) -> None:
        what, within, *values = event
        if what in ("take", "give"):
            self._steer(what, self.frame - self.frame % self.world.spec.frames_per_step + within)
        elif what == "prompt":
            text, cue, modifier = values
            self._recorder.prompt(text, cue=cue, modifier=modifier, frame=within)
            self.news.append(self.card())
        elif what == "reason":
            self._recorder.explain(*values)
        elif what == "left":
            self._play_on(*values)
        else:
            number, verdict = values
            self._recorder.judge(number, verdict, frame=within)

    def _play_on(self, seat: str) -> None:
        """Seats the player that plays on for a person, at the start of a step."""
        self.left.append(seat)
        if seat == COPILOT:
            return
        player = stand_in(self.world, seat, (self.settings.seed, SEATS.index(seat), self.frame))
        self._players.seat(seat, player)
        self._talk.forget(seat)
        self._steers[seat] = player.kind

    def _steer(self, what: str, frame: int) -> None:
        """Changes control at a frame; the news is for the co-pilot alone."""
        assert self._control is not None
        if what == "take":
            self._control.take(frame)
        else:
            self._control.give(frame)
            self._talk.drop(COPILOT, NOT_STEERING)
        self.news.append(self.steers())

    def steers(self) -> dict[str, Any]:
        """Which player steers the solver, as the co-pilot's page gets it; number 0 without a co-pilot."""
        taken = self._control is not None and self._control.taken
        return {"kind": "steers", "seat": COPILOT, "person": taken, "frame": self.frame}

    def _begin_step(self) -> None:
        """Asks the scripted players and agents, and attaches one waiting utterance a role."""
        self._chunks, self._said = self._players.act()
        for role in self._roles:
            said = self._talk.next_of(self._speaker(role))
            if said is not None:
                self._said[role] = said
            elif self._speaker(role) == COPILOT:
                self._said.pop(role, None)
        self._talk.hear(self._said, self.frame)

    def _speaker(self, role: str) -> str:
        """The seat that steers a role in the next frame, and may speak for it."""
        taken = role == self.world.spec.solver and self._control is not None and self._control.person_at(self.frame)
        return COPILOT if taken else role

    def _role_of(self, seat: str) -> str:
        return self.world.spec.solver if seat == COPILOT else seat

    def _row(self, role: str, within: int) -> NDArray[np.int8]:
        seat = self._speaker(role)
        if role == self.world.spec.solver and self._control is not None:
            if self._control.begins_at(self.frame):
                self.inputs[COPILOT].adopt(self._executed[role])
            moved = self.inputs[COPILOT].row()  # also while the agent steers, so that nothing piles up
            if seat == COPILOT:
                return moved
        if role in self._chunks:
            row: NDArray[np.int8] = self._chunks[role].movement[within]
            return row
        return self.inputs[role].row() if role in self.inputs else self.world.spec.rest()[0]

    def _advance(self, rows: Mapping[str, NDArray[np.int8]], said: Mapping[str, str]) -> None:
        frames = self.world.spec.frames_per_step
        last = self.frame % frames == frames - 1
        outcome = self.world.frame(rows, said, observers=self._see if last else ())
        check_returned(self.world.spec, "frame", outcome, Outcome)
        for role, row in rows.items():
            self._rows.setdefault(role, []).append(row)
        self._executed = dict(rows)
        self._reward += outcome.env_reward
        self.frame += 1
        if last:
            self._end_step(outcome)

    def _end_step(self, outcome: Outcome) -> None:
        said, rows = self._said, {role: np.stack(of_role) for role, of_role in self._rows.items()}
        actions = {role: Action(rows[role], said.get(role)) for role in rows}
        self._talk.listen(self.frame)
        solver = self.world.spec.solver
        steers: dict[str, str | list[tuple[int, str]]] = dict(self._steers)
        if self._control is not None:
            steers[solver] = self._control.within(self.frame - len(rows[solver]))
        self._recorder.record(actions, Outcome(outcome.views, outcome.done, self._reward), steers)
        self._players.hear(said)
        if self._journal is not None:
            listed = {role: of_role.tolist() for role, of_role in rows.items()}
            inputs = {role: seat.state() for role, seat in self.inputs.items()}
            self._write({"rows": listed, "said": said, "inputs": inputs, "hash": self._hash()})
        self._rows, self._said, self._steers, self._reward = {}, {}, {}, 0.0
        self.done = self.done or outcome.done or self.frame >= self.frames
        if not self.done:
            self._players.observe(outcome.views, rows)

    def _repeat(self, line: Mapping[str, Any]) -> None:
        """Executes a step of the journal; scripted players and agents run along, to remember what was done."""
        self._chunks, _ = self._players.act()
        self._said = dict(line["said"])
        for seat in {self._speaker(role) for role in self._said} & self.inputs.keys():
            if self._talk.takes(seat) and self._talk.next_of(seat) is None:
                raise JournalMismatch(f"{self.settings.journal}: nothing was typed that was said at frame {self.frame}")
        self._talk.hear(self._said, self.frame)
        rows = {role: np.array(of_role, np.int8) for role, of_role in line["rows"].items()}
        for within in range(self.world.spec.frames_per_step):
            self._advance({role: of_role[within] for role, of_role in rows.items()}, self._said if within == 0 else {})
        for name, given in self.inputs.items():
            given.load_state(line["inputs"][name])
        if self._hash() != line["hash"]:
            raise JournalMismatch(f"{self.settings.journal}: frame {self.frame} is another one than was played")

    def _hash(self) -> int:
        if self.world.spec.poses:
            return zlib.crc32(np.ascontiguousarray(self.world.poses()).tobytes())
        view = self.world.view(self.world.spec.solver)
        return zlib.crc32(b"".join(each.tobytes() for each in (view.image, view.vector) if each is not None))
