"""A hold-out run: which points leave, what the lookup says without them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from sqlinterp.errors import UsageError
from sqlinterp.fidelity.asking import Calls, line_of
from sqlinterp.fidelity.bench import Bench, opened_copy
from sqlinterp.fidelity.grid import Family, Point, families
from sqlinterp.fidelity.rebuild import PATHS_WITH_CALLS
from sqlinterp.fidelity.sample import ANSWERED, ON_GRID, UNANSWERED, Question, Sample
from sqlinterp.fidelity.splits import SPLITS, Leaving, region_of
from sqlinterp.model import Answer, QueryContext
from sqlinterp.policy import PRESETS

Advance = Callable[[str, int, int], None]
Held = tuple[Family, Leaving, Point, str]
DEFAULT_LIMIT = 500


@dataclass(frozen=True)
class Request:
    """What to hold out.

    Attributes
    ----------
    kernels, paths : tuple of str
        Only these; empty for all.
    split : str
        A name of ``SPLITS``.
    axis : str or None
        Only along this axis.
    limit : int
        Most samples of one kernel on one path; which ones, the seed decides.
    """

    database: Path
    version: str | None = None
    kernels: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    split: str = "loo"
    axis: str | None = None
    limit: int = DEFAULT_LIMIT
    seed: int = 0
    aggregation: str = "mean"


@dataclass
class Report:
    """What a run found.

    Attributes
    ----------
    skipped : Counter
        Points that were not asked for, by (kernel, path, reason).
    possible : int
        Samples that the split gives, before the limit.
    """

    request: Request
    version_key: str
    samples: list[Sample] = field(default_factory=list)
    skipped: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    possible: int = 0


def hold_out(request: Request, advance: Advance = lambda name, done, total: None) -> Report:
    """Ask the lookup for points as if they had not been measured.

    Parameters
    ----------
    advance : callable, optional
        Called with kernel, samples done and samples in all.

    Raises
    ------
    UsageError
        If the split, the aggregation, the version, a kernel, a path or the axis is unknown.
    DatabaseError
        If there is no such file, or it cannot be read by this sqlinterp.
    """
    _check("split", [request.split], SPLITS)
    _check("aggregation", [request.aggregation], PRESETS)
    context = QueryContext(aggregation=request.aggregation)
    with opened_copy(request.database, request.version, context) as bench:
        report = Report(request, bench.catalog.version_key)
        asked = list(_questions(bench, report))
        done = 0
        for _, members in groupby(asked, key=lambda q: (q.family.family_id, q.leaving)):
            together = list(members)
            report.samples += _answered(bench, together)
            done += len(together)
            advance(together[0].family.kernel_type, done, len(asked))
        return report


def _questions(bench: Bench, report: Report) -> Iterator[Question]:
    """Yield what to ask, in the order of the families; those that leave together are adjacent."""
    chosen = _chosen(list(_held(_families(bench, report.request), report)), report)
    calls = Calls(bench, [(family, point) for family, _, point, _ in chosen])
    report.skipped.update(
        (family.kernel_type, family.path, reason) for family, reason in calls.problems()
    )
    for family, leaving, point, region in chosen:
        call = calls.of(point)
        if call is not None:
            yield Question(family, leaving, point, region, call)


def _families(bench: Bench, request: Request) -> list[Family]:
    aggregation = PRESETS[request.aggregation][1]
    rows = bench.run("points", version_id=bench.catalog.version_id, aggregation=aggregation)
    known = families(rows)
    _check("kernel", request.kernels, {family.kernel_type for family in known})
    _check("path", request.paths, {family.path for family in known})
    chosen = [
        family
        for family in known
        if (not request.kernels or family.kernel_type in request.kernels)
        and (not request.paths or family.path in request.paths)
    ]
    if request.axis is not None:
        _check("axis", [request.axis], {name for family in chosen for name in family.axis_names})
    return chosen


def _held(chosen: Iterable[Family], report: Report) -> Iterator[Held]:
    """Yield every point that leaves, with those it leaves with and its region."""
    request = report.request
    for family in chosen:
        problem = _problem(family, request.axis)
        if problem is not None:
            report.skipped[family.kernel_type, family.path, problem] += len(family.points)
            continue
        axes = family.varying
        if request.axis is not None:
            axes = [family.axis_names.index(request.axis)]
        for leaving in SPLITS[request.split](family, axes):
            together = set(leaving.coordinates)
            for point in family.points:
                if point.coordinate in together:
                    yield family, leaving, point, region_of(family, leaving, point.coordinate)


def _problem(family: Family, axis: str | None) -> str | None:
    """Return why nothing of a family is held out."""
    if family.path not in PATHS_WITH_CALLS:
        return "path_without_calls"
    if not family.varying:
        return "single_coordinate"
    if axis is not None and axis not in family.axis_names:
        return "axis_absent"
    if axis is not None and family.axis_names.index(axis) not in family.varying:
        return "axis_constant"
    return None


def _chosen(held: list[Held], report: Report) -> list[Held]:
    """Return at most ``limit`` samples of a kernel on a path, in the order given."""
    report.possible = len(held)
    places: dict[tuple[str, str], list[int]] = {}
    for place, (family, _, _, _) in enumerate(held):
        places.setdefault((family.kernel_type, family.path), []).append(place)
    kept = set()
    for own in places.values():
        kept.update(
            sorted(own, key=lambda i: _draw(held[i], report.request.seed))[: report.request.limit]
        )
    return [held[place] for place in sorted(kept)]


def _draw(held: Held, seed: int) -> str:
    """Return what the order of the draw goes by: the same for the same data and seed."""
    family, leaving, point, _ = held
    text = repr(
        (seed, family.regime_key, family.formats[point.regime_id], leaving.axis, point.coordinate)
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _answered(bench: Bench, questions: list[Question]) -> list[Sample]:
    """Ask questions whose points leave together, in one go."""
    family, leaving = questions[0].family, questions[0].leaving
    held = [(regime, c) for regime in sorted(family.formats) for c in leaving.coordinates]
    answers = bench.lookup_without(held, [question.call for question in questions])
    lines = [line for answer in answers if (line := line_of(bench.catalog, answer)) is not None]
    places = bench.coordinates_of(lines)
    samples = []
    for question, answer in zip(questions, answers, strict=True):
        line = line_of(bench.catalog, answer)
        found = {} if line is None else {c for _, c in places.get(line, set())}
        samples.append(
            Sample(question, answer, _outcome(answer, question.point.coordinate in found))
        )
    return samples


def _outcome(answer: Answer, is_same_coordinate: bool) -> str:
    if answer.latency_us is None or answer.source not in (
        "MEASURED",
        "INTERPOLATED",
        "EXTRAPOLATED",
    ):
        return UNANSWERED
    return ON_GRID if is_same_coordinate else ANSWERED


def _check(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    for name in given:
        if name not in known:
            raise UsageError(f"{what} '{name}' is unknown here", expected=", ".join(sorted(known)))
