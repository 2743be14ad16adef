"""What the README and the pages of docs/ tell people to type can be typed: verbs and settings exist, quick ones run."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from hydra import compose, initialize_config_module
from tiny_runs import tiny

from interplay.launch.cli import VERBS, configured, main
from interplay.launch.sweep import combinations

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```bash\n(.*?)^```", re.DOTALL | re.MULTILINE)
VARIABLE = re.compile(r"[A-Z_]+=\S*")
SHIPPED = re.compile(r"\b((?:launch|benchmarks|conf|docs|tests)/[\w./-]*\.\w+)")
JOB = "launch/cluster/slurm.sbatch"  # types what follows it after `interplay`, and adds these:
JOB_ADDS = ("runtime=ray", "runtime.address=10.0.0.1:6379")
QUICK = ("look", "doctor", "print-config", "--help")
LINK = re.compile(r"\]\(([^)#:]+)\)")


def typed(text: str) -> list[list[str]]:
    """The `interplay` and `make` lines of a page's bash blocks, and inline `interplay VERB`s, as words. What is given
    to the job of Slurm counts as what that types."""
    lines = [line for block in BLOCK.findall(text) for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`((?:interplay|make) [^`\n]+)`", text)
    words = [_command(shlex.split(line, comments=True)) for line in lines]
    return [line for line in words if line and Path(line[0]).name in ("interplay", "make")]


def _command(words: list[str]) -> list[str]:
    """Without the environment's variables before it."""
    while words and VARIABLE.fullmatch(words[0]):
        words = words[1:]
    if words and words[0] == "sbatch":
        return ["interplay", *words[words.index(JOB) + 1 :], *JOB_ADDS]
    return words


COMMANDS = [(page.name, line) for page in PAGES for line in typed(page.read_text())]
MAKES = sorted({target for _, line in COMMANDS if line[0] == "make" for target in line[1:] if "=" not in target})
SHOWN = sorted({" ".join(line[1:]) for _, line in COMMANDS if line[0] != "make" and "..." not in line})


def test_the_pages_show_commands() -> None:
    assert {"demo", "test"} <= set(MAKES)
    assert any(line.startswith("print-config") for line in SHOWN)
    assert any(line.startswith("demo") for line in SHOWN)


@pytest.mark.parametrize("target", MAKES)
def test_a_target_that_is_shown_exists(target: str) -> None:
    assert re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("shown", SHOWN)
def test_a_command_that_is_shown_can_be_typed(shown: str) -> None:
    verb, *settings = shown.split()
    if verb == "sweep" and settings:
        verb, *settings = settings
        assert verb in VERBS
        for run in combinations([word for word in settings if not word.startswith("hydra")]):
            configured(verb, run.words)
        settings_of_launcher([word for word in settings if word.startswith("hydra")])
    elif verb not in ("--help", "sweep"):
        assert verb in VERBS
        configured(verb, settings)


def settings_of_launcher(words: list[str]) -> None:
    """Raises where Hydra does not know the launcher, or one of its settings."""
    with initialize_config_module("interplay.conf", version_base="1.3"):
        compose("sweep", overrides=words, return_hydra_config=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_file_that_a_page_names_is_there(page: Path) -> None:
    missing = [name for name in SHIPPED.findall(page.read_text()) if not (ROOT / name).exists()]
    assert not missing


def test_the_page_about_clusters_shows_every_file_and_way_there_is() -> None:
    page = (ROOT / "docs" / "cluster.md").read_text()
    for file in (ROOT / "launch" / "cluster").iterdir():
        assert f"launch/cluster/{file.name}" in page
    shown = [words for name, words in COMMANDS if name == "cluster.md"]
    assert {"reinforce", "watch", "sweep", "serve-reward"} <= {words[1] for words in shown}
    assert any(JOB_ADDS[1] in words for words in shown)  # the job of Slurm


def test_the_readme_names_every_verb() -> None:
    readme = (ROOT / "README.md").read_text()
    assert not [verb for verb in (*VERBS, "sweep") if f"interplay {verb}" not in readme]


@pytest.mark.parametrize("shown", [line for line in SHOWN if line.split()[0] in QUICK and "71m" not in line])
def test_a_quick_command_that_is_shown_runs(shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*shown.split(), *(tiny(tmp_path, house=("env.image=[16,24]",)) if shown == "look" else [])]) == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_links_to_what_is_there(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not missing


def test_the_readme_says_which_python(tmp_path: Path) -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["tool"]["ruff"]["target-version"]  # py311
    assert f"Python {wanted[2]}.{wanted[3:]}" in (ROOT / "README.md").read_text()
