"""Questions about the house, with right answers and plausible wrong ones; and the sets of things that they are about.

A noun phrase describes a set: a noun, a post-modifier, and a room of the house.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier
from interplay.env.playhouse.language.templates import NUMBERS, choose
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Room, Thing
from interplay.env.task import same_words, words

ARTICLES = frozenset({"a", "an", "the"})
# Ways in which people say yes and no, without articles.
YES = ("yes", "yeah", "yep", "yes it is", "yes there is", "yes there are", "yes they are", "yes they do", "it is")
NO = ("no", "nope", "no it is not", "no it isn't", "no there is not", "no there isn't", "no there are not",
      "no they are not", "no they do not", "it is not", "it isn't")  # fmt: skip

Scope = Literal["room", "house"]


@dataclass(frozen=True, kw_only=True)
class Question(PlayhouseTask):
    """A question about the house; its answer is fixed when it is asked.

    `answer` is the one that the scripted solver gives. With `scope` "room" the question is about the room that the
    solver is in: it looks at the first thing in `about`, or around the room, and answers. With "house" it walks through
    the house until it has seen everything in `about` and all of `room`.
    """

    mistakes: tuple[str, ...]  # plausible wrong answers
    about: tuple[int, ...] = ()  # indices of the things to look at before answering
    accepted: tuple[str, ...] = ()  # further right answers, without articles
    scope: Scope = "room"
    room: str | None = None  # name of a room to look over before answering
    look_first: bool = True  # False: with scope "room", answer once everything in `about` is in view

    def success(self, facts: HouseFacts, said: Sequence[str]) -> bool:
        return bool(said) and self.accepts(said[0])

    def rate_answer(self, utterance: str) -> int:
        return 1 if self.accepts(utterance) else -1

    def accepts(self, utterance: str) -> bool:
        """Tests whether an utterance is a right answer, apart from articles, case and punctuation."""
        said = " ".join(word for word in words(utterance) if word not in ARTICLES)
        return any(same_words(said, right) for right in (self.answer or "", *self.accepted))

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """A question to which the scripted solver gives a wrong answer."""
        return replace(self, answer=self.mistakes[int(rng.integers(len(self.mistakes)))], accepted=())

    def look_at(self, facts: HouseFacts) -> XY:
        """Returns the point to look at before answering: the middle of what is asked about, or of the room."""
        if self.about:
            points = [facts.things[index].xy for index in self.about]
            return float(np.mean([x for x, _ in points])), float(np.mean([y for _, y in points]))
        room = next((r for r in facts.rooms if r.name == facts.bodies[self.solver].room), facts.rooms[0])
        return room.middle


class Answers(NamedTuple):
    """Answers to one question."""

    answer: str  # the one that the scripted solver gives
    mistakes: tuple[str, ...]  # plausible wrong ones
    accepted: tuple[str, ...] = ()  # all right ones, without articles


def question(
    context: TaskContext,
    text: str,
    answers: Answers,
    about: tuple[int, ...] = (),
    *,
    scope: Scope = "room",
    room: str | None = None,
) -> Question:
    """Returns a question to the solver of this context."""
    return Question(
        kind=context.kind,
        instruction=text,
        solver=context.solver,
        about=about,
        scope=scope,
        room=room,
        look_first=context.config.look_before_answering,
        **answers._asdict(),
    )


def yes_or_no(truth: bool, *, accept_variants: bool = True) -> Answers:
    """Returns the answers to a yes/no question."""
    yes, no = (YES, NO) if accept_variants else ((), ())
    return Answers("yes", ("no",), yes) if truth else Answers("no", ("yes",), no)


def number_answers(number: int, plural: str, singular: str) -> Answers:
    """Returns the answers to a question for the number of things that these nouns name."""
    word = NUMBERS[number]
    neighbors = tuple(NUMBERS[n] for n in (number - 1, number + 1) if 0 <= n < len(NUMBERS))
    counted = f"{word} {singular if number == 1 else plural}"
    ways = (word, str(number), counted, f"there is {word}", f"there are {word}", f"there are {counted}")
    none = ("none", "there are none", f"no {plural}", f"there are no {plural}") if number == 0 else ()
    return Answers(word, neighbors, without_articles((*ways, f"there is {counted}", *none)))


def without_articles(answers: Iterable[str]) -> tuple[str, ...]:
    """Removes articles and duplicates, as `Question.accepted` requires."""
    kept = (" ".join(word for word in answer.split() if word not in ARTICLES) for answer in answers)
    return tuple(dict.fromkeys(kept))


SOLVERS_ROOM_PROBABILITY = 0.7  # of asking about the room that the solver is in
BARE_NOUN_PROBABILITY = 0.5  # of a noun without post-modifier, if the style allows both
MAX_DRAWS = 6  # of a room and a post-modifier, for a set with a given property


@dataclass(frozen=True)
class RoomPhrase:
    """The room that a question is about, and how to say so."""

    room: Room
    phrases: tuple[str, ...]  # an empty one if there is no other room


@dataclass(frozen=True)
class DescribedSet:
    """All things of a room that a noun phrase describes; possibly none."""

    noun: Noun
    post_modifier: PostModifier | None
    scope: RoomPhrase
    members: tuple[int, ...]  # their indices

    def phrase(self, rng: np.random.Generator, *, many: bool) -> str:
        """Draws a phrase such as "ball on the table in this room", in the plural if `many`."""
        post, noun = self.post_modifier, choose(self.noun.plurals if many else self.noun.singulars, rng)
        text = noun if post is None else post.attach_briefly(noun, rng, many)
        where = choose(self.scope.phrases, rng)
        placed = post is not None and post.form == "is" and (post.landmarks or where in text)
        return text if placed or not where else f"{text} {where}"

    def to_look_at(self) -> tuple[tuple[int, ...], str | None]:
        """Returns the things to look at before counting the set, and the room to look over."""
        post = self.post_modifier
        if post is not None and post.landmarks and post.form == "is":
            return (*sorted(post.landmarks), *self.members), None
        return (), self.scope.room.name


def sample_room(context: TaskContext, rng: np.random.Generator) -> RoomPhrase:
    """Draws a room, preferring the one that the solver is in."""
    facts = context.facts
    here = context.room
    if len(facts.rooms) == 1:
        return RoomPhrase(facts.rooms[0], ("", "here", "in this room"))
    if rng.random() < SOLVERS_ROOM_PROBABILITY:
        room = next(room for room in facts.rooms if room.name == here)
        return RoomPhrase(room, ("in this room", "here", f"in the {room.kind}"))
    others = [room for room in facts.rooms if room.name != here]
    room = others[int(rng.integers(len(others)))]
    return RoomPhrase(room, (f"in the {room.kind}",))


def sample_described_sets(context: TaskContext, rng: np.random.Generator) -> list[DescribedSet]:
    """Draws a room and at most one post-modifier, and returns the sets of all nouns whose members are beyond doubt."""
    facts, style = context.facts, context.style
    scope = sample_room(context, rng)
    post_modifiers = [each for each in context.post_modifiers if _is_informative(each, scope, facts)]
    bare = style.bare_nouns and (not post_modifiers or rng.random() < BARE_NOUN_PROBABILITY)
    if not bare and not post_modifiers:
        return []
    post = None if bare else post_modifiers[int(rng.integers(len(post_modifiers)))]
    categories = dict.fromkeys((*context.config.object_categories, *(thing.category for thing in facts.things)))
    in_scope = [
        thing
        for thing in facts.things
        if predicates.same_room(thing.room, scope.room.name) and (post is None or thing.index in post.possible)
    ]
    sets = [_described_set(facts, in_scope, noun, post, scope) for noun in style.nouns(tuple(categories))]
    return [each for each in sets if each is not None]


def sample_described_set(
    context: TaskContext, rng: np.random.Generator, fits: Callable[[DescribedSet], bool], reason: str
) -> DescribedSet:
    """Draws a described set that fits.

    Raises:
        InfeasibleTask: `MAX_DRAWS` draws found none.
    """
    fitting: list[DescribedSet] = []
    for _ in range(MAX_DRAWS):
        fitting = fitting or [each for each in sample_described_sets(context, rng) if fits(each)]
    return context.sample_one(fitting, rng, reason)


def is_plausible(facts: HouseFacts, described: DescribedSet) -> bool:
    """Tests whether a description is plausible: the house has its noun and its color, unless it has neither a color nor
    a post-modifier."""
    noun = described.noun
    if noun.color is None and described.post_modifier is None:
        return True
    in_house = any(noun.categories is None or thing.category in noun.categories for thing in facts.things)
    return in_house and (noun.color is None or any(thing.color == noun.color for thing in facts.things))


def _is_informative(post: PostModifier, scope: RoomPhrase, facts: HouseFacts) -> bool:
    """Tests whether a post-modifier is about things of this room and says more than that they are in it."""
    if post.landmarks:
        return all(facts.things[index].room == scope.room.name for index in post.landmarks)
    if any(f"in the {room.kind}" in post.phrases for room in facts.rooms) or post.phrases[0].startswith("a "):
        return False  # the question names a room anyway; "the fruits that are not a pear"
    return post.form == "is not" or any(facts.things[index].room == scope.room.name for index in post.possible)


def _described_set(
    facts: HouseFacts, in_scope: Sequence[Thing], noun: Noun, post: PostModifier | None, scope: RoomPhrase
) -> DescribedSet | None:
    """Returns the set that a phrase describes; None if the phrase makes no sense or a member is in doubt.

    `in_scope` holds the things that may be in the room and that the post-modifier may be about.
    """
    if post is not None and not _makes_sense(facts, noun, post):
        return None
    members = []
    for thing in in_scope:
        if not noun.may_fit(thing):
            continue
        certain = noun.fits(thing) and thing.room == scope.room.name and thing.held_by is None
        if not certain or (post is not None and thing.index not in post.certain):
            return None
        members.append(thing.index)
    return DescribedSet(noun, post, scope, tuple(members))


def _makes_sense(facts: HouseFacts, noun: Noun, post: PostModifier) -> bool:
    """Tests whether people would say this of the things that a noun names."""
    if post.form == "is not":  # "the balls that are not red", if there is a red one
        return any(noun.fits(thing) and thing.index not in post.possible for thing in facts.things)
    if noun.categories is None:
        return True
    if post.loose_only and all(CATEGORIES[name].furniture for name in noun.categories):
        return False  # "the sofas on the table"
    # "the sofas near the sofa"
    return not any(facts.things[index].category in noun.categories for index in post.landmarks)
