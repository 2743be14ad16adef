"""Recording of an episode while it is played."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from interplay.env.world import Action, Outcome, View, World, WorldSpec
from interplay.episodes import transcript
from interplay.episodes.episode import Episode, EpisodeMeta, Prompt, Utterance, new_episode_id

Steers = Mapping[str, str | Sequence[tuple[int, str]]]
REPLACED = "replaced"  # ending of a task that is still open when the next one is asked


@dataclass
class _Draft:
    """The recorded part of the current episode."""

    id: str
    seed: int
    initial_state: bytes
    heard: str = ""  # what the solver has heard, by the utterances recorded so far
    actions: dict[str, list[NDArray[np.int8]]] = field(default_factory=dict)
    env_reward: list[float] = field(default_factory=list)
    poses: list[NDArray[np.float32]] = field(default_factory=list)
    images: dict[str, list[NDArray[np.uint8]]] = field(default_factory=dict)
    vectors: dict[str, list[NDArray[np.float32]]] = field(default_factory=dict)
    utterances: list[Utterance] = field(default_factory=list)
    tasks: list[tuple[int, Mapping[str, Any]]] = field(default_factory=list)
    endings: list[tuple[int, str]] = field(default_factory=list)
    control: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    prompts: list[Prompt] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)


class EpisodeRecorder:
    """Records one episode after another from one world::

        recorder = EpisodeRecorder(world, players={"setter": {"kind": "scripted"}, "solver": {"kind": "agent"}})
        views = world.reset(Start(seed=7))
        recorder.begin(seed=7, views=views)      # before the first step: it saves the world's state
        recorder.ask(task.to_json())             # the current task from now on; later perhaps end_task("done")
        outcome = world.step(actions)
        recorder.record(actions, outcome)
        episode = recorder.finish()

    Each row is stored as poses if the world can be redrawn from them, otherwise as the pictures of the roles in
    `record` (None: the solver only), which must then be among the views of every outcome. `people` are the pseudonyms
    of the people by seat.
    """

    def __init__(
        self,
        world: World,
        *,
        players: Mapping[str, Mapping[str, str]],
        world_config: Mapping[str, Any] | None = None,
        round: int = 0,  # noqa: A002 - the word for a round of the pipeline everywhere
        split: str = "train",
        record: tuple[str, ...] | None = None,
        people: Mapping[str, str] | None = None,
    ) -> None:
        self._world = world
        self._players = {role: dict(player) for role, player in players.items()}
        self._world_config = dict(world_config or {})
        self._round = round
        self._split = split
        self._people = dict(people or {})
        self._record = (world.spec.solver,) if record is None else record
        self._draft: _Draft | None = None

    @property
    def steps(self) -> int:
        """Steps recorded of the current episode."""
        return len(self._current_draft().env_reward)

    def begin(
        self,
        *,
        seed: int,
        views: Mapping[str, View],
        id: str | None = None,  # noqa: A002 - the word for it in the metadata
    ) -> None:
        """Starts an episode from the views of the reset just made; an unfinished one is dropped.

        `id` is that of an episode that is executed again, by default a new one.
        """
        state = self._world.state()
        check_returned(self._world.spec, "state", state, bytes)
        draft = _Draft(id or new_episode_id(), seed, state)
        draft.actions = {role: [] for role in self._world.spec.roles}
        for role in self._world.spec.roles:
            draft.control[role] = [(0, self._players.get(role, {}).get("kind", "scripted"))]
        self._draft = draft
        self._observe(views, -self._world.spec.frames_per_step)  # a text shown there belongs to the step before

    def ask(self, task: Mapping[str, Any]) -> None:
        """Records that a task (its `to_json`) is asked from the next step on; a task still open ends as replaced.

        Raises ValueError if the fields lack a kind or an instruction, or are not JSON-able.
        """
        draft = self._current_draft()
        _check_task(self._world.spec, task)
        if len(draft.endings) < len(draft.tasks):
            self.end_task(REPLACED)
        draft.tasks.append((self._frame(draft), dict(task)))

    def end_task(self, how: str) -> None:
        """Records that the setter ends the open task before the next step.

        Raises ValueError if no task is open.
        """
        draft = self._current_draft()
        if len(draft.endings) == len(draft.tasks):
            raise ValueError(f"no task is open that could have ended as {how!r}; call ask() first")
        draft.endings.append((self._frame(draft), how))

    @property
    def prompts(self) -> Sequence[Prompt]:
        """The prompts of the current episode so far."""
        return tuple(self._current_draft().prompts)

    @property
    def id(self) -> str:
        """The id of the current episode."""
        return self._current_draft().id

    @property
    def initial_state(self) -> bytes:
        """The state at the start of the current episode."""
        return self._current_draft().initial_state

    def prompt(self, text: str, *, cue: str | None = None, modifier: str | None = None, frame: int = 0) -> None:
        """Records a prompt that a person in the setter's seat was shown, `frame` frames into the next step."""
        draft = self._current_draft()
        draft.prompts.append(Prompt(self._frame(draft) + frame, text, cue, modifier))

    def judge(self, number: int, verdict: str, *, frame: int = 0) -> None:
        """Records the verdict on a prompt's request, `frame` frames into the next step; a later one replaces it."""
        draft = self._current_draft()
        draft.prompts[number] = replace(draft.prompts[number], verdict=verdict, judged=self._frame(draft) + frame)

    def explain(self, frame: int, why: str) -> None:
        """Records why a person took over at this frame of the episode; a later reason replaces an earlier one."""
        self._current_draft().reasons[frame] = why

    def record(self, actions: Mapping[str, Action], outcome: Outcome, steers: Steers | None = None) -> None:
        """Records one executed step.

        `steers` names the player that steered a role in it, or for players that take over within it (frame of the
        step, player); default: unchanged.
        """
        draft = self._current_draft()
        check_returned(self._world.spec, "step", outcome, Outcome)
        frame = self._frame(draft)
        for role, changes in (steers or {}).items():
            for within, who in [(0, changes)] if isinstance(changes, str) else changes:
                if not 0 <= within < self._world.spec.frames_per_step:
                    raise ValueError(f"{who!r} steers from frame {within} of a step of {self._world.spec.name}")
                _change_control(draft.control[role], frame + within, who)
        for role in self._world.spec.roles:
            action = actions.get(role)
            draft.actions[role].append(self._world.spec.rest() if action is None else action.movement.copy())
            if action is not None and action.utterance is not None:
                self._add_utterance(draft, frame, role, action.utterance)
        draft.env_reward.append(outcome.env_reward)
        self._observe(outcome.views, frame)

    def finish(self, ended: str | None = None, *, created: float | None = None) -> Episode:
        """Returns the episode, and says why one with people ended. Raises ValueError if no step was recorded.

        `created` is the time, in seconds since 1970, at which an episode that is executed again ended; by default now.
        """
        draft = self._current_draft()
        if not draft.env_reward:
            raise ValueError("an episode without a single step cannot be stored; record at least one step")
        self._draft = None
        spec = self._world.spec
        return Episode(
            meta=self._meta(draft, ended, time.time() if created is None else created),
            initial_state=draft.initial_state,
            actions={role: np.concatenate(chunks).astype(np.int8) for role, chunks in draft.actions.items()},
            env_reward=np.array(draft.env_reward, np.float32),
            poses=np.stack(draft.poses).astype(np.float32) if spec.poses else None,
            images={role: np.stack(images) for role, images in draft.images.items()},
            vectors={role: np.stack(vectors) for role, vectors in draft.vectors.items()},
        )

    def _meta(self, draft: _Draft, ended: str | None, created: float) -> EpisodeMeta:
        spec = self._world.spec
        return EpisodeMeta(
            id=draft.id,
            world=spec.name,
            world_version=spec.version,
            world_config=self._world_config,
            seed=draft.seed,
            created=created,
            round=self._round,
            frames=self._frame(draft),
            frames_per_step=spec.frames_per_step,
            players=self._players,
            control=draft.control,
            utterances=tuple(draft.utterances),
            tasks=tuple(draft.tasks),
            split=self._split,
            endings=tuple(draft.endings),
            prompts=tuple(draft.prompts),
            ended=ended,
            people=self._people,
            reasons=tuple(sorted(draft.reasons.items())),
        )

    def _current_draft(self) -> _Draft:
        if self._draft is None:
            raise ValueError("no episode is being recorded; call begin() after the world's reset")
        return self._draft

    def _frame(self, draft: _Draft) -> int:
        return len(draft.env_reward) * self._world.spec.frames_per_step

    def _add_utterance(self, draft: _Draft, frame: int, role: str, text: str) -> None:
        draft.utterances.append(Utterance(frame, role, text))
        if role != self._world.spec.solver:
            draft.heard = text

    def _observe(self, views: Mapping[str, View], frame: int) -> None:
        """Records the row shown by `views`; `frame` is the first frame of the step that led to it."""
        draft, spec = self._current_draft(), self._world.spec
        _check_views(spec, views)
        if spec.poses:
            draft.poses.append(self._world.poses().copy())
        solver = views.get(spec.solver)
        if spec.utterances and solver is not None and solver.heard != draft.heard:
            self._add_utterance(draft, frame, transcript.WORLD, solver.heard)
        for role in self._record:
            if spec.image is not None and not spec.poses:
                draft.images.setdefault(role, []).append(_required(spec, views, role, "image").copy())
            if spec.vector:
                draft.vectors.setdefault(role, []).append(_required(spec, views, role, "vector").copy())


