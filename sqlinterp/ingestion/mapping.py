"""Reading ``op_mapping.yaml``: entries, policies, and every problem found, listed together."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlinterp.ingestion.entries import Entry, read_entry
from sqlinterp.ingestion.folders import VersionFolder
from sqlinterp.policy import policy_problems
from sqlinterp.strict_yaml import parse_yaml

_LONGEST_TEXT, _HALF = 300, 140


@dataclass
class OpMapping:
    """The content of one mapping file.

    Attributes
    ----------
    policies : list of (scope, subject, fields)
        Rows of the table ``interpolation_policy``.
    problems : list of (severity, key, message)
        Everything that is wrong, in file order.
    """

    sha256: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    communication_ref: str | None = None
    entries: list[Entry] = field(default_factory=list)
    policies: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    problems: list[tuple[str, str, str]] = field(default_factory=list)

    def error(self, key: str, message: str) -> None:
        """Record a problem that makes a part of the mapping unusable."""
        self.problems.append(("error", key, message))

    def overrides(self, scope: str, subject: str) -> dict[str, Any]:
        """Return the policy fields of one scope and subject, empty when there are none."""
        for known_scope, known_subject, fields in self.policies:
            if (known_scope, known_subject) == (scope, subject):
                return fields
        return {}


def mapping_of(folder: VersionFolder) -> OpMapping:
    """Read the mapping of a version directory, unless it is something that must not be read."""
    path = folder.mapping_path
    refusal = folder.refusal(path) if os.path.lexists(path) else None
    if refusal is None:
        return read_mapping(path)
    mapping = OpMapping()
    mapping.error("", refusal)
    return mapping


def read_mapping(path: Path) -> OpMapping:
    """Read a mapping file; what cannot be used is reported in ``problems`` and left out."""
    mapping = OpMapping()
    if not path.is_file():
        mapping.problems.append(
            ("warning", "", f"{path.name} is missing: every operator will be unmapped")
        )
        return mapping
    document = _load(path, mapping)
    if not isinstance(document, Mapping):
        if document is not None or not mapping.problems:
            mapping.error("", f"{path.name} holds no mapping of keys: nothing is mapped")
        return mapping
    mapping.metadata = {
        str(key): value for key, value in document.items() if isinstance(value, (str, int, float))
    }
    _read_reference(document, mapping)
    _read_entries(document.get("operator_mappings", {}), mapping)
    _read_policies(document, mapping)
    mapping.problems = [(kind, _short(key), _short(text)) for kind, key, text in mapping.problems]
    return mapping


def _short(text: str) -> str:
    """Return a text without its middle when it quotes more than anybody wants to read."""
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_HALF]} ... {text[-_HALF:]}"


def _load(path: Path, mapping: OpMapping) -> Any:
    try:
        content = path.read_bytes()
        mapping.sha256 = hashlib.sha256(content).hexdigest()
        return parse_yaml(content)
    except OSError as error:
        mapping.error("", f"{path.name} cannot be read: {error.strerror}")
    except ValueError as error:
        mapping.error("", f"{path.name} {error}")
    return None


def _read_reference(document: Mapping[str, Any], mapping: OpMapping) -> None:
    reference = document.get("communication_data_ref")
    if reference is None or reference == "":
        return
    if isinstance(reference, str):
        mapping.communication_ref = reference
    else:
        mapping.error("communication_data_ref", f"communication_data_ref is {reference!r}, no path")


def _read_entries(entries: Any, mapping: OpMapping) -> None:
    if not isinstance(entries, Mapping):
        mapping.error("operator_mappings", f"operator_mappings is {entries!r}, expected a mapping")
        return
    seen: set[str] = set()
    for operator, fields in entries.items():
        name = str(operator).removeprefix("torch.ops.")
        entry, problems = read_entry(name, fields)
        if name in seen:
            entry, problems = None, [f"the entry repeats {name} under another spelling"]
        seen.add(name)
        mapping.problems += [("error", f"operator_mappings.{operator}", text) for text in problems]
        if entry is not None:
            mapping.entries.append(entry)


def _read_policies(document: Mapping[str, Any], mapping: OpMapping) -> None:
    interpolation = _block(document, "interpolation_policy", mapping)
    overrides = _block(interpolation, "kernel_overrides", mapping)
    general = {key: value for key, value in interpolation.items() if key != "kernel_overrides"}
    if general:
        _add_policy(mapping, "global", "*", general)
    for kernel in overrides:
        _add_policy(mapping, "kernel", str(kernel), _block(overrides, kernel, mapping))
    for entry in mapping.entries:
        fields = entry.fields.get("interpolation_policy")
        if isinstance(fields, Mapping):
            _add_policy(mapping, "operator", entry.operator, dict(fields))
    for scope, key in (("latency", "latency_policy"), ("selection", "query_selection_policy")):
        kernels = _block(_block(document, key, mapping), "kernel_overrides", mapping)
        for kernel in kernels:
            fields = _block(kernels, kernel, mapping)
            mapping.policies.append((scope, str(kernel), fields))


def _block(parent: Mapping[Any, Any], key: Any, mapping: OpMapping) -> dict[Any, Any]:
    if key not in parent:
        return {}
    if isinstance(parent[key], Mapping):
        return dict(parent[key])
    mapping.error(str(key), f"{key} is {parent[key]!r}, expected a mapping")
    return {}


def _add_policy(mapping: OpMapping, scope: str, subject: str, fields: dict[str, Any]) -> None:
    where = "interpolation_policy" if scope == "global" else f"interpolation policy of {subject}"
    found = policy_problems(where, fields, is_kernel=scope == "kernel")
    mapping.problems += [("error", where, text) for text in found]
    mapping.policies.append((scope, subject, fields))


def canonical_json(value: Any) -> str:
    """Return the canonical JSON text of a YAML value; keys and whatever JSON lacks become text."""
    plain = _text_keys(value)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), default=str, allow_nan=False)


def _text_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _text_keys(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_text_keys(item) for item in value]
    return value
