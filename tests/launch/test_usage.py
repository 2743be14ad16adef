"""Help: the list of verbs, and what each verb does, reads, writes and takes."""

from __future__ import annotations

import shlex
from dataclasses import fields
from importlib.metadata import version

import pytest

from interplay.core.settings_group import settings_group
from interplay.launch.cli import configured, main
from interplay.launch.pipeline import STAGES
from interplay.launch.usage import usage_of
from interplay.launch.verbs import SWEEP, VERBS
from interplay.stages.config import Config


def printed(typed: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(typed) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("typed", [[], ["--help"], ["-h"], ["help"]])
def test_help_names_every_verb(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    said = printed(typed, capsys)
    assert all(f"  {verb} " in said for verb in (*VERBS, "sweep"))
    assert "interplay --version" in said


@pytest.mark.parametrize("verb", [*VERBS, "sweep"])
def test_help_of_a_verb_is_about_that_verb(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = printed([verb, "--help"], capsys)
    assert said.startswith(f"usage: interplay {verb} ")
    assert (VERBS.get(verb) or SWEEP).does in said and f"  example   interplay {verb} " in said
    other = "look" if verb == "catalog" else "catalog"
    assert VERBS[other].does not in said
    assert printed(["help", verb], capsys) == said == printed([verb, "run.name=mine", "-h"], capsys)


@pytest.mark.parametrize("verb", VERBS)
def test_the_example_and_the_sections_of_a_verb_exist(verb: str) -> None:
    configured(verb, shlex.split(VERBS[verb].example))
    assert set(VERBS[verb].sections) <= {field.name for field in fields(Config)}


def test_help_says_where_the_files_of_a_run_are_and_only_for_verbs_that_have_some() -> None:
    default, demo = (configured("collect", words).run.root for words in ([], ["experiment=demo"]))
    assert f"run.dir/run.name: {default} by default, {demo} with\nexperiment=demo." in usage_of("collect")
    without = {verb for verb in VERBS if "folder of the run" not in usage_of(verb)}
    assert without == {"completion", "doctor", "explain", "print-config"}


def test_a_stage_names_the_section_of_its_settings_first() -> None:
    for stage in STAGES:
        section = "continuation" if stage == "continue" else settings_group(stage)
        assert VERBS[stage].sections[0] == section
        assert f"interplay explain {section} lists" in usage_of(stage)


def test_the_help_of_an_unknown_verb_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "colect"]) == main(["colect", "--help"]) == 2
    assert capsys.readouterr().err.count("Did you mean 'collect'?") == 2


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("COLLECT", "there is no verb 'COLLECT'. Did you mean 'collect'? interplay --help says what each does\n"),
        ("collect_agent", "Did you mean 'collect-agent'? interplay --help says what each does\n"),
        (
            "run.name=x clone run.seed=2",
            "the verb comes before the settings; type: interplay clone run.name=x run.seed=2\n",
        ),
        ("run.name=x", "type: interplay VERB run.name=x\n"),
    ],
)
def test_a_mistyped_verb_is_answered_in_a_line(typed: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(typed.split()) == 2
    said = capsys.readouterr().err
    assert said.startswith("interplay: ") and said.endswith(says) and said.count("\n") == 1


def test_the_version_is_that_of_the_installed_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(["--version"], capsys) == f"interplay {version('interplay')}\n"


@pytest.mark.parametrize("typed", [["run.seed=1,2", "sweep", "demo"], ["run.seed=3", "collect"]])
def test_settings_before_the_verb_are_answered_with_the_right_order(
    typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed) == 2
    assert f"type: interplay {' '.join([*typed[1:], typed[0]])}\n" in capsys.readouterr().err
