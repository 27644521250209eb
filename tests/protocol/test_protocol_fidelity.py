"""The ops that hold points out, as the protocol hands them on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from protocol_support import Ask, grid_of

from sqlinterp.protocol import answer_bytes

BF16 = {"dtype": "bf16"}
LOO = {"kind": "holdout", "scheme": "loo"}


def test_fidelity_and_eval_answer_from_the_same_config(ask: Ask) -> None:
    document = ask("fidelity", config={**BF16, "gpu_name": "dev"}, truth=LOO)
    grid = ask("grid", config=BF16)
    assert document["n_probe"] == grid["n_points"]
    assert document["policy_hash"] == grid["policy_hash"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"version": "nosuch"}, "unknown_version"),
        ({"kind": "nosuch"}, "unknown_kind"),
        ({"config": {}}, "ambiguous_regime"),
        ({"config": {"dtypes": 1}}, "unknown_regime_key"),
        ({"config": {"dtype": "bf"}}, "no_points"),
        ({"truth": {"kind": "oracle"}}, "bad_request"),
        ({"policy": {"respect_boundaries": True}}, "bad_request"),
    ],
)
def test_errors_are_those_of_the_other_ops(ask: Ask, changes: dict[str, Any], error: str) -> None:
    request = {"kind": "gemm", "config": BF16, "truth": LOO, **changes}
    found = ask("fidelity", code=2, **request)["error"]
    assert found["code"] == error


def test_a_truth_command_that_fails_exits_with_4(ask: Ask) -> None:
    argv = [sys.executable, "-c", "import sys; sys.exit('no device')"]
    truth = {"kind": "command", "argv": argv}
    found = ask("fidelity", code=4, config=BF16, truth=truth)["error"]
    assert found["code"] == "truth_failed"
    assert "no device" in found["message"]


def test_a_failed_verdict_exits_with_5_only_when_strict(tmp_path: Path) -> None:
    grid_of(tmp_path, [(m, 100.0 * (1 + m % 2)) for m in range(1, 15)])
    request = {"protocol": 1, "op": "fidelity", "version": "a/b/c", "kind": "k", "truth": LOO}
    content = json.dumps({**request, "config": {}}).encode()
    for strict, expected in ((False, 0), (True, 5)):
        document, code = answer_bytes(content, tmp_path / "p.duckdb", strict)
        assert (document["regions"][0]["verdict"], code) == ("fail", expected)


def test_suggest_proposes_coordinates(ask: Ask) -> None:
    request = {"protocol": 1, "op": "suggest"}
    document = ask("suggest", config=BF16, limit=2)
    assert {**document, **request} == document
    assert 0 < len(document["suggestions"]) <= 2
