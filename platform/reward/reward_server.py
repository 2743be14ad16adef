"""HTTP server that scores unrolls for other programs, built on the standard library.

    GET  /about    JSON: the version of the reward model, its input arrays, the words of its vocabulary
    POST /score    an .npz in, an .npz out
    POST /version  JSON {"checkpoint": PATH}: switch to another reward model with the same description

A score request holds the observations of an unroll by name, each [T + 1, b, ...] (`/about` lists their names, dtypes
and row shapes), and `last`, bool [T + 1, b]: rows at which an episode has ended. To continue the lanes of an earlier
request it also holds the `hidden` and `cell` of that response. If its utterances were encoded with a vocabulary other
than that of `/about`, it holds that one as `vocabulary`, a string of the same form, and they are translated by their
text. Any other array is refused. The response holds

| key | shape | meaning |
|---|---|---|
| reward | float32 [T, b] | the reward of the step between two rows; 0 across an episode boundary |
| utility | float32 [T + 1, b] | the utility of each row; missing for a model that predicts marks |
| hidden, cell | float32 [b, D] | the state of the lanes before row T, which is row 0 of the next request |

and the header X-Reward-Version. Errors are JSON {"error": ...}: 400 for an invalid request, 404 and 405 for unknown
paths and methods, 411 without a Content-Length, 413 for a body that is too large, or whose arrays are, 500 for an
internal error, and 503 when no replica is left; the server then shuts down.
"""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from interplay.agent.observation import UTTERANCE_ARRAYS, Arrays, Layout
from interplay.agent.recurrent import RecurrentState
from interplay.agent.weights import Weights
from interplay.core.setting_checks import check_at_least
from interplay.core.settings_validation import did_you_mean
from interplay.core.stored_arrays import TooManyBytes, read_arrays
from interplay.episodes.token_translation import TokenTranslation, check_tokens
from interplay.episodes.vocabulary import Vocabulary
from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll, checked_score

logger = logging.getLogger(__name__)

READ_CHUNK_BYTES = 2**16
LONGEST_PATH = 4096  # characters of the path of a checkpoint; Linux takes no more
STATE_KEYS = RecurrentState._fields
VOCABULARY = "vocabulary"  # of the utterances of a request


@dataclass(frozen=True)
class ServeConfig:
    """The address of the reward service, and its request size limit."""

    host: str = "127.0.0.1"  # this machine only; 0.0.0.0 accepts every machine, without authentication
    port: int = 8765  # 0: any free port
    largest_mb: int = 512  # size limit of a request, also of its arrays where they are compressed

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ValueError(f"serve.port must be from 0 to 65535, got {self.port}")
        check_at_least(1, self, "largest_mb", group="serve.")


class Scorer(Protocol):
    """Scores requests with a model in this process or with replicas elsewhere. Thread-safe."""

    @property
    def version(self) -> int:
        """The version of the reward model that scores the next request."""

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        """See `interplay.reward.reward_functions.checked_score`."""

    def load(self, checkpoint: str) -> int:
        """Switches to the model of a checkpoint; returns its version.

        Raises:
            ValueError: the checkpoint is missing, or its model has another description.
        """

    def check(self) -> None:
        """Raises an error that gives the reason if no request can be scored any more."""


ReadVersion = Callable[[str], tuple[Weights, int]]  # the weights and the version of a checkpoint, by its path


class LocalScorer:
    """A `Scorer` with a model in this process, one request at a time. `read` reads the checkpoints of `load`."""

    def __init__(self, function: RewardFunction, read: ReadVersion) -> None:
        self._function = function
        self._read = read
        self._lock = threading.Lock()  # no unroll is scored with half of one version and half of another

    @property
    def version(self) -> int:
        return self._function.version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        with self._lock:
            return checked_score(self._function, arrays, lane_state)

    def load(self, checkpoint: str) -> int:
        weights, version = self._read(checkpoint)
        with self._lock:
            self._function.load_version(weights, version)
        return version

    def check(self) -> None:
        """A model in this process can always score."""


class ServiceEnded(RuntimeError):
    """No replica is left. The message gives the reason."""


class RefusedRequest(ValueError):
    """The request is invalid."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class RewardServer(ThreadingHTTPServer):
    """HTTP server with one thread per request."""

    daemon_threads = True
    ended_by: ServiceEnded | None = None  # set after a client has received the 503

    def answer_with(self, scorer: Scorer, vocabulary: Vocabulary, layout: Layout, width: int) -> None:
        """Sets what requests are answered with; `width` of the lane state is D. To be called before `serve_forever`."""
        handler: Any = self.RequestHandlerClass  # of this server alone
        handler.scorer, handler.vocabulary, handler.layout, handler.width = scorer, vocabulary, layout, width

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Logs an error of a connection; in one line if its client disconnected, which is not a fault of the server."""
        error = sys.exception()
        if isinstance(error, (ConnectionError, TimeoutError)):
            logger.info("a client disconnected: %s", error)
        else:
            logger.error("the connection of %s failed", client_address, exc_info=error)


