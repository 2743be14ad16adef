"""Iteration over many episodes that logs and skips unreadable files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Protocol

from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.episodes.episode import Episode

log = logging.getLogger(__name__)


class ReadableSource(Protocol):
    """A store or a snapshot."""

    def read(self, episode: str) -> Episode:
        """Returns an episode by its id; raises DamagedEpisode or UnknownFormat if its file can't be read."""


def iter_readable(source: ReadableSource, ids: Iterable[str]) -> Iterator[Episode]:
    """Yields the readable episodes of these ids in their order; logs the others."""
    for identifier in ids:
        try:
            episode = source.read(identifier)
        except (DamagedEpisode, UnknownFormat) as error:
            log.warning("skipped: %s", error)
        else:
            yield episode
