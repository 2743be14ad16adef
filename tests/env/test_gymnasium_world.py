"""What Gymnasium environments become as worlds: their missions, pictures, bins and endings."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from minigrid.core.constants import COLOR_NAMES

from interplay.env import registry
from interplay.env.arrays import fit_picture
from interplay.env.input_controls import warn_of_choices_without_key
from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import Action, Start, World


def gym_world(name: str, **settings: Any) -> World:
    return registry.make("gymnasium", id=name, **settings)


def carry_out(world: World, task: Task) -> bool:
    """Lets the task's expert play to the end; was the mission done?"""
    expert = task.expert(world)
    while not world.step({"solver": expert.act(world)}, observers=()).done:
        if expert.finished:
            break
    return task.success(world.facts(), [])


def test_babyai_solves_its_missions() -> None:
    world = gym_world("BabyAI-GoToLocal-v0")
    rng = np.random.default_rng(0)
    done = []
    for seed in range(20):
        world.reset(Start(seed=seed))
        done.append(carry_out(world, world.tasks().sample("mission", rng)))
    assert sum(done) >= 19


def test_a_misled_babyai_solver_goes_elsewhere() -> None:
    world = gym_world("BabyAI-GoToLocal-v0")
    rng = np.random.default_rng(0)
    done = []
    for seed in range(10):
        world.reset(Start(seed=seed))
        task = world.tasks().sample("mission", rng).misread(world, rng)
        assert task.to_json()["instead"]["kind"] in ("box", "ball", "key")
        done.append(carry_out(world, world.tasks().load(task.to_json())))
    assert sum(done) <= 4  # it may touch the right thing on its way


@pytest.mark.parametrize("name", ["BabyAI-GoToLocal-v0", "BabyAI-PickupLoc-v0"])
def test_a_mistake_is_never_what_the_mission_could_mean(name: str) -> None:
    world = gym_world(name)
    rng = np.random.default_rng(0)
    for seed in range(20):
        world.reset(Start(seed=seed))
        task = world.tasks().sample("mission", rng)
        instead = task.misread(world, rng).to_json().get("instead", {"kind": "nothing", "color": "nothing"})
        kinds = [kind for kind in ("box", "ball", "key") if kind in task.instruction]
        colors = [color for color in COLOR_NAMES if color in task.instruction]
        fits_kind = not kinds or instead["kind"] in kinds
        fits_color = not colors or instead["color"] in colors
        assert instead["kind"] == "nothing" or not (fits_kind and fits_color), f"{task.instruction}: {instead}"


def test_misleading_leaves_the_mission_as_it_was() -> None:
    world = gym_world("BabyAI-GoToLocal-v0")
    world.reset(Start(seed=3))
    rng = np.random.default_rng(0)
    task = world.tasks().sample("mission", rng)
    task.misread(world, rng).expert(world)
    assert carry_out(world, task)


def test_the_solver_never_sees_the_mission_but_hears_it() -> None:
    world = gym_world("BabyAI-GoToLocal-v0")
    views = world.reset(Start(seed=0))
    task = world.tasks().sample("mission", np.random.default_rng(0))
    assert task.instruction.startswith("go to")
    assert views["solver"].heard == ""
    heard = world.step({"setter": Action(world.spec.rest(), task.instruction)}).views["solver"].heard
    assert heard == task.instruction


def test_a_mission_is_asked_only_while_it_can_be_done() -> None:
    world = gym_world("BabyAI-GoToLocal-v0")
    world.reset(Start(seed=0))
    rng = np.random.default_rng(0)
    assert carry_out(world, world.tasks().sample("mission", rng))
    with pytest.raises(InfeasibleTask, match="reset the world"):
        world.tasks().sample("mission", rng)
    with pytest.raises(ValueError, match="no episode under way"):
        world.step({})


def test_an_id_that_names_its_module_makes_the_same_world() -> None:
    named, plain = gym_world("minigrid:BabyAI-GoToLocal-v0"), gym_world("BabyAI-GoToLocal-v0")
    assert named.spec == plain.spec
    views = [world.reset(Start(seed=3))["solver"] for world in (named, plain)]
    np.testing.assert_array_equal(views[0].image, views[1].image)
    assert carry_out(named, named.tasks().sample("mission", np.random.default_rng(0)))


def test_rest_in_a_grid_changes_nothing() -> None:
    world = gym_world("BabyAI-GoToLocal-v0")
    before = world.reset(Start(seed=0))["solver"].image
    after = world.step({}).views["solver"].image
    assert before is not None
    assert after is not None
    assert (before == after).all()


def test_without_a_mission_nothing_can_be_asked() -> None:
    world = gym_world("CartPole-v1")
    world.reset(Start(seed=0))
    assert world.tasks().kinds == ()
    with pytest.raises(ValueError, match=r"env\.instruction"):
        world.tasks().sample("mission", np.random.default_rng(0))


