"""The reward service over HTTP: it returns the model's rewards, and explains what is wrong with a bad request."""

from __future__ import annotations

import io
import json
import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_world import TINY, WORDS, LineWorld, tiny_agent
from processes import becomes_true

from interplay.agent.observation import Arrays, Layout
from interplay.agent.unroll import allocate_rollout
from interplay.agent.weights import export_weights
from interplay.episodes.vocabulary import Vocabulary
from interplay.reward.learned_reward import LearnedReward
from interplay.reward.reward_functions import LaneState, ScoredUnroll, WithReferenceGate
from interplay.reward.reward_server import (
    STATE_KEYS,
    LocalScorer,
    RewardServer,
    Scorer,
    ServeConfig,
    ServiceEnded,
    listen,
)

LAYOUT = Layout(LineWorld().spec, TINY.utterance_length, TINY.actions_per_step)
STEPS, LANES = 4, 2
OTHER = export_weights(tiny_agent(LineWorld(), utility=True, seed=5))


def read(path: str) -> tuple[dict[str, Any], int]:
    if path != "other":
        raise ValueError(f"no checkpoint at {path}")
    return OTHER, 17


@dataclass(frozen=True)
class Client:
    """Sends a request to the server."""

    port: int

    def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes, str | None]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, body)
        answer = connection.getresponse()
        found = answer.status, answer.read(), answer.getheader("X-Reward-Version")
        connection.close()
        return found

    def score(self, arrays: Arrays) -> tuple[dict[str, Any], str | None]:
        status, body, version = self.ask("POST", "/score", packed(arrays))
        assert status == 200, body
        with np.load(io.BytesIO(body)) as loaded:
            return dict(loaded), version

    def refused(self, method: str, path: str, body: bytes = b"") -> tuple[int, str]:
        status, answer, _ = self.ask(method, path, body)
        return status, json.loads(answer)["error"]


@contextmanager
def running(scorer: Scorer) -> Iterator[tuple[RewardServer, Client]]:
    config = ServeConfig(port=0, largest_mb=1)
    server = listen(config)
    server.answer_with(scorer, WORDS, LAYOUT, TINY.lstm)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server, Client(server.server_address[1])
    server.shutdown()
    thread.join(60)
    server.server_close()


@pytest.fixture
def client() -> Iterator[Client]:
    with running(LocalScorer(LearnedReward(tiny_agent(LineWorld(), utility=True), version=3), read)) as (_, asks):
        yield asks


def packed(arrays: Arrays) -> bytes:
    file = io.BytesIO()
    plain: dict[str, Any] = dict(arrays)
    np.savez(file, **plain)
    return file.getvalue()


def states(lanes: int, width: int) -> Arrays:
    """The state of `lanes` lanes of a model of this width."""
    return {name: np.zeros((lanes, width), np.float32) for name in STATE_KEYS}


def unroll(seed: int = 0) -> Arrays:
    rng = np.random.default_rng(seed)
    arrays = allocate_rollout(LAYOUT, STEPS, LANES)
    arrays["image"][:] = rng.integers(256, size=arrays["image"].shape)
    arrays["last"][2, 1] = arrays["first"][3, 1] = True
    return {name: arrays[name] for name in [*LAYOUT.observations(0, 0), "last"]}


def test_it_returns_the_models_rewards_and_continues_with_the_lane_states(client: Client) -> None:
    function = LearnedReward(tiny_agent(LineWorld(), utility=True), version=3)
    first = function.score(unroll(0), LaneState())
    second = function.score(unroll(1), first.lane_state)
    answer, version = client.score(unroll(0))
    np.testing.assert_array_equal(answer["reward"], first.reward)
    np.testing.assert_array_equal(answer["utility"], first.utility)
    assert version == "3"
    going_on, _ = client.score({**unroll(1), **{name: answer[name] for name in STATE_KEYS}})
    np.testing.assert_array_equal(going_on["reward"], second.reward)
    afresh, _ = client.score(unroll(1))
    assert not np.array_equal(afresh["utility"], second.utility)


def test_another_version_pays_from_the_next_request_on(client: Client) -> None:
    before, _ = client.score(unroll())
    status, body, _ = client.ask("POST", "/version", b'{"checkpoint": "other"}')
    assert (status, json.loads(body)) == (200, {"version": 17})
    after, version = client.score(unroll())
    assert version == "17" and not np.array_equal(before["utility"], after["utility"])
    assert json.loads(client.ask("GET", "/about")[1])["version"] == 17
    client.ask("POST", "/version", b'{"checkpoint": "elsewhere"}')  # which is refused
    assert json.loads(client.ask("GET", "/about")[1])["version"] == 17


