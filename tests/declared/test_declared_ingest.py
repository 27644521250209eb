"""Declared tables on their way into the database: every row ends in exactly one place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pytest
from databases_for_tests import MATMUL_HEADER, write_version
from declared_support import GEMM, VERSION, ingest, query, write_csv, write_declaration

import sqlinterp
from sqlinterp.errors import DatabaseError, SourceError

ROWS = ["dtype,m,k,t", "bf16,1,64,1.5", "bf16,2,64,2.5", "fp8,1,64,0.5"]


def test_rows_become_regimes_and_points_with_their_source(tmp_path: Path) -> None:
    summary = ingest(tmp_path, ROWS)
    (version,) = summary.versions
    assert (version.version_key, version.rows_read, version.rows_stored) == (VERSION, 3, 3)
    assert query(tmp_path, "select regime_key, axis_names, measurement_count from regime") == [
        ('{"dtype":"bf16"}', ["m", "k"], 2),
        ('{"dtype":"fp8"}', ["m", "k"], 1),
    ]
    points = "select axis_1, axis_2, latency_mean_us, first_line_number from point order by all"
    assert query(tmp_path, points) == [(1, 64, 0.5, 4), (1, 64, 1.5, 2), (2, 64, 2.5, 3)]
    source = "select declaration, repository, source_commit, licence from declared_file"
    assert query(tmp_path, source) == [("gemm_table", "https://example.org/tables", "abc", "MIT")]
    views = "select kernel_type, path, axis_values from measured_point order by all"
    assert query(tmp_path, views)[0] == ("gemm", "declared:m,k", [1.0, 64.0])


def test_every_row_ends_in_one_place_with_line_and_reason(tmp_path: Path) -> None:
    lines = [
        "dtype,m,k,t",
        "bf16,1,64,1.5",
        "bf16,,64,1.5",
        "bf16,x,64,1.5",
        "bf16,-1,64,1.5",
        ",1,64,1.5",
        "bf16,1,64",
        "bf16,1,64,1,1",
        "bf16,4,64,",
        "bf16,5,64,0",
        "bf16,6,64,NaN",
        "bf16,7,64,-2",
        "bf16,8,64,0.19ms",
        "bf16,9,64,inf",
        "",
        "bf16,10,64,1e400",
        'bf16,"1,64,2',
        'bf16,"1"1,64,"2"',
        'bf16,"11","64",2',
        "bf16,12,64,2",
    ]
    (version,) = ingest(tmp_path, lines).versions
    assert (version.rows_read, version.rows_stored) == (18, 3)
    assert (version.rows_rejected, version.rows_without_latency) == (12, 3)
    rejected = "select line_number, column_name, reason, cell from rejected_row order by all"
    assert query(tmp_path, rejected) == [
        (3, "m", "axis_invalid", ""),
        (4, "m", "axis_invalid", "x"),
        (5, "m", "axis_invalid", "-1"),
        (6, "dtype", "regime_cell_missing", ""),
        (7, None, "short_row", "bf16,1,64"),
        (8, None, "long_row", "bf16,1,64,1,1"),
        (12, "t", "latency_invalid", "-2"),
        (13, "t", "latency_invalid", "0.19ms"),
        (14, "t", "latency_invalid", "inf"),
        (16, "t", "latency_invalid", "1e400"),
        (17, None, "unterminated_quote", 'bf16,"1,64,2'),
        (18, None, "malformed_quotes", 'bf16,"1"1,64,"2"'),
    ]
    assert query(tmp_path, "select line_number from unmeasured_row order by 1") == [
        (9,),
        (10,),
        (11,),
    ]
    assert query(tmp_path, "select first_line_number from point order by 1") == [(2,), (19,), (20,)]
    assert query(tmp_path, "select difference from ingest_balance") == [(0,)]


@pytest.mark.parametrize(("unit", "factor"), [("s", 1e6), ("ms", 1e3), ("us", 1.0), ("ns", 1e-3)])
def test_latencies_are_microseconds(tmp_path: Path, unit: str, factor: float) -> None:
    lines = ["dtype,m,k,t,lo", "bf16,1,64,1.5,1.25"]
    ingest(tmp_path, lines, latency={"column": "t", "unit": unit}, spread={"min": "lo"})
    assert query(tmp_path, "select latency_us from measurement") == [(1.5 * factor,)]
    assert query(tmp_path, "select min_us, max_us from declared_row") == [(1.25 * factor, None)]


def test_scale_comes_before_transform(tmp_path: Path) -> None:
    axis = {
        "name": "size",
        "column": "size(kb)",
        "unit": "bytes",
        "scale": 1024,
        "transform": "log2",
    }
    lines = ["dtype,size(kb),t", "bf16,4,1", "bf16,0,1", "bf16,0.5,2"]
    (version,) = ingest(tmp_path, lines, axes=[axis]).versions
    assert (version.rows_stored, version.rows_rejected) == (2, 1)
    assert query(tmp_path, "select axis_1 from point order by 1") == [(9.0,), (12.0,)]
    facts = "select axis_names, axis_units, axis_transforms from declared_file"
    assert query(tmp_path, facts) == [(["size"], ["bytes"], ["log2"])]


def test_a_wide_row_is_a_row_of_every_kernel(tmp_path: Path) -> None:
    lines = [
        "dtype,m,k,t.a.med,t.a.max,t.b.c.med,t.b.c.max",
        "bf16,1,64,1,2,3,4",
        "bf16,2,64,,2,x,4",
    ]
    summary = ingest(
        tmp_path,
        lines,
        kernel={"columns": "t.{kernel}.med", "prefix": "op_"},
        latency={"column": "t.{kernel}.med", "unit": "us"},
        spread={"max": "t.{kernel}.max"},
    )
    assert summary.total("rows_read") == 4
    counts = "select kernel_type, rows_read, rows_stored, rows_rejected, rows_without_latency"
    assert query(tmp_path, f"{counts} from source_file order by 1") == [
        ("op_a", 2, 1, 0, 1),
        ("op_b.c", 2, 1, 1, 0),
    ]
    joined = "select kernel_type, latency_column, latency_us, max_us from measurement"
    assert query(tmp_path, f"{joined} join declared_row using (row_id) order by 1") == [
        ("op_a", "t.a.med", 1, 2),
        ("op_b.c", "t.b.c.med", 3, 4),
    ]


def test_kernels_and_versions_from_columns(tmp_path: Path) -> None:
    lines = [
        "op,gpu,dtype,m,k,t",
        "a,H200,bf16,1,1,1",
        "b,H200,bf16,1,1,2",
        "a,NVIDIA H200,bf16,1,1,3",
        "../x,H200,bf16,1,1,4",
        ",H200,bf16,1,1,5",
        "a,,bf16,1,1,6",
        "a,x/y,bf16,1,1,7",
        "a,H200",
    ]
    ingest(tmp_path, lines, kernel={"column": "op"}, version="{gpu}/fw/1.0")
    files = "select version_key, kernel_type, rows_read, rows_rejected from source_file"
    assert query(tmp_path, f"{files} join profile_version using (version_id) order by all") == [
        ("H200/fw/1.0", "a", 1, 0),
        ("H200/fw/1.0", "b", 1, 0),
        ("H200/fw/1.0", "gemm_table", 5, 5),
        ("NVIDIA H200/fw/1.0", "a", 1, 0),
    ]
    reasons = "select line_number, column_name, reason from rejected_row order by all"
    assert query(tmp_path, reasons) == [
        (5, "op", "kernel_name_invalid"),
        (6, "op", "kernel_name_invalid"),
        (7, "gpu", "version_cell_invalid"),
        (8, "gpu", "version_cell_invalid"),
        (9, None, "short_row"),
    ]


def test_regime_values_keep_their_kind(tmp_path: Path) -> None:
    lines = ["a,b,c,d,m,t", "32,False, x ,0.10,1,1", "32,true,x,0.1,2,1", "007,,x,0.1,3,1"]
    regime = ["a", {"name": "b", "default": "none"}, "c", "d"]
    ingest(tmp_path, lines, regime=regime, axes=["m"])
    assert query(tmp_path, "select regime_key from regime order by 1") == [
        ('{"a":"007","b":"none","c":"x","d":"0.1"}',),
        ('{"a":32,"b":false,"c":"x","d":"0.10"}',),
        ('{"a":32,"b":true,"c":"x","d":"0.1"}',),
    ]


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ({"column": "dtype", "equals": "bf16"}, 2),
        ({"column": "dtype", "not_equals": "bf16"}, 1),
        ({"column": "dtype", "in": ["fp8", "fp4"]}, 1),
        ({"column": "dtype", "not_in": ["fp8"]}, 2),
        ({"column": "m", "min": 2}, 1),
        ({"column": "m", "max": 1}, 2),
    ],
)
def test_filtered_rows_are_counted_apart(tmp_path: Path, condition: Any, kept: int) -> None:
    summary = ingest(tmp_path, ROWS, where=[condition])
    assert (summary.total("rows_read"), summary.total("rows_stored")) == (kept, kept)
    assert summary.rows_filtered == 3 - kept
    assert query(tmp_path, "select rows_filtered from declared_file") == [(3 - kept,)]


def test_parquet_and_csv_give_the_same_points(tmp_path: Path) -> None:
    parquet = tmp_path / "table.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"copy (select * from (values ('bf16', 1, 64, 1.5::double), ('bf16', 2, 64, 2.5),"
            f" ('fp8', 1, 64, 0.5), ('fp8', 2, 64, null), (null, 2, 64, 1)) as t(dtype, m, k, t))"
            f" to '{parquet}' (format parquet)"
        )
    declaration = write_declaration(tmp_path)
    summary = sqlinterp.ingest_table(declaration, [parquet], tmp_path / "p.duckdb")
    counts = [summary.total(f"rows_{name}") for name in ("stored", "rejected", "without_latency")]
    assert counts == [3, 1, 1]
    first = query(
        tmp_path, "select regime_id, axis_1, axis_2, latency_mean_us from point order by all"
    )
    (tmp_path / "other").mkdir()
    ingest(tmp_path / "other", ROWS)
    other = "select regime_id, axis_1, axis_2, latency_mean_us from point order by all"
    assert query(tmp_path / "other", other) == first


def test_the_order_of_rows_changes_no_point(tmp_path: Path) -> None:
    rows = [f"bf16,{m},{k},{m * k / 7}" for m in (1, 2, 3) for k in (4, 5)] * 2
    found = []
    for name, lines in (("a", rows), ("b", rows[::-1])):
        (tmp_path / name).mkdir()
        ingest(tmp_path / name, ["dtype,m,k,t", *lines])
        kept = "select * exclude (first_row_id, first_line_number) from point"
        found.append(query(tmp_path / name, kept))
    assert found[0] == found[1]


class TestAgain:
    """The same declaration once more."""

    def test_an_unchanged_table_is_not_read_again(self, tmp_path: Path) -> None:
        ingest(tmp_path, ROWS)
        before = query(tmp_path, "select * from source_file")
        again = ingest(tmp_path, ROWS)
        assert again.versions[0].files_unchanged == 1
        assert query(tmp_path, "select * from source_file") == before

    def test_a_changed_table_replaces_what_came_from_it(self, tmp_path: Path) -> None:
        ingest(tmp_path, ROWS)
        ingest(tmp_path, [*ROWS[:3], "bf16,3,64,9"])
        assert query(tmp_path, "select axis_1 from point order by 1") == [(1,), (2,), (3,)]
        assert query(tmp_path, "select count(*) from declared_row") == [(3,)]

    def test_a_changed_declaration_or_value_reads_again(self, tmp_path: Path) -> None:
        ingest(tmp_path, ROWS)
        ingest(tmp_path, ROWS, latency={"column": "t", "unit": "ms"})
        assert query(tmp_path, "select max(latency_us) from measurement") == [(2500.0,)]

    def test_a_moved_table_is_the_same_table(self, tmp_path: Path) -> None:
        ingest(tmp_path, ROWS)
        moved = shutil.move(tmp_path / "table.csv", tmp_path / "moved.csv")
        again = sqlinterp.ingest_table(tmp_path / "gemm_table.yaml", [moved], tmp_path / "p.duckdb")
        assert again.versions[0].files_unchanged == 1
        assert query(tmp_path, "select file_name from source_file") == [("moved.csv",)]

    def test_one_regime_lies_in_one_file_unless_it_replaces(self, tmp_path: Path) -> None:
        ingest(tmp_path, ROWS)
        other = write_csv(tmp_path / "other.csv", ["dtype,m,k,t", "bf16,5,64,1"])
        declaration, database = tmp_path / "gemm_table.yaml", tmp_path / "p.duckdb"
        with pytest.raises(SourceError, match=r"several tables: .*table.csv.*other.csv"):
            sqlinterp.ingest_table(declaration, [other], database)
        assert query(tmp_path, "select count(*) from point") == [(3,)]
        summary = sqlinterp.ingest_table(declaration, [other], database, replace=True)
        assert summary.removed_files == 1
        assert query(tmp_path, "select axis_1 from point") == [(5,)]

    def test_another_regime_may_lie_in_another_file(self, tmp_path: Path) -> None:
        ingest(tmp_path, ROWS)
        other = write_csv(tmp_path / "other.csv", ["dtype,m,k,t", "fp4,5,64,1"])
        sqlinterp.ingest_table(tmp_path / "gemm_table.yaml", [other], tmp_path / "p.duckdb")
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            found = {
                dtype: database.lookup_points("gemm", {"dtype": dtype}, [{"m": m, "k": 64}])[0]
                for dtype, m in (("bf16", 1), ("fp4", 5))
            }
        files = [answer.details["corner_points"][0]["file"] for answer in found.values()]
        assert files == ["table.csv", "other.csv"]


class TestValues:
    """Columns that a table lacks."""

    told: ClassVar[dict[str, Any]] = {**GEMM, "version": "{gpu}/fw/1.0", "regime": ["dtype", "tp"]}

    def ingest(self, folder: Path, **values: str) -> list[tuple[Any, ...]]:
        declaration = write_declaration(
            folder,
            self.told,
            constants={"tp": 1, "gpu": "none"},
            path=r"/(?P<gpu>[a-z0-9]+)/tp(?P<tp>\d+)/",
        )
        place = folder / "h100" / "tp4"
        place.mkdir(parents=True, exist_ok=True)
        table = write_csv(place / "t.csv", ROWS)
        sqlinterp.ingest_table(declaration, [table], folder / "p.duckdb", values)
        return query(
            folder,
            "select version_key, regime_key from regime"
            " join profile_version using (version_id) order by all limit 1",
        )

    def test_the_path_wins_over_constants(self, tmp_path: Path) -> None:
        assert self.ingest(tmp_path) == [("h100/fw/1.0", '{"dtype":"bf16","tp":4}')]

    def test_given_values_win_over_the_path(self, tmp_path: Path) -> None:
        assert self.ingest(tmp_path, tp="8") == [("h100/fw/1.0", '{"dtype":"bf16","tp":8}')]

    def test_what_nobody_tells_is_asked_for(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match=r"needs 'colour'.*--set NAME=VALUE"):
            ingest(tmp_path, ROWS, regime=["dtype", "colour"])


class TestBadFiles:
    """Files that are no tables; nothing is stored then."""

    @pytest.mark.parametrize(
        ("content", "part"),
        [
            (b"", "is empty"),
            (b"version https://git-lfs.github.com/spec/v1\n", "Git-LFS"),
            (b"a\0b", "NUL"),
            (b"dtype,m,k,t\nbf16,1,64,\xff\n", "line 2 has the byte 0xff"),
            (b"PAR1 but not really PAR1", "no readable Parquet"),
            (b"dtype,m,k,t,t\nbf16,1,1,1,1\n", "names columns twice: 't'"),
            (b"dtype,m,k,t\n", "no row that tells its kernel and version"),
            (b'"dtype,m,k,t\n', "no CSV header"),
        ],
    )
    def test_the_message_names_file_and_problem(
        self, tmp_path: Path, content: bytes, part: str
    ) -> None:
        (tmp_path / "t.csv").write_bytes(content)
        with pytest.raises(SourceError, match=part) as caught:
            sqlinterp.ingest_table(
                write_declaration(tmp_path), [tmp_path / "t.csv"], tmp_path / "p.duckdb"
            )
        assert "t.csv" in str(caught.value)
        assert not (tmp_path / "p.duckdb").exists()

    def test_a_missing_file_and_no_file(self, tmp_path: Path) -> None:
        for tables in ([tmp_path / "nosuch.csv"], []):
            with pytest.raises(SourceError):
                sqlinterp.ingest_table(write_declaration(tmp_path), tables, tmp_path / "p.duckdb")

    def test_a_failure_leaves_the_database_as_it_was(self, tmp_path: Path) -> None:
        ingest(tmp_path, ROWS)
        before = (tmp_path / "p.duckdb").read_bytes()
        good = write_csv(tmp_path / "good.csv", ["dtype,m,k,t", "fp4,1,1,1"])
        bad = write_csv(tmp_path / "bad.csv", ["a,b", "1,2"])
        with pytest.raises(SourceError):
            sqlinterp.ingest_table(tmp_path / "gemm_table.yaml", [good, bad], tmp_path / "p.duckdb")
        assert (tmp_path / "p.duckdb").read_bytes() == before

    def test_a_file_that_is_no_database(self, tmp_path: Path) -> None:
        (tmp_path / "p.duckdb").write_text("hello")
        with pytest.raises(DatabaseError):
            ingest(tmp_path, ROWS)

    def test_byte_order_marks_are_no_part_of_a_name(self, tmp_path: Path) -> None:
        content = b"\xef\xbb\xbf" + "\r\n".join(ROWS).encode()
        (tmp_path / "t.csv").write_bytes(content)
        sqlinterp.ingest_table(
            write_declaration(tmp_path), [tmp_path / "t.csv"], tmp_path / "p.duckdb"
        )
        assert query(tmp_path, "select count(*) from point") == [(3,)]


class TestBesideOthers:
    """Declared tables in a file that holds more."""

    def test_kernels_on_other_axes_need_another_name(self, tmp_path: Path) -> None:
        ingest(tmp_path, ROWS)
        with pytest.raises(SourceError, match="declared on different axes"):
            ingest(tmp_path, ROWS, name="other", axes=["m"])

    def test_version_directories_keep_their_key(self, tmp_path: Path) -> None:
        rows = [MATMUL_HEADER, '"8,64;64,32",DT_BF16;DT_BF16,ND;ND,"8,32",DT_BF16,ND,4.5']
        folder = tmp_path / "dev" / "fw" / "1.0"
        write_version(folder, {"MatMulV2.csv": rows}, {"aten.mm.default": "MatMulV2"})
        sqlinterp.ingest([tmp_path / "dev"], tmp_path / "p.duckdb")
        with pytest.raises(SourceError, match="is a version directory"):
            ingest(tmp_path, ROWS)
        ingest(tmp_path, ROWS, version="dev/fw/2.0")
        paths = "select distinct path from regime order by 1"
        assert query(tmp_path, paths) == [("declared:m,k",), ("matmul",)]
        (folder / "MatMulV2.csv").write_text("\n".join([*rows, rows[1].replace('"8', '"16')]))
        sqlinterp.ingest([tmp_path / "dev"], tmp_path / "p.duckdb")
        points = (
            "select path, count(*) from point join regime using (regime_id) group by 1 order by 1"
        )
        assert query(tmp_path, points) == [("declared:m,k", 3), ("matmul", 2)]

    def test_a_version_directory_that_takes_a_key_leaves_nothing_behind(
        self, tmp_path: Path
    ) -> None:
        ingest(tmp_path, ROWS)
        rows = [MATMUL_HEADER, '"8,64;64,32",DT_BF16;DT_BF16,ND;ND,"8,32",DT_BF16,ND,4.5']
        folder = tmp_path / "v" / "dev" / "fw" / "1.0"
        write_version(folder, {"MatMulV2.csv": rows}, {"aten.mm.default": "MatMulV2"})
        assert sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb").removed_files == 1
        for table in ("declared_row", "declared_file"):
            assert query(tmp_path, f"select count(*) from {table}") == [(0,)]
        assert query(tmp_path, "select path from regime") == [("matmul",)]

    def test_the_policy_is_that_of_the_kernel(self, tmp_path: Path) -> None:
        ingest(tmp_path, ROWS, policy={"max_interpolation_dim": 0})
        stored = "select scope, subject, policy_json from interpolation_policy"
        assert query(tmp_path, stored) == [("kernel", "gemm", '{"max_interpolation_dim":0}')]
        ingest(tmp_path, ROWS)
        assert query(tmp_path, stored) == []


class TestViews:
    """Analyst views of declared rows: a call is a regime and a coordinate."""

    def test_only_rows_of_one_coordinate_contradict_each_other(self, tmp_path: Path) -> None:
        ingest(tmp_path, [*ROWS, "bf16,2,64,3.5"])
        found = "select kernel_type, line_numbers, ratio from conflicting_latency"
        assert query(tmp_path, found) == [("gemm", [3, 5], 1.4)]
        assert query(tmp_path, "select signature_count, point_count from kernel_coverage") == [
            (3, 3)
        ]

    def test_versions_are_compared_coordinate_by_coordinate(self, tmp_path: Path) -> None:
        ingest(tmp_path, ROWS)
        newer = ["dtype,m,k,t", "bf16,1,64,3", "bf16,3,64,9", "fp8,1,64,1"]
        other = write_csv(tmp_path / "newer.csv", newer)
        declaration = write_declaration(tmp_path, name="newer", version="dev/fw/2.0")
        sqlinterp.ingest_table(declaration, [other], tmp_path / "p.duckdb")
        assert query(tmp_path, "select kernel_type, ratio from version_diff") == [("gemm", 2)] * 2
