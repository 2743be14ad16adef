"""Tasks about objects and their properties: existence, properties, lists, numbers and owners."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Collection, Sequence
from typing import Any

from interplay.env.commai.tasks.competition import messages
from interplay.env.commai.tasks.competition.baskets import (
    all_objects,
    all_properties,
    global_properties,
    reverse_global_properties,
    shared_objects,
)
from interplay.env.commai.tasks.competition.question import QuestionTask, last_sentence

delimiters = re.compile(r", and |, | and | ")


class ObjectExistenceTask1(QuestionTask):
    """Does the teacher have this object? One object is named; several attempts are allowed."""

    options = ("yes", "no")

    def ask(self) -> tuple[str, Sequence[str]]:
        self.had, self.asked = self.rng.choice(all_objects), self.rng.choice(all_objects)
        if self.rng.random() < 0.5:
            self.asked = self.had
        question = f"Let's play game with objects. I have {self.had}. Do I have {self.asked}?"
        return question, ["yes" if self.had == self.asked else "no"]

    def reward_answer(self) -> None:
        self.set_reward(1, "Correct!")

    def correct_answer(self) -> None:
        negation = "" if self.had == self.asked else "not "
        self.set_message(f"Wrong, I do {negation}have {self.asked}. Do I have {self.asked}?")

    def give_away_answer(self) -> None:
        self.set_reward(0, "You are too slow! Let's try something else.")


class ObjectExistenceTask2(QuestionTask):
    """Does the teacher have an object of this kind? Several objects are named."""

    options = ("yes", "no")

    def ask(self) -> tuple[str, Sequence[str]]:
        things = self.rng.sample(all_objects, self.rng.randint(1, 5))
        self.there = self.rng.random() < 0.5
        rest = [name for name in all_objects if name not in things]
        self.asked = messages.indef_article(self.rng.choice(things if self.there else rest))
        answer = "yes" if self.there else "no"
        question = f"I have {messages.enumerate_things(things)}. Do I have {self.asked}?"
        return question, [answer, answer.capitalize(), answer.upper()]

    def correct_answer(self) -> None:
        self.set_reward(0, f"Wrong. I do {'' if self.there else 'not '}have {self.asked}.")


class _BasketTask(QuestionTask):
    """Question about the baskets. Wrong answers get no reply; at the limit the teacher sends "{verdict}: ..."."""

    verdict = "the right answer is"
    options: Collection[str] = all_properties

    def reveal(self) -> str:
        """The sentence with the right answer."""
        return f"{self.verdict}: {self.rng.choice(self.answers)}."

    def correct_answer(self) -> None:
        """Ignores a wrong answer."""

    def give_away_answer(self) -> None:
        self.set_reward(0, self.reveal())

    def draw_object(self) -> tuple[str, str]:
        """Draws a basket and an object in it."""
        basket = self.rng.choice(list(global_properties))
        return basket, self.rng.choice(list(global_properties[basket]))

    def draw_property(self) -> tuple[str, str]:
        """Draws a basket and a property of an object in it."""
        basket = self.rng.choice(list(global_properties))
        return basket, self.rng.choice(list(reverse_global_properties[basket]))


class _NumberTask(_BasketTask):
    """Question whose answer is a number, in letters or in digits."""

    options = messages.numbers_in_words

    def count(self, question: str, number: int) -> tuple[str, Sequence[str]]:
        return question, list(reversed(messages.number_to_strings(number)))


class _ListTask(_BasketTask):
    """Question whose answer is a list in any order, split by " ", ", ", " and " or ", and ", or else `nothing`."""

    limit = 3500
    spoken = f"{string.ascii_lowercase} ,."
    verdict = "the right properties are"
    nothing = "none"

    def listed(self, question: str, items: Sequence[str]) -> tuple[str, Sequence[str]]:
        self.items = sorted(items) or [self.nothing]
        return question, [" ".join(self.items)]

    def is_right(self, event: Any) -> bool:
        return sorted(delimiters.split(last_sentence(event.message))) == self.items

    def reveal(self) -> str:
        return f"{self.verdict}: {' '.join(self.rng.sample(self.items, len(self.items)))}."

    def mistake(self, rng: random.Random) -> str:
        wrong = list(self.items)
        wrong[rng.randrange(len(wrong))] = rng.choice([name for name in self.options if name not in self.items])
        return " ".join(wrong)


class _PersistentTask(_BasketTask):
    """Question that is repeated after a wrong answer, together with the right answer."""

    def correct_answer(self) -> None:
        self.set_message(f"{self.reveal()} please try again. {self.question}")

    def give_away_answer(self) -> None:
        self.set_reward(0, f"you are too slow. {self.reveal()}")


class AssociateObjectWithPropertyTask(_BasketTask):
    """Repeat a property that the question itself states."""

    def ask(self) -> tuple[str, Sequence[str]]:
        basket, name = self.draw_object()
        property_ = self.rng.choice(global_properties[basket][name])
        return f"{name} in {basket}'s basket is {property_}. how is {name}?", [property_]


class VerifyThatObjectHasPropertyTask(_BasketTask):
    """Does an object have a property? Yes or no."""

    options = ("yes", "no")

    def ask(self) -> tuple[str, Sequence[str]]:
        basket, name = self.draw_object()
        true = global_properties[basket][name]
        holds = self.rng.random() < 0.5
        property_ = self.rng.choice(true if holds else [p for p in all_properties if p not in true])
        return f"is {name} {property_} in {basket}'s basket?", ["yes" if holds else "no"]


class ListPropertiesOfAnObjectTask(_ListTask):
    """List all properties of an object."""

    def ask(self) -> tuple[str, Sequence[str]]:
        basket, name = self.draw_object()
        question = f"which properties does {name} have in {basket}'s basket?"
        return self.listed(question, global_properties[basket][name])


class NameAPropertyOfAnObjectTask(_BasketTask):
    """Name one property of an object."""

    verdict = "one right answer is"

    def ask(self) -> tuple[str, Sequence[str]]:
        basket, name = self.draw_object()
        return f"can you tell me a property of {name} in {basket}'s basket?", global_properties[basket][name]


class HowManyPropertiesDoesAnObjectHaveTask(_NumberTask):
    """Count the properties of an object."""

    def ask(self) -> tuple[str, Sequence[str]]:
        basket, name = self.draw_object()
        question = f"how many properties does {name} have in {basket}'s basket?"
        return self.count(question, len(global_properties[basket][name]))


class ListObjectsWithACertainPropertyTask(_PersistentTask, _ListTask):
    """List all objects with a property."""

    verdict = "the right objects are"
    options = all_objects

    def ask(self) -> tuple[str, Sequence[str]]:
        basket, property_ = self.draw_property()
        question = f"which objects are {property_} in {basket}'s basket?"
        return self.listed(question, reverse_global_properties[basket][property_])


class NameAnObjectWithAPropertyTask(_PersistentTask):
    """Name one object with a property."""

    verdict = "one right answer is"
    options = all_objects

    def ask(self) -> tuple[str, Sequence[str]]:
        basket, property_ = self.draw_property()
        question = f"can you tell me an object that is {property_} in {basket}'s basket?"
        return question, reverse_global_properties[basket][property_]


class HowManyObjectsHaveACertainPropertyTask(_PersistentTask, _NumberTask):
    """Count the objects with a property; possibly zero."""

    def ask(self) -> tuple[str, Sequence[str]]:
        basket, property_ = self.rng.choice(list(global_properties)), self.rng.choice(all_properties)
        question = f"how many objects are {property_} in {basket}'s basket?"
        return self.count(question, len(reverse_global_properties[basket].get(property_, [])))


class WhoHasACertainObjectWithACertainPropertyTask(_PersistentTask, _ListTask):
    """List the owners of an object with a property, or `nothing` if there are none."""

    limit = 3000
    verdict = "the right answer is"
    nothing = "nobody"
    options = (*global_properties, "nobody")

    def ask(self) -> tuple[str, Sequence[str]]:
        name = self.rng.choice(all_objects)
        known = sorted({p for things in global_properties.values() for p in things.get(name, [])})
        property_ = self.rng.choice(known if self.rng.random() < 0.75 else all_properties)
        owners = [basket for basket, things in global_properties.items() if property_ in things.get(name, [])]
        return self.listed(f"who has {messages.indef_article(property_)} {name} in the basket?", owners)


class ListThePropertiesThatAnObjectHasInABasketOnlyTask(_PersistentTask, _ListTask):
    """List the properties that an object has in one basket but not in the other, or "none"."""

    def ask(self) -> tuple[str, Sequence[str]]:
        name, basket = self.rng.choice(shared_objects), self.rng.choice(list(global_properties))
        elsewhere = [p for other, things in global_properties.items() if other != basket for p in things[name]]
        question = f"which properties does {name} have in {basket}'s basket only?"
        return self.listed(question, [p for p in global_properties[basket][name] if p not in elsewhere])


class ListThePropertiesThatAnObjectHasInAllBasketsTask(_PersistentTask, _ListTask):
    """List the properties that an object has in both baskets, or "none"."""

    def ask(self) -> tuple[str, Sequence[str]]:
        name = self.rng.choice(shared_objects)
        first, *others = (things[name] for things in global_properties.values())
        question = f"which properties does {name} have in all baskets?"
        return self.listed(question, [p for p in first if all(p in found for found in others)])


ListPropertiesofAnObjectTask = ListPropertiesOfAnObjectTask