def listen(config: ServeConfig) -> RewardServer:
    """Binds a server: its address is taken, and clients wait until it answers.

    Call its `answer_with`, then its `serve_forever`, and `shutdown` from another thread.

    Raises:
        ValueError: the address is in use, or does not belong to this machine.
    """
    handler = type("Handler", (_Handler,), {"largest": config.largest_mb * 2**20})
    try:
        return RewardServer((config.host, config.port), handler)
    except OSError as error:
        raise ValueError(
            f"can't listen at serve.host={config.host} serve.port={config.port} ({error.strerror}); choose others"
        ) from error


def request_arrays(layout: Layout) -> dict[str, dict[str, Any]]:
    """The arrays of a score request by name: dtype, and the shape of one row of one lane."""
    arrays = {**layout.observations(1, 1), "last": np.zeros((1, 1), bool)}
    return {name: {"dtype": str(array.dtype), "row": list(array.shape[2:])} for name, array in arrays.items()}


def read_request(
    body: bytes, vocabulary: Vocabulary, layout: Layout, width: int, largest: int
) -> tuple[Arrays, LaneState]:
    """The arrays and lane state of a score request for a model with this vocabulary; `width` is D.

    Args:
        largest: the bytes that the arrays may have together: a small body can hold large ones, compressed.

    Raises:
        RefusedRequest: the body is no .npz, or its arrays don't fit.
    """
    try:
        found = read_arrays(io.BytesIO(body), largest)
    except TooManyBytes as error:
        raise RefusedRequest(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{error}: serve.largest_mb") from error
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise RefusedRequest(HTTPStatus.BAD_REQUEST, f"the body is not an .npz of plain arrays: {error}") from error
    wanted = request_arrays(layout)
    known = [*wanted, *STATE_KEYS, VOCABULARY]
    problems = [f"{name} is missing" for name in wanted if name not in found]
    unknown = [name for name in found if name not in known]
    problems += [f"{name!r} is unknown; leave it out.{did_you_mean(name, known)}" for name in unknown]
    arrays = {name: found[name] for name in wanted if name in found}
    lead = next((array.shape[:2] for array in arrays.values()), (0, 0))
    for name, array in arrays.items():
        dtype, row = wanted[name]["dtype"], tuple(wanted[name]["row"])
        if str(array.dtype) != dtype or array.shape != (*lead, *row):
            problems.append(f"{name} is {array.dtype} {list(array.shape)}, not {dtype} [T + 1, b, {str(row)[1:-1]}]")
    if not problems and (lead[0] < 2 or lead[1] < 1):
        problems.append(f"there are {lead[0]} rows of {lead[1]} lanes; at least 2 of 1 are needed")
    given = [name for name in STATE_KEYS if name in found]
    if given and given != list(STATE_KEYS):
        problems.append(f"of the lanes' state there is only {given[0]}; give hidden and cell, or none")
    problems += [
        f"{name} is {found[name].dtype} {list(found[name].shape)}, not float32 [b, D], here {[lead[1], width]}"
        for name in given
        if found[name].dtype != np.float32 or found[name].shape != (lead[1], width)
    ]
    if problems := problems or _wrong_values(arrays, layout):
        raise RefusedRequest(HTTPStatus.BAD_REQUEST, "; ".join(problems))
    try:
        arrays |= _utterances(arrays, found.get(VOCABULARY), vocabulary)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RefusedRequest(HTTPStatus.BAD_REQUEST, f"the utterances can't be read: {error}") from error
    return arrays, LaneState(RecurrentState(*(found[name] for name in STATE_KEYS)) if given else None)


def _wrong_values(arrays: Arrays, layout: Layout) -> list[str]:
    """What is wrong with the values of arrays whose shapes fit: a bin of no component would be read as another one."""
    problems = []
    if "vector" in arrays and not np.isfinite(arrays["vector"]).all():
        problems.append("vector has NaN or infinity")
    if "previous" in arrays:
        for index, (component, bins) in enumerate(zip(layout.world.movement, layout.bins, strict=True)):
            least, most = arrays["previous"][..., index].min(), arrays["previous"][..., index].max()
            if not 0 <= least <= most < bins:
                problems.append(
                    f"previous[..., {index}], {component.name}, is from {least} to {most}, not 0 to {bins - 1}"
                )
    return problems


def _utterances(arrays: Arrays, theirs: NDArray[Any] | None, ours: Vocabulary) -> Arrays:
    """The encoded utterances among the arrays, in our vocabulary; `theirs` is JSON, None if it is the same.

    Raises:
        ValueError, TypeError, KeyError, AttributeError, RecursionError: their vocabulary or their tokens are invalid.
    """
    source = ours if theirs is None else Vocabulary.from_json(str(theirs))
    utterances = {key: arrays[key] for key in UTTERANCE_ARRAYS if key in arrays}
    for tokens in utterances.values():
        check_tokens(tokens, len(source))
    if source == ours:
        return {}
    return {key: TokenTranslation(source, ours, tokens.shape[-1])(tokens) for key, tokens in utterances.items()}


def write_answer(scored: ScoredUnroll) -> bytes:
    """The body of a score response."""
    assert scored.lane_state.reward is not None
    file = io.BytesIO()
    arrays: dict[str, Any] = {
        "reward": scored.reward,
        **({} if scored.utility is None else {"utility": scored.utility}),
        **scored.lane_state.reward._asdict(),
    }
    np.savez(file, **arrays)
    return file.getvalue()


class _Handler(BaseHTTPRequestHandler):
    scorer: Scorer
    vocabulary: Vocabulary
    layout: Layout
    width: int
    largest: int
    timeout = 60.0  # seconds without data after which a connection is closed
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer({"/about": self._about})

    def do_POST(self) -> None:
        self._answer({"/score": self._score, "/version": self._version})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it overrides
        logger.debug(format, *args)

    def _answer(self, known: Mapping[str, Callable[[], None]]) -> None:
        try:
            if self.path not in known:
                there = self.path in ("/about", "/score", "/version")
                status = HTTPStatus.METHOD_NOT_ALLOWED if there else HTTPStatus.NOT_FOUND
                raise RefusedRequest(status, f"there is no {self.command} {self.path}; see GET /about")
            known[self.path]()
        except RefusedRequest as refused:
            self._error(refused.status, str(refused))
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            raise  # of a client that disconnected: see `RewardServer.handle_error`
        except ServiceEnded as ended:
            self._end(ended)
        except Exception as error:
            logger.exception("a request failed")
            self._error(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}")

    def _about(self) -> None:
        about = {
            "version": self.scorer.version,
            "arrays": request_arrays(self.layout),
            "vocabulary": self.vocabulary.to_json(),
            "lanes_state": STATE_KEYS,
        }
        self._send_json(HTTPStatus.OK, about)

    def _score(self) -> None:
        arrays, lane_state = read_request(self._body(), self.vocabulary, self.layout, self.width, self.largest)
        scored = self.scorer.score(arrays, lane_state)
        self._send(HTTPStatus.OK, write_answer(scored), "application/octet-stream", str(scored.version))

    def _version(self) -> None:
        try:
            path = json.loads(self._body())["checkpoint"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise RefusedRequest(HTTPStatus.BAD_REQUEST, 'send JSON, as {"checkpoint": "PATH"}') from error
        if len(path := str(path)) > LONGEST_PATH:
            message = f"the path of the checkpoint has {len(path):,} characters, at most {LONGEST_PATH:,} are taken"
            raise RefusedRequest(HTTPStatus.BAD_REQUEST, message)
        try:
            version = self.scorer.load(path)
        except ValueError as error:
            raise RefusedRequest(HTTPStatus.BAD_REQUEST, str(error)) from error
        self._send_json(HTTPStatus.OK, {"version": version})

    def _body(self) -> bytes:
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError as error:
            raise RefusedRequest(HTTPStatus.LENGTH_REQUIRED, "say how long the body is: Content-Length") from error
        if length < 0:  # `read` would wait for the end of the connection
            raise RefusedRequest(HTTPStatus.BAD_REQUEST, f"Content-Length is {length}")
        if length > self.largest:
            message = f"the body has {length} bytes, at most {self.largest} are taken: serve.largest_mb"
            for _ in range(min(length, 2 * self.largest) // READ_CHUNK_BYTES + 1):  # clients read only after sending
                length -= len(self.rfile.read(min(READ_CHUNK_BYTES, max(0, length))))
            raise RefusedRequest(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionResetError(f"it sent {len(body)} of the {length} bytes of its request")
        return body

    def _end(self, ended: ServiceEnded) -> None:
        """Sends the reason to the client before the server shuts down."""
        assert isinstance(self.server, RewardServer)
        try:
            self._error(HTTPStatus.SERVICE_UNAVAILABLE, str(ended))
        finally:
            self.server.ended_by = ended

    def _error(self, status: HTTPStatus, message: str) -> None:
        self.close_connection = True  # the request's body may be unread
        self._send_json(status, {"error": message})

    def _send_json(self, status: HTTPStatus, value: Mapping[str, Any]) -> None:
        self._send(status, json.dumps(value).encode(), "application/json", None)

    def _send(self, status: HTTPStatus, body: bytes, kind: str, version: str | None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if version is not None:
            self.send_header("X-Reward-Version", version)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
