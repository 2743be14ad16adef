"""Pages of the documentation site that are not files of docs/: README, CONTRIBUTING, settings, and the API reference.

mkdocs calls `on_config` and `on_files` (see hooks in mkdocs.yml). The reference has one page for each folder of the
package, generated from the docstrings of its modules.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from interplay.launch.explain_settings import settings_page

ROOT = Path(__file__).parents[1]
PACKAGES = {"launch": "interplay.launch", "platform": "interplay"}
COPIES = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds the reference pages to the navigation, sorted by name."""
    assert config.nav is not None
    entries: list[dict[str, Any]] = [{title: path} for title, path in sorted(_titles().items())]
    config.nav = [*config.nav, {"API reference": entries}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    for source, target in COPIES.items():
        files.append(File.generated(config, target, content=_relinked((ROOT / source).read_text())))
    files.append(File.generated(config, "settings.md", content=settings_page()))
    for package, modules in _packages().items():
        sections = "".join(f"::: {module}\n\n" for module in modules)
        files.append(File.generated(config, _path(package), content=f"# {_title(package)}\n\n{sections}"))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Links to files outside docs/ become plain text: the site does not contain them."""
    return re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"`\1`", markdown)


def _relinked(text: str) -> str:
    """A page of the root, as if it was in docs/: its links to pages lose their folder, to other files their target."""
    text = re.sub(r"\]\(docs/", "](", text)
    return text.replace("](README.md)", "](index.md)")


def _packages() -> dict[str, list[str]]:
    """Each package with its modules, as dotted names."""
    found: dict[str, list[str]] = {}
    for folder, prefix in PACKAGES.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            package = ".".join([prefix, *file.parent.relative_to(ROOT / folder).parts])
            found.setdefault(package, []).append(package if file.stem == "__init__" else f"{package}.{file.stem}")
    return found


def _titles() -> dict[str, str]:
    return {_title(package): _path(package) for package in _packages()}


def _title(package: str) -> str:
    return package.removeprefix("interplay.").replace(".", " / ")


def _path(package: str) -> str:
    return f"reference/{package.removeprefix('interplay.').replace('.', '-')}.md"
