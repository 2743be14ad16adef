"""Conformance tests for worlds, which the author of a world inherits::

    class TestCorridor(WorldConformance):
        def make_world(self) -> World:
            return registry.make("corridor")

pytest runs it like any other test class. Each test creates its own worlds and plays them at random from fixed seeds.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import closing
from functools import partial

import numpy as np

from interplay.env.conformance_checks import (
    assert_refused,
    assert_type,
    check_array,
    check_same,
    check_same_array,
    check_views,
    first_feasible,
    last,
    play,
    random_actions,
)
from interplay.env.input_controls import MAX_CONTROLS
from interplay.env.mission import NoopExpert
from interplay.env.task import Expert, InfeasibleTask, Task, TaskSource, progress_of
from interplay.env.world import Action, Start, World, WorldSpec

LARGEST_SEED = 2**63 - 1  # of a recorded episode


class WorldConformance(ABC):
    """Base class: subclass it and define `make_world`. Raise `steps` for worlds with long episodes."""

    steps: int = 12  # of random play, before and after a save
    seeds: tuple[int, ...] = (0, 7)
    ruled_out: tuple[str, ...] = ()  # optional kinds that are infeasible with the settings of `make_world`
    experts_succeed: bool = True  # whether experts carry tasks out; a `NoopExpert` is left out
    expert_steps: int = 300  # within which a task is done by its expert

    @abstractmethod
    def make_world(self) -> World:
        """Creates a world, with the same settings on every call."""

    def test_spec_makes_sense(self) -> None:
        with closing(self.make_world()) as world:
            assert isinstance(world.spec, WorldSpec), (
                f"`spec` is a WorldSpec, which checks its fields, not {world.spec!r}"
            )

    def test_views_have_the_parts_that_the_spec_declares(self) -> None:
        with closing(self.make_world()) as world:
            views = world.reset(Start(seed=self.seeds[0]))
            check_views(world.spec, views, world.spec.roles)
            for outcome in play(world, self.steps, rng=np.random.default_rng(0)):
                check_views(world.spec, outcome.views, world.spec.roles)
                assert np.isfinite(outcome.env_reward), f"a reward is a number: {outcome.env_reward}"

    def test_a_seed_decides_everything(self) -> None:
        with closing(self.make_world()) as one, closing(self.make_world()) as other:
            for seed in (*self.seeds, LARGEST_SEED):
                other.reset(Start(seed=seed - 1 if seed else 1))  # what came before must leave no trace
                check_same(one.reset(Start(seed=seed)), other.reset(Start(seed=seed)), f"after reset to seed {seed}")
                assert one.state() == other.state(), f"seed {seed} leads to two different states"

    def test_a_saved_state_goes_on_bit_identically(self) -> None:
        for seed in self.seeds:
            with closing(self.make_world()) as lived, closing(self.make_world()) as restored:
                self._play_to_middle(lived, seed)
                state = lived.state()
                assert isinstance(state, bytes), "a state is bytes"
                views = restored.reset(Start(state=state))
                check_same({role: lived.view(role) for role in lived.spec.roles}, views, "after a restore")
                assert restored.state() == lived.state(), "the restored world and the live one save different states"
                ways = [play(world, self.steps, np.random.default_rng(seed + 1)) for world in (lived, restored)]
                for step, (was, now) in enumerate(zip(*ways, strict=True)):
                    check_same(was.views, now.views, f"{step + 1} steps after a restore")
                    assert was.done == now.done, f"{step + 1} steps after a restore one episode is over"
                    assert was.env_reward == now.env_reward, f"{step + 1} steps after a restore rewards differ"
                assert lived.state() == restored.state(), "after a restore, states part"

    def test_a_restore_leaves_nothing_of_the_episode_before(self) -> None:
        with closing(self.make_world()) as world:
            world.reset(Start(seed=self.seeds[0]))
            state = world.state()
            first = last(play(world, self.steps, np.random.default_rng(3)))
            world.reset(Start(state=state))
            again = last(play(world, self.steps, np.random.default_rng(3)))
            check_same(first.views, again.views, "played twice from one state")

    def test_a_recorded_moment_is_redrawn(self) -> None:
        with closing(self.make_world()) as lived, closing(self.make_world()) as shown:
            if not lived.spec.poses:
                return
            lived.reset(Start(seed=self.seeds[0]))
            state, seen, recorded = lived.state(), [], []
            shown.reset(Start(state=state))
            for outcome in play(lived, self.steps, np.random.default_rng(0)):
                poses = lived.poses()
                assert poses.shape == (lived.spec.poses,), f"poses are [{lived.spec.poses}], got {poses.shape}"
                assert poses.dtype == np.float32, f"poses are float32, got {poses.dtype}"
                shown.show(poses)
                for role in lived.spec.roles:
                    check_same_array(outcome.views[role].image, shown.view(role).image, f"{role}'s redrawn picture")
                seen.append(outcome.views)
                recorded.append(poses)
            scene = shown.recorded_scene(state)
            shown.reset(Start(seed=self.seeds[-1]))  # another episode
            for role in lived.spec.roles:
                for views, drawn in zip(seen, scene.views(np.stack(recorded), role), strict=True):
                    check_same_array(views[role].image, drawn.image, f"{role}'s picture, redrawn with others")

    def test_an_utterance_is_heard_in_the_same_step(self) -> None:
        with closing(self.make_world()) as world:
            roles = world.spec.roles
            if not world.spec.utterances:
                return
            world.reset(Start(seed=self.seeds[0]))
            for speaker in roles:
                words = f"this is the {speaker}"
                views = world.step({speaker: Action(world.spec.rest(), words)}).views
                assert views[speaker].said == words, f"{speaker} said {words!r}, its view has {views[speaker].said!r}"
                for listener in set(roles) - {speaker}:
                    assert views[listener].heard == words, f"{listener} heard {views[listener].heard!r}, not {words!r}"
            views = world.step({}).views
            for role in roles:
                assert views[role].said == f"this is the {role}", "silence keeps the last utterance in view"

    def test_a_new_episode_begins_in_silence(self) -> None:
        with closing(self.make_world()) as world:
            world.reset(Start(seed=self.seeds[0]))
            if world.spec.utterances:
                world.step({role: Action(world.spec.rest(), "hello") for role in world.spec.roles})
            for role, view in world.reset(Start(seed=self.seeds[0])).items():
                assert view.heard == "", f"{role} hears the episode before"
                assert view.said == "", f"{role} has said nothing yet"

    def test_wrong_actions_are_refused(self) -> None:
        with closing(self.make_world()) as world:
            spec = world.spec
            world.reset(Start(seed=self.seeds[0]))
            before = world.state()
            rest = spec.rest()
            assert_refused(partial(world.step, {"nobody": Action(rest)}), "an unknown role")
            assert_refused(partial(world.step, {spec.solver: Action(np.vstack([rest, rest]))}), "too many frames")
            if spec.movement:
                assert_refused(partial(world.step, {spec.solver: Action(rest[:, :-1])}), "a component too few")
            for i, component in enumerate(spec.movement):
                for bin_ in (-1, component.bins):
                    wrong = rest.copy()
                    wrong[-1, i] = bin_
                    assert_refused(partial(world.step, {spec.solver: Action(wrong)}), f"bin {bin_} of {component}")
            assert world.state() == before, "a refused action changes nothing"

    def test_a_missing_action_is_a_rest(self) -> None:
        with closing(self.make_world()) as world, closing(self.make_world()) as other:
            for one in (world, other):
                one.reset(Start(seed=self.seeds[0]))
            explicit = world.step({role: Action(world.spec.rest()) for role in world.spec.roles})
            check_same(explicit.views, other.step({}).views, "resting in silence")

    def test_only_wanted_views_are_made(self) -> None:
        with closing(self.make_world()) as world:
            solver = world.spec.solver
            assert set(world.reset(Start(seed=self.seeds[0]), observers=(solver,))) == {solver}, (
                "reset returns the views of `observers` only"
            )
            assert set(world.step({}, observers=(solver,)).views) == {solver}, (
                "step returns the views of `observers` only"
            )
            assert set(world.step({}, observers=()).views) == set(), "nobody looks"

    def test_looking_changes_nothing(self) -> None:
        with closing(self.make_world()) as seen, closing(self.make_world()) as unseen:
            rngs = np.random.default_rng(4), np.random.default_rng(4)
            for world, observers, rng in ((seen, None, rngs[0]), (unseen, (), rngs[1])):
                world.reset(Start(seed=self.seeds[0]), observers=observers)
                last(play(world, self.steps, rng, observers))
            assert seen.state() == unseen.state(), "a world goes the same way whether it is looked at or not"

    def test_frames_lead_where_steps_lead(self) -> None:
        with closing(self.make_world()) as whole, closing(self.make_world()) as framed:
            if not whole.runs_frames:
                return
            spec, rng = whole.spec, np.random.default_rng(5)
            for world in (whole, framed):
                world.reset(Start(seed=self.seeds[0]))
            for step in range(self.steps):
                actions = random_actions(spec, rng)
                outcome = whole.step(actions)
                reward, after = 0.0, outcome
                for frame in range(spec.frames_per_step):
                    rows = {role: action.movement[frame] for role, action in actions.items()}
                    said = {role: action.utterance for role, action in actions.items() if action.utterance is not None}
                    after = framed.frame(rows, said if frame == 0 else None)
                    reward += after.env_reward
                check_same(outcome.views, after.views, f"after step {step + 1}, whole and frame by frame")
                assert outcome.done == after.done, f"step {step + 1} ends the episode once, whole or frame by frame"
                assert np.isclose(outcome.env_reward, reward), f"rewards of step {step + 1} and its frames differ"
                if outcome.done:
                    break
            assert whole.state() == framed.state(), "frames and steps lead to two different states"

    def test_wrong_frames_are_refused(self) -> None:
        with closing(self.make_world()) as world:
            spec = world.spec
            if not world.runs_frames:
                return
            world.reset(Start(seed=self.seeds[0]))
            before = world.state()
            assert_refused(partial(world.frame, {"nobody": spec.rest()[0]}), "an unknown role")
            for i, component in enumerate(spec.movement):
                wrong = spec.rest()[0]
                wrong[i] = component.bins
                assert_refused(partial(world.frame, {spec.solver: wrong}), f"bin {component.bins} of {component}")
            assert world.state() == before, "a refused frame changes nothing"

    def test_controls_choose_bins_that_exist(self) -> None:
        with closing(self.make_world()) as world:
            movement = {component.name: component for component in world.spec.movement}
            for role in world.spec.roles:
                controls = world.controls(role)
                assert len(controls) <= MAX_CONTROLS, f"{role} has {len(controls)} controls"
                assert len({control.name for control in controls}) == len(controls), f"controls of {role} share a name"
                keys = [key for control in controls for key in control.keys]
                assert len(set(keys)) == len(keys), f"two controls of {role} share a key: {sorted(keys)}"
                for control in controls:
                    bins = movement[control.component].bins
                    assert all(0 <= chosen < bins for chosen in control.bins), f"{control} chooses a bin that exists"

    def test_a_picture_has_the_size_asked_for(self) -> None:
        with closing(self.make_world()) as world:
            if world.spec.image is None:
                return
            world.reset(Start(seed=self.seeds[0]))
            for role in world.spec.roles:
                for height, width in ((48, 64), world.spec.image[:2]):
                    check_array(world.picture(role, height, width), (height, width, 3), np.uint8, f"{role}'s picture")

    def test_a_foreign_state_is_refused(self) -> None:
        with closing(self.make_world()) as world:
            for state in (b"", b"not a state of this world", b"{}", bytes(64)):
                assert_refused(partial(world.reset, Start(state=state)), f"the state {state!r}")

    def test_every_task_can_be_asked_stored_and_begun(self) -> None:
        with closing(self.make_world()) as world:
            for kind in self._kinds(world):
                task = self._sample(world, kind)
                facts = world.facts()
                assert task.kind == kind, f"asked for {kind!r}, got {task.kind!r}"
                assert task.instruction.strip(), f"{kind}: there is something to say"
                done = task.success(facts, [])
                assert isinstance(done, bool | np.bool_), f"{kind}: `success` returns True or False, got {done!r}"
                assert not done, f"{kind}: {task.instruction!r} is fulfilled before it was asked"
                assert 0 <= task.progress(facts) < 1, f"{kind}: progress starts below 1, got {task.progress(facts)}"
                self._check_stored(world, task)
                expert = task.expert(world)
                must_succeed = self.experts_succeed and not isinstance(expert, NoopExpert)
                said = self._check_expert(world, expert, kind, task if must_succeed else None)
                if must_succeed:
                    self._check_done(world, task, expert, said)

    def test_a_misunderstanding_keeps_what_was_asked(self) -> None:
        with closing(self.make_world()) as world:
            for kind in self._kinds(world):
                task = self._sample(world, kind)
                misread = task.misread(world, np.random.default_rng(0))
                assert_type(misread, Task, f"{kind}: `misread`")
                assert misread.instruction == task.instruction, f"{kind}: what was asked stays what was asked"
                self._check_expert(world, misread.expert(world), f"{kind}, misunderstood")

    def test_every_cue_leads_to_tasks_that_say_so(self) -> None:
        with closing(self.make_world()) as world:
            world.reset(Start(seed=self.seeds[0]))
            source = world.tasks()
            assert_refused(
                partial(source.sample_by_cue, "no such cue", None, np.random.default_rng(0)), "an unknown cue"
            )
            tasks = [first_feasible(world, 5, partial(world.tasks().sample_by_cue, cue, None)) for cue in source.cues]
            assert any(tasks) or not source.cues, "no cue leads to anything"
            for cue, task in zip(source.cues, tasks, strict=True):
                if task is None:
                    continue
                assert (task.cue, task.modifier) == (cue, None), f"asked by {cue!r}, the task has {task.cue!r}"
                assert task.to_json()["cue"] == cue, f"{cue}: a stored task states the cue that it was asked by"
                assert world.tasks().load(json.loads(json.dumps(task.to_json()))).to_json() == task.to_json()

    def test_what_is_ruled_out_is_refused_as_infeasible(self) -> None:
        with closing(self.make_world()) as world:
            for kind in self.ruled_out:
                world.reset(Start(seed=self.seeds[0]))
                try:
                    world.tasks().sample(kind, np.random.default_rng(0))
                except InfeasibleTask:
                    continue
                raise AssertionError(f"{kind}: ruled out here, but it could be asked")

    def test_an_unknown_kind_of_task_is_refused(self) -> None:
        with closing(self.make_world()) as world:
            world.reset(Start(seed=self.seeds[0]))
            source = world.tasks()
            assert_refused(partial(source.sample, "no such kind", np.random.default_rng(0)), "an unknown kind")

    def _play_to_middle(self, world: World, seed: int) -> None:
        """Plays to the middle of an episode, which may be shorter than `steps`."""
        world.reset(Start(seed=seed))
        outcomes = list(play(world, self.steps, np.random.default_rng(seed)))
        if outcomes[-1].done:
            world.reset(Start(seed=seed))
            for _ in play(world, len(outcomes) // 2, np.random.default_rng(seed)):
                pass

    def _kinds(self, world: World) -> tuple[str, ...]:
        world.reset(Start(seed=self.seeds[0]))
        source = world.tasks()
        assert_type(source, TaskSource, "`tasks`")
        assert set(self.ruled_out) <= set(source.optional_kinds), "only optional kinds can be ruled out"
        kinds = dict.fromkeys((*source.kinds, *source.probes, *source.optional_kinds))
        return tuple(kind for kind in kinds if kind not in self.ruled_out)

    def _sample(self, world: World, kind: str) -> Task:
        """A task of this kind from the first seed in which it is feasible."""
        task = first_feasible(world, 100, lambda rng: world.tasks().sample(kind, rng))
        assert task is not None, f"{kind}: not feasible in any of 100 episodes"
        assert_type(task, Task, f"{kind}: `sample`")
        return task

    def _check_stored(self, world: World, task: Task) -> None:
        fields = task.to_json()
        assert fields.get("kind") == task.kind, "a stored task states its kind"
        assert fields.get("instruction") == task.instruction, "a stored task states its instruction"
        loaded = world.tasks().load(json.loads(json.dumps(fields)))
        assert loaded.to_json() == fields, f"{task.kind}: a task comes back from JSON as it was"
        assert (loaded.instruction, loaded.answer) == (task.instruction, task.answer), f"{task.kind}: JSON changed it"
        assert not loaded.success(world.facts(), []), f"{task.kind}: JSON made it fulfilled"

    def _check_done(self, world: World, task: Task, expert: Expert, said: Sequence[str]) -> None:
        """Checks a task that its expert has carried out."""
        facts, when = world.facts(), "when its expert has finished"
        if not expert.finished:
            when = f"after {self.expert_steps} steps of its expert; raise `expert_steps` in the suite if it needs more"
        assert task.success(facts, said), f"{task.kind}: {task.instruction!r} is not fulfilled {when}"
        if task.answer is None:
            progress = progress_of(task, facts)
            assert np.isclose(progress, 1), f"{task.kind}: progress is 1 {when}, got {progress}"

    def _check_expert(self, world: World, expert: Expert, what: str, task: Task | None = None) -> list[str]:
        """Plays the expert until it has finished, at most for `steps`; with a task, until that is done, at most for
        `expert_steps`. Returns what it says; `step` refuses any action outside the action space."""
        assert_type(expert, Expert, f"{what}: `expert`")
        said: list[str] = []
        partner = None if task is None else task.partner(world)
        for step in range(1, 1 + (self.steps if task is None else self.expert_steps)):
            actions = {world.spec.solver: expert.act(world)}
            if partner is not None:
                actions[world.spec.roles[0]] = partner.act(world)
            words = actions[world.spec.solver].utterance
            assert words is None or world.spec.utterances, f"{what}: the expert speaks in a mute world"
            if words is not None:
                said.append(words)
            if world.step(actions, observers=()).done:
                break
            if expert.finished:
                repeated = expert.act(world).utterance  # as in a recording, which continues for a while
                assert repeated is None, (
                    f"{what}: the expert has finished and says {repeated!r}; let `act` stay silent from then on, since "
                    "a clone learns to repeat it"
                )
                break
            if task is not None and step >= self.steps and task.success(world.facts(), said):
                break
        return said
