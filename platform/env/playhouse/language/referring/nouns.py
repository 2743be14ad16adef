"""Nouns and the things that they certainly or possibly fit, so that no thing is named by a word open to doubt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.language.templates import plural
from interplay.env.playhouse.truth.facts import Thing

# Categories that the name of another one may be meant to include.
RELATED_CATEGORIES = {
    "table": {"dining table"},
    "chair": {"armchair", "mini chair"},
    "box": {"bin"},
    "lamp": {"lantern"},
}
MASS_NOUNS = {"grapes": ("bunch of {c}grapes", "bunches of {c}grapes")}  # singular and plural, if not by category
LONG_RATIO = 1.5  # length over width, seen from above, of things that some people call long

Categories = frozenset[str]


@dataclass(frozen=True)
class NounFamily:
    """A word for things of several categories. `{c}` marks the place of a color."""

    singulars: tuple[str, ...]  # "round {c}thing"
    plurals: tuple[str, ...]
    certain: Categories
    possible: Categories = frozenset()  # further categories that some people would count
    shape: bool = False


@dataclass(frozen=True)
class Noun:
    """A noun with its adjectives: "ball", "red ball", "round red thing", "thing"."""

    singulars: tuple[str, ...]  # alternatives with the same meaning
    plurals: tuple[str, ...]
    color: str | None
    categories: Categories | None  # None: any loose object
    possible: Categories  # further categories that some people would count

    def fits(self, thing: Thing) -> bool:
        """Tests whether the noun certainly fits a thing."""
        of_category = not thing.furniture if self.categories is None else thing.category in self.categories
        return of_category and self.color in (None, thing.color)

    def may_fit(self, thing: Thing) -> bool:
        """Tests whether the noun possibly fits a thing."""
        return self.fits(thing) or (thing.category in self.possible and self.color in (None, thing.color))


def category(name: str, color: str | None = None) -> Noun:
    """Returns "ball" or "red ball"."""
    one, many = MASS_NOUNS.get(name, (f"{{c}}{name}", f"{{c}}{plural(name)}"))
    return _noun(NounFamily((one,), (many,), frozenset({name})), color, RELATED_CATEGORIES.get(name, ()))


def thing(color: str | None = None) -> Noun:
    """Returns "thing" or "red thing", which fits any loose object."""
    family = NounFamily(("{c}thing", "{c}object"), ("{c}things", "{c}objects"), frozenset())
    return _noun(family, color, _FURNITURE, any_object=True)


def of_family(family: NounFamily, color: str | None = None) -> Noun:
    """Returns "round thing", "round red thing" or "yellow fruit"."""
    return _noun(family, color, family.possible)


def _noun(family: NounFamily, color: str | None, possible: Iterable[str], any_object: bool = False) -> Noun:
    c = f"{color} " if color else ""
    return Noun(
        singulars=tuple(one.format(c=c) for one in family.singulars),
        plurals=tuple(many.format(c=c) for many in family.plurals),
        color=color,
        categories=None if any_object else family.certain,
        possible=frozenset(possible),
    )


def _with_attribute(attribute: str) -> Categories:
    return frozenset(name for name, category in CATEGORIES.items() if attribute in category.attributes)


def _shape(word: str, certain: Categories, possible: Categories) -> NounFamily:
    singulars = (f"{word} {{c}}thing", f"{word} {{c}}object")
    plurals = (f"{word} {{c}}things", f"{word} {{c}}objects")
    return NounFamily(singulars, plurals, certain, possible, shape=True)


_FURNITURE = frozenset(name for name, category in CATEGORIES.items() if category.furniture)
_ROUND = _with_attribute("round")
_HALVES = {name: category.half_extents[:2] for name, category in CATEGORIES.items()}
_ELONGATED = frozenset(name for name, half in _HALVES.items() if max(half) >= LONG_RATIO * min(half))
_CIRCULAR = frozenset(name for name in _ROUND if CATEGORIES[name].shape == "cylinder")
FAMILIES = (
    _shape("round", _ROUND, frozenset({"pear", "plant", "soap", "teddy", "stool", "shoe"})),
    _shape("circular", _CIRCULAR, _ROUND | {"plant", "stool"}),
    _shape("rectangular", _with_attribute("rectangular"), _FURNITURE | {"bin", "train", "car", "soap"}),
    _shape("pointy", _with_attribute("pointy"), frozenset({"airplane", "candle", "bottle", "duck", "lemon"})),
    _shape("long", _with_attribute("long"), _ELONGATED | {"candle", "bottle", "rocket"}),
    NounFamily(("{c}fruit",), ("{c}fruits", "{c}pieces of fruit"), _with_attribute("eatable")),
    NounFamily(("{c}vehicle",), ("{c}vehicles",), _with_attribute("vehicle")),
    NounFamily(("{c}toy animal",), ("{c}toy animals",), _with_attribute("animal")),
    NounFamily(("{c}musical instrument",), ("{c}musical instruments",), _with_attribute("music")),
    NounFamily(("{c}thing that flies",), ("{c}things that fly",), _with_attribute("flies"), frozenset({"duck"})),
    NounFamily(("{c}thing that swims",), ("{c}things that swim",), _with_attribute("swims")),
    NounFamily(("{c}piece of furniture",), ("{c}pieces of furniture",), _FURNITURE, frozenset({"mini chair"})),
)
SHAPES = tuple(family for family in FAMILIES if family.shape)
