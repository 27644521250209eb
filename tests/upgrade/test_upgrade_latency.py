"""The latency of every row is the same before and after, read from the profiling mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from upgrade_support import (
    CURRENT,
    OLD,
    OLDER,
    copy_sample,
    legacy_bytes,
    legacy_row,
    outcomes,
    write_version,
)

import sqlinterp
from sqlinterp.upgrade import undo, upgrade

Latencies = dict[tuple[str, str, int], tuple[float, str]]
ENVELOPE = {"latency_policy": {"kernel_overrides": {"MatMulV2": {
    "profiling_core_envelope_fallback": {"max_duration_to_core_ratio": 1.5}}}}}  # fmt: skip


def ingested(folder: Path, database: Path) -> Latencies:
    """The latency and its column of every stored row, by version, file and row number."""
    summary = sqlinterp.ingest([folder], database)
    assert summary.total("rows_rejected") == 0
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = connection.execute(
            "select version_key, file_name, row_number, latency_us, latency_column"
            " from measurement join source_file using (file_id)"
            " join profile_version on profile_version.version_id = source_file.version_id"
        ).fetchall()
    return {(version, name, row): (value, column) for version, name, row, value, column in rows}


# Columns of 'measurement' that an upgrade changes: the place of the latency, and what it fills.
PLACES = (
    "average_us", "median_us", "std_us", "profiling_average_us", "profiling_median_us",
    "profiling_std_us", "latency_column", "latency_rank",
)  # fmt: skip
FILLED = ("op_state", "ep_size", "runtime_batch_size")
NUMBERED = ("row_id", "file_id", "signature_id")  # in an order of files and contents


def whole_rows(database: Path) -> list[tuple[Any, ...]]:
    """Everything that is known of every measurement, but for what an upgrade is there to change."""
    query = f"""
        select version_key, f.file_name, m.* exclude ({", ".join((*PLACES, *FILLED, *NUMBERED))}),
            coalesce(m.profiling_average_us, m.average_us) as mean_us,
            coalesce(m.profiling_median_us, m.median_us) as median_us,
            coalesce(m.profiling_std_us, m.std_us) as std_us, h.* exclude (row_id)
        from measurement as m join source_file as f using (file_id)
        join profile_version as v on v.version_id = f.version_id
        left join hardware_counter as h using (row_id)
        order by version_key, f.file_name, row_number"""
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(query).fetchall()


def test_the_samples_ingest_to_the_same_measurements_and_new_columns(tmp_path: Path) -> None:
    folder, paths = copy_sample(tmp_path, OLD, OLDER), (tmp_path / "old.duckdb", tmp_path / "new")
    sqlinterp.ingest([folder], paths[0])
    upgrade(folder, "current62", ep_size=16)
    sqlinterp.ingest([folder], paths[1])
    before, after = (whole_rows(path) for path in paths)
    assert before == after and len(before) > 140
    for path, known in zip(paths, ((0, 0), (2, 2)), strict=True):
        with duckdb.connect(str(path), read_only=True) as connection:
            gained = connection.execute(
                "select (select count(ep_size) from measurement),"
                " (select count(*) from regime where path = 'moe_fused')"
            ).fetchall()
        assert gained == [known]  # rows without EP Size have no regime


@pytest.mark.parametrize("target", ["prefixed36", "current62"])
def test_latencies_of_legacy_versions(tmp_path: Path, target: str) -> None:
    folder = copy_sample(tmp_path, OLD, OLDER)
    before = ingested(folder, tmp_path / "before.duckdb")
    assert {column for _, column in before.values()} == {"Average Duration(us)"}
    upgrade(folder, target)
    after = ingested(folder, tmp_path / "after.duckdb")
    assert {key: value for key, (value, _) in after.items()} == {
        key: value for key, (value, _) in before.items()
    }
    assert {column for _, column in after.values()} == {"Profiling Average Duration(us)"}
    assert len(after) > 140


def test_latencies_of_a_current_version_keep_value_and_column(tmp_path: Path) -> None:
    folder = copy_sample(tmp_path, CURRENT)
    before = ingested(folder, tmp_path / "profiling.duckdb")
    assert upgrade(folder, "current62").count("upgraded") > 0
    assert ingested(folder, tmp_path / "profiling.duckdb") == before


def test_a_database_follows_upgrade_and_undo(tmp_path: Path) -> None:
    folder, database = copy_sample(tmp_path, OLD), tmp_path / "profiling.duckdb"
    before = ingested(folder, database)
    upgrade(folder, "current62")
    assert ingested(folder, database) != before
    undo(folder)
    assert ingested(folder, database) == before


def test_derived_cells_reach_the_database(tmp_path: Path) -> None:
    shapes = '"5,16,1,512;9,1,128,512"'
    row = legacy_row(**{"Input Shapes": shapes, "Input Data Types": "DT_BF16;DT_BF16"})
    content = legacy_bytes(row)
    names = ("FusedInferAttentionScore.csv", "DispatchFFNCombine.csv")
    folder = write_version(tmp_path / "v1", dict.fromkeys(names, content))
    upgrade(folder, "current62", ep_size=16)
    sqlinterp.ingest([folder], tmp_path / "profiling.duckdb")
    with duckdb.connect(str(tmp_path / "profiling.duckdb"), read_only=True) as connection:
        query = "select ep_size, runtime_batch_size, op_state from measurement order by kernel_type"
        rows = connection.execute(query).fetchall()
    assert rows == [(16, None, "dynamic"), (None, 5, "dynamic")]


def test_a_file_whose_latency_a_policy_would_change_is_left_alone(tmp_path: Path) -> None:
    mix = {"Accelerator Core": "MIX_AIC", "Average aicore_time(us)": "20"}
    rows = [legacy_row("25", **mix), legacy_row("100", **mix)]
    files = {"MatMulV2.csv": legacy_bytes(*rows), "MatMulV3.csv": legacy_bytes(*rows)}
    folder = write_version(tmp_path / "v1", files, ENVELOPE)
    before = ingested(folder, tmp_path / "profiling.duckdb")
    report = upgrade(folder, "current62")
    assert outcomes(report) == {"MatMulV2.csv": "left alone", "MatMulV3.csv": "upgraded"}
    reason = report.versions[0].files[0].reason
    assert "latency of 1 row would change, in line 3 from 100.0 to 20.0 us" in reason
    assert (folder / "MatMulV2.csv").read_bytes() == files["MatMulV2.csv"]
    after = ingested(folder, tmp_path / "profiling.duckdb")
    assert [value for value, _ in after.values()] == [value for value, _ in before.values()]


def test_a_policy_that_replaces_nothing_does_not_hinder(tmp_path: Path) -> None:
    row = legacy_row("25", **{"Accelerator Core": "MIX_AIC", "Average aicore_time(us)": "20"})
    folder = write_version(tmp_path / "v1", {"MatMulV2.csv": legacy_bytes(row)}, ENVELOPE)
    assert outcomes(upgrade(folder, "current62")) == {"MatMulV2.csv": "upgraded"}
