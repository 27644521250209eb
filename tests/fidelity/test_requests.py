"""The ops ``fidelity`` and ``suggest`` as requests of the protocol."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fidelity_support import MS, curve_database, grid_lines, linear, matmul_database

from sqlinterp.errors import SqlinterpError
from sqlinterp.fidelity.recording import record_runs
from sqlinterp.fidelity.requests import answer_fidelity, answer_suggest
from sqlinterp.protocol.documents import problems

CURVE = {float(x): 10 + x / 64 for x in range(64, 64 * 20, 64)}
BENT = {float(x): 50 + x * x / 64 for x in (64, 128, 512, 1024, 4096, 8192, 32768)}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("requests")
    return curve_database(folder, {"1": dict(CURVE), "2": dict(CURVE)}, bent=BENT)


def request(**more: Any) -> dict[str, Any]:
    base = {"protocol": 1, "op": "fidelity", "version": "dev/fw/1", "kind": "copy", "config": {},
            "truth": {"kind": "holdout", "scheme": "loo"}, "small_us": 0}  # fmt: skip
    return {**base, **more}


def answered(database: Path, **more: Any) -> dict[str, Any]:
    told = request(**more)
    assert problems(told, "fidelity.request") == []
    response = answer_fidelity(database, told)
    assert problems(json.loads(json.dumps(response, allow_nan=False)), "fidelity.response") == []
    return response


def test_a_response_is_as_its_schema_says(database: Path) -> None:
    response = answered(database)
    assert response["n_probe"] == len(CURVE) and response["n_answered"] == len(CURVE) - 2
    assert response["all"]["within_rate"] == 1 and response["all"]["med"] == 1
    by_name = {region["region"]: region for region in response["regions"]}
    assert by_name["axis0"]["verdict"] == "pass" and by_name["axis0"]["failure_class"] is None
    assert by_name["edge"]["verdict"] == "insufficient"
    assert by_name["unanswered"]["stats"]["n_probe"] == 2
    (group,) = response["groups"]
    assert group["regime"] == {"dtype": "bf16"} and len(group["group_id"]) == 16
    assert (response["engine"], response["truth_quality"]) == ("lookup", "truth")


@pytest.mark.parametrize(
    "truth",
    [
        {"kind": "holdout", "scheme": "plane"},
        {"kind": "holdout", "scheme": "cross"},
        {"kind": "holdout", "scheme": "thin", "keep_every": 3},
        {"kind": "holdout", "scheme": "tail", "factors": [1.5, 2.0]},
        {"kind": "holdout", "scheme": "head", "factors": [4.0]},
        {"kind": "holdout", "scheme": "gap", "cells": 2},
        {"kind": "holdout", "scheme": "kfold", "k": 3, "salt": "x"},
        {"kind": "version", "version": "dev/fw/2"},
        {"kind": "version", "version": "dev/fw/2", "normalize": True},
    ],
)
def test_every_scheme_gives_a_valid_response(database: Path, truth: dict[str, Any]) -> None:
    response = answered(database, truth=truth)
    assert response["n_probe"] > 0
    if truth["kind"] == "version":  # a copy of the same latencies
        assert response["drift_control"]["pass"] is False
        assert response["truth_quality"] == "drift"


def test_a_bent_curve_fails_and_says_why(database: Path) -> None:
    response = answered(database, kind="bent")
    (region,) = [r for r in response["regions"] if r["region"] == "axis0"]
    assert region["verdict"] == "fail" and region["failure_class"] and region["remediation"]
    assert region["stats"]["worst_input"].keys() == {"x"}


def test_two_policies_on_the_same_probes(tmp_path: Path) -> None:
    axes = (MS, (512, 1024, 1536), (768, 1024, 1280))
    path = matmul_database(tmp_path, grid_lines(lambda m, k, n: 16 + m * k * n / 2**24, axes))
    response = answered(
        path, version=_versions(path)[0], kind="MatMulV2",
        truth={"kind": "holdout", "scheme": "cross"},
        compare={"policy": {"method": "multilinear"}},
    )  # fmt: skip
    told = {region["region"]: region for region in response["compare"]["regions"]}
    assert told["diag"]["base"]["n_probe"] == told["diag"]["cmp"]["n_probe"] > 0
    assert told["diag"]["cmp"]["med"] == pytest.approx(1)  # a product is multilinear
    assert told["diag"]["base"]["med"] != pytest.approx(1)
    assert told["diag"]["n_better"] == told["diag"]["base"]["n_answered"]


def _versions(path: Path) -> list[str]:
    import sqlinterp

    with sqlinterp.open(path) as opened:
        return opened.versions()


def test_another_version_and_another_kernel_on_the_same_probes(database: Path) -> None:
    same = answered(database, compare={"version": "dev/fw/2"})
    (total,) = [r for r in same["compare"]["regions"] if r["region"] == "ALL"]
    assert total["base"] == total["cmp"] and total["n_better"] == total["n_worse"] == 0
    other = answered(database, compare={"kind": "bent"})
    (total,) = [r for r in other["compare"]["regions"] if r["region"] == "ALL"]
    assert total["cmp"]["n_within"] < total["base"]["n_within"]


def test_scope_asks_for_many_regimes(tmp_path: Path) -> None:
    path = curve_database(tmp_path, {"1": dict(CURVE)})
    table = tmp_path / "curves.csv"
    more = table.read_text().replace("bf16", "fp8").splitlines()[1:]
    table.write_text(table.read_text() + "\n".join(more) + "\n")
    import sqlinterp

    sqlinterp.ingest_table(tmp_path / "curve.yaml", [table], path)
    with pytest.raises(SqlinterpError) as caught:
        answered(path)
    assert getattr(caught.value, "code", "") == "ambiguous_regime"
    assert "dtype=bf16" in getattr(caught.value, "known", ())
    assert answered(path, config={"dtype": "fp8"})["n_groups"] == 1
    assert answered(path, scope={"all_groups": True})["n_groups"] == 2
    scope = {"all_groups": True, "where": "dtype = 'fp8'"}
    assert answered(path, scope=scope)["n_groups"] == 1
    assert answered(path, scope={"all_groups": True, "limit_groups": 1})["n_groups"] == 1


def test_errors_have_codes_and_what_is_known(database: Path) -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"version": "1"}, "unknown_version", "dev/fw/1"),  # keys are exact
        ({"version": "dev/fw/9"}, "unknown_version", "dev/fw/1"),
        ({"kind": "gemm"}, "unknown_kind", "copy"),
        ({"config": {"colour": 1}}, "unknown_regime_key", "dtype"),
        ({"config": {"dtype": "fp4"}}, "no_points", "bf16"),
        ({"config": {"gpu_name": "Dev"}}, "no_points", "dev"),
        ({"truth": {"kind": "version", "version": "dev/fw/9"}}, "unknown_version", "dev/fw/2"),
        ({"probes": [{"coords": {"x": 64.0}, "region": "Upper"}]}, "bad_request", ""),
    ]
    for more, code, known in cases:
        with pytest.raises(SqlinterpError) as caught:
            answer_fidelity(database, request(**more))
        assert getattr(caught.value, "code", "") == code, more
        assert not known or known in getattr(caught.value, "known", ())


def test_artifacts_are_where_the_response_says(database: Path, tmp_path: Path) -> None:
    response = answered(database, out=str(tmp_path / "out"))
    assert set(response["artifacts"]) >= {"probe_csv", "region_csv", "report_md"}
    for path in response["artifacts"].values():
        assert Path(path).stat().st_size > 0


def test_given_probes(database: Path) -> None:
    probes = [{"coords": {"x": 128.0}, "region": "query_slice"},
              {"coords": {"x": 129.0}, "region": "query_slice"}]  # fmt: skip
    response = answered(database, probes=probes)
    assert [(r["region"], r["stats"]["n_probe"]) for r in response["regions"]] == [
        ("query_slice", 1)
    ]


def through_the_command(database: Path, told: dict[str, Any], **env: str) -> tuple[int, Any, str]:
    done = subprocess.run(
        [sys.executable, "-m", "sqlinterp", "query", "--db", str(database)],
        input=json.dumps(told), capture_output=True, text=True, check=False,
        env={**os.environ, **env},
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout), done.stderr


def test_stdout_is_one_document_whatever_is_logged(database: Path, tmp_path: Path) -> None:
    code, document, _ = through_the_command(
        database, request(), SQLINTERP_DEBUG="1", PYTHONWARNINGS="default", PYTHONDEVMODE="1"
    )
    assert code == 0 and document["op"] == "fidelity"
    program = tmp_path / "p.py"
    program.write_text("import sys; print('no device', file=sys.stderr); sys.exit(7)")
    truth = {"kind": "command", "argv": [sys.executable, str(program)]}
    code, document, _ = through_the_command(database, request(truth=truth))
    assert code == 4 and document["error"]["code"] == "truth_failed"
    assert "no device" in document["error"]["message"]


# ---- suggest


def suggested(database: Path, **more: Any) -> dict[str, Any]:
    told = {"protocol": 1, "op": "suggest", "version": "dev/fw/1", "kind": "bent", "config": {},
            **more}  # fmt: skip
    assert problems(told, "suggest.request") == []
    return json.loads(json.dumps(answer_suggest(database, told), allow_nan=False))


def test_suggestions_lie_in_the_cells_of_failing_probes(database: Path) -> None:
    response = suggested(database)
    assert (response["n_feasible"], response["room"]) == (7, 493)
    assert response["n_failing"] >= 1
    scores = [s["score"] for s in response["suggestions"]]
    assert scores == sorted(scores, reverse=True) and scores[0] > 0
    sizes = sorted(BENT)
    for suggestion in response["suggestions"]:
        low, high = suggestion["between"]
        x = suggestion["coords"]["x"]
        assert low < x < high and x not in BENT
        assert sizes.index(high) == sizes.index(low) + 1
        assert x == round((low * high) ** 0.5)
    lines = response["plan_csv"].splitlines()
    assert lines[0] == "kernel,dtype,x,score,reason"
    assert len(lines) == len(response["suggestions"]) + 1
    assert len(suggested(database, limit=1)["suggestions"]) == 1


def test_suggestions_of_a_recorded_run_are_the_same(tmp_path: Path) -> None:
    from fidelity_support import run

    path = curve_database(tmp_path, {"1": dict(CURVE)}, bent=BENT)
    found = run(path, "plane", kernels=("bent",), version="1", small_us=10.0)
    record_runs(path, [found])
    fresh, recorded = suggested(path), suggested(path, run_id=found.run_id)
    assert recorded["suggestions"] == fresh["suggestions"]
    with pytest.raises(SqlinterpError, match="no recorded run"):
        suggested(path, run_id="0" * 16)


def test_nothing_is_suggested_beyond_the_ceiling(tmp_path: Path) -> None:
    sizes = tuple(range(64, 64 * 9, 64))
    path = matmul_database(tmp_path, grid_lines(linear, (sizes, sizes, sizes)))
    told = {"protocol": 1, "op": "suggest", "version": _versions(path)[0], "kind": "MatMulV2",
            "config": {}}  # fmt: skip
    response = answer_suggest(path, told)
    assert response["n_feasible"] == 512 and response["over_ceiling"]
    assert response["room"] == 0 and response["suggestions"] == []
