"""Faults of ``op_mapping.yaml``: listed together, and the CSVs still load."""

from __future__ import annotations

import pytest
from csv_folders import Folder

import sqlinterp
from sqlinterp.errors import SourceError
from sqlinterp.ingestion.mapping import read_mapping


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("- a\n- b\n", "holds no mapping of keys"),
        ("a: [1\n", "is no valid YAML"),
        ("a: 1\na: 2\n", "the key 'a' repeats"),
        ("operator_mappings:\n  x: {kernel_type: A, kernel_type: B}\n", "'kernel_type' repeats"),
        ("operator_mappings: [1]\n", "operator_mappings is [1], expected a mapping"),
        ("operator_mappings: null\n", "operator_mappings is None, expected a mapping"),
        ("operator_mappings:\n  x: null\n", "the entry is None"),
        ("operator_mappings:\n  x: {kernel_type: null}\n", "kernel_type is missing"),
        ("operator_mappings:\n  x: {kernel_type: ../x}\n", "kernel_type is '../x'"),
        ("operator_mappings:\n  x: {kernel_type: A, sub_kernels: B}\n", "sub_kernels is 'B'"),
        ("operator_mappings:\n  x: {kernel_type: A, tc_input_count: 0}\n", "tc_input_count is 0"),
        ("latency_policy: {kernel_overrides: [A]}\n", "kernel_overrides is ['A']"),
        ("interpolation_policy: {max_interpolation_dim: 9}\n", "max_interpolation_dim is 9"),
        ("interpolation_policy: {extrapolation: {allow: true}}\n", "kernels opt in one by one"),
        ("interpolation_policy: {kernel_overrides: {A: {extrapolation: {form: cubic}}}}\n",
         "extrapolation.form is 'cubic'"),
        ("communication_data_ref: [1]\n", "communication_data_ref is [1]"),
        ("? [a, b]\n: 1\n", "is no valid YAML"),
    ],
)  # fmt: skip
def test_a_fault_is_reported(folder: Folder, document: str, words: str) -> None:
    folder.write_mapping(document)
    mapping = read_mapping(folder.path / "op_mapping.yaml")
    assert any(words in message for _, _, message in mapping.problems), mapping.problems


def test_all_faults_are_listed_and_the_sound_entries_and_files_load(folder: Folder) -> None:
    folder.mapping(
        communication_data_ref="../hccl/none",
        operator_mappings={
            "a": None,
            "b": {"kernel_type": "../x"},
            "c": {"kernel_type": "A", "alternate_kernel_types": None},
            "torch.ops.aten.add.Tensor": {"kernel_type": "Good"},
        },
    )
    summary = folder.ingest()
    assert folder.rows("select operator from op_mapping") == [("aten.add.Tensor",)]
    assert summary.total("errors") == 3
    assert summary.total("warnings") == 1
    assert summary.total("rows_stored") == 2
    keys = folder.rows("select column_name from source_issue order by all")
    expected = ["communication_data_ref", *(f"operator_mappings.{op}" for op in "abc")]
    assert [key for (key,) in keys] == expected
    assert not summary.is_clean


def test_a_folder_without_a_mapping_is_a_version_when_it_is_given_itself(folder: Folder) -> None:
    (folder.path / "op_mapping.yaml").unlink()
    summary = sqlinterp.ingest([folder.path], folder.database)
    assert summary.total("rows_stored") == 2
    assert "op_mapping.yaml is missing" in summary.messages[0][2]


def test_no_version_directory_is_an_error_that_names_the_folder(folder: Folder) -> None:
    (folder.path / "op_mapping.yaml").unlink()
    with pytest.raises(SourceError, match="no version directory below"):
        sqlinterp.ingest([folder.root], folder.database)
    with pytest.raises(SourceError, match="there is no such folder"):
        sqlinterp.ingest([folder.root / "none"], folder.database)
