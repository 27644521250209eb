"""A small real database whose every view can be worked out by hand, and the shipped sample."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlinterp
from sqlinterp.fidelity import Request, run_fidelity
from sqlinterp.fidelity.calibration import calibrate
from sqlinterp.fidelity.recording import record_runs
from sqlinterp.resources import resource_folder

BASE = (
    "OP State", "Accelerator Core", "Input Shapes", "Input Data Types", "Input Formats",
    "Output Shapes", "Output Data Types", "Output Formats",
)  # fmt: skip
LEGACY = (
    "Average Duration(us)", "Median Duration(us)", "Std Duration(us)", "Average aicore_time(us)",
)  # fmt: skip
CURRENT = (
    "Average Duration(us)", "Profiling Average Duration(us)", "Profiling Median Duration(us)",
    "Profiling Std Duration(us)", "MicroBench aicore_time(us)", "Profiling Average aicore_time(us)",
    "MicroBench aiv_time(us)", "Profiling Average aiv_time(us)",
)  # fmt: skip
COLLECTIVE = (
    "message_bytes", "num_devices", "dtype", "topology_tier", "Duration(us)", "bandwidth_gbps",
)  # fmt: skip
POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
MAPPING = """\
version: "1"
communication_data_ref: ../../hccl/v1/
operator_mappings:
  aten.mm.default: {kernel_type: MatMulV2, alternate_kernel_types: [MatMulV3]}
  aten.neg.default: {kernel_type: Neg}
  aten.view.default: {zero_cost: true}
  tensor_cast.all_reduce.default: {category: communication, kernel_type: hcom_allReduce_}
  tensor_cast.mm_all_reduce.default: {composite: true, sub_kernels: [MatMulV2, hcom_allReduce_]}
  tensor_cast.dispatch_ffn_combine.default:
    {query_mode: moe_fused, kernel_type: DispatchFFNCombine,
     embedded_compute: [{kernel_type: Cast}]}
"""
POLICIES = """\
  tensor_cast.quant.default: {kernel_type: QuantBatchMatmulV3}
  tensor_cast.scatter.default: {kernel_type: ScatterNdUpdate}
latency_policy:
  kernel_overrides:
    QuantBatchMatmulV3: {profiling_core_envelope_fallback: {max_duration_to_core_ratio: 1.5}}
    ScatterNdUpdate: {prefer_profiling_rows: true}
