"""State of a task or a world: an object whose attributes, and the containers in them, report every change."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

_MUTATORS = {
    list: "append extend insert remove pop clear sort reverse __setitem__ __delitem__ __iadd__ __imul__",
    dict: "__setitem__ __delitem__ pop popitem clear update setdefault __ior__",
    set: "add remove discard pop clear update intersection_update difference_update symmetric_difference_update "
    "__ior__ __iand__ __isub__ __ixor__",
    deque: "append appendleft extend extendleft insert remove pop popleft clear reverse rotate "
    "__setitem__ __delitem__ __iadd__ __imul__",
}
_ONE_ITEM = {"append", "appendleft", "insert", "__setitem__", "setdefault"}  # the last argument is the item
_TRACKED: dict[type[Any], type[Any]] = {}


class State:
    """Free attributes of a task or a world. Setting or deleting one, or changing a container in one at any depth
    and by any method, calls `changed` once; reading does not."""

    def __init__(self, changed: Callable[[], None] | None = None) -> None:
        object.__setattr__(self, "_changed", changed)

    def __setattr__(self, name: str, value: Any) -> None:
        if is_tracked(value) and self.__dict__.get(name) is value:
            return  # the second half of `state.x += ...`, whose first half has been reported
        self.__dict__[name] = tracked(value, self._report)
        self._report()

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        self._report()

    def __repr__(self) -> str:
        attributes = {name: value for name, value in vars(self).items() if name != "_changed"}
        return f"State({', '.join(f'{name}={value!r}' for name, value in attributes.items())})"

    def _report(self) -> None:
        changed = self.__dict__["_changed"]
        if changed is not None:
            changed()


def is_tracked(value: Any) -> bool:
    """Whether a value is a container that reports its changes."""
    return type(value) in _TRACKED.values()


def tracked(value: Any, report: Callable[[], None]) -> Any:
    """A container as one that calls `report` once for each change, with the containers in it; other values as they
    are. A container that reports to another state already is kept."""
    base = type(value)
    if is_tracked(value) and value._report is None:  # a copy of a container of some state
        base = type(value).__mro__[1]
    if base not in _KNOWN:
        return value
    made = _tracked_type(base)
    if issubclass(base, dict):
        copy = made(value.default_factory) if base is defaultdict else made()
        for key, item in value.items():
            copy[key] = tracked(item, report)
    elif base is deque:
        copy = made((tracked(item, report) for item in value), value.maxlen)
    else:
        copy = made(tracked(item, report) for item in value)
    copy._report = report
    return copy


_KNOWN = (list, dict, set, deque, defaultdict, OrderedDict, Counter)


def _tracked_type(base: type[Any]) -> type[Any]:
    if base not in _TRACKED:
        family = next(kind for kind in _MUTATORS if issubclass(base, kind))
        names = [*_MUTATORS[family].split(), *(["move_to_end"] if base is OrderedDict else [])]
        names += ["subtract", "__iadd__", "__isub__", "__iand__"] if base is Counter else []
        body: dict[str, Any] = {name: _reporting(base, name) for name in names}
        body |= {"_report": None, "__reduce_ex__": lambda self, protocol: _plain_reduced(base, self)}
        body |= {"__hash__": None} if base.__hash__ is None else {}
        if base is defaultdict:
            body["__missing__"] = _missing
        _TRACKED[base] = type(f"Tracked{base.__name__.capitalize()}", (base,), body)
    return _TRACKED[base]


def _reporting(base: type[Any], name: str) -> Callable[..., Any]:
    """The method of a container that reports a change once, whatever it calls itself."""
    original = getattr(base, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        report = self._report
        if report is None:  # a copy that is in no state, or within another method of this container
            return original(self, *args, **kwargs)
        if name == "__setitem__" and is_tracked(args[1]) and _holds_already(self, *args):
            return None  # the second half of `container[key] += ...`
        one = name in _ONE_ITEM and not (args and isinstance(args[0], slice))
        if one:
            args = (*args[:-1], tracked(args[-1], report))
        self._report = None
        try:
            result = original(self, *args, **kwargs)
            if not one:
                _track_items(self, report)
        finally:
            self._report = report
        report()
        return result

    method.__name__ = name
    return method


def _holds_already(container: Any, key: Any, value: Any) -> bool:
    if isinstance(container, dict):
        return dict.get(container, key) is value
    return not isinstance(key, slice) and container[key] is value


def _track_items(container: Any, report: Callable[[], None]) -> None:
    """Replaces plain containers in a container by tracked ones. Sets hold none."""
    if isinstance(container, dict):
        for key, item in list(container.items()):
            if type(item) in _KNOWN:
                container[key] = tracked(item, report)
    elif not isinstance(container, set):
        for index, item in enumerate(container):
            if type(item) in _KNOWN:
                container[index] = tracked(item, report)


def _missing(self: Any, key: Any) -> Any:
    """The default of a missing key, stored without a report: reading changes nothing."""
    if self.default_factory is None:
        raise KeyError(key)
    report, self._report = self._report, None
    try:
        self[key] = value = tracked(self.default_factory(), report or (lambda: None))
    finally:
        self._report = report
    return value


def _plain_reduced(base: type[Any], container: Any) -> tuple[Any, ...]:
    """How pickle and copy make a plain container of a tracked one."""
    if base is defaultdict:
        return base, (container.default_factory, dict(container))
    if issubclass(base, dict):
        return base, (dict(container),)
    return base, ((list(container), container.maxlen) if base is deque else (list(container),))