def test_it_describes_its_inputs(client: Client) -> None:
    status, body, _ = client.ask("GET", "/about")
    about = json.loads(body)
    assert status == 200 and about["version"] == 3
    assert about["arrays"]["image"] == {"dtype": "uint8", "row": list(LineWorld().spec.image or ())}
    assert set(about["arrays"]) == set(unroll())


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"image": np.zeros((STEPS + 1, LANES), np.uint8)}, "image is uint8 [5, 2], not uint8 [T + 1, b, "),
        ({"last": np.zeros((STEPS + 1, LANES), np.int8)}, "last is int8"),
        ({"hidden": np.zeros((LANES, 4), np.float32)}, "give hidden and cell, or none"),
        (
            states(LANES + 1, TINY.lstm),
            f"hidden is float32 [3, {TINY.lstm}], not float32 [b, D], here [2, {TINY.lstm}]",
        ),
        (states(LANES, 4), f"cell is float32 [2, 4], not float32 [b, D], here [2, {TINY.lstm}]"),
        ({"vector": np.full((STEPS + 1, LANES, 2), np.nan, np.float32)}, "vector has NaN or infinity"),
        (
            {"previous": np.full((STEPS + 1, LANES, TINY.actions_per_step, 2), 2, np.int8)},
            "previous[..., 1], nod, is from 2 to 2, not 0 to 1",
        ),
        ({"vocabulry": np.array("{}")}, "'vocabulry' is unknown; leave it out. Did you mean 'vocabulary'?"),
        ({"progress": np.zeros((STEPS + 1, LANES))}, "'progress' is unknown; leave it out. Known: cell, "),
    ],
)
def test_arrays_that_do_not_fit_are_named(client: Client, changed: Arrays, told: str) -> None:
    status, said = client.refused("POST", "/score", packed({**unroll(), **changed}))
    assert status == 400 and told in said, said


def test_rewards_that_are_not_finite_are_an_error(client: Client) -> None:
    unknown = {name: np.full((LANES, TINY.lstm), np.nan, np.float32) for name in STATE_KEYS}
    status, said = client.refused("POST", "/score", packed({**unroll(), **unknown}))
    assert status == 500 and said.startswith("ValueError: the reward LearnedReward: score() must return finite numbers")
    assert client.score(unroll())[1] == "3"  # and it still serves


def spoken(vocabulary: Vocabulary) -> Arrays:
    """An unroll in which both players speak."""
    arrays = unroll()
    arrays["heard"][1:] = vocabulary.encode("walk to two houses", LAYOUT.utterance_length)
    arrays["said"][2:] = vocabulary.encode("count one", LAYOUT.utterance_length)
    return arrays


def test_utterances_of_another_vocabulary_are_translated_by_their_text(client: Client) -> None:
    others = Vocabulary([*reversed(WORDS.words), "table"])
    own, _ = client.score(spoken(WORDS))
    misread, _ = client.score(spoken(others))
    told = {"vocabulary": np.array(others.to_json())}
    translated, _ = client.score({**spoken(others), **told})
    np.testing.assert_array_equal(translated["utility"], own["utility"])
    assert not np.array_equal(misread["utility"], own["utility"])


def test_tokens_of_no_known_vocabulary_are_refused(client: Client) -> None:
    arrays = unroll()
    arrays["heard"][0, 0, 0] = len(WORDS)
    status, said = client.refused("POST", "/score", packed(arrays))
    assert status == 400 and f"0 to {len(WORDS) - 1}: they are of another vocabulary" in said
    for wrong in ("[]", '{"version": 99}', "no JSON", "[" * 5000):
        status, said = client.refused("POST", "/score", packed({**unroll(), "vocabulary": np.array(wrong)}))
        assert status == 400 and "the utterances can't be read" in said


def one_array() -> bytes:
    """A .npy instead of a .npz."""
    stream = io.BytesIO()
    np.save(stream, np.zeros(3))
    return stream.getvalue()


def torn() -> bytes:
    """A compressed .npz whose data can't be inflated."""
    stream = io.BytesIO()
    np.savez_compressed(stream, image=np.zeros(100))
    whole = bytearray(stream.getvalue())
    start = 30 + int.from_bytes(whole[26:28], "little") + int.from_bytes(whole[28:30], "little")  # after the header
    whole[start] = 0xFF
    return bytes(whole)


def inflating() -> bytes:
    """A small .npz of a large array."""
    stream = io.BytesIO()
    np.savez_compressed(stream, image=np.zeros(2**20 + 1, np.uint8))
    return stream.getvalue()


