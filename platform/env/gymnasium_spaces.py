"""Conversion of Gymnasium spaces: observations to image, vector and mission; bins to actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from interplay.env.arrays import Image, fit_picture
from interplay.env.world import MAX_BINS, Component


@dataclass(frozen=True)
class ObservationParts:
    """Parts of an observation space: at most one picture, at most one mission text, and numbers."""

    space: spaces.Space[Any]
    picture: str | None  # key of the picture in a Dict; "" if the space is the picture itself
    mission: str | None  # key of the text in a Dict
    numbers: tuple[str, ...]  # keys of everything else; ("",) if the space itself is flattened
    image: tuple[int, int, int] | None  # (H, W, 3), after fitting
    vector: int  # total count of numbers

    def read(self, observation: Any) -> tuple[Image | None, NDArray[np.float32] | None, str]:
        """One observation as (uint8 [H, W, 3] or None, float32 [V] or None, the mission or "").

        Raises:
            ValueError: something is missing, the picture has another shape or type than its space, or a choice is none
                of its space.
        """
        wanted = [key for key in (self.picture, self.mission, *self.numbers) if key]
        lacking = [key for key in wanted if not isinstance(observation, Mapping) or key not in observation]
        if lacking:
            raise ValueError(
                f"the observation space has {lacking}, which is missing in an observation of type "
                f"{type(observation).__name__}; change the environment's observations, or its space"
            )
        picture = None
        if self.picture is not None and self.image is not None:
            shown = _entry(observation, self.picture)
            _check_picture(_entry(self.space, self.picture), shown)
            picture = fit_picture(np.asarray(shown), self.image[:2])
        vector = None
        if self.numbers:
            flat = [_flattened(_entry(self.space, key), _entry(observation, key)) for key in self.numbers]
            with np.errstate(over="ignore"):  # the world refuses numbers beyond float32 as infinite
                vector = np.concatenate([np.asarray(part, np.float32).ravel() for part in flat])
        mission = "" if self.mission is None else str(_entry(observation, self.mission))
        return picture, vector, mission

    @property
    def like_pictures(self) -> dict[str, spaces.Box]:
        """The numbers that may be meant as a picture, by key: two sides of 8 or more, in another form than pictures."""
        entries = {key: _entry(self.space, key) for key in self.numbers}
        return {
            key: entry
            for key, entry in entries.items()
            if isinstance(entry, spaces.Box) and len(entry.shape) in (2, 3) and sorted(entry.shape)[-2] >= 8
        }


def observation_parts_of(space: spaces.Space[Any], size: tuple[int, int] | None) -> ObservationParts:
    """Splits an observation space into parts; pictures are fitted to `size` (height, width) if given.

    Raises:
        ValueError: the space holds two pictures, two texts, or something of no fixed size.
    """
    entries: Mapping[str, spaces.Space[Any]] = space.spaces if isinstance(space, spaces.Dict) else {"": space}
    pictures = [key for key, entry in entries.items() if _is_picture(entry)]
    texts = [key for key, entry in entries.items() if entry.dtype is not None and entry.dtype.kind == "U"]
    numbers = tuple(key for key in entries if key not in pictures and key not in texts)
    for what, found in (("pictures", pictures), ("texts", texts)):
        if len(found) > 1:
            raise ValueError(
                f"an agent sees one picture and hears one mission, but there are {what}: {found}; wrap the environment "
                "to leave out the others, as gymnasium.wrappers.FilterObservation does"
            )
    loose = [key for key in numbers if not entries[key].is_np_flattenable]
    if loose:
        raise ValueError(
            f"observations of {entries[loose[0]]} have no fixed size and cannot become a vector; wrap the environment "
            "to encode them, or to leave them out"
        )
    image = None
    if pictures:
        shape = entries[pictures[0]].shape
        assert shape is not None
        image = (*(size or (shape[0], shape[1])), 3)
    return ObservationParts(
        space=space,
        picture=pictures[0] if pictures else None,
        mission=texts[0] if texts else None,
        numbers=numbers,
        image=image,
        vector=sum(spaces.flatdim(entries[key]) for key in numbers),
    )


@dataclass(frozen=True)
class SpaceActionCodec:
    """Mapping from the bins of a movement to an action of the environment."""

    space: spaces.Space[Any]
    components: tuple[Component, ...]
    levels: tuple[NDArray[np.floating[Any]], ...] = ()  # value of each bin, per component; continuous only

    def action(self, bins: Sequence[int]) -> Any:
        """Converts one bin per component to an action of the environment."""
        if isinstance(self.space, spaces.Discrete):
            return self.space.start + bins[0]
        if isinstance(self.space, spaces.MultiDiscrete):
            return (self.space.start.ravel() + np.array(bins)).reshape(self.space.shape).astype(self.space.dtype)
        values = [level[chosen] for level, chosen in zip(self.levels, bins, strict=True)]
        return np.array(values).reshape(self.space.shape).astype(self.space.dtype)

    def bins(self, action: Any) -> list[int]:
        """The bins of an action: the inverse of `action`.

        Raises:
            ValueError: the action is none of the space, or at none of the bins.
        """
        given = np.asarray(action)
        if given.shape != self.space.shape:
            raise ValueError(f"an action has shape {given.shape}, and the actions are {self.space}")
        if isinstance(self.space, spaces.Box):
            chosen = [int(np.abs(level - value).argmin()) for level, value in zip(self.levels, given.flat, strict=True)]
        else:
            assert isinstance(self.space, spaces.Discrete | spaces.MultiDiscrete)
            chosen = [int(each) for each in (given - self.space.start).flat]
        if not all(0 <= each < part.bins for each, part in zip(chosen, self.components, strict=True)):
            raise ValueError(f"the action {given.tolist()} is none of {self.space}")
        if not np.allclose(self.action(chosen), given):
            raise ValueError(
                f"the action {given.tolist()} is at none of the bins {[level.tolist() for level in self.levels]}; "
                "choose other bins by env.bins"
            )
        return chosen


def action_codec_of(space: spaces.Space[Any], bins: int, rest: int) -> SpaceActionCodec:
    """Components of an action space: one for a Discrete, several for a MultiDiscrete, one per number for a Box.

    `bins`: resolution of a continuous number; `rest`: the no-op of a Discrete.

    Raises:
        ValueError: a space of another kind, without bounds, or with more than 127 choices.
    """
    if isinstance(space, spaces.Discrete):
        return SpaceActionCodec(space, (_component("action", int(space.n), rest),))
    if isinstance(space, spaces.MultiDiscrete):
        counts = space.nvec.ravel()
        return SpaceActionCodec(space, tuple(_component(f"action{i}", int(n), 0) for i, n in enumerate(counts)))
    if not isinstance(space, spaces.Box):
        raise ValueError(
            f"actions of {space} are not supported: Discrete, MultiDiscrete and Box are; wrap the environment to have "
            "actions of one of them, as gymnasium.ActionWrapper does"
        )
    # In the precision of the space: a bound rounded to float32 may lie outside of one of float64.
    precision = space.dtype if np.issubdtype(space.dtype, np.floating) else np.float32
    low, high = (bound.ravel().astype(precision) for bound in (space.low, space.high))
    with np.errstate(over="ignore", invalid="ignore"):
        bounded = np.isfinite(high - low).all()  # the largest floats of both signs stand for no bounds, too
    if not bounded:
        raise ValueError(f"the actions {space} have no bounds to cut into bins; wrap the environment to bound them")
    levels = tuple(np.linspace(*bounds, bins, dtype=precision) for bounds in zip(low, high, strict=True))
    # The no-op is the bin nearest to zero: no force, no speed.
    components = [_component(f"action{i}", bins, int(np.abs(level).argmin())) for i, level in enumerate(levels)]
    return SpaceActionCodec(space, tuple(components), levels)


def _component(name: str, bins: int, rest: int) -> Component:
    if bins > MAX_BINS:
        raise ValueError(
            f"{name} has {bins} choices, at most {MAX_BINS} are supported; wrap the environment to have fewer, or to "
            "split them into the parts of a MultiDiscrete"
        )
    if not 0 <= rest < bins:
        raise ValueError(f"env.rest={rest} is none of the {bins} actions; choose 0 to {bins - 1}")
    return Component(name, bins, rest)


def _is_picture(space: spaces.Space[Any]) -> bool:
    return (
        isinstance(space, spaces.Box) and space.dtype == np.uint8 and len(space.shape) == 3 and space.shape[2] in (1, 3)
    )


def _check_picture(space: spaces.Space[Any], picture: Any) -> None:
    """Raises ValueError for a picture that is not of its space: numbers from 0 to 1 would be cast to black."""
    seen = np.asarray(picture)
    if seen.shape != space.shape or seen.dtype != space.dtype:
        raise ValueError(
            f"the observation space has pictures of shape {space.shape} and type {space.dtype}, but one came with "
            f"shape {seen.shape} and type {seen.dtype}; change the environment's observations, or its space"
        )


def _flattened(space: spaces.Space[Any], value: Any) -> NDArray[Any]:
    """The numbers of a value of a space.

    Raises:
        ValueError: a choice outside of its space, which would set another one or none, or a value of another form.
    """
    try:
        if _is_within(space, value):
            return np.asarray(spaces.flatten(space, value))
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):
        pass  # Gymnasium's errors about values of another form name neither
    raise ValueError(
        f"the observation space has {space}, but {value!r} came; change the environment's observations, or its space"
    )


def _is_within(space: spaces.Space[Any], value: Any) -> bool:
    """Whether a value has one of the choices of each Discrete and MultiDiscrete of a space, and as many numbers as each
    Box."""
    if isinstance(space, spaces.Dict):
        return all(_is_within(part, value[key]) for key, part in space.items())
    if isinstance(space, spaces.Tuple):
        return all(_is_within(part, each) for part, each in zip(space, value, strict=True))
    if isinstance(space, spaces.Discrete):
        return bool(0 <= value - space.start < space.n)
    if isinstance(space, spaces.MultiDiscrete):
        chosen = np.asarray(value) - space.start
        return np.shape(value) == space.shape and bool(((chosen >= 0) & (chosen < space.nvec)).all())
    return not isinstance(space, spaces.Box) or np.size(value) == np.prod(space.shape)


def _entry(whole: Any, key: str) -> Any:
    """An entry of a Dict space or observation; the whole if `key` is empty."""
    return whole[key] if key else whole
