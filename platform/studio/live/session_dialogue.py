"""What is said in a live session, by people, players and the world itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interplay.env.world import World
from interplay.stages.live_config import SETTER
from interplay.studio.live.seat_input import SeatInput

NOT_EXECUTED = "You gave back before your last letters were executed."


class SessionDialogue:
    """Utterances that wait for a step, and those said so far. In a world of symbols, people type in place of talking.

    Each utterance of a person has an id, unique in its seat, by which it is confirmed or refused. Symbols are confirmed
    when they come; those that are refused later have the id "".

    Args:
        inputs: the seats of people.
        news: where what is said, and the answers to the pages that sent it, are added.
    """

    def __init__(self, world: World, inputs: Mapping[str, SeatInput], news: list[dict[str, Any]]) -> None:
        self._world, self._inputs, self._news = world, inputs, news
        self._waiting: dict[str, list[tuple[str, str]]] = {seat: [] for seat in inputs}  # (id, text)
        self._accepted: dict[str, set[str]] = {seat: set() for seat in inputs}  # ids of what was said
        self.said: list[dict[str, Any]] = []  # so far

    @property
    def is_waiting(self) -> bool:
        """Whether an utterance waits for a step."""
        return any(self._waiting.values())

    def queue(self, seat: str, text: str, utterance_id: str, frame: int) -> None:
        """Queues an utterance, or in a world of symbols what is typed, which is shown at once."""
        spec = self._world.spec
        if spec.utterances:
            self._waiting[seat].append((utterance_id, text))
            return
        self._accept(seat, utterance_id)
        if typed := self._inputs[seat].type(text):
            self._tell([{"kind": "said", "role": self._role_of(seat), "text": typed, "frame": frame}])

    def is_repeated(self, seat: str, utterance_id: str) -> bool:
        """Whether an utterance was received before; one that was said is confirmed again."""
        if utterance_id in self._accepted.get(seat, ()):
            self._accept(seat, utterance_id)
            return True
        return any(utterance_id == each for each, _ in self._waiting.get(seat, ()))

    def refuse(self, seat: str, text: str, utterance_id: str, problem: str) -> None:
        """Returns an utterance that will not be said to its page."""
        self._news.append({"kind": "notice", "seat": seat, "text": problem, "unsaid": text, "id": utterance_id})

    def takes(self, seat: str) -> bool:
        """Whether a person talks in this seat."""
        return seat in self._waiting

    def next_of(self, seat: str) -> str | None:
        """The utterance of a seat that has waited longest, which waits no longer; None without one."""
        waiting = self._waiting.get(seat, [])
        if not waiting:
            return None
        utterance_id, text = waiting.pop(0)
        self._accept(seat, utterance_id)
        return text

    def drop(self, seat: str, problem: str) -> None:
        """Refuses what waits of a seat, also symbols that were typed and not yet executed, which leave the dialogue."""
        for utterance_id, text in self._waiting[seat]:
            self.refuse(seat, text, utterance_id, problem)
        self._waiting[seat].clear()
        untyped = self._inputs[seat].untype()
        self._untell(seat, len(untyped))
        if untyped.strip():  # else only silence
            self.refuse(seat, untyped, "", NOT_EXECUTED)

    def forget(self, seat: str) -> None:
        """Drops a seat whose person has left."""
        self._waiting.pop(seat)

    def hear(self, said: Mapping[str, str], frame: int) -> None:
        """Passes the utterances of a step on, by role, but not those of a scripted setter that repeats the world's."""
        repeats = SETTER if self._world.gives_tasks and SETTER not in self._inputs else None
        heard = {role: text for role, text in said.items() if role != repeats}
        self._tell([{"kind": "said", "role": role, "text": text, "frame": frame} for role, text in heard.items()])

    def listen(self, frame: int) -> None:
        """Passes on what the world itself says; in a world of symbols, piece by piece."""
        text = self._world.spoken()
        if not self._world.spec.utterances and text:
            last = self.said[-1] if self.said else {}
            if last.get("piece"):
                last["text"] += text
                self._news.append({**last, "text": text})
            elif text.strip():
                self.said.append({"kind": "said", "role": "world", "text": text, "frame": frame, "piece": True})
                self._news.append(dict(self.said[-1]))
        elif text.strip():
            self._tell([{"kind": "said", "role": "world", "text": text.strip(), "frame": frame}])

    def _untell(self, seat: str, symbols: int) -> None:
        """Takes the last symbols that were typed in a seat out of the dialogue."""
        if not symbols:
            return
        for said in [each for each in reversed(self.said) if each["role"] == self._role_of(seat)]:
            dropped = min(symbols, len(said["text"]))
            symbols -= dropped
            said["text"] = said["text"][: len(said["text"]) - dropped]
        self.said = [each for each in self.said if each["text"]]
        self._news.append({"kind": "dialogue", "dialogue": [dict(each) for each in self.said]})

    def _role_of(self, seat: str) -> str:
        return seat if seat in self._world.spec.roles else self._world.spec.solver

    def _accept(self, seat: str, utterance_id: str) -> None:
        self._accepted[seat].add(utterance_id)
        self._news.append({"kind": "accepted", "seat": seat, "id": utterance_id})

    def _tell(self, said: Sequence[dict[str, Any]]) -> None:
        self.said += said
        self._news += [dict(each) for each in said]
