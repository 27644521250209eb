"""Truth from a program of the user: JSON on its stdin, JSON from its stdout, no shell.

Source: fidelity specification, section 2.6.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlinterp.errors import SqlinterpError, UsageError
from sqlinterp.model import finite_json
from sqlinterp.parts import parts

TAIL_BYTES = 2048  # of stderr, in messages


class TruthError(SqlinterpError):
    """A truth command that failed, took too long, or said what cannot be understood."""

    exit_code = 4
    code = "truth_failed"


class TruthCommand:
    """A program that measures latencies.

    Parameters
    ----------
    argv : sequence of str
        Program and arguments, run as they are.
    timeout_s : float
        Longest time of one call [s].
    batch : int
        Most points of one call.
    """

    def __init__(self, argv: Sequence[str], timeout_s: float = 600.0, batch: int = 64) -> None:
        if not argv:
            raise UsageError("the truth command is empty", expected="a program and its arguments")
        self._argv, self._timeout_s, self._batch = list(argv), timeout_s, batch

    def latencies(
        self, kind: str, config: Mapping[str, Any], points: Sequence[Mapping[str, float]]
    ) -> list[float | None]:
        """Return the latency of every point [us], None where the program does not know it.

        Raises
        ------
        UsageError
            If there is no such program, or it cannot be run.
        TruthError
            If it fails, takes too long, or its answer does not fit the question.
        """
        told: list[float | None] = []
        for part in parts(points, self._batch):
            asked = [dict(point) for point in part]
            request = {"kind": kind, "config": dict(config), "points": asked}
            told += self._read(*self._run(json.dumps(finite_json(request))), asked)
        return told

    def _run(self, request: str) -> tuple[bytes, bytes]:
        """Return stdout and stderr of one call."""
        try:
            process = subprocess.Popen(
                self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            what = f"the truth command cannot be run: {reason}"
            raise UsageError(what, self._argv[0]) from error
        try:
            stdout, stderr = process.communicate(request.encode(), timeout=self._timeout_s)
        except subprocess.TimeoutExpired as error:
            raise self._failed(
                f"took longer than {self._timeout_s:g} s", _ended(process)
            ) from error
        except BaseException:
            _ended(process)
            raise
        if process.returncode != 0:
            raise self._failed(f"ended with exit code {process.returncode}", stderr)
        return stdout, stderr

    def _read(
        self, stdout: bytes, stderr: bytes, asked: list[dict[str, float]]
    ) -> list[float | None]:
        try:
            document = json.loads(stdout.decode("utf-8"), parse_constant=_refused)
        except (ValueError, RecursionError) as error:
            begin = ascii(stdout[:80].decode("utf-8", "replace"))
            what = f"wrote no single JSON document to stdout, which begins with {begin}"
            raise self._failed(what, stderr) from error
        results = document.get("results") if isinstance(document, dict) else None
        if not isinstance(results, list):
            raise self._failed("wrote a document without a list 'results'", stderr)
        if len(results) != len(asked):
            what = f"wrote {len(results)} results for {len(asked)} points"
            raise self._failed(what, stderr)
        return [
            self._latency(number, result, point, stderr)
            for number, (result, point) in enumerate(zip(results, asked, strict=True), start=1)
        ]

    def _latency(
        self, number: int, result: Any, point: dict[str, float], stderr: bytes
    ) -> float | None:
        if not isinstance(result, dict) or result.get("input") != point:
            told = json.dumps(point)
            raise self._failed(f"result {number} does not repeat its input {told}", stderr)
        if "time_us" not in result:
            raise self._failed(f"result {number} has no 'time_us'", stderr)
        latency = result["time_us"]
        if latency is None:
            return None
        is_number = isinstance(latency, (int, float)) and not isinstance(latency, bool)
        if not is_number or not math.isfinite(latency) or latency <= 0:
            what = f"result {number} has time_us {json.dumps(latency)[:40]}"
            raise self._failed(f"{what}, neither a positive number nor null", stderr)
        return float(latency)

    def _failed(self, what: str, stderr: bytes) -> TruthError:
        tail = stderr[-TAIL_BYTES:].decode("utf-8", "replace").strip()
        todo = f"It wrote to stderr: {tail}" if tail else "It wrote nothing to stderr."
        return TruthError(f"the truth command {what}", self._argv[0], todo=todo)


def _ended(process: subprocess.Popen[bytes]) -> bytes:
    """End a program with all that it started; return what it wrote to stderr."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        return process.communicate(timeout=5)[1]
    return b""


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")
