"""The command starts without what most verbs do not need, and finds every verb's function."""

from __future__ import annotations

import subprocess
import sys

import pytest

from interplay.launch.pipeline import STAGES
from interplay.launch.verbs import VERBS

HEAVY = ("fastapi", "matplotlib", "mujoco", "numba", "PIL", "ray", "wandb")
COMPOSED = """
import sys
import interplay.launch.cli
from interplay.launch.compose import compose
print([name for name in HEAVY if name in sys.modules])
compose([])
print([name for name in HEAVY if name in sys.modules])
"""
ANSWERED = """
import sys
from interplay.launch import entry
try:
    entry.console()
except SystemExit as left:
    print(left.code, [name for name in (*HEAVY, "hydra", "numpy", "torch") if name in sys.modules], file=sys.stderr)
"""


def test_the_command_starts_and_composes_settings_without_libraries_of_single_verbs() -> None:
    script = COMPOSED.replace("HEAVY", repr(HEAVY))
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n[]\n"


@pytest.mark.parametrize(
    ("typed", "code"),
    [([], 0), (["--help"], 0), (["collect", "-h"], 0), (["help"], 0), (["--version"], 0), (["colect"], 2)],
)
def test_help_and_an_unknown_verb_import_no_library_of_a_verb(typed: list[str], code: int) -> None:
    script = ANSWERED.replace("HEAVY", repr(HEAVY))
    said = subprocess.run([sys.executable, "-c", script, *typed], capture_output=True, text=True, check=True)
    assert said.stderr.endswith(f"{code} []\n")
    assert ("collect" in said.stdout + said.stderr) == (typed != ["--version"])


def test_every_stage_is_a_verb() -> None:
    assert set(STAGES) <= set(VERBS)


def test_every_verb_is_found() -> None:
    assert all(callable(verb.load()) for verb in VERBS.values())
