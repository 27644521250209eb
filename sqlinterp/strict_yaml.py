"""YAML of untrusted files: plain values only, no key twice, and never more than was written."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import yaml

_LONGEST = 4 << 20  # bytes of a file
_LARGEST = 16 << 20  # characters when every alias is replaced by what it stands for
_OVERHEAD = 8  # characters that a value costs besides its own
_TAG = "tag:yaml.org,2002:"


class _StrictLoader(yaml.SafeLoader):
    """A safe loader of nothing but mappings, lists, text, finite numbers, truth values and null."""


def _refused(node: yaml.Node, problem: str) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _unique_mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[str] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, (str, int, float, bool, type(None))):
            raise _refused(key_node, "a key is not a scalar")
        if str(key) in seen:  # 1 and "1" are one key wherever keys are text
            raise _refused(key_node, f"the key '{key}' repeats")
        seen.add(str(key))
    return loader.construct_mapping(node, deep=True)


def _text(loader: _StrictLoader, node: yaml.ScalarNode) -> str:
    text = str(loader.construct_scalar(node))
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise _refused(node, "the text holds what is no character")
    return text


def _number(loader: _StrictLoader, node: yaml.ScalarNode) -> float:
    number = float(loader.construct_yaml_float(node))
    if not math.isfinite(number):
        raise _refused(node, f"'{node.value}' is no finite number")
    return number


def _no_plain_value(loader: _StrictLoader, node: yaml.Node) -> NoReturn:
    raise _refused(node, f"'{node.tag.removeprefix(_TAG)}' is no plain value")


_StrictLoader.add_constructor(f"{_TAG}map", _unique_mapping)
_StrictLoader.add_constructor(f"{_TAG}str", _text)
_StrictLoader.add_constructor(f"{_TAG}timestamp", _text)
_StrictLoader.add_constructor(f"{_TAG}float", _number)
for _name in ("binary", "omap", "pairs", "set"):
    _StrictLoader.add_constructor(f"{_TAG}{_name}", _no_plain_value)


def parse_yaml(content: bytes) -> Any:
    """Return the document of a YAML file.

    Examples
    --------
    >>> parse_yaml(b"a: [1, 2]")
    {'a': [1, 2]}

    Raises
    ------
    ValueError
        If the content is not UTF-8, no YAML, repeats a key, is too large with its aliases replaced,
        or asks for anything but plain values; the message says what and where.
    """
    if len(content) > _LONGEST:
        raise ValueError(f"is longer than {_LONGEST >> 20} MiB")
    try:
        loader = _StrictLoader(content.decode("utf-8-sig"))
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            if _size(node, {}) > _LARGEST:
                raise ValueError(f"its aliases stand for more than {_LARGEST >> 20} MiB of text")
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise ValueError("is no valid YAML: it is nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ValueError(f"is no valid YAML: {' '.join(str(error).split())}") from error


def _size(node: yaml.Node, known: dict[int, int | None]) -> int:
    """Return how large a value is with every alias replaced; an alias costs no time here.

    Raises
    ------
    yaml.YAMLError
        If the value contains itself.
    """
    place = id(node)
    if place in known:
        size = known[place]
        if size is None:
            raise _refused(node, "a value contains itself")
        return size
    known[place] = None
    size = _OVERHEAD
    if isinstance(node, yaml.ScalarNode):
        size += len(node.value)
    elif isinstance(node, yaml.SequenceNode):
        size += sum(_size(item, known) for item in node.value)
    elif isinstance(node, yaml.MappingNode):
        size += sum(_size(part, known) for pair in node.value for part in pair)
    known[place] = size
    return size
