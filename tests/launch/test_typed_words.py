"""Words as they are typed after a verb: texts stay text, and mistakes of form are refused with what to type."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from interplay.core.settings_validation import SettingsError
from interplay.launch.cli import configured
from interplay.launch.compose import compose
from interplay.launch.sweep import combinations


def problems(*typed: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as refused:
        compose(typed)
    return refused.value.problems


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ([""], "an argument is empty, for example because a variable of the shell is not set; leave it out"),
        (["run.seed", "=", "2"], "'run.seed' is not a setting; type no spaces around =, as run.seed=2"),
        (["run.seed=", "2"], "'2' is not a setting; type no spaces around =, as run.seed=2"),
        (["run.seed", "=2"], "'run.seed' is not a setting; type no spaces around =, as run.seed=2"),
        (["--run.name=x"], "type settings with = and without dashes in front, as run.name=x"),
        (["hydra.run.dir=x"], "of interplay sweep; run.dir=FOLDER is the folder of all runs"),
        (["hydra/launcher=laptop"], "of interplay sweep; run.dir=FOLDER is the folder of all runs"),
        (["--=x"], "type settings with = and without dashes in front, as run.seed=2"),
        (
            ["--seed=2", "--run.name=x"],
            "dashes in front; seed: unknown setting. Did you mean run.seed, evaluate.seed or continuation.seed?",
        ),
        (["env=gymnasium", "--env.id=CartPole-v1"], "without dashes in front, as env.id=CartPole-v1"),
        (["--run.name", "x"], "type settings with = and without dashes in front, as run.seed=2"),
        (
            ["collect.setter.kinds={go:", "60,", "color:", "1}", "run.seed=2"],
            "'60,' is a part of a value with spaces, which needs quotes; type "
            "'collect.setter.kinds={go: 60, color: 1}'",
        ),
        (
            ["env.objects=[2,3]", "[4]"],
            "'[4]' is not a setting; type KEY=VALUE, as run.seed=2, or GROUP=NAME, as agent=5m",
        ),
        (["env.objects=[2,", "3"], "'3' is not a setting; type KEY=VALUE, as run.seed=2, or GROUP=NAME, as agent=5m"),
        (["paper"], "'paper' is not a setting; type experiment=paper or gpu=paper"),
        (["experiment=demo,paper"], "type one, or interplay sweep VERB experiment=demo,paper to run a verb with each"),
        (["env=room,playhouse"], "type one, or interplay sweep VERB env=room,playhouse to run a verb with each"),
        (
            ["clone.learner.adam_betas=0,1"],
            "for a list, or interplay sweep VERB clone.learner.adam_betas=0,1 to run a verb with each",
        ),
        (["+", "run.seed=2"], "'+' is not a setting; type KEY=VALUE, as run.seed=2, or GROUP=NAME, as agent=5m"),
        (["run.dir=a b, c"], "or interplay sweep VERB 'run.dir=a b, c' to run a verb with each"),
        (["mark.raters=null"], "expected a list of str, got None"),
        (["run.seed=1,2"], "type interplay sweep VERB run.seed=1,2 to run a verb with each"),
    ],
)
def test_words_that_are_not_settings_are_refused_with_what_to_type(typed: list[str], says: str) -> None:
    (told,) = problems(*typed)
    assert told.endswith(says)


@pytest.mark.parametrize("verb", ["collect", "replay", "round", "explain"])
def test_an_empty_argument_names_nothing(verb: str) -> None:
    with pytest.raises(SettingsError, match="an argument is empty"):
        configured(verb, [""])


@pytest.mark.parametrize(
    "name", ["20261127", "1e5", "true", "-1.5", "caf\u00e9", "cafe\u0301", "\u65e5\u672c", "my run"]
)
def test_what_is_typed_for_a_text_stays_text(name: str) -> None:
    assert compose([f"run.name={name}", f"run.dir={name}"]).run.root == Path(name, name)
    assert compose([f'run.name="{name}"']).run.name == name
    in_file_name = re.sub(r"[^\w.-]", "_", name)
    swept = combinations([f"run.name={name}", "run.seed=1,2"])
    assert [run.words[-1] for run in swept] == [f"run.name={in_file_name}-seed-{seed}" for seed in (1, 2)]
    assert compose(["runtime.address=null"]).runtime.address is None


@pytest.mark.parametrize(
    ("typed", "told", "remedy"),
    [
        ("run.name=null", "run.name: expected str, got None", "run.name='\"null\"'"),
        ("evaluate.agents.a=5", "evaluate.agents.a: expected str, got 5", "evaluate.agents.a='\"5\"'"),
        ("evaluate.agents.a=true", "evaluate.agents.a: expected str, got True", "evaluate.agents.a='\"true\"'"),
        ("evaluate.agents.a=1e5", "evaluate.agents.a: expected str, got 100000.0", "evaluate.agents.a='\"TEXT\"'"),
        ("mark.raters=[1]", "mark.raters[0]: expected str, got 1", "mark.raters='[\"1\"]'"),
    ],
)
def test_another_text_is_typed_in_quotes(typed: str, told: str, remedy: str) -> None:
    (said,) = problems(typed)
    assert said == f"{told}; a text is typed in double quotes within single ones, {remedy}"
    compose(shlex.split(remedy))


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("collect.episodes=1e3", "collect.episodes: expected int, got 1000.0; type collect.episodes=1000"),
        ("clone.learner.compile=yes", "clone.learner.compile: expected bool, got 'yes'; type true or false"),
        ("mark.raters=a", "mark.raters: expected a list of str, got 'a'; type mark.raters='[a]'"),
        ("env.image=16x24", "env.image: expected a list [int, int], got '16x24'; type env.image='[A,B]'"),
        (
            "clone.learner=3",
            "clone.learner: a section of settings, got 3; set one of them: interplay explain clone.learner lists them",
        ),
        ("collect.setter.kinds=go", "collect.setter.kinds: expected mapping from str to float, got 'go'"),
        ("run.seed==2", "run.seed: '=2' begins with a second =; type run.seed=2"),
        ("run.seed=2;", "run.seed: expected int, got '2;'"),
        (
            "run..seed=2",
            "run..seed: the name of a setting consists of letters, digits, _, - and dots, as in run.seed=2",
        ),
    ],
)
def test_a_value_of_another_type_is_refused_with_what_to_type(typed: str, told: str) -> None:
    assert problems(typed) == (told,)


def test_a_plus_in_front_of_a_setting_changes_nothing() -> None:
    assert compose(["+run.seed=2", "++run.name=2026", "+agent=5m"]).run.root == Path("runs/2026")
    assert compose(["+run.seed=2"]).run.seed == 2


def test_a_tilde_in_front_removes_what_a_preset_sets() -> None:
    kinds, fewer = (compose(["env=room", *typed]).collect.setter.kinds for typed in ([], ["~collect.setter.kinds.go"]))
    assert "go" in kinds and fewer == {kind: weight for kind, weight in kinds.items() if kind != "go"}


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("round 2 run.round=3", "the verb round is followed by its number, 2; leave run.round out"),
        ("orderings run.seed=3", "orderings runs the seeds of orderings.seeds=[1,2,3]; set that, and leave run.seed"),
    ],
)
def test_a_typed_setting_for_which_a_verb_has_a_value_of_its_own_is_refused(typed: str, told: str) -> None:
    verb, *words = typed.split()
    with pytest.raises(SettingsError) as refused:
        configured(verb, words)
    assert refused.value.problems[0].startswith(told)
    configured(verb, words[:-1])