def _change_control(runs: list[tuple[int, str]], frame: int, who: str) -> None:
    """Changes the player that steers from a frame on; a later change at the same frame replaces an earlier one."""
    if frame == runs[-1][0] and len(runs) > 1:
        runs.pop()
    if frame == 0:
        runs[:] = [(0, who)]
    elif runs[-1][1] != who:
        runs.append((frame, who))


def _required(spec: WorldSpec, views: Mapping[str, View], role: str, part: Literal["image", "vector"]) -> NDArray[Any]:
    if role not in views:
        raise ValueError(
            f"the {role}'s {part} must be recorded, but {spec.name} gave views of {sorted(views)} only; return a view "
            "of each role in `observers` from its `reset` and `step`. Where a program of your own calls these, put "
            f"{role!r} into `observers`, or leave it out of `record`"
        )
    array: NDArray[Any] | None = getattr(views[role], part)
    if array is None:
        shape = spec.image if part == "image" else (spec.vector,)
        raise ValueError(
            f"{spec.name} promises that the {part} has shape {shape}, but a view of the {role} lacks it; "
            "change the world's views, or its spec"
        )
    spec.check(part, array)
    return array


def check_returned(spec: WorldSpec, method: str, value: Any, expected: type[Any]) -> None:
    """Checks what a method of a world returned: of a world of another package, types are not checked elsewhere."""
    if not isinstance(value, expected):
        raise ValueError(
            f"`{method}` of the world {spec.name} returned {type(value).__name__}, not {expected.__name__}, as in "
            f"every world; change the world's `{method}`"
        )


def _check_views(spec: WorldSpec, views: Mapping[str, View]) -> None:
    if not isinstance(views, Mapping):
        raise ValueError(
            f"the world {spec.name} gave its views as {type(views).__name__}, not as a mapping from roles; return a "
            "dict {role: View} from `reset`, and an Outcome with one from `step`"
        )
    for role, view in views.items():
        if not isinstance(view, View):
            raise ValueError(
                f"the world {spec.name} gave {type(view).__name__} as the view of {role!r}, not View; change the views "
                "that `reset` and `step` return"
            )


def _check_task(spec: WorldSpec, fields: Mapping[str, Any]) -> None:
    method = f"`to_json` of a task of the world {spec.name}"
    if not isinstance(fields, Mapping):
        raise ValueError(f"{method} returned {type(fields).__name__}, not a mapping; return a dict of its fields")
    for name in ("kind", "instruction"):
        if not isinstance(fields.get(name), str):
            raise ValueError(
                f"{method} returned {name}={fields.get(name)!r}, not a text; return the task's {name} in it"
            )
    for name, value in fields.items():
        try:
            json.dumps({name: value})
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{method} returned {name}={value!r}, which JSON can't store ({error}); convert it, as by int() or "
                ".tolist()"
            ) from error
