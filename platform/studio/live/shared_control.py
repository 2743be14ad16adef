"""The player that steers, where a person may take over from an agent: at any frame, and back at the next step."""

from __future__ import annotations

from interplay.studio.live.session_settings import HUMAN

REASONS = ("wrong_thing", "stuck", "wrong_place", "wrong_words", "no_idea", "other")  # why a person took over


class SharedControl:
    """The changes of control so far, by frame. The agent begins, a player of the kind `other`."""

    def __init__(self, frames_per_step: int, other: str) -> None:
        self._frames, self._other = frames_per_step, other
        self._changes: list[tuple[int, bool]] = [(0, False)]  # (frame, whether the person steers from it on)

    @property
    def taken(self) -> bool:
        """Whether the person steers and has not given back."""
        return self._changes[-1][1]

    @property
    def last_taken(self) -> int | None:
        """The frame at which the person took over last; None before it ever did."""
        return next((frame for frame, person in reversed(self._changes) if person), None)

    def person_at(self, frame: int) -> bool:
        """Whether the person steers in this frame."""
        return next(person for since, person in reversed(self._changes) if since <= frame)

    def begins_at(self, frame: int) -> bool:
        """Whether the person steers from this frame on, and did not before."""
        return (frame, True) in self._changes

    def take(self, frame: int) -> None:
        """The person takes over in this frame, the next to be run; it also revokes a giving back to come."""
        while self._changes[-1][0] > frame:
            self._changes.pop()
        if not self.taken:
            self._change(frame, person=True)

    def give(self, frame: int) -> None:
        """The agent steers again from the next step, which may begin with this frame."""
        if self.taken:
            self._change(-(-frame // self._frames) * self._frames, person=False)

    def within(self, step: int) -> list[tuple[int, str]]:
        """The changes within the step that begins with the frame `step`: (frame of the step, player)."""
        return [
            (frame - step, HUMAN if person else self._other)
            for frame, person in self._changes[1:]
            if step <= frame < step + self._frames
        ]

    def _change(self, frame: int, *, person: bool) -> None:
        """Adds a change, in place of one at the same frame; no change at all is left where both cancel out."""
        if self._changes[-1][0] == frame and len(self._changes) > 1:
            self._changes.pop()
        if self.taken != person:
            self._changes.append((frame, person))