"""


def kernel_row(inputs: str, output: str, *cells: object, core: str = "AI_CORE") -> list[object]:
    """One CSV row: shapes, then the latency and counter cells."""
    slots = inputs.count(";") + 1
    dtypes, formats = ";".join(["DT_BF16"] * slots), ";".join(["ND"] * slots)
    shapes, outputs = f'"{inputs}"', f'"{output}"'
    return ["dynamic", core, shapes, dtypes, formats, outputs, "DT_BF16", "ND", *cells]


def matmul_row(m: int, *cells: object, core: str = "AI_CORE") -> list[object]:
    """One CSV row of (m, 128) x (64, 128)."""
    return kernel_row(f"{m},128;64,128", f"{m},64", *cells, core=core)


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write one CSV file as the profiling tools do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


RUNTIME = (
    "Runtime avg_seq_len", "Runtime input_layout", "Runtime num_key_value_heads",
    "Runtime sparse_mode", "Runtime metadata_completeness",
)  # fmt: skip
ATTENTION_ROWS = [  # latent, paged with its block table in slot 15, whole sequences
    [*kernel_row("5,16,1,512;9,1,128,512;9,1,128,512", "5,16,1,512", "", 20, 20, 1, "", 9, "", 8,
                 core="MIX_AIC"), 1025, "BNSD_NBSD", 1, 0, "runtime_values"],
    [*kernel_row("16,4,128;99,128,128;99,128,128" + ";" * 12 + "16,512", "16,4,128", "", 40, 40, 6,
                 "", 38, "", 30, core="MIX_AIC"), 4096, "TND", 1, 3, "runtime_values"],
    [*kernel_row("512,4,128;512,1,128;512,1,128", "512,4,128", "", 60, 60, 0, "", 50, "", 45,
                 core="MIX_AIC"), "", "TND", 1, 3, "profile_shapes_only"],
]  # fmt: skip


def _write_old(folder: Path) -> None:
    header = (*BASE, *LEGACY)
    rows = [
        matmul_row(16, 10, 9.5, 0.5, 8),
        matmul_row(32, 20, 19, 1, 15),
        matmul_row(32, 24, 23, 1, 15),
        matmul_row(64, 0, 0, 0, 0),
        kernel_row("N/A", "1", 5, 5, 0, 4),
        matmul_row(128, -5, 5, 0, 4),
    ]
    write_csv(folder / "MatMulV2.csv", header, rows)
    write_csv(folder / "DispatchFFNCombine.csv", header, [kernel_row("8,64", "8,64", 50, 50, 0, 4)])
    write_csv(folder / "Lonely.csv", header, [kernel_row("8,8", "8,8", 1, 1, 0, 1)])
    folder.joinpath("op_mapping.yaml").write_text(MAPPING, encoding="utf-8")


def _write_new(folder: Path) -> None:
    header = (*BASE, *CURRENT)
    rows = [
        [*matmul_row(16, 8, 16, 15, 1, 7, 14, 0, 0), "a"],
        [*matmul_row(32, 11, 10, 10, 1, 9, 9, 0, 0), ""],
        [*matmul_row(64, "", 30, 29, 2, "", 28, "", 0), ""],
        [*matmul_row(256, 3, 2, 2, 0, 1, 1, 0, 0), ""],
    ]
    write_csv(folder / "MatMulV2.csv", (*header, "Note"), rows)
    folder.joinpath("MatMulV3.csv").write_text(POINTER, encoding="utf-8")
    rows = [matmul_row(16, "", 30, 30, 0, "", 10, "", 5, core="MIX_AIC")]
    write_csv(folder / "QuantBatchMatmulV3.csv", header, rows)
    rows = [
        kernel_row("64,8", "64,8", "", 7, 7, 0, "", 6, "", 0),
        kernel_row("32,8", "32,8", 5, 6, 6, 0, 4, 4, 0, 0),
    ]
    write_csv(folder / "ScatterNdUpdate.csv", header, rows)
    rows = [
        [*kernel_row("8,64", "8,64", 40, 0, 0, 0, 4, 0, 0, 0), 8],
        [*kernel_row("8,64", "8,64", 60, 0, 0, 0, 4, 0, 0, 0), 16],
        [*kernel_row("16,64", "16,64", 90, 0, 0, 0, 4, 0, 0, 0), ""],
    ]
    write_csv(folder / "DispatchFFNCombine.csv", (*header, "EP Size"), rows)
    write_csv(folder / "FusedInferAttentionScore.csv", (*header, *RUNTIME), ATTENTION_ROWS)
    folder.joinpath("op_mapping.yaml").write_text(MAPPING + POLICIES, encoding="utf-8")


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two kernel versions, v9 (legacy columns) and v10 (current), and one collective folder."""
    root = tmp_path_factory.mktemp("databases")
    _write_old(root / "DEV" / "vllm" / "v9")
    _write_new(root / "DEV" / "vllm" / "v10")
    hccl = root / "DEV" / "hccl" / "v1"
    rows = [[1024, 2, "DT_BF16", 0, 10, 1.5], [1024, 2, "DT_BF16", 0, 12, 1.2],
            [1024, 4, "DT_BF16", 0, 30, 1.1]]  # fmt: skip
    write_csv(hccl / "hcom_allReduce_.csv", COLLECTIVE, rows)
    write_csv(hccl / "hcom_broadcast_.csv", COLLECTIVE, [[64, 2, "DT_BF16", 0, 3, 0.1]])
    return root


@dataclass(frozen=True)
class Ingested:
    """A database file and the summary that its ingest returned."""

    path: Path
    summary: Any


@pytest.fixture(scope="session")
def small_ingest(small_folder: Path) -> Ingested:
    """The database file of ``small_folder``."""
    path = small_folder / "small.duckdb"
    ingested = Ingested(path, sqlinterp.ingest([small_folder], path))
    _log_a_miss(path)
    _record_a_run(path)
    return ingested


def _log_a_miss(path: Path) -> None:
    """Fill the log, which ingest does not."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "insert into lookup_log (run_id, logged_at, version_key, mode, context_json, op,"
            " dispatch, input_shapes, input_dtypes, call_count, miss_reason, is_zero_cost)"
            " values ('run', '2026-01-01', 'DEV/vllm/v9', 'default', '{}', 'aten.sin.default',"
            " 'unmapped', '4', 'bfloat16', 1, 'unmapped', false)"
        )


def _record_a_run(path: Path) -> None:
    """Fill what only fidelity runs fill."""
    run = run_fidelity(Request(path, "v10", kernels=("MatMulV2",)))
    record_runs(path, [run, replace(run, run_id="again")])
    calibrate(path, least=1)


@pytest.fixture(scope="session")
def small(small_ingest: Ingested) -> Iterator[duckdb.DuckDBPyConnection]:
    """The small database as any DuckDB client opens it: read-only, no macros, no variables."""
    with duckdb.connect(str(small_ingest.path), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def sample_ingest(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """The database file of the shipped sample."""
    path = tmp_path_factory.mktemp("sample") / "sample.duckdb"
    return Ingested(path, sqlinterp.ingest([resource_folder("databases")], path))


@pytest.fixture(scope="session")
def sample(sample_ingest: Ingested) -> Iterator[duckdb.DuckDBPyConnection]:
    """The shipped sample as any DuckDB client opens it."""
    with duckdb.connect(str(sample_ingest.path), read_only=True) as connection:
        yield connection