def test_a_return_of_ones_succeeds_where_it_exceeds_the_bar() -> None:
    world = gym_world("CartPole-v1", instruction="balance", success_return=5)
    world.reset(Start(seed=0))
    task = world.tasks().sample("mission", np.random.default_rng(0))
    done = []
    for step in range(7):
        world.step({"solver": Action(np.array([[step % 2]], np.int8))})
        done.append(task.success(world.facts(), []))
    assert done == [False] * 5 + [True] * 2


@pytest.mark.parametrize(("name", "threshold"), [("CartPole-v1", 475.0), ("Pendulum-v1", 0.0)])
def test_the_threshold_of_the_environment_may_be_the_bar(name: str, threshold: float) -> None:
    world = gym_world(name, instruction="balance", success_return=None)
    world.reset(Start(seed=0))
    assert world.tasks().sample("mission", np.random.default_rng(0)).to_json()["above"] == threshold


def test_a_mission_measures_the_return() -> None:
    world = gym_world("CartPole-v1", instruction="balance", success_return=5)
    world.reset(Start(seed=0))
    task = world.tasks().sample("mission", np.random.default_rng(0))
    for _ in range(3):
        world.step({})
    assert task.measure(world.facts()) == {"return": 3.0} and task.whole_episode


def test_a_mission_that_is_done_before_it_is_asked_names_the_return_and_the_bar() -> None:
    world = gym_world("CartPole-v1", instruction="balance")
    world.reset(Start(seed=1))
    world.step({})
    with pytest.raises(InfeasibleTask, match=r"the return so far, 1, exceeds env\.success_return=0\."):
        world.tasks().sample("mission", np.random.default_rng(0))


def test_a_negative_bar_is_passed_only_at_the_end() -> None:
    world = gym_world("Pendulum-v1", instruction="swing up", success_return=-1e6, max_steps=3)
    world.reset(Start(seed=0))
    task = world.tasks().sample("mission", np.random.default_rng(0))
    assert [(world.step({}).done, task.success(world.facts(), [])) for _ in range(3)] == [
        (False, False),
        (False, False),
        (True, True),
    ]


def test_a_time_limit_ends_the_episode_and_says_so() -> None:
    world = gym_world("Pendulum-v1", max_steps=2)
    world.reset(Start(seed=0))
    assert not world.step({}).done
    outcome = world.step({})
    assert outcome.done
    assert outcome.truncated


def test_a_time_limit_may_be_longer_than_the_own_one_of_a_level() -> None:
    def length(**settings: Any) -> int:
        world = gym_world("BabyAI-GoToLocal-v0", **settings)
        world.reset(Start(seed=0))
        return next(step for step in range(1, 1000) if world.step({}, observers=()).done)

    own = length()
    assert (length(max_steps=own - 1), length(max_steps=own + 1)) == (own - 1, own + 1)


def test_a_state_of_other_settings_is_refused() -> None:
    world = gym_world("CartPole-v1")
    world.reset(Start(seed=0))
    with pytest.raises(ValueError, match=r"CartPole-v1.*this world is .*max_steps': 9"):
        gym_world("CartPole-v1", max_steps=9).reset(Start(state=world.state()))


def test_what_gymnasium_cannot_make_is_said_plainly() -> None:
    with pytest.raises(ValueError, match=r"env\.id='CartPol-v1' cannot be made"):
        gym_world("CartPol-v1")
    with pytest.raises(ValueError, match=r"env\.id='no_such_module:X-v0' cannot be made: .* PYTHONPATH=FOLDER"):
        gym_world("no_such_module:X-v0")
    with pytest.raises(ValueError, match=r"'CartPole-v1' cannot be made: .*unexpected keyword argument 'gravity'"):
        gym_world("CartPole-v1", kwargs={"gravity": 3})


class FaultyEnv(gymnasium.Env[Any, Any]):
    def __init__(self, render_mode: str | None = None, port: int | None = None) -> None:
        if port:
            raise OSError("no simulator")
        self.size = len(3)  # type: ignore[arg-type]


def test_a_fault_inside_an_environment_says_where() -> None:
    """Not that of a call with unknown `kwargs`, in which nothing is wrong with the environment."""
    gymnasium.register("Faulty-v0", FaultyEnv)
    with pytest.raises(ValueError, match=r"has no len.* \(.*test_gymnasium_world\.py, line \d+\)$"):
        gym_world("Faulty-v0")
    with pytest.raises(ValueError, match=r"'Faulty-v0' cannot be made: no simulator \(.*world\.py, line \d+\)$"):
        gym_world("Faulty-v0", kwargs={"port": 1})
    with pytest.raises(ValueError, match=r"multiple values for keyword argument 'render_mode'$"):
        gym_world("CartPole-v1", kwargs={"render_mode": "human"})


