"""The Playhouse as a `World`: a house of rooms, furniture and objects, and two players who see, grasp and talk."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Image
from interplay.env.input_controls import InputControl
from interplay.env.playhouse.house.action_codec import COMPONENTS, CONTROLS, FRAMES_PER_STEP, MovementCodec
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House, make_house
from interplay.env.playhouse.language.templates import swap_sides
from interplay.env.playhouse.physics import saved_state
from interplay.env.playhouse.physics.model_cache import ModelCache
from interplay.env.playhouse.physics.simulation import FRAME_SECONDS, NOOP_MOVE, Moment, Move, Simulation, furnished
from interplay.env.playhouse.render.portrait import portrait
from interplay.env.playhouse.render.scene import Poses, Scene
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.playhouse.truth.observe import ROLES, GroundTruth
from interplay.env.reflection import Reflection
from interplay.env.roles import check_roles
from interplay.env.task import TaskSource
from interplay.env.world import Action, MovementRow, Outcome, RecordedScene, Start, View, World, WorldSpec

OUT_OF_SIGHT_M = -1000.0  # drawn position of a setter that is not in the house


class Playhouse(World):
    """One house at a time. `World` documents the methods."""

    ends = False

    def __init__(self, config: PlayhouseConfig) -> None:
        self.config = config
        self.codec = MovementCodec(config.components)
        self.spec = WorldSpec(
            name="playhouse",
            version=saved_state.VERSION,
            roles=ROLES,
            frames_per_step=FRAMES_PER_STEP,
            frames_per_second=1 / FRAME_SECONDS,
            image=(*config.image, 3),
            vector=0,
            movement=self.codec.components,
            utterances=True,
            poses=saved_state.poses_length(config),
        )
        self._models = ModelCache(setter_solid=config.setter_visible)
        self._episode: _Episode | None = None
        self._steppable = False
        self._moment: Moment | None = None
        self._unloaded: Moment | None = None  # shown, and not in the physics so far
        self._facts: HouseFacts | None = None

    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        if start.state is not None:
            self._restore(start.state).physics()
        else:
            assert start.seed is not None, "a Start has a seed or a state"
            self._episode = self._new_episode(start.seed)
            self._episode.physics().save()  # reloads the simulation, so that a later restore is bit-identical
        self._steppable = True
        self._clear_cache()
        return self._views(observers)

    def prepare_show(self, state: bytes) -> None:
        self._restore(state)
        self._steppable = False
        self._clear_cache()

    def _restore(self, state: bytes) -> _Episode:
        """Makes the saved episode the current one; its physics are built and loaded at their first use."""
        saved = saved_state.from_bytes(state, self.config)
        if self._episode is None or self._episode.house.seed != saved.seed:
            self._episode = self._new_episode(saved.seed)
        self._episode.restore(saved)
        return self._episode

    def _new_episode(self, seed: int) -> _Episode:
        return _Episode(make_house(self.config, seed), self.config, self._models)

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        episode = self._steppable_episode()
        moves = self._decode(actions)
        check_roles(actions, ROLES)
        episode.physics().frames(moves)
        episode.frame += FRAMES_PER_STEP
        for role, action in actions.items():
            if action.utterance is not None:
                episode.last_said[role] = action.utterance
        self._clear_cache()
        return Outcome(self._views(observers))

    def frame(
        self,
        rows: Mapping[str, MovementRow],
        utterances: Mapping[str, str] | None = None,
        observers: Collection[str] | None = None,
    ) -> Outcome:
        episode = self._steppable_episode()
        said = utterances or {}
        check_roles((*rows, *said), ROLES)
        pair = [self._decode_row(role, rows.get(role)) for role in ROLES]
        episode.physics().frame(pair)
        episode.frame += 1
        episode.last_said |= said
        self._clear_cache()
        return Outcome(self._views(observers))

    def _decode_row(self, role: str, row: MovementRow | None) -> Move:
        if row is None:
            return NOOP_MOVE
        move: Move = self.codec.decode(np.asarray(row)[None])[0].tolist()
        return NOOP_MOVE if role == ROLES[0] and not self.config.setter_visible else move

    def _decode(self, actions: Mapping[str, Action]) -> NDArray[np.float64]:
        """Moves [roles, frames, 8] of the floats of `action_codec`; 0 for a player without action or body."""
        moves = np.zeros((len(ROLES), FRAMES_PER_STEP, len(COMPONENTS)))
        for player, role in enumerate(ROLES):
            if (action := actions.get(role)) is None:
                continue
            movement = np.asarray(action.movement)
            if movement.shape[:1] != (FRAMES_PER_STEP,):
                raise ValueError(
                    f"the {role}'s movement has the shape {list(movement.shape)}; a step takes {FRAMES_PER_STEP} "
                    f"frames of {len(self.codec.components)} components"
                )
            floats = self.codec.decode(movement)
            if player or self.config.setter_visible:
                moves[player] = floats
        return moves

    def state(self) -> bytes:
        episode = self._current_episode()
        numbers = self.simulation.save()
        self._clear_cache()
        contact_log = episode.physics().contact_log
        contacts = None if contact_log is None else contact_log.events.ravel()
        saved = saved_state.SavedEpisode(episode.house.seed, episode.frame, episode.last_said, numbers, contacts)
        return saved_state.to_bytes(saved, self.config)

    def facts(self) -> HouseFacts:
        if self._facts is None:
            episode = self._current_episode()
            moment = self.moment()
            looking = [self.simulation.looked_at(player) for player in range(len(ROLES))]
            self._facts = episode.ground_truth.observe(moment, looking)
        return self._facts

    def tasks(self) -> TaskSource:
        return PlayhouseTasks(self.facts, self.spec, self.config)

    def moment(self) -> Moment:
        """The current moment, from which pictures and facts are computed."""
        if self._moment is None:
            self._moment = self.simulation.moment()
        return self._moment

    def poses(self) -> NDArray[np.float32]:
        return saved_state.write_poses(self.moment(), self._current_episode().house, self.config)

    def show(self, poses: NDArray[np.float32]) -> None:
        episode = self._current_episode()
        moment = saved_state.read_poses(poses, episode.furnished, episode.house, self.config)
        self._moment, self._unloaded, self._facts = moment, moment, None
        self._steppable = False

    def recorded_scene(self, state: bytes) -> RecordedScene:
        house = make_house(self.config, saved_state.from_bytes(state, self.config).seed)
        scene, start = Scene(house, self.config), furnished(house)

        def views(poses: NDArray[np.float32], role: str) -> list[View]:
            check_roles([role], ROLES)
            moments = saved_state.read_drawn_poses(poses, start, house, self.config)
            images = self._drawn(scene, moments, role, *self.config.image)
            return [View(image=image.copy()) for image in images]  # copies: one that is kept keeps no others

        return RecordedScene(views, scene.nbytes)

    def view(self, role: str) -> View:
        return replace(self.words(role), image=self.picture(role, *self.config.image))

    def words(self, role: str) -> View:
        """The current view of one role without its picture."""
        episode = self._current_episode()
        check_roles([role], ROLES)
        said = {name: episode.last_said.get(name, "") for name in ROLES}
        other = ROLES[1 - ROLES.index(role)]
        return View(heard=said[other], said=said[role])

    def picture(self, role: str, height: int, width: int) -> Image:
        """The current picture of a player, uint8 [height, width, 3]."""
        moment = self.moment()
        moments = (moment.positions[None], moment.quaternions[None], moment.avatars[None])
        picture: Image = self._drawn(self._current_episode().scene, moments, role, height, width)[0]
        return picture

    def _drawn(self, scene: Scene, moments: Poses, role: str, height: int, width: int) -> Image:
        """What a role sees at n moments, uint8 [n, height, width, 3]."""
        positions, quaternions, avatars = moments
        seen = avatars if self.config.setter_visible else hide_setter(avatars)
        return scene.draw_player((positions, quaternions, seen), ROLES.index(role), height, width)

    def controls(self, role: str) -> tuple[InputControl, ...]:
        if role == ROLES[0] and not self.config.setter_visible:
            return ()
        return tuple(control for control in CONTROLS if control.component in self.config.components)

    def reflection(self) -> Reflection:
        movement = [(component.name, component.bins, component.rest) for component in self.spec.movement]
        return Reflection(movement, ("strafe", "yaw", "rotate"), swap_sides)

    def portrait(self, height: int, width: int) -> Mapping[str, Image]:
        moment = self.moment()
        avatars = self._drawn_avatars(moment)
        return portrait(self._current_episode().scene, moment.positions, moment.quaternions, avatars, height, width)

    @property
    def house(self) -> House:
        """The house of this episode."""
        return self._current_episode().house

    @property
    def simulation(self) -> Simulation:
        """The physics of this episode; a shown moment is loaded into it here, because pictures do not need it."""
        simulation = self._current_episode().physics()
        if self._unloaded is not None:
            simulation.load_moment(self._unloaded)
            self._unloaded = None
        return simulation

    def _drawn_avatars(self, moment: Moment) -> NDArray[np.float32]:
        return moment.avatars if self.config.setter_visible else hide_setter(moment.avatars)

    def _current_episode(self) -> _Episode:
        if self._episode is None:
            raise ValueError("no episode has begun: call reset first")
        return self._episode

    def _steppable_episode(self) -> _Episode:
        if self._episode is not None and not self._steppable:
            raise ValueError("this world shows a recorded moment; reset it before it steps")
        return self._current_episode()

    def _clear_cache(self) -> None:
        self._moment = self._unloaded = self._facts = None

    def _views(self, observers: Collection[str] | None) -> dict[str, View]:
        return {role: self.view(role) for role in (ROLES if observers is None else observers)}


def hide_setter(avatars: NDArray[np.float32]) -> NDArray[np.float32]:
    """Avatars [..., 2, 4] as a world draws them in which the setter has no body."""
    hidden = avatars.copy()
    hidden[..., 0, :2] = OUT_OF_SIGHT_M
    return hidden


class _Episode:
    """State of one episode. Its physics are built at their first use: redrawing recorded moments needs none."""

    def __init__(self, house: House, config: PlayhouseConfig, models: ModelCache) -> None:
        self.house, self._config, self._models = house, config, models
        self.furnished = furnished(house)
        self.ground_truth = GroundTruth(house, config.view[0] / 2)
        self.frame = 0
        self.last_said: dict[str, str] = {}
        self._simulation: Simulation | None = None
        self._unloaded: saved_state.SavedEpisode | None = None  # restored, and not in the physics so far

    @cached_property
    def scene(self) -> Scene:
        """What pictures are drawn from; built at its first use, because a GPU may draw instead."""
        return Scene(self.house, self._config)

    def physics(self) -> Simulation:
        """The simulation, in the state restored last. Raises ValueError if it is of another version."""
        if self._simulation is None:
            self._simulation = Simulation(self.house, self._config, self._models)
        if self._unloaded is not None:
            saved, self._unloaded = self._unloaded, None
            self._load(self._simulation, saved)
        return self._simulation

    def restore(self, saved: saved_state.SavedEpisode) -> None:
        self._unloaded = saved
        self.frame = saved.frame
        self.last_said = dict(saved.last_said)

    def _load(self, simulation: Simulation, saved: saved_state.SavedEpisode) -> None:
        if len(saved.numbers) != simulation.saved_length:
            raise ValueError(
                f"the state holds {len(saved.numbers)} numbers, the house of seed {self.house.seed} has "
                f"{simulation.saved_length}: it was saved by another version of the Playhouse"
            )
        if simulation.contact_log is not None:
            simulation.contact_log.load(saved.contacts)
        simulation.load(saved.numbers)
