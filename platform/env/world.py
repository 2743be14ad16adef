"""Interface of a world: what its players observe, do and say, and how an episode is saved.

The canonical loop, for any world::

    world = registry.make("playhouse")
    views = world.reset(Start(seed=7))
    while True:
        actions = {role: Action(movement, utterance) for role in world.spec.roles}
        outcome = world.step(actions)          # one agent step = spec.frames_per_step frames
        if outcome.done:
            break

Code outside this folder does not depend on a particular world: the agent is built from ``world.spec``, scripted
players sample tasks from ``world.tasks()``, and raters and probes read ``world.facts()``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Image, fit_picture
from interplay.env.input_controls import InputControl, default_controls
from interplay.env.spec_checks import check_part, is_finite, is_number, is_picture_shape, is_whole

if TYPE_CHECKING:
    from interplay.env.reflection import Reflection
    from interplay.env.task import TaskSource

Movement = NDArray[np.int8]  # [frames_per_step, components]: the chosen bin of each component in each frame
MovementRow = NDArray[np.int8]  # [components]: one frame of a movement
MAX_BINS = 127  # a bin is an int8
ALLOWED_ROLES = (("setter", "solver"), ("solver",))  # the roles that a world may have


@dataclass(frozen=True)
class Component:
    """One categorical dimension of a movement action: name, number of bins, and the bin that does nothing."""

    name: str
    bins: int
    rest: int


@dataclass(frozen=True)
class WorldSpec:
    """Observation and action spaces of a world. Of what the world does not have, `image` is None, `vector` and `poses`
    are 0, and `movement` is empty.

    Raises:
        ValueError: a field has a value that no world can have.
    """

    name: str
    version: int
    roles: tuple[str, ...]  # "setter", "solver", or "solver" alone; the setter gives tasks, the solver acts and answers
    frames_per_step: int  # frames in one agent step: 8 in the Playhouse, 1 in a turn-based world
    frames_per_second: float
    image: tuple[int, int, int] | None  # (H, W, 3), uint8
    vector: int  # length of the float32 vector observation
    movement: tuple[Component, ...]
    utterances: bool  # whether players speak and hear each other
    poses: int  # length of the float32 vector from which `show` redraws a moment; 0 if pictures must be stored

    def __post_init__(self) -> None:
        speed = self.frames_per_second
        allowed = {
            "name": (isinstance(self.name, str) and self.name != "", "a text that is not empty"),
            "roles": (self.roles in ALLOWED_ROLES, " or ".join(map(repr, ALLOWED_ROLES)) + ", in this order"),
            "frames_per_step": (is_whole(self.frames_per_step, least=1), "a whole number of 1 or more"),
            "frames_per_second": (is_number(speed) and 0 < speed < math.inf, "a number above 0"),
            "image": (self.image is None or is_picture_shape(self.image), "(height, width, 3), or None for none"),
            "vector": (is_whole(self.vector, least=0), "a whole number, 0 for no vector"),
            "movement": (_are_components(self.movement), "a tuple of Component, () for no movement"),
            "poses": (is_whole(self.poses, least=0), "a whole number, 0 for no poses"),
        }
        for name, (fits, wanted) in allowed.items():
            if not fits:
                raise ValueError(
                    f"the spec of the world {self.name!r} has {name}={getattr(self, name)!r}; give {wanted}"
                )
        for component in self.movement:
            _check_component(self.name, component)
        if not (self.image or self.vector or self.utterances):
            raise ValueError(
                f"the world {self.name!r} shows its players nothing: give its spec an image, a vector, or "
                "utterances=True"
            )
        if not (self.movement or self.utterances):
            raise ValueError(
                f"the world {self.name!r} gives its players nothing to do: give its spec a movement, or utterances=True"
            )

    @property
    def solver(self) -> str:
        """The role that the agent learns."""
        return self.roles[-1]

    @property
    def seconds_per_step(self) -> float:
        """The length of an agent step in the time of the world."""
        return self.frames_per_step / self.frames_per_second

    @property
    def says_tasks(self) -> bool:
        """Whether the solver hears its tasks: there is a setter, and players hear each other."""
        return self.utterances and len(self.roles) > 1

    def rest(self) -> Movement:
        """The no-op movement, int8 [frames_per_step, components]."""
        return self._rest.copy()

    def check(self, part: Literal["image", "vector"], array: NDArray[Any] | None) -> None:
        """Checks a part of a view that this spec promises. NumPy would repeat or round another one silently.

        Raises:
            ValueError: it is missing or has another shape or type, or a vector has NaN or infinity.
        """
        check_part(self.name, part, array, tuple(self.image or ()) if part == "image" else (self.vector,))

    @cached_property
    def _rest(self) -> Movement:
        row = np.array([component.rest for component in self.movement], dtype=np.int8)
        return np.tile(row, (self.frames_per_step, 1))


@dataclass(frozen=True)
class View:
    """Observation of one player at one step. Never holds ground truth."""

    image: Image | None = None  # uint8 [H, W, 3], as in the spec
    vector: NDArray[np.float32] | None = None  # [spec.vector], of finite numbers
    heard: str = ""  # the other player's last utterance
    said: str = ""  # this player's own last utterance

    def __post_init__(self) -> None:
        """Refuses what is not text, which would be recorded, and end training when it is split into words."""
        for name, text in (("heard", self.heard), ("said", self.said)):
            if not isinstance(text, str):
                raise ValueError(f'a View holds texts, got {name}={text!r}; give "" where nobody has spoken')


@dataclass(frozen=True)
class RecordedScene:
    """Redraws moments of one recorded episode, whatever else its world does in between."""

    # The views of a role at recorded moments [n, spec.poses]; they hold no utterances.
    views: Callable[[NDArray[np.float32], str], list[View]]
    nbytes: int  # memory that it holds


@dataclass(frozen=True)
class Action:
    """Action of one player in one step: a movement of `frames_per_step` frames, and optionally an utterance."""

    movement: Movement  # int8 [frames_per_step, components]
    utterance: str | None = None  # None: silence


@dataclass(frozen=True)
class Start:
    """Start of an episode: a seed for a new one, or a saved state to continue."""

    seed: int | None = None  # from 0 to 2**63 - 1
    state: bytes | None = None  # as `World.state` saved it

    def __post_init__(self) -> None:
        if (self.seed is None) == (self.state is None):
            raise ValueError(
                f"Start takes either a seed or a state, got seed={self.seed!r} and "
                f"state={'None' if self.state is None else f'{len(self.state)} bytes'}"
            )


@dataclass(frozen=True)
class Outcome:
    """Result of one step."""

    views: Mapping[str, View]  # of the roles in `observers`
    done: bool = False  # the world ended the episode; time limits are applied by the caller
    env_reward: float = 0.0  # of this step, as `reinforce.reward=world` pays it
    truncated: bool = False  # `done` by a time limit of the world: the last view is not of a terminal state

    def __post_init__(self) -> None:
        if not is_finite(self.env_reward):
            raise ValueError(
                f"the reward of a step is a finite number, and this one is {self.env_reward}; change the world's "
                "rewards"
            )
        if self.truncated and not self.done:
            raise ValueError(
                "an Outcome has truncated=True and done=False; give done=True with it where a time limit of the world "
                "ends the episode, and leave `truncated` out elsewhere"
            )


class World(ABC):
    """A world that runs one episode at a time. Not thread-safe: create one per lane."""

    spec: WorldSpec
    ends: bool = True  # whether a step may end the episode (`Outcome.done`); False: the caller's time limit alone does

    @abstractmethod
    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        """Starts an episode and returns the views of the roles in `observers` (None: all roles).

        Raises:
            ValueError: `start.state` was not saved by this world with this version and configuration.
        """

    @abstractmethod
    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        """Runs `spec.frames_per_step` frames. A role without an entry in `actions` does nothing and stays silent.

        The other role hears an utterance in the views that this step returns. Views are made only for the roles in
        `observers`, because rendering dominates the cost of a step.

        Raises:
            ValueError: a movement of the wrong shape, a bin out of range, or an unknown role.
        """

    def frame(
        self,
        rows: Mapping[str, MovementRow],
        utterances: Mapping[str, str] | None = None,
        observers: Collection[str] | None = None,
    ) -> Outcome:
        """Runs one frame, by a row of bins int8 [components] of each role; for worlds that people play live.

        `spec.frames_per_step` frames, with a step's utterances in the first, lead bit for bit to where `step` leads.
        A world of one frame a step need not define it.

        Raises:
            NotImplementedError: the world only runs whole steps.
            ValueError: as `step` does.
        """
        if self.spec.frames_per_step != 1:
            raise NotImplementedError(f"{self.spec.name} runs whole steps only: define `frame` to play it live")
        said = utterances or {}
        movements = {role: np.asarray(row)[None] for role, row in rows.items()}
        rest = self.spec.rest()
        roles = dict.fromkeys((*movements, *said))
        return self.step({role: Action(movements.get(role, rest), said.get(role)) for role in roles}, observers)

    @property
    def runs_frames(self) -> bool:
        """Whether `frame` works, so that people can play this world live."""
        return self.spec.frames_per_step == 1 or type(self).frame is not World.frame

    @abstractmethod
    def state(self) -> bytes:
        """Saves the episode. `reset(Start(state=...))` continues it bit-identically, in this process or another: same
        later states, same pictures. May reload the live simulation from what was saved, so that both continue from
        the same numbers."""

    @abstractmethod
    def facts(self) -> Any:
        """Ground truth for scripted players, raters and probes (see `interplay.env.task`); never an observation."""

    @abstractmethod
    def tasks(self) -> TaskSource:
        """The tasks that are possible in the current state of this world."""

    def seed_for(self, kind: str, rng: np.random.Generator) -> int:
        """A seed whose start is likely to allow a task of this kind; by default any seed.

        Evaluation draws the starts of probes from it, and draws again where the kind turns out to be infeasible. A
        world whose seeds each allow only few kinds should define it, so that it isn't asked in vain.
        """
        return int(rng.integers(2**31))

    def poses(self) -> NDArray[np.float32]:
        """The current moment as a float32 vector [spec.poses], from which `show` redraws it."""
        raise NotImplementedError(f"{self.spec.name} keeps no poses: store its pictures")

    def prepare_show(self, state: bytes) -> None:
        """Prepares `show` for the moments of the episode that started from a saved state; `step` requires a `reset`
        afterwards. A world may do less here than in `reset`, because nothing is simulated.

        Raises:
            ValueError: the state was not saved by this world with this version and configuration.
        """
        self.reset(Start(state=state), observers=())

    def show(self, poses: NDArray[np.float32]) -> None:
        """Makes `view` and `facts` describe a recorded moment of this episode, without simulating it.

        Requires a preceding `prepare_show`, or `reset`, with the start of that episode; `step` requires another `reset`
        afterwards."""
        raise NotImplementedError(f"{self.spec.name} keeps no poses: store its pictures")

    def recorded_scene(self, state: bytes) -> RecordedScene:
        """What redraws moments of the episode that started from a saved state: what `prepare_show`, `show` and `view`
        give for each, and as these it may change what this world shows. Worlds may draw many at once.

        Raises:
            ValueError: as `prepare_show` does; perhaps only when `views` is called.
        """

        def views(poses: NDArray[np.float32], role: str) -> list[View]:
            self.prepare_show(state)
            found = []
            for row in poses:
                self.show(row)
                view = self.view(role)
                found.append(View(view.image, view.vector))
            return found

        return RecordedScene(views, len(state))

    def view(self, role: str) -> View:
        """The current view of one role, rendered on this call."""
        raise NotImplementedError

    def picture(self, role: str, height: int, width: int) -> Image:
        """What a role sees, uint8 [height, width, 3]; by default the picture of its view, fitted to that size.

        Raises:
            ValueError: the world shows no pictures (`spec.image` is None).
        """
        image = self.view(role).image
        if image is None:
            raise ValueError(f"{self.spec.name} shows no pictures; it is played by its words alone")
        return fit_picture(image, (height, width))

    def film(self, height: int, width: int) -> Image:
        """The current picture of a film of a recording: by default what the solver sees.

        Raises:
            ValueError: as `picture` does.
        """
        return self.picture(self.spec.solver, height, width)

    def controls(self, role: str) -> tuple[InputControl, ...]:
        """The controls by which a person moves a role. Empty: the role has no body.

        By default the bins of the solver's movement, on keys in their order."""
        if role != self.spec.solver:
            return ()
        movement = [(component.name, component.bins, component.rest) for component in self.spec.movement]
        return default_controls(movement, turn_based=self.spec.frames_per_step == 1)

    def seen_by(self, role: str) -> str:
        """The role whose picture a person in this seat sees: by default its own with controls, else the solver's."""
        return role if role in self.spec.roles and self.controls(role) else self.spec.solver

    def reflection(self) -> Reflection | None:
        """How movements and words change with mirrored pictures; None if a mirrored episode is none of this world.

        Demonstrations are mirrored by it (`dataset.mirror`). By default None."""
        return None

    def symbols(self, role: str) -> str:
        """The characters by which a person types a role's movement, one a step: the k-th is bin k of its one component.
        Empty: the role is moved by `controls`."""
        return ""

    def spoken(self) -> str:
        """What the world itself has said in the last step or reset, to be read by people; by default nothing."""
        return ""

    @property
    def gives_tasks(self) -> bool:
        """Whether the world itself says what to do (`spoken`), in words that a scripted setter repeats."""
        return False

    @property
    def waits(self) -> bool:
        """Whether the world has nothing to say until a player acts, so that a live session pauses."""
        return False

    def portrait(self, height: int, width: int) -> Mapping[str, Image]:
        """Pictures for people, by title: each player's view, an overview, a map. Empty if the world has none."""
        return {}

    def close(self) -> None:
        """Releases the resources of the world."""
        return


def _check_component(world: str, component: Component) -> None:
    if not is_whole(component.bins, least=1) or component.bins > MAX_BINS:
        raise ValueError(
            f"the spec of the world {world!r} has {component} in movement; give bins from 1 to {MAX_BINS}, which fit "
            "an int8"
        )
    if not is_whole(component.rest, least=0) or component.rest >= component.bins:
        raise ValueError(
            f"the spec of the world {world!r} has {component} in movement; give as rest one of its bins, from 0 to "
            f"{component.bins - 1}"
        )


def _are_components(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(each, Component) for each in value)
