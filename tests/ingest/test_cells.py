"""How cells become operands, dtypes, latencies, points and keys."""

from __future__ import annotations

from csv_folders import HEADER, Folder, line, text

AVERAGE, PROFILING = "Average Duration(us)", "Profiling Average Duration(us)"


def test_fractal_nz_is_restored_to_nd(folder: Folder) -> None:
    outcome = folder.load(
        text(
            line("16,5120;320,48,16,16", dtypes="DT_BF16;DT_BF16", formats="ND;FRACTAL_NZ"),
            line("8,2304;224,144,16,32", dtypes="INT8;INT8", formats="ND;FRACTAL_NZ"),
            line("8,2304;3,224,144,16,32", dtypes="INT8;INT8", formats="ND;FRACTAL_NZ"),
            line("16,16;16,16", dtypes="INT8;INT8", formats="ND;FRACTAL_NZ"),
        )
    )
    assert outcome.stored("operand_shapes") == [
        ([[16, 5120], [5120, 768]],),
        ([[8, 2304], [7168, 2304]],),
        ([[8, 2304], [3, 7168, 2304]],),
        ([[16, 16], [16, 16]],),
    ]
    assert outcome.stored("input_shapes[2]")[0] == ([320, 48, 16, 16],)


def test_empty_slots_keep_their_place_and_dtypes_align_either_way(folder: Folder) -> None:
    by_slot = "DT_BF16;DT_UNDEFINED;;FLOAT"
    outcome = folder.load(
        text(
            line("36,8192;;8192,7168", dtypes="DT_BF16;FLOAT", formats="ND;ND"),
            line("36,8192;;8192,7168", dtypes="DT_BF16;DT_UNDEFINED;FLOAT", formats="ND;NULL;NZ"),
            line("36,8192;;;8192,7168", dtypes=by_slot, formats="ND;NULL;;ND"),
            line("36,8192;8192,7168;;", dtypes="DT_BF16;FLOAT;;", formats="ND;ND;;"),
            line("36,8192;()", dtypes="DT_BF16;FLOAT", formats="ND;ND"),
        )
    )
    assert outcome.counts == (5, 5, 0, 0)
    assert outcome.stored("operand_shapes, operand_dtypes, operand_gaps") == [
        ([[36, 8192], [8192, 7168]], ["DT_BF16", "FLOAT"], [0, 1]),
        ([[36, 8192], [8192, 7168]], ["DT_BF16", "FLOAT"], [0, 1]),
        ([[36, 8192], [8192, 7168]], ["DT_BF16", "FLOAT"], [0, 2]),
        ([[36, 8192], [8192, 7168]], ["DT_BF16", "FLOAT"], [0, 0]),
        ([[36, 8192]], ["DT_BF16"], [0]),
    ]
    assert outcome.stored("operand_formats")[:2] == [(["ND", "ND"],), (["ND", "NZ"],)]


def test_a_missing_dtype_is_reported(folder: Folder) -> None:
    outcome = folder.load(text(line("8,8;8,8", dtypes="DT_BF16", formats="ND;ND")))
    assert outcome.issues == [(2, "Input Data Types", "dtype_count_mismatch")]
    assert outcome.counts == (1, 1, 0, 0)


def test_dtype_spellings_become_one_name(folder: Folder) -> None:
    spellings = {
        "DT_BF16": "DT_BF16", "bfloat16": "DT_BF16", "DT_FP16": "FLOAT16", "half": "FLOAT16",
        "DT_FLOAT": "FLOAT", " float32 ": "FLOAT", "DT_INT8": "INT8", "65534": "65534",
    }  # fmt: skip
    outcome = folder.load(text(*(line(dtypes=spelling) for spelling in spellings)))
    found = [dtypes for (dtypes,) in outcome.stored("operand_dtypes")]
    assert found == [[name] for name in spellings.values()]


def test_the_core_envelope_replaces_a_duration_far_above_its_cores(folder: Folder) -> None:
    envelope = {"profiling_core_envelope_fallback": {"max_duration_to_core_ratio": 1.5}}
    folder.mapping(operator_mappings={}, latency_policy={"kernel_overrides": {"Bad": envelope}})
    header = HEADER + ",Profiling Average aicore_time(us),Profiling Average aiv_time(us)"
    outcome = folder.load(
        text(
            line(core="MIX_AIC", average="", profiling="100") + ",20,30",
            line(core="MIX_AIC", average="", profiling="45") + ",20,30",
            line(core="MIX_AIC", average="90", profiling="100") + ",20,30",
            line(core="AI_CORE", average="", profiling="100") + ",20,30",
            line(core="MIX_AIC", average="", profiling="100") + ",,30",
            header=header,
        )
    )
    assert outcome.stored("latency_us, raw_latency_us, latency_rank, latency_column") == [
        (30.0, 100.0, 3, PROFILING),
        (45.0, 45.0, 1, PROFILING),
        (90.0, 90.0, 0, AVERAGE),
        (100.0, 100.0, 1, PROFILING),
        (100.0, 100.0, 1, PROFILING),
    ]


def test_profiling_rows_come_first_where_the_policy_says_so(folder: Folder) -> None:
    policy = {"kernel_overrides": {"Bad": {"prefer_profiling_rows": True}}}
    folder.mapping(operator_mappings={}, latency_policy=policy)
    lines = (line(average="5"), line(average="", profiling="6"))
    for kernel, ranks in (("Bad", [1, 0]), ("Other", [0, 1])):
        outcome = folder.load(text(*lines), kernel)
        assert outcome.stored("latency_rank") == [(rank,) for rank in ranks]


def test_duplicates_are_aggregated_in_every_supported_way(folder: Folder) -> None:
    lines = [line("8,64", average=value) for value in ("30", "10", "14")]
    folder.load(text(*lines, line("8,64", average="", profiling="99")))
    columns = (
        "latency_mean_us, latency_median_us, latency_min_us, latency_first_us, latency_max_us,"
        " {0}.measurement_count, latency_column"
    )
    expected = [
        (18.0, 14.0, 10.0, 30.0, 30.0, 3, AVERAGE),
        (99.0, 99.0, 99.0, 99.0, 99.0, 1, PROFILING),
    ]
    of_file = "file_id = (select file_id from source_file where kernel_type = 'Bad')"
    points = (
        f"select {columns.format('point')} from point join regime using (regime_id) where {of_file}"
    )
    assert folder.rows(points + " order by latency_rank") == expected
    keys = f"select distinct {columns.format('exact_key')} from exact_key where {of_file}"
    without_means = [
        (mean, *(None if value == mean else value for value in others), count, column)
        for mean, *others, count, column in expected
    ]
    assert without_means[1] == (99.0, None, None, None, None, 1, PROFILING)
    assert sorted(folder.rows(keys), key=lambda row: str(row[-1])) == without_means


def test_rows_of_equal_content_share_a_signature(folder: Folder) -> None:
    header = HEADER + ",EP Size"
    lines = [line("8,8") + ",8", line("4,4") + ",8", line("8,8") + ",16", line("8,8") + ",8"]
    outcome = folder.load(text(*lines, header=header))
    first, small, other, again = (row[0] for row in outcome.stored("signature_id"))
    assert first == again
    assert len({first, small, other}) == 3
    assert small < first, "ordered by content"
