"""Nouns, and what they fit: surely, or only perhaps, so that nothing is named by a word that one could argue about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.language.templates import plural
from interplay.env.playhouse.truth.facts import Thing

# What the same word may be meant to include.
KIN = {"table": {"dining table"}, "chair": {"armchair", "mini chair"}, "box": {"bin"}, "lamp": {"lantern"}}
COLLECTED = {"grapes": ("bunch of {c}grapes", "bunches of {c}grapes")}  # what is not said of one as its category is
LONGISH = 1.5  # length over width, seen from above, of what some would call long

Categories = frozenset[str]


@dataclass(frozen=True)
class NounFamily:
    """A word for things of several categories. `{c}` stands where a color may."""

    ones: tuple[str, ...]  # "round {c}thing"
    many: tuple[str, ...]
    surely: Categories
    perhaps: Categories = frozenset()  # further categories, that some would count
    shape: bool = False


@dataclass(frozen=True)
class Noun:
    """A noun with its adjectives: "ball", "red ball", "round red thing", "thing"."""

    ones: tuple[str, ...]  # in several ways
    many: tuple[str, ...]
    color: str | None
    categories: Categories | None  # None: any loose thing
    perhaps: Categories

    def fits(self, thing: Thing) -> bool:
        of_kind = not thing.furniture if self.categories is None else thing.category in self.categories
        return of_kind and self.color in (None, thing.color)

    def may_fit(self, thing: Thing) -> bool:
        return self.fits(thing) or (thing.category in self.perhaps and self.color in (None, thing.color))


def category(name: str, color: str | None = None) -> Noun:
    """ "ball", "red ball"."""
    one, many = COLLECTED.get(name, (f"{{c}}{name}", f"{{c}}{plural(name)}"))
    return _sort(NounFamily((one,), (many,), frozenset({name})), color, KIN.get(name, ()))


def thing(color: str | None = None) -> Noun:
    """ "thing", "red object": whatever is loose."""
    family = NounFamily(("{c}thing", "{c}object"), ("{c}things", "{c}objects"), frozenset())
    return _sort(family, color, _FURNITURE, anything=True)


def of_family(family: NounFamily, color: str | None = None) -> Noun:
    """ "round thing", "round red thing", "yellow fruit"."""
    return _sort(family, color, family.perhaps)


def _sort(family: NounFamily, color: str | None, perhaps: Iterable[str], anything: bool = False) -> Noun:
    c = f"{color} " if color else ""
    return Noun(
        ones=tuple(one.format(c=c) for one in family.ones),
        many=tuple(many.format(c=c) for many in family.many),
        color=color,
        categories=None if anything else family.surely,
        perhaps=frozenset(perhaps),
    )


def _with(attribute: str) -> Categories:
    return frozenset(name for name, category in CATEGORIES.items() if attribute in category.attributes)


def _longish() -> Categories:
    halves = {name: category.half_extents for name, category in CATEGORIES.items()}
    return frozenset(name for name, (x, y, _) in halves.items() if max(x, y) >= LONGISH * min(x, y))


def _shaped(word: str, surely: Categories, perhaps: Categories) -> NounFamily:
    ones, many = (f"{word} {{c}}thing", f"{word} {{c}}object"), (f"{word} {{c}}things", f"{word} {{c}}objects")
    return NounFamily(ones, many, surely, perhaps, shape=True)


_FURNITURE = frozenset(name for name, category in CATEGORIES.items() if category.furniture)
_ROUND = _with("round")
_CIRCULAR = frozenset(name for name in _ROUND if CATEGORIES[name].shape == "cylinder")
FAMILIES = (
    _shaped("round", _ROUND, frozenset({"pear", "plant", "soap", "teddy", "stool", "shoe"})),
    _shaped("circular", _CIRCULAR, _ROUND | {"plant", "stool"}),
    _shaped("rectangular", _with("rectangular"), _FURNITURE | {"bin", "train", "car", "soap"}),
    _shaped("pointy", _with("pointy"), frozenset({"airplane", "candle", "bottle", "duck", "lemon"})),
    _shaped("long", _with("long"), _longish() | {"candle", "bottle", "rocket"}),
    NounFamily(("{c}fruit",), ("{c}fruits", "{c}pieces of fruit"), _with("eatable")),
    NounFamily(("{c}vehicle",), ("{c}vehicles",), _with("vehicle")),
    NounFamily(("{c}toy animal",), ("{c}toy animals",), _with("animal")),
    NounFamily(("{c}musical instrument",), ("{c}musical instruments",), _with("music")),
    NounFamily(("{c}thing that flies",), ("{c}things that fly",), _with("flies"), frozenset({"duck"})),
    NounFamily(("{c}thing that swims",), ("{c}things that swim",), _with("swims")),
    NounFamily(("{c}piece of furniture",), ("{c}pieces of furniture",), _FURNITURE, frozenset({"mini chair"})),
)
SHAPES = tuple(family for family in FAMILIES if family.shape)
