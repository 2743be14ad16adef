"""Context in which a task is drawn: its kind, the house, the players, and the style of referring to things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.language.referring.expressions import ByColor, Naming
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier
from interplay.env.playhouse.language.referring.styles import EVERYDAY, ReferringStyle
from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import InfeasibleTask

T = TypeVar("T")
FEW_WORDINGS = 3  # of the usual kinds, for small agents


@dataclass(frozen=True)
class TaskContext:
    """One moment of a house at which a task of one kind is drawn, with the properties of the players that limit it."""

    facts: HouseFacts
    solver: str  # role of the player that carries out tasks
    setter: str  # role of the player that sets them
    config: PlayhouseConfig  # of the house
    components: tuple[str, ...] = ()  # movement components of the players
    naming: Naming = field(default_factory=ByColor)  # of single things
    style: ReferringStyle = EVERYDAY  # of referring to several things
    varied_wording: bool = False  # also use wordings beyond the few that small agents learn
    kind: str = ""  # of the task that is drawn

    def require_movement(self, *components: str) -> None:
        """Raises InfeasibleTask if players lack a movement component that tasks of this kind need."""
        if missing := [name for name in components if name not in self.components]:
            raise InfeasibleTask(
                f"no task of kind {self.kind!r} can be done here: players lack {', '.join(missing)}; "
                "add them to env.components"
            )

    def require_contact_log(self) -> None:
        """Raises InfeasibleTask if the success of this kind needs a contact log and the house keeps none."""
        if not self.config.track_contacts:
            raise InfeasibleTask(
                f"no task of kind {self.kind!r} is possible: the house tracks no contacts; set env.track_contacts=true"
            )

    def require_setter(self) -> None:
        """Raises InfeasibleTask if this kind involves the setter's avatar and the house has none."""
        if not self.config.setter_visible:
            raise self.refusal("the setter is not in the house; set env.setter_visible=true")

    def refusal(self, reason: str) -> InfeasibleTask:
        """Returns the error that no task of this kind is feasible, for this reason."""
        return InfeasibleTask(f"no task of kind {self.kind!r} can be asked here: {reason}")

    def sample_one(self, choices: Sequence[T], rng: np.random.Generator, reason: str = "") -> T:
        """Draws one of the choices with equal probability.

        Raises:
            InfeasibleTask: there is no choice; `reason` is the message.
        """
        if not choices:
            raise self.refusal(reason)
        return choices[int(rng.integers(len(choices)))]

    @property
    def room(self) -> str:
        """Name of the room that the solver is in, or of the nearest one if it stands in a doorway."""
        return predicates.nearest_room(self.facts, self.facts.bodies[self.solver].position).name

    def objects_here(self) -> list[Thing]:
        """Loose objects of the solver's room."""
        return [thing for thing in predicates.matching(self.facts, room=self.room) if not thing.furniture]

    def nameable_things_here(self) -> list[Thing]:
        """The `nameable_things` of the solver's room that no player holds."""
        room = self.room
        return [thing for thing in self.nameable_things() if thing.room == room and thing.held_by is None]

    def nameable_things(self) -> list[Thing]:
        """Furniture and loose objects that a noun phrase identifies uniquely."""
        return [thing for thing in self.facts.things if self.naming.phrases(self.facts, thing)]

    def nameable_objects(self) -> list[Thing]:
        """Loose objects that a noun phrase identifies uniquely and that no player holds."""
        return [thing for thing in self.nameable_things() if not thing.furniture and thing.held_by is None]

    def carriable_objects(self) -> list[Thing]:
        """The `nameable_objects` that carry and contain nothing, so that nothing falls off or out."""
        return [thing for thing in self.nameable_objects() if not self.is_laden(thing)]

    def is_laden(self, thing: Thing) -> bool:
        """Tests whether a thing carries or contains another one."""
        return bool(predicates.contents(self.facts, thing) or predicates.things_on(self.facts, thing))

    def name(self, thing: Thing, rng: np.random.Generator) -> str:
        """Draws a noun phrase, without article, that identifies one of the `nameable_things`."""
        phrases = self.naming.phrases(self.facts, thing)
        return phrases[0] if len(phrases) == 1 else phrases[int(rng.integers(len(phrases)))]

    @cached_property
    def post_modifiers(self) -> tuple[PostModifier, ...]:
        """Post-modifiers that may follow the names of several things in this style."""
        return tuple(self.style.post_modifiers(self.facts, self.facts.bodies[self.solver]))

    def phrase(self, wordings: Sequence[str], rng: np.random.Generator, **names: Thing | str) -> str:
        """Draws the names of things, then one of the wordings, and fills them in. Names may also be given as text."""
        drawn = {key: each if isinstance(each, str) else self.name(each, rng) for key, each in names.items()}
        return fill_template(wordings, rng, **drawn)

    def wordings(self, varied: Sequence[str]) -> Sequence[str]:
        """Returns all of the wordings with `varied_wording`, otherwise the first `FEW_WORDINGS`."""
        return varied if self.varied_wording else varied[:FEW_WORDINGS]

    def answers_naming(self, things: Sequence[Thing]) -> tuple[str, ...]:
        """Returns the answers that name one of the things: "red ball", and "ball" if the house has no other ball."""
        categories = Counter(thing.category for thing in self.facts.things)
        names = dict.fromkeys(thing.name for thing in things)
        categories_alone = dict.fromkeys(thing.category for thing in things if categories[thing.category] == 1)
        return (*names, *categories_alone)
