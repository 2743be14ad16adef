"""Gymnasium's spaces as the parts of a world: observations as image, vector and mission; actions as bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from interplay.env.arrays import Image
from interplay.env.world import Component

MOST_BINS = 127  # a bin is an int8


@dataclass(frozen=True)
class Senses:
    """What an observation space holds: perhaps one picture, perhaps a mission in words, and numbers."""

    space: spaces.Space[Any]
    picture: str | None  # the key of the picture in a Dict; "" where the space is the picture itself
    mission: str | None  # the key of the text in a Dict
    numbers: tuple[str, ...]  # the keys of all else; ("",) where the space itself is flattened
    image: tuple[int, int, int] | None  # (H, W, 3), after fitting
    vector: int  # numbers in all

    def read(self, observation: Any) -> tuple[Image | None, NDArray[np.float32] | None, str]:
        """One observation as (uint8 [H, W, 3] or None, float32 [V] or None, the mission or "")."""
        picture = None
        if self.picture is not None and self.image is not None:
            picture = fit(_entry(observation, self.picture), self.image[:2])
        vector = None
        if self.numbers:
            flat = [spaces.flatten(_entry(self.space, key), _entry(observation, key)) for key in self.numbers]
            vector = np.concatenate([np.asarray(part, np.float32).ravel() for part in flat])
        mission = "" if self.mission is None else str(_entry(observation, self.mission))
        return picture, vector, mission


def senses_of(space: spaces.Space[Any], size: tuple[int, int] | None) -> Senses:
    """Sorts an observation space into parts; pictures are fitted to `size` (height, width) where it is given.

    Raises:
        ValueError: the space holds two pictures, two texts, or something of no fixed size.
    """
    entries: Mapping[str, spaces.Space[Any]] = space.spaces if isinstance(space, spaces.Dict) else {"": space}
    pictures = [key for key, entry in entries.items() if _is_picture(entry)]
    texts = [key for key, entry in entries.items() if entry.dtype is not None and entry.dtype.kind == "U"]
    numbers = tuple(key for key in entries if key not in pictures and key not in texts)
    for what, found in (("pictures", pictures), ("texts", texts)):
        if len(found) > 1:
            raise ValueError(f"an agent sees one picture and hears one mission, but there are {what}: {found}")
    loose = [key or "the observation" for key in numbers if not entries[key].is_np_flattenable]
    if loose:
        raise ValueError(f"{loose} has no fixed size and cannot become a vector; wrap the environment to encode it")
    image = None
    if pictures:
        shape = entries[pictures[0]].shape
        assert shape is not None
        image = (*(size or (shape[0], shape[1])), 3)
    return Senses(
        space=space,
        picture=pictures[0] if pictures else None,
        mission=texts[0] if texts else None,
        numbers=numbers,
        image=image,
        vector=sum(spaces.flatdim(entries[key]) for key in numbers),
    )


def fit(picture: NDArray[np.uint8], size: tuple[int, int]) -> Image:
    """A picture [h, w, 1 or 3] as uint8 [H, W, 3]: a whole multiple of itself, or sampled down where it is too
    large, in the middle of black. Whole multiples keep a grid world's tiles square and crisp."""
    height, width = size
    h, w = picture.shape[:2]
    scale = min(height / h, width / w)
    scale = float(int(scale)) if scale >= 1 else scale
    new_h, new_w = max(1, int(h * scale)), max(1, int(w * scale))
    rows = (np.arange(new_h) * h) // new_h
    columns = (np.arange(new_w) * w) // new_w
    fitted = np.zeros((height, width, 3), np.uint8)
    top, left = (height - new_h) // 2, (width - new_w) // 2
    fitted[top : top + new_h, left : left + new_w] = picture[rows][:, columns]
    return fitted


@dataclass(frozen=True)
class Controls:
    """How the bins of a movement action become an action of the environment."""

    space: spaces.Space[Any]
    components: tuple[Component, ...]
    levels: tuple[NDArray[np.float32], ...] = ()  # by component, the number each bin stands for; continuous only

    def action(self, bins: Sequence[int]) -> Any:
        """Bins, one a component, as an action that the environment takes."""
        if isinstance(self.space, spaces.Discrete):
            return self.space.start + bins[0]
        if isinstance(self.space, spaces.MultiDiscrete):
            return (self.space.start.ravel() + np.array(bins)).reshape(self.space.shape).astype(self.space.dtype)
        values = [level[chosen] for level, chosen in zip(self.levels, bins, strict=True)]
        return np.array(values).reshape(self.space.shape).astype(self.space.dtype)


def controls_of(space: spaces.Space[Any], bins: int, rest: int) -> Controls:
    """The components of an action space: a Discrete is one, a MultiDiscrete several, a Box one a number.

    `bins`: how finely a continuous number is cut; `rest`: the action of a Discrete that does nothing.

    Raises:
        ValueError: a space of another kind, without bounds, or with more than 127 choices.
    """
    if isinstance(space, spaces.Discrete):
        return Controls(space, (_component("action", int(space.n), rest),))
    if isinstance(space, spaces.MultiDiscrete):
        counts = space.nvec.ravel()
        return Controls(space, tuple(_component(f"action{i}", int(n), 0) for i, n in enumerate(counts)))
    if not isinstance(space, spaces.Box):
        raise ValueError(f"actions of {space} are not supported: Discrete, MultiDiscrete and Box are")
    if not space.is_bounded():
        raise ValueError(f"the actions {space} have no bounds to cut into bins; wrap the environment to bound them")
    bounds = zip(space.low.ravel(), space.high.ravel(), strict=True)
    levels = tuple(np.linspace(low, high, bins, dtype=np.float32) for low, high in bounds)
    # The rest is the bin nearest to zero: no force, no speed.
    components = [_component(f"action{i}", bins, int(np.abs(level).argmin())) for i, level in enumerate(levels)]
    return Controls(space, tuple(components), levels)


def _component(name: str, bins: int, rest: int) -> Component:
    if bins > MOST_BINS:
        raise ValueError(f"{name} has {bins} choices, at most {MOST_BINS} are supported")
    if not 0 <= rest < bins:
        raise ValueError(f"env.rest={rest} is none of the {bins} actions; choose 0 to {bins - 1}")
    return Component(name, bins, rest)


def _is_picture(space: spaces.Space[Any]) -> bool:
    return (
        isinstance(space, spaces.Box) and space.dtype == np.uint8 and len(space.shape) == 3 and space.shape[2] in (1, 3)
    )


def _entry(whole: Any, key: str) -> Any:
    """An entry of a Dict space or observation, or the whole where it is not a Dict."""
    return whole[key] if key else whole
