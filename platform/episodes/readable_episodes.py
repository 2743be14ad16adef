"""Reads many episodes and passes over damaged ones: a file that can't be read is named in the log, never a crash."""

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
        """An episode by its id; raises DamagedEpisode or UnknownFormat where its file can't be read."""


def iter_readable(source: ReadableSource, ids: Iterable[str]) -> Iterator[Episode]:
    """The episodes of these ids that can be read, in their order; the log names the others."""
    for identifier in ids:
        try:
            episode = source.read(identifier)
        except (DamagedEpisode, UnknownFormat) as error:
            log.warning("skipped: %s", error)
        else:
            yield episode
