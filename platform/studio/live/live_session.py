"""One live session: a world that runs frame by frame, its seats, its recording and its journal. No clock, no socket.

The same object plays on (`tick`) and executes a journal again (`resume`), so both lead to the same episode.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.world import Action, Outcome, Start, View, World
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import EpisodeRecorder
from interplay.players.player import Player
from interplay.studio.live.cards import Cards
from interplay.studio.live.seat_input import SeatInput
from interplay.studio.live.session_journal import SessionJournal, from_text, read_journal, to_text
from interplay.studio.live.session_settings import SETTER, SessionSettings


class JournalMismatch(ValueError):
    """A journal leads elsewhere than it did: it was written by another version of the world, or is damaged."""


class LiveSession:
    """A session under way.

    Args:
        world: of the session's settings.
        settings: the session's.
        players: the scripted players by role; all other roles are people.
    """

    def __init__(self, world: World, settings: SessionSettings, players: Mapping[str, Player]) -> None:
        self.world, self.settings = world, settings
        self._players = dict(players)
        self._roles = world.spec.roles
        self.inputs = {
            role: SeatInput(world.controls(role), world.spec) for role in self._roles if role not in self._players
        }
        self._cards: Cards | None = None
        self.dialogue: list[dict[str, Any]] = []  # what was said so far
        self._recorder = EpisodeRecorder(
            world, players=settings.players(), world_config=settings.env, people=settings.people
        )
        self._see = () if world.spec.poses and not world.spec.vector else (world.spec.solver,)
        self._waiting: dict[str, list[str]] = {role: [] for role in self._roles}
        self._journal: SessionJournal | None = None
        self.frame = 0
        self._rows: dict[str, list[NDArray[np.int8]]] = {}
        self._said: dict[str, str] = {}
        self._chunks: dict[str, Action] = {}
        self._reward = 0.0
        self.news: list[dict[str, Any]] = []  # for the seats, emptied by the caller
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
            state = to_text(self._recorder.initial_state)
            head = {"settings": self.settings.to_json(), "state": state, "id": self.episode, "created": self.created}
            self._journal.write(head, durable=True)
        self._draw_card()

    def resume(self) -> str | None:
        """Executes a journal again, and continues it; returns why the episode had ended, if it had.

        Raises:
            JournalMismatch: a step leads to other poses than it did.
        """
        head, *lines = read_journal(Path(self.settings.journal))
        views = self.world.reset(Start(state=from_text(head["state"])), observers=self._see)
        self._start(views, head["id"], head["created"])
        for line in lines:
            if "end" in line:
                return str(line["end"])
            if "say" in line:
                role, text = line["say"]
                self._waiting[role].append(text)
            elif "event" in line:
                self._apply(line["event"])
            else:
                self._repeat(line)
        self._journal = SessionJournal(Path(self.settings.journal))
        if not self._recorder.prompts:
            self._draw_card()
        return None

    def say(self, role: str, text: str) -> None:
        """Queues an utterance; it is said at the start of the next step that is free for it."""
        self._waiting[role].append(text)
        self._write({"say": [role, text]})

    def judge(self, verdict: str) -> None:
        """Ends the request of the current card, and draws the next one."""
        if number := len(self._recorder.prompts):
            self._note("judge", number - 1, verdict)
            self._draw_card()

    def tick(self) -> None:
        """Runs one frame with what the seats do now."""
        within = self.frame % self.world.spec.frames_per_step
        if within == 0:
            self._begin_step()
        rows = {role: self._row(role, within) for role in self._roles}
        self._advance(rows, self._said if within == 0 else {})

    def card(self) -> dict[str, Any]:
        """The setter's current card, as its page gets it; number 0 before the first."""
        prompts = self._recorder.prompts
        text = prompts[-1].text if prompts else ""
        return {"kind": "card", "seat": SETTER, "number": len(prompts), "text": text}

    def finish(self, why: str) -> Episode | None:
        """Ends the session; the episode, unless no step was played or it is not recorded."""
        self.done = True
        if self._journal is not None:
            self._journal.write({"end": why}, durable=True)
            self._journal.close()
            self._journal = None
        if not self.settings.recorded or not self._recorder.steps:
            return None
        return self._recorder.finish(why)

    def picture(self, role: str, size: tuple[int, int]) -> NDArray[np.uint8]:
        """What a seat sees."""
        return self.world.picture(self.world.seen_by(role), *size)

    def _start(self, views: Mapping[str, View], episode: str | None = None, created: float | None = None) -> None:
        self._recorder.begin(seed=self.settings.seed, views=views, id=episode, created=created)
        self.episode, self.created = self._recorder.id, self._recorder.created
        for role, player in self._players.items():
            player.begin(self.world, role)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._journal is not None:
            self._journal.write(line)

    def _draw_card(self) -> None:
        if SETTER in self.inputs:
            self._cards = self._cards or Cards(self.world.tasks(), self.settings.live, self.settings.seed)
            card = self._cards.draw(len(self._recorder.prompts))
            self._note("prompt", card.text, card.cue, card.modifier)

    def _note(self, what: str, *values: Any) -> None:
        """Records a prompt or a verdict at the current frame, now and in the journal."""
        event = [what, self.frame % self.world.spec.frames_per_step, *values]
        self._apply(event)
        self._write({"event": event})

    def _apply(self, event: Sequence[Any]) -> None:
        what, within, *values = event
        if what == "prompt":
            text, cue, modifier = values
            self._recorder.prompt(text, cue=cue, modifier=modifier, frame=within)
            self.news.append(self.card())
        else:
            number, verdict = values
            self._recorder.judge(number, verdict, frame=within)

    def _begin_step(self) -> None:
        """Attaches one waiting utterance a role, and asks the scripted players."""
        self._said = {role: texts.pop(0) for role, texts in self._waiting.items() if texts}
        self._chunks = {}
        for role, player in self._players.items():
            self._act(role, player)
        self._hear()

    def _hear(self) -> None:
        """Passes the step's utterances on to the seats."""
        heard = [{"kind": "said", "role": role, "text": text, "frame": self.frame} for role, text in self._said.items()]
        self.dialogue += heard
        self.news += heard

    def _act(self, role: str, player: Player) -> None:
        asked = getattr(player, "tasks_asked", 0)
        ending = getattr(player, "ending", None)
        action = player.act(View(), self.world)
        if role == SETTER and getattr(player, "ending", None) is not None and ending is None:
            self._recorder.end_task(player.ending)  # type: ignore[attr-defined]
        if role == SETTER and getattr(player, "tasks_asked", 0) > asked:
            self._recorder.ask(player.task.to_json())  # type: ignore[attr-defined]
        self._chunks[role] = action
        if action.utterance is not None:
            self._said[role] = action.utterance

    def _row(self, role: str, within: int) -> NDArray[np.int8]:
        if role in self._chunks:
            row: NDArray[np.int8] = self._chunks[role].movement[within]
            return row
        return self.inputs[role].row()

    def _advance(self, rows: Mapping[str, NDArray[np.int8]], said: Mapping[str, str]) -> None:
        frames = self.world.spec.frames_per_step
        last = self.frame % frames == frames - 1
        outcome = self.world.frame(rows, said, observers=self._see if last else ())
        for role, row in rows.items():
            self._rows.setdefault(role, []).append(row)
        self._reward += outcome.env_reward
        self.frame += 1
        if last:
            self._end_step(outcome)

    def _end_step(self, outcome: Outcome) -> None:
        said, rows = self._said, {role: np.stack(of_role) for role, of_role in self._rows.items()}
        actions = {role: Action(rows[role], said.get(role)) for role in rows}
        self._recorder.record(actions, Outcome(outcome.views, outcome.done, self._reward))
        solver = self.world.spec.solver
        for player in self._players.values():
            if solver in said and hasattr(player, "on_utterance"):
                player.on_utterance(said[solver])
        if self._journal is not None:
            listed = {role: of_role.tolist() for role, of_role in rows.items()}
            inputs = {role: seat.state() for role, seat in self.inputs.items()}
            self._write({"rows": listed, "said": said, "inputs": inputs, "hash": self._hash()})
        self._rows, self._said, self._reward = {}, {}, 0.0
        self.done = self.done or outcome.done or self.frame >= self.frames

    def _repeat(self, line: Mapping[str, Any]) -> None:
        """Executes a step of the journal; scripted players run along, so that they remember what they did."""
        for player_role, player in self._players.items():
            self._act(player_role, player)
        self._said = dict(line["said"])
        for role in self._said.keys() & self.inputs.keys():
            if not self._waiting[role]:
                raise JournalMismatch(f"{self.settings.journal}: nothing was typed that was said at frame {self.frame}")
            self._waiting[role].pop(0)
        self._hear()
        rows = {role: np.array(of_role, np.int8) for role, of_role in line["rows"].items()}
        for within in range(self.world.spec.frames_per_step):
            self._advance({role: of_role[within] for role, of_role in rows.items()}, self._said if within == 0 else {})
        for role, seat in self.inputs.items():
            seat.load_state(line["inputs"][role])
        if self._hash() != line["hash"]:
            raise JournalMismatch(f"{self.settings.journal}: frame {self.frame} is another one than was played")

    def _hash(self) -> int:
        if self.world.spec.poses:
            return zlib.crc32(np.ascontiguousarray(self.world.poses()).tobytes())
        view = self.world.view(self.world.spec.solver)
        return zlib.crc32(b"".join(each.tobytes() for each in (view.image, view.vector) if each is not None))