@pytest.mark.parametrize("name", ["Pendulum-v1", "Several-v0"])
def test_a_rest_that_would_have_no_effect_is_refused(name: str) -> None:
    if name not in gymnasium.registry:
        gymnasium.register(name, SeveralEnv)
    with pytest.raises(ValueError, match=r"env\.rest=1 .*Discrete"):
        gym_world(name, rest=1)


class SeveralEnv(gymnasium.Env[Any, Any]):
    """Several choices a step."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = spaces.MultiDiscrete([3, 3])


@pytest.mark.parametrize("bins", [-1, 0, 128])
def test_bins_that_no_action_can_have_are_refused(bins: int) -> None:
    with pytest.raises(ValueError, match=rf"bins={bins}: a continuous action is cut into 1 to 127 bins"):
        gym_world("Pendulum-v1", bins=bins)


def test_an_environment_of_chance_is_refused() -> None:
    gymnasium.register("Chance-v0", "gymnasium.envs.classic_control:CartPoleEnv", nondeterministic=True)
    with pytest.raises(ValueError, match="not deterministic"):
        gym_world("Chance-v0")


def test_portraits_are_the_environments_own() -> None:
    world = gym_world("BabyAI-GoToLocal-v0")
    world.reset(Start(seed=0))
    (picture,) = world.portrait(0, 0).values()
    assert picture.shape[2] == 3
    assert picture.std() > 0


def test_small_pictures_grow_in_whole_multiples() -> None:
    picture = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    fitted = fit_picture(picture, (5, 7))
    assert (fitted[0:4, 1:5] == picture.repeat(2, 0).repeat(2, 1)).all()
    assert fitted[4].max() == fitted[:, 5:].max() == fitted[:, :1].max() == 0


def test_large_pictures_are_sampled_down_in_their_proportions() -> None:
    rows = np.repeat(np.arange(40, dtype=np.uint8)[:, None, None], 80, axis=1)
    fitted = fit_picture(rows, (10, 20))
    assert fitted.shape == (10, 20, 3)
    assert fitted[:, 0, 0].tolist() == list(range(0, 40, 4))


@pytest.mark.parametrize("shape", [(3, 24, 24), (24, 24), (24, 24, 4)])
def test_an_observation_that_looks_like_a_picture_and_becomes_a_vector_is_named(
    shape: tuple[int, ...], caplog: pytest.LogCaptureFixture
) -> None:
    name = f"Pictured{len(shape)}{shape[-1]}-v0"
    gymnasium.register(name, PicturedEnv, kwargs={"shape": shape})
    gym_world(name)
    gym_world(name)
    (warning,) = [each.getMessage() for each in caplog.records]
    assert f"env.id='{name}': the observation of shape {shape} and type uint8 becomes a vector of" in warning


class PicturedEnv(gymnasium.Env[Any, Any]):
    """Observations of any shape, uint8."""

    action_space = spaces.Discrete(2)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.observation_space = spaces.Box(0, 255, shape, np.uint8)


class ManyActionsEnv(gymnasium.Env[Any, Any]):
    """Fifty actions, with or without names."""

    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(50)


class NamedActionsEnv(ManyActionsEnv):
    def get_action_meanings(self) -> list[str]:
        return ["noop", "pickup", *(f"act {number}" for number in range(48))]


@pytest.mark.parametrize("env", [ManyActionsEnv, NamedActionsEnv])
def test_a_person_is_given_no_more_actions_than_controls(
    env: type[ManyActionsEnv], caplog: pytest.LogCaptureFixture
) -> None:
    gymnasium.register(f"{env.__name__}-v0", env)
    warn_of_choices_without_key.cache_clear()
    controls = gym_world(f"{env.__name__}-v0").controls("solver")
    assert len({control.keys for control in controls}) == len(controls) == 32
    assert "only 32 of 49 actions" in caplog.messages[-1]


def test_the_actions_of_minigrid_are_on_keys_by_their_names() -> None:
    world = registry.make("gymnasium", id="BabyAI-GoToLocal-v0", image=(56, 56))
    controls = {control.name: control for control in world.controls("solver")}
    assert controls["forward"].keys == ("ArrowUp",) and controls["forward"].mode == "pulse"
    assert [controls[name].bins for name in ("left", "right", "forward", "pickup")] == [(0,), (1,), (2,), (3,)]
    assert not world.controls("setter")


def test_a_world_without_an_observed_picture_shows_its_rendering() -> None:
    world = registry.make("gymnasium", id="CartPole-v1", instruction="balance the pole")
    world.reset(Start(seed=0))
    assert world.spec.image is None
    assert world.picture("solver", 120, 160).shape == (120, 160, 3) and world.picture("solver", 120, 160).any()
