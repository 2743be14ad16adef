"""From the command line to the configuration of a run: presets compose, and all errors are reported together."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import interplay.conf
from interplay.agent.sizes import SIZES
from interplay.core.settings_validation import SettingsError, did_you_mean
from interplay.core.typed_name import typed_name
from interplay.env import registry
from interplay.episodes.vocabulary import VocabularyConfig
from interplay.launch.cli import configured, main
from interplay.launch.compose import compose
from interplay.stages.config import Config

CONF = Path(interplay.conf.__file__).parent


def problems(*typed: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as refused:
        compose(typed)
    return refused.value.problems


@pytest.mark.parametrize("verb", ["demo", "round 1", "orderings", "demo run.round=1"])
def test_a_typed_variant_that_would_not_be_trained_is_refused(verb: str) -> None:
    name, *more = verb.split()
    few, own = "variants.few.reward.marked_share=0.5", "variants.own={reward: {marked_share: 0.5}}"
    with pytest.raises(SettingsError) as refused:
        configured(name, [*more, few, own, "baselines=[bc_long,own]"])
    (problem,) = refused.value.problems
    assert problem.startswith("variants.few is typed") and problem.endswith("'baselines=[bc_long,own,few]'")
    configured(name, [*more, few, own, "baselines=[few,own]"])
    configured(name, [*more, "experiment=ablations", "baselines=[]"])  # an experiment's variants are to choose from
    configured("evaluate", [few])
    configured("round", ["2", few])


def test_each_problem_of_the_whole_configuration_is_a_line_of_its_own_and_is_said_once() -> None:
    wrong = ["runtime=ray", "runtime.actors=7", "reinforce.actor.lanes=60", "clone.learner.device=cuda"]
    with pytest.raises(SettingsError) as raised:
        compose(["experiment=orderings", *wrong])  # which has a variant that inherits both
    lanes, device = raised.value.problems
    assert lanes.startswith("reinforce.actor.lanes=60 can't be divided among 7 unrolls")
    assert device.startswith("clone.learner.device=cuda needs a GPU")


def test_an_experiment_for_another_world_than_the_typed_one_is_named() -> None:
    fixed = "env.control, env.select_and_place, env.blocks, env.held, env.compass, which experiment=voxel sets for the"
    (misfit,) = problems("env=room", "experiment=voxel")
    assert misfit.startswith(f"env=room does not take {fixed} world voxel: leave out env=room")
    misfit, blocks, seed = problems("env=room", "experiment=voxel", "env.blocks=[1,1]", "run.seed=-1")
    assert "env.blocks" not in misfit and blocks.startswith("env.blocks: unknown setting") and "run.seed" in seed
    assert problems("env=room", "env.blocks=[1,1]")[0].startswith("env.blocks: unknown setting")


def test_the_defaults_are_the_playhouse_and_the_nano_agent() -> None:
    config = compose([])
    assert config.env["name"] == "playhouse"
    assert config.agent == SIZES["nano"]
    assert config.collect.solver == "scripted"
    assert config.collect_agent.solver == "agent"


@pytest.mark.parametrize("file", sorted(path.relative_to(CONF).as_posix() for path in CONF.glob("*/*.yaml")))
def test_every_choice_of_every_group_composes(file: str) -> None:
    group, choice = file.removesuffix(".yaml").split("/")
    if choice == "plugin":  # stands for the worlds of other packages
        return
    config = compose([f"{group}={choice}"])
    if group == "agent":
        assert config.agent == SIZES[choice]


def test_the_papers_settings_are_the_papers() -> None:
    config = compose(["experiment=paper"])
    vocabulary = VocabularyConfig(limit=10_000, least_count=2)
    assert config.agent == replace(
        SIZES["71m"], vocabulary=vocabulary, movement="autoregressive", css_input="transformer"
    )
    reinforce = config.reinforce
    assert (reinforce.actor.lanes, reinforce.actor.steps, reinforce.actor.episode_steps) == (96, 50, 1125)
    for stage in config.training_stages.values():
        learner = stage.learner
        assert (stage.dataset.lanes, stage.dataset.steps) == (96, 50)
        assert (learner.precision, learner.recompute) == ("bf16", 10)  # with which it fits a GPU of 80 GB
        assert learner.learning_rate == 1e-4
        assert learner.adam_betas == (0.0, 0.999)
        assert learner.objective.cloning == "sum"
    assert reinforce.learner.objective.discount == 0.96
    weights = reinforce.learner.objective.weights
    assert (weights.movement_cloning, weights.language_cloning, weights.css) == (1, 5, 1)
    assert (weights.movement_policy, weights.language_policy, weights.value, weights.gate_kl) == (0.5, 0.1, 1, 1e-3)
    equal = config.reward.learner.objective.weights
    assert equal.movement_cloning == equal.language_cloning == equal.css == equal.ibt == 1
    assert config.collect.steps == 1125  # five minutes at 3.75 steps a second


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("run.sed=2", "run.sed: unknown setting. Did you mean 'seed'?"),
        ("env.imgae=[16,24]", "env.imgae: unknown setting. Did you mean 'image'?"),
        ("agent.widht=8", "agent.widht: unknown setting. Did you mean 'width'?"),
        (
            "reward.learner.objective.weights.ibtt=2",
            "reward.learner.objective.weights.ibtt: unknown setting. Did you mean 'ibt'?",
        ),
        ("reinforce.actr.lanes=2", "reinforce.actr: unknown setting. Did you mean 'actor'?"),
        ("rienforce.updates_per_batch=2", "rienforce: unknown setting. Did you mean 'reinforce'?"),
        ("trainng=3", "trainng: unknown setting. Did you mean 'tracking'?"),
        ("experiment=dmeo", "experiment: there is no 'dmeo'. Did you mean 'demo'?"),
        ("agent=7m", "agent: there is no '7m'. Known: nano, 5m, 18m, 71m, 165m."),
        ("agent.size=7m", "agent: no size is called '7m'. Known: nano, 5m, 18m, 71m, 165m."),
        ("env=playhose", "env: no world is called 'playhose'. Did you mean 'playhouse'?"),
        ("run.typed=[a]", "run.typed records what is typed, and cannot be typed: leave it out"),
        ("run=2", "run is a section; set one of its fields, as run.NAME=2"),
        ("run.seed", "'run.seed' is not a setting; type KEY=VALUE, as run.seed=2, or GROUP=NAME, as agent=5m"),
        ("clone.training.updates=many", "clone.training.updates: expected int, got 'many'"),
        ("run.seed=-1", "run: run.seed must be at least 0, got -1"),
        ("evaluate.seed=-1", "evaluate: evaluate.seed must be at least 0, got -1"),
        ("evaluate.kinds=[go,go]", "evaluate: evaluate.kinds names go more than once; give each name once"),
        ("mark.raters=[a,b,a]", "mark: mark.raters names a more than once; give each name once"),
        ("baselines=[bc_long,bc_long]", "baselines names bc_long more than once; give each name once"),
        (
            "clone.learner.objective.weights={css:inf,ibt:-1}",
            "clone.learner.objective.weights: loss weights must be finite and at least 0, got css=inf, ibt=-1.0",
        ),
        ("clone.learner.learning_rate=inf", "clone.learner: learning_rate must be above 0 and finite, got inf"),
        (
            "collect.setter.kinds={go:inf}",
            "collect.setter: setter: kinds={'go': inf}: weights must be finite and not negative, and one above 0",
        ),
        (
            "clone.dataset.mix={human-human:inf}",
            "clone.dataset: the shares of mix must be finite and at least 0, and one above 0; got {'human-human': inf}",
        ),
        ("collect_agent.steps=0", "collect_agent: steps must be at least 1, got 0"),
        (
            "collect_agent.setter_agent=clone-setter collect_agent.solver=scripted",
            "collect_agent: setter_agent=clone-setter and solver=scripted: a scripted solver works on the true task, "
            "which a learned setter does not state; set solver=agent",
        ),
        (
            "clone.learner.adam_betas=[0.9,1]",
            "clone.learner: adam_betas must be two numbers from 0 to below 1, got [0.9, 1.0]",
        ),
        (
            "clone.learner.adam_betas=[-0.1,0.9]",
            "clone.learner: adam_betas must be two numbers from 0 to below 1, got [-0.1, 0.9]",
        ),
        ("clone.learner.objective.rho_clip=-1", "clone.learner.objective: rho_clip must be at least 0, got -1.0"),
        ("clone.learner.objective.c_clip=nan", "clone.learner.objective.c_clip: expected a number, got nan"),
        ("env=gymnasium env.success_return=nan", "env.success_return: expected a number, got nan"),
        ("run.dir=", "run: run.dir is the folder of all runs, got ''; type run.dir=. for this folder"),
        ("run.name=..", "run: run.name names one folder under run.dir, got '..'; type for example run.name=mine"),
        (
            "solver.wander_start=[9,3]",
            "solver: solver: wander_start=(9, 3): give (least, most) with 0 <= least <= most",
        ),
        (
            "solver.notice_steps=[-1,3]",
            "solver: solver: notice_steps=(-1, 3): give (least, most) with 0 <= least <= most",
        ),
        (
            "solver.wander_length=[2,1]",
            "solver: solver: wander_length=(2, 1): give (least, most) with 0 <= least <= most",
        ),
    ],
)
def test_a_typo_is_refused_with_the_closest_name(typed: str, told: str) -> None:
    assert problems(*typed.split()) == (told,)


@pytest.mark.parametrize("folder", ["a (b)", "it's", "a=b", "a,b", "a#b", "a;b&c", 'say "a\\"', "a{b", "~x"])
def test_a_folder_with_special_characters_is_refused_with_what_to_type(folder: str) -> None:
    (told,) = problems(f"run.dir=/tmp/{folder}")
    typed = shlex.split(told.removeprefix(f"run.dir: {f'/tmp/{folder}'!r} ").partition("type ")[2])
    assert compose(typed[:1]).run.dir == f"/tmp/{folder}"
    name = shlex.split(typed_name(Path("/tmp", folder, "mine")))
    assert compose(name).run.root == Path("/tmp", folder, "mine")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("variants={a", "variants is a section; set one of its fields, as variants.NAME=VALUE"),
        ("variants.a={b", "variants.a: '{b' is not a complete mapping or list; close every bracket, put"),
        (
            "+collect.setter.kinds={go: it's}",
            'collect.setter.kinds: "{go: it\'s}" is not a complete mapping or list; close',
        ),
        ("baselines=[bc_long", "baselines: '[bc_long' is not a complete mapping or list; close every bracket, put"),
        (
            "+evaluate.agents.a b=reward",
            "evaluate.agents.a b: the name of a setting consists of letters, digits, _, - and dots, as in run.seed=2",
        ),
        ("run.name=a}", "run.name: 'a}' has characters that need quotes; type run.name='\"a}\"'"),
    ],
)
def test_a_value_with_an_open_bracket_is_refused_with_what_to_type(typed: str, told: str) -> None:
    (said,) = problems(typed)
    assert said.startswith(told) and "hydra" not in said


def test_an_unknown_setting_lists_each_known_one_once() -> None:
    (told,) = problems("xyzzy=1")
    known = told.split("Known: ")[1].rstrip(".").split(", ")
    assert len(known) == len(set(known))
    assert {"env", "agent", "experiment", "clone"} <= set(known)


def test_all_typos_are_reported_together() -> None:
    told = problems("env.imgae=1", "agent.widht=2", "run.sed=3", "clone.dataset.lanes=1", "mark.raters=[]")
    assert [problem.split(":")[0] for problem in told] == [
        "env.imgae",
        "agent.widht",
        "run.sed",
        "clone.dataset",
        "mark",
    ]


def test_settings_that_contradict_each_other_are_refused() -> None:
    (told,) = problems("reinforce.actor.steps=20", "reinforce.dataset.steps=30")
    assert "reinforce.actor.steps=20" in told
    assert "reinforce.dataset.steps=30" in told


def test_a_typed_field_keeps_the_others_that_a_preset_takes_from_another_section() -> None:
    for typed in (["collect_agent.setter.tasks=5"], ["+collect_agent.setter={tasks: 5}"]):
        found = compose(["experiment=house", *typed])
        assert found.collect_agent.setter == replace(found.collect.setter, tasks=5), "by cues, with chains and thanks"
    shared = compose(["experiment=house", "collect.setter.tasks=5"])
    assert shared.collect_agent.setter == shared.collect.setter and shared.collect.setter.tasks == 5
    text = [file.read_text() for folder in ("env", "experiment") for file in (CONF / folder).glob("*.yaml")]
    taken = {line.replace('"', "") for line in re.findall(r"[\w.]+: \"?\$\{[\w.]+\}", "\n".join(text))}
    assert taken == {"setter: ${collect.setter}"}, "INHERITS names them"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("collect.setter.kinds={go: 1} collect.setter.sample_by=cues", "weight the cues with collect.setter.cues"),
        ("collect_agent.setter.kinds={go: 1} collect_agent.setter.sample_by=cues", "collect_agent.setter.cues"),
        ("reinforce.actor.hold_steps=4", "has no effect with reinforce.actor.until=time: add"),
        ("experiment=orderings baselines=[] reinforce.actor.until=time reinforce.actor.hold_steps=3", "until=time"),
        ("reward.dataset.stagger=false reward.dataset.windows=marked", "or set reward.dataset.windows=stream"),
        ("evaluate.setter_steps=60", "evaluate.setter_steps has no effect without a learned setter"),
        (
            "experiment=house collect.setter.kinds.go=2 collect_agent.setter.kinds={lift: 1}",
            "collect.setter.kinds.go has",
        ),
    ],
)
def test_typed_settings_without_effect_are_refused(typed: str, told: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(told)):
        configured("demo", shlex.split(re.sub(r"\{\w+: 1\}", r"'\g<0>'", typed)))


@pytest.mark.parametrize(
    "typed",
    [
        ["env=room", "collect.setter.sample_by=cues"],  # the preset has kinds
        ["experiment=orderings", "reinforce.actor.until=time", "baselines=[]"],  # and this one hold_steps
        ["collect.setter.kinds={go: 1}", "collect.setter.sample_by=cues", "evaluate.setter_agent=clone-setter"],
        ["reinforce.actor.hold_steps=4", "baselines=[success]"],
        ["reinforce.actor.hold_steps=4", "reinforce.actor.until=done"],
        ["reinforce.actor.hold_steps=0"],
        ["reward.dataset.windows=marked", "reward.dataset.stagger=false", "baselines=[ar]"],
        ["reinforce.dataset.stagger=false"],
        ["experiment=house", "collect.setter.kinds={go: 1}", "collect_agent.setter.sample_by=kinds"],  # inherits them
        ["baselines=[success]", "reinforce.actor.learned_setters=0.5"],  # of a baseline that would be refused later
        ["agent.width=40", "agent.attention_heads=8", "baselines=[bc_large]"],
    ],
)
def test_settings_without_effect_that_are_not_typed_or_needed_by_a_baseline_are_accepted(typed: list[str]) -> None:
    configured("demo", typed)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("clone.dataset.blocks=1", "clone.dataset.blocks=1 and runtime.overlap=true: the next unroll would overwrite"),
        ("reward.dataset.blocks=1", "so set reward.dataset.blocks=2, or runtime.overlap=false"),
        ("reinforce.actor.blocks=1", "so set reinforce.actor.blocks=2, or runtime.overlap=false"),
        (
            "runtime=ray runtime.datasets=3 clone.dataset.lanes=16",
            "runtime.datasets=3 dataset actors can't share clone.dataset.lanes=16: each gets as many, and at least 2",
        ),
        ("runtime=ray runtime.datasets=2 reward.dataset.lanes=2", "can't share reward.dataset.lanes=2"),
        (
            "runtime=ray runtime.datasets=2 clone.dataset={lanes:16,around_utterances:.45,around_instructions:.45}",
            "runtime.datasets=2 dataset actors share clone.dataset.lanes: around_utterances=0.45",
        ),
        ("runtime=ray runtime.datasets=2 reinforce.dataset.lanes=5", "can't share reinforce.dataset.lanes=5"),
        ("clone.learner.accumulate=5", "clone.learner.accumulate=5 can't divide clone.dataset.lanes=16: the parts of"),
        ("runtime=ray runtime.learners=2 reinforce.actor.lanes=6 reinforce.learner.accumulate=4", "multiple of 8"),
    ],
)
def test_unreadable_or_overwriting_values_are_refused(typed: str, told: str) -> None:
    said = problems(*typed.split())
    assert told in said[0] and len(said) == (3 if "datasets=3" in typed else 1)  # a line for each stage


def test_without_demonstrations_no_dataset_lanes_are_shared() -> None:
    weights = "reinforce.learner.objective.weights"
    shown = [f"{weights}.{name}=0" for name in ("movement_cloning", "language_cloning", "css")]
    compose(["runtime=ray", "runtime.datasets=2", "reinforce.dataset.lanes=5", *shown])


def test_one_field_of_a_section_keeps_the_other_defaults() -> None:
    """Whatever default the section has, not those of its class: `collect_agent` differs from `collect` by two."""
    config = compose(["collect_agent.episodes=7", "reinforce.learner.objective.weights.value=3"])
    assert config.collect_agent.episodes == 7
    assert config.collect_agent.solver == "agent"
    assert config.collect_agent.grace_steps == compose([]).collect_agent.grace_steps
    assert config.reinforce.learner.objective.weights.value == 3
    assert config.reinforce.learner.objective.weights.movement_policy == 0.5


def test_a_size_with_overrides() -> None:
    agent = compose(["agent=5m", "agent.layers=3"]).agent
    assert agent.layers == 3
    assert agent.width == SIZES["5m"].width
    assert compose(["experiment=paper", "agent=5m"]).agent.channels == SIZES["5m"].channels


def test_a_preset_for_the_demo_goes_with_another_world() -> None:
    config = compose(["experiment=demo", "env=gymnasium", "env.id=BabyAI-GoToLocal-v0"])
    assert config.env["id"] == "BabyAI-GoToLocal-v0"
    assert config.env["name"] == "gymnasium"
    assert "rooms" not in config.env
    assert not config.collect.setter.kinds  # the room's tasks stay in the room


def test_a_world_of_another_package_is_chosen_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def corridor(length: int = 3) -> Any:
        raise AssertionError("composing makes no world")

    monkeypatch.setattr(registry, "_REGISTERED", {"corridor": corridor})
    assert dict(compose(["env=corridor", "env.length=5"]).env) == {"name": "corridor", "length": 5}
    assert problems("env=coridor") == ("env: no world is called 'coridor'. Did you mean 'corridor'?",)


def test_print_config_is_json_of_every_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["print-config", "experiment=demo", "run.seed=7"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == [field.name for field in fields(Config)]
    run = {"name": "demo", "dir": "runs", "seed": 7, "round": 1, "settings": "typed", "typed": ["experiment=demo"]}
    assert printed["run"] == run

    def complete(shown: Any, built: Any) -> None:
        if is_dataclass(built):
            assert set(shown) == {field.name for field in fields(built)}
            for field in fields(built):
                complete(shown[field.name], getattr(built, field.name))

    complete(printed, compose(["experiment=demo", "run.seed=7"]))


def test_the_nearest_name_is_said_but_for_sizes() -> None:
    assert did_you_mean("2026112", ["20261127", "mine"]) == " Did you mean '20261127'?"
    assert did_you_mean("6m", ["165m", "5m", "nano"]) == " Known: nano, 5m, 165m."
