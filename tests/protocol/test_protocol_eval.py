"""The ops ``eval`` and ``eval_coords``."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from protocol_support import DECLARED, ORDINARY, Ask, latency

import sqlinterp

BF16 = {"dtype": "bf16"}


def one(ask: Ask, point: dict[str, float], **fields: Any) -> dict[str, Any]:
    """The result of a single point of the table."""
    fields = {"config": BF16, **fields}
    (result,) = ask("eval", query_points=[point], **fields)["results"]
    assert result["input"] == point
    return result


def test_results_come_in_order_with_their_input(ask: Ask) -> None:
    points = [{"m": 64, "k": 8}, {"k": 20, "m": 64}, {"m": 9999, "k": 8}, {"m": 64, "k": 8}]
    document = ask("eval", config=BF16, query_points=points)
    assert (document["protocol"], document["op"]) == (1, "eval")
    assert (document["kind"], document["version"]) == ("gemm", DECLARED)
    results = document["results"]
    assert [result["input"] for result in results] == points
    assert [result["source"] for result in results] == [
        "MEASURED",
        "INTERPOLATED",
        "MISS",
        "MEASURED",
    ]
    assert results[1]["time_us"] == pytest.approx(latency(64, 20))


def test_no_points_no_results(ask: Ask) -> None:
    assert ask("eval", config=BF16, query_points=[])["results"] == []


def test_a_measured_point_is_clean(ask: Ask) -> None:
    result = one(ask, {"m": 64, "k": 8})
    assert (result["time_us"], result["coverage"], result["dims"]) == (latency(64, 8), 0, 0)
    assert (result["axes"], result["cell_ratio"], result["reason"]) == ([], None, None)
    assert result["confidence"] == 1


def test_a_miss_is_null_and_bit_4_and_never_0(ask: Ask) -> None:
    for point in ({"m": 9999, "k": 8}, {"m": 64, "k": 7}, {"m": 0, "k": 8}, {"m": -1, "k": 8}):
        result = one(ask, point)
        assert (result["time_us"], result["coverage"], result["source"]) == (None, 4, "MISS")
        assert result["reason"] == "outside_axis_boundary"
        assert (result["method"], result["dims"], result["confidence"]) == (None, None, None)


def test_an_interpolated_point_says_how(ask: Ask) -> None:
    line = one(ask, {"m": 64, "k": 20})
    assert (line["coverage"], line["method"], line["dims"], line["axes"]) == (
        8,
        "linear_1d",
        1,
        ["k"],
    )
    assert line["cell_ratio"] == 4
    cell = one(ask, {"m": 100, "k": 20})
    assert (cell["coverage"], cell["dims"], cell["axes"]) == (8, 2, ["m", "k"])
    assert cell["time_us"] == pytest.approx(latency(100, 20))
    assert cell["cell_ratio"] == pytest.approx(4)


def test_bit_16_a_cell_lacks_a_corner(ask: Ask) -> None:
    assert one(ask, {"m": 2, "k": 20})["coverage"] == 8 + 16


def test_bit_64_a_neighbour_is_noisy(ask: Ask) -> None:
    assert one(ask, {"m": 16, "k": 32})["coverage"] == 64
    assert one(ask, {"m": 16, "k": 64})["coverage"] == 8 + 64
    assert one(ask, {"m": 64, "k": 64})["coverage"] == 8


def test_bit_128_an_axis_is_transformed(ask: Ask) -> None:
    (result,) = ask("eval", "line", query_points=[{"size": 2}])["results"]
    assert (result["time_us"], result["coverage"]) == (20, 8 + 128)
    (result,) = ask("eval", "line", query_points=[{"size": 4}])["results"]
    assert (result["time_us"], result["coverage"]) == (30, 0)
    (result,) = ask("eval", "line", query_points=[{"size": 0}])["results"]
    assert (result["source"], result["reason"]) == ("MISS", "coordinate_outside_domain")


def test_bit_256_a_bracket_spans_a_tile_edge(tmp_path: Any) -> None:
    from sqlinterp.model import Answer
    from sqlinterp.protocol.coverage import coverage_bits

    def bits(low: float, high: float) -> int:
        details = {"boundary": {"m": [low, high]}, "interpolation_dim": 1}
        answer = Answer("gemm", "INTERPOLATED", 1.0, 0.7, details=details)
        return coverage_bits(answer, [], {"m": [[256, 257]]}, [])

    assert [bits(128, 256), bits(257, 512), bits(256, 257)] == [8, 8, 8]
    assert [bits(128, 257), bits(256, 512), bits(1, 999)] == [264, 264, 264]


def test_explain_names_the_measured_points(ask: Ask) -> None:
    assert "neighbors" not in one(ask, {"m": 64, "k": 20})
    near = one(ask, {"m": 16, "k": 80}, explain=True)["neighbors"]
    assert [n["coords"] for n in near] == [{"m": 16, "k": 32}, {"m": 16, "k": 128}]
    assert [n["weight"] for n in near] == pytest.approx([0.5, 0.5])
    assert [n["n_raw"] for n in near] == [2, 1]
    assert near[0]["spread"] == pytest.approx(200 / latency(16, 32))
    assert (near[1]["spread"], near[1]["time_us"]) == (None, latency(16, 128))
    assert near[0]["file"] == "t.csv" and near[0]["line"] > 1
    cell = one(ask, {"m": 100, "k": 20}, explain=True)
    total = sum(n["weight"] * n["time_us"] for n in cell["neighbors"])
    assert total == pytest.approx(cell["time_us"])


class TestBackends:
    """The fastest of several backends answers, with its whole record."""

    def results(self, ask: Ask, backends: list[str]) -> list[tuple[float | None, str | None]]:
        points = [{"m": 1, "k": 8}, {"m": 1, "k": 32}, {"m": 1, "k": 128}, {"m": 4, "k": 20}]
        config = {"dtype": "fp8", "backends": backends}
        results = ask("eval", config=config, query_points=points)["results"]
        return [(result["time_us"], result["backend"]) for result in results]

    def test_the_least_time_wins(self, ask: Ask) -> None:
        expected = [(18, "a"), (30, "b"), (18, "b"), (30, "a")]
        assert self.results(ask, ["a", "b"]) == self.results(ask, ["b", "a"]) == expected

    def test_a_backend_that_cannot_answer_does_not_count(self, ask: Ask) -> None:
        assert self.results(ask, ["a"])[2] == (None, "a")

    def test_one_backend_is_a_field_as_well(self, ask: Ask) -> None:
        config = {"dtype": "fp8", "source": "b"}
        (result,) = ask("eval", config=config, query_points=[{"m": 1, "k": 8}])["results"]
        assert (result["time_us"], result["backend"]) == (33, "b")

    @pytest.mark.parametrize(
        ("backends", "error"),
        [
            ([], "bad_request"),
            ("a", "bad_request"),
            ([1], "bad_request"),
            (["a", "a"], "bad_request"),
            (["a", "c"], "no_points"),
        ],
    )
    def test_backends_are_names_that_exist(self, ask: Ask, backends: Any, error: str) -> None:
        config = {"dtype": "fp8", "backends": backends}
        found = ask("eval", code=2, config=config, query_points=[])["error"]
        assert found["code"] == error

    def test_a_kernel_without_a_choice_has_none(self, ask: Ask) -> None:
        found = ask("eval", "line", 2, config={"backends": ["a"]}, query_points=[])["error"]
        assert found["code"] == "unknown_regime_key"


def test_stored_coordinates(ask: Ask) -> None:
    (result,) = ask("eval_coords", "line", query_points=[[1]])["results"]
    assert (result["input"], result["time_us"]) == ([1], 20)
    results = ask("eval_coords", config=BF16, query_points=[[64, 8], [64, 20]])["results"]
    assert [r["time_us"] for r in results] == pytest.approx([latency(64, 8), latency(64, 20)])
    error = ask("eval_coords", code=2, config=BF16, query_points=[[64]])["error"]
    assert (error["code"], error["known"]) == ("bad_request", ["m", "k"])


class TestPolicy:
    """The policy of a request."""

    def test_dimensions(self, ask: Ask) -> None:
        free = one(ask, {"m": 100, "k": 20})
        flat = one(ask, {"m": 100, "k": 20}, policy={"max_interpolation_dim": 1})
        assert (free["source"], flat["source"]) == ("INTERPOLATED", "MISS")

    def test_method_and_hash(self, ask: Ask) -> None:
        points = [{"m": 100, "k": 20}]
        hashes = set()
        for policy in (None, {"method": "multilinear"}, {"method": "griddata_linear"}):
            document = ask("eval", config=BF16, policy=policy, query_points=points)
            hashes.add(document["policy_hash"])
            method = (policy or {}).get("method", "griddata_linear")
            assert document["results"][0]["method"] == method
        assert len(hashes) == 2

    def test_extrapolation_is_off_unless_allowed(self, ask: Ask) -> None:
        point, policy = {"m": 600, "k": 8}, {"extrapolation": {"allow": True, "axes": ["m"]}}
        assert one(ask, point)["source"] == "MISS"
        result = one(ask, point, policy=policy)
        assert result["coverage"] & 3 == (1 if result["source"] == "EXTRAPOLATED" else 0)

    @pytest.mark.parametrize(
        "policy",
        [
            {"respect_boundaries": True},
            {"axis_transform": {"m": "log"}},
            {"axis_transform": {"seq": "sqrt"}},
            {"max_interpolation_dim": 0},
            {"colour": 1},
            {"extrapolation": {"allow": True, "form": "product"}},
        ],
    )
    def test_what_is_not_available_is_refused(self, ask: Ask, policy: dict[str, Any]) -> None:
        found = ask("eval", code=2, config=BF16, policy=policy, query_points=[])["error"]
        assert found["code"] == "bad_request"

    def test_what_is_the_default_may_be_told(self, ask: Ask) -> None:
        policy = {"respect_boundaries": False, "axis_transform": {"m": "identity"}}
        assert one(ask, {"m": 64, "k": 20}, policy=policy)["coverage"] == 8


class TestOrdinaryKernels:
    """Kernels of version directories."""

    fields: ClassVar[dict[str, Any]] = {"kind": "MatMulV2", "version": ORDINARY}

    def test_the_answer_is_that_of_the_lookup(self, ask: Ask, database: Any) -> None:
        config = {"input_dtypes": ["DT_BF16", "DT_BF16"]}
        points = [{"M": m, "K": k, "N": n} for m in (16, 20) for k in (64, 100) for n in (256, 300)]
        results = ask("eval", config=config, query_points=points, **self.fields)["results"]
        with sqlinterp.open(database, version=ORDINARY) as opened:
            answers = opened.lookup_points("MatMulV2", config, points)
        assert [r["time_us"] for r in results] == [a.latency_us for a in answers]
        assert [r["time_us"] for r in results] == pytest.approx([sum(p.values()) for p in points])

    def test_fields_of_the_path_are_keys(self, ask: Ask) -> None:
        points = [{"M": 16, "K": 64, "N": 256}]
        error = ask("eval", code=2, query_points=points, **self.fields)["error"]
        assert error["code"] == "ambiguous_regime"
        assert error["known"] == [
            'input_dtypes=["DT_BF16","DT_BF16"]',
            'input_dtypes=["FLOAT16","FLOAT16"]',
        ]
        config = {"input_dtypes": ["DT_BF16", "DT_BF16"], "input_formats": ["NZ", "NZ"]}
        document = ask("eval", config=config, query_points=points, **self.fields)
        assert document["results"][0]["source"] == "MEASURED"

    def test_a_generic_kernel(self, ask: Ask) -> None:
        document = ask("eval", "RmsNorm", version=ORDINARY, query_points=[{"axis_0": 2}])
        assert document["results"][0]["time_us"] == 2