def test_missing_arrays_are_named(client: Client) -> None:
    lacking = {name: array for name, array in unroll().items() if name not in ("image", "last")}
    status, said = client.refused("POST", "/score", packed(lacking))
    assert status == 400 and "image is missing" in said and "last is missing" in said


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "told"),
    [
        ("POST", "/score", b"nonsense", 400, "not an .npz"),
        ("POST", "/score", one_array(), 400, "not an .npz"),
        ("POST", "/score", torn(), 400, "not an .npz"),
        ("POST", "/score", b"x" * (2**20 + 1), 413, "serve.largest_mb"),
        ("POST", "/score", inflating(), 413, "at most 1048576 are taken: serve.largest_mb"),
        ("GET", "/", b"", 404, "see GET /about"),
        ("GET", "/score", b"", 405, "there is no GET /score"),
        ("POST", "/version", b"[]", 400, "send JSON"),
        ("POST", "/version", b"[" * 5000, 400, "send JSON"),
        ("POST", "/version", b'{"checkpoint": "nowhere"}', 400, "no checkpoint at nowhere"),
        ("POST", "/version", b'{"checkpoint": "%s"}' % (b"a/" * 2500), 400, "has 5,000 characters, at most 4,096"),
    ],
)
def test_wrong_requests_are_refused(
    client: Client, method: str, path: str, body: bytes, status: int, told: str
) -> None:
    got, said = client.refused(method, path, body)
    assert got == status and told in said
    assert client.score(unroll())[1] == "3"  # and it still serves


def test_objects_are_never_unpickled(client: Client) -> None:
    status, said = client.refused("POST", "/score", packed({**unroll(), "first": np.array([{}], object)}))
    assert status == 400 and "not an .npz of plain arrays" in said


class Gone:
    """A scorer whose last replica has failed for good."""

    version = 3

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        raise ServiceEnded("no replica is left that scores: the GPU is full")

    def load(self, checkpoint: str) -> int:
        raise AssertionError(checkpoint)


def test_the_service_ends_with_an_error_if_no_replica_is_left() -> None:
    with running(Gone()) as (server, asks):
        assert server.ended_by is None
        for _ in range(2):  # until it has ended
            status, said = asks.refused("POST", "/score", packed(unroll()))
            assert (status, said) == (503, "no replica is left that scores: the GPU is full")
    assert becomes_true(lambda: server.ended_by is not None)  # it is set once the answer is on its way
    assert str(server.ended_by) == said


def test_a_reward_function_is_stateless_between_requests() -> None:
    function = WithReferenceGate(LearnedReward(tiny_agent(LineWorld(), utility=True), 1), tiny_agent(LineWorld()))
    first = function.score(unroll(0), LaneState())
    function.score(unroll(1), first.lane_state)
    again = function.score(unroll(0), LaneState())
    np.testing.assert_array_equal(first.reward, again.reward)
    np.testing.assert_array_equal(first.reference_gate, again.reference_gate)  # type: ignore[arg-type]
    assert first.reference_gate is not None and first.reference_gate.shape == (STEPS + 1, LANES)
    with pytest.raises(ValueError, match="no utility head"):
        function.load_version(export_weights(tiny_agent(LineWorld())), 2)


def test_the_request_that_the_page_about_clusters_shows_is_answered(client: Client) -> None:
    page = (Path(__file__).parents[2] / "docs" / "cluster.md").read_text()
    (shown,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert str(ServeConfig().port) in shown
    names: dict[str, Any] = {}
    exec(shown.replace(str(ServeConfig().port), str(client.port)), names)
    assert names["scored"]["reward"].shape == (8, 2)


def test_a_negative_length_is_refused(client: Client) -> None:
    connection = HTTPConnection("127.0.0.1", client.port, timeout=20)
    connection.putrequest("POST", "/score")
    connection.putheader("Content-Length", "-1")
    connection.endheaders()
    assert connection.getresponse().status == 400


def test_clients_that_disconnect_are_not_an_error_of_the_server(
    client: Client, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Whether they are killed before a request, within its line or its body, or before its response."""
    caplog.set_level("INFO")
    head = b"POST /score HTTP/1.1\r\nContent-Length: 1000\r\n\r\n"
    beginnings = (b"", b"POST /sc", head, head + b"half", b"GET /about HTTP/1.1\r\n\r\n" * 100, b"\x16\x03\x01\r\n")
    for reset in (False, True):
        for begun in beginnings:
            with socket.create_connection(("127.0.0.1", client.port), timeout=20) as connection:
                connection.sendall(begun)
                if reset:  # closes it as the end of a process with unread data does
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    half = "a client disconnected: it sent 4 of the 1000 bytes of its request"

    def is_logged() -> bool:
        logged = [each.getMessage() for each in caplog.records if "disconnected" in each.getMessage()]
        return half in logged and len(logged) >= 4

    assert becomes_true(is_logged)
    assert client.ask("GET", "/about")[0] == 200
    assert "Traceback" not in capfd.readouterr().err + caplog.text


def test_another_error_of_a_connection_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    server = RewardServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    try:
        raise ZeroDivisionError("of a bug")
    except ZeroDivisionError:
        server.handle_error(socket.socket(), ("127.0.0.1", 1))
    server.server_close()
    assert "ZeroDivisionError: of a bug" in caplog.text
