from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fake_corridor import Corridor, assert_same_episode, record_episode
from hypothesis import given, settings
from hypothesis import strategies as st
from unreadable_file import unreadable

from interplay.episodes.encoding import DamagedEpisode, UnknownFormat, decode, encode, load

EPISODE = record_episode(Corridor(poses=False), seed=3, steps=250)[0]
BYTES = encode(EPISODE)


@pytest.mark.parametrize("poses", [True, False])
@pytest.mark.parametrize("steps", [1, 99, 100, 101])
def test_decoding_inverts_encoding(poses: bool, steps: int) -> None:
    episode = record_episode(Corridor(poses=poses), seed=1, steps=steps)[0]
    assert_same_episode(decode(encode(episode), source="here"), episode)


def test_numpy_alone_opens_the_file() -> None:
    opened = np.load(io.BytesIO(BYTES))
    assert set(opened.files) >= {"actions/solver", "images/solver/0000", "images/solver/0002", "episode.json"}
    np.testing.assert_array_equal(opened["actions/setter"], EPISODE.actions["setter"])
    assert json.loads(opened["episode.json"])["id"] == EPISODE.meta.id


def test_the_metadata_is_written_last() -> None:
    with zipfile.ZipFile(io.BytesIO(BYTES)) as archive:
        assert archive.namelist()[-1] == "episode.json"


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(BYTES) - 1), st.integers(1, 255))
def test_a_flipped_byte_is_harmless_or_named(place: int, change: int) -> None:
    damaged = bytearray(BYTES)
    damaged[place] ^= change
    try:
        episode = decode(bytes(damaged), source="here")
    except DamagedEpisode as error:
        assert "here" in str(error)
    else:
        assert_same_episode(episode, EPISODE)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(BYTES) - 1))
def test_a_cut_file_is_named(length: int) -> None:
    with pytest.raises(DamagedEpisode, match="here"):
        decode(BYTES[:length], source="here")


def test_a_file_that_this_user_may_not_read_is_not_to_be_removed(tmp_path: Path) -> None:
    file = tmp_path / "locked.npz"
    file.write_bytes(BYTES)
    with unreadable(file), pytest.raises(DamagedEpisode, match=r"locked\.npz can't be read .* the right to read it$"):
        load(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DamagedEpisode, match=r"gone\.npz is missing"):
        load(tmp_path / "gone.npz")


def test_a_newer_format_is_refused() -> None:
    newer = dataclasses.replace(EPISODE, meta=dataclasses.replace(EPISODE.meta, version=99))
    with pytest.raises(UnknownFormat, match="version 99"):
        decode(encode(newer), source="here")


def test_a_file_without_one_of_its_arrays_is_named() -> None:
    thinner = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(BYTES)) as whole, zipfile.ZipFile(thinner, "w") as archive:
        for name in whole.namelist():
            if name != "vectors/solver/0001.npy":
                archive.writestr(name, whole.read(name))
    with pytest.raises(DamagedEpisode, match="should hold"):
        decode(thinner.getvalue(), source="here")


def test_an_episode_that_contradicts_itself_is_not_written() -> None:
    short = dataclasses.replace(EPISODE, env_reward=EPISODE.env_reward[:-1])
    with pytest.raises(ValueError, match="env_reward has 249 rows, not 250"):
        encode(short)


def test_still_images_take_almost_no_space() -> None:
    episode = record_episode(Corridor(), seed=1, steps=400)[0]
    assert episode.poses is not None
    rng = np.random.default_rng(0)
    moving = rng.standard_normal((401, 100)).astype(np.float32)
    still = np.tile(rng.standard_normal(100).astype(np.float32), (401, 1))
    alone = dataclasses.replace(episode, poses=moving)
    together = dataclasses.replace(episode, poses=np.stack([moving, still], axis=2).reshape(401, 200))
    assert len(encode(together)) - len(encode(alone)) < still.nbytes / 20
