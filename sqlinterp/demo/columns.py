"""The documented column lists of the CSV layouts, in file order."""

from __future__ import annotations

_AIC_UNITS = ("mac", "scalar", "mte1", "mte2", "fixpipe")
_AIV_UNITS = ("vec", "scalar", "mte2", "mte3")


def _unit_columns(core: str, units: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{core}_{unit}_{part}" for unit in units for part in ("time(us)", "ratio"))


COUNTERS: tuple[str, ...] = (
    "aicore_time(us)",
    "aic_total_cycles",
    *_unit_columns("aic", _AIC_UNITS),
    "aic_icache_miss_rate",
    "aiv_time(us)",
    "aiv_total_cycles",
    *_unit_columns("aiv", _AIV_UNITS),
    "aiv_icache_miss_rate",
    "cube_utilization(%)",
)
BASE8: tuple[str, ...] = (
    "OP State",
    "Accelerator Core",
    "Input Shapes",
    "Input Data Types",
    "Input Formats",
    "Output Shapes",
    "Output Data Types",
    "Output Formats",
)
LEGACY36: tuple[str, ...] = (
    *BASE8,
    "Average Duration(us)",
    "Median Duration(us)",
    "Std Duration(us)",
    *(f"Average {counter}" for counter in COUNTERS),
)
CURRENT62: tuple[str, ...] = (
    *BASE8,
    "Average Duration(us)",
    "Profiling Average Duration(us)",
    "Profiling Median Duration(us)",
    "Profiling Std Duration(us)",
    *(
        f"{prefix} {counter}"
        for counter in COUNTERS
        for prefix in ("MicroBench", "Profiling Average")
    ),
)
MINIMAL9: tuple[str, ...] = (*BASE8, "Average Duration(us)")
COMM6: tuple[str, ...] = (
    "message_bytes",
    "num_devices",
    "dtype",
    "topology_tier",
    "Duration(us)",
    "bandwidth_gbps",
)

_LENGTHS = (
    "actual_seq_lengths_shape",
    "actual_seq_lengths_values",
    "actual_seq_lengths_kv_shape",
    "actual_seq_lengths_kv_values",
    "avg_seq_len",
    "block_table_shape",
    "block_table_valid_blocks",
    "num_heads",
    "num_key_value_heads",
    "sparse_mode",
    "input_layout",
    "block_size",
)
_FIA = ("source_profile", *_LENGTHS, "attn_state", "kv_cache_mode", "metadata_completeness")
_INDEXER = (
    "case_id",
    "phase",
    "source_profile",
    *_LENGTHS,
    "topk",
    "cache_layout",
    "kv_cache_mode",
    "batch_size",
)
_SPARSE = (
    *_INDEXER,
    "sparse_block_size",
    "sparse_indices_pattern",
    "sparse_indices_valid_count",
    "metadata_completeness",
)
_MLA = (
    "num_tokens",
    "hidden_size",
    "local_num_heads",
    "q_lora_rank",
    "kv_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "block_size",
    "cache_mode",
    "quant_mode",
    "weight_format",
    "enable_inner_out",
    "weight_quantized",
    "metadata_completeness",
)


def _runtime(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"Runtime {name}" for name in names)


EXTRA_COLUMNS: dict[str, tuple[str, ...]] = {
    "DispatchFFNCombine": ("EP Size",),
    "FusedInferAttentionScore": _runtime(_FIA),
    "LightningIndexer": _runtime((*_INDEXER, "metadata_completeness")),
    "SparseFlashAttention": _runtime(_SPARSE),
    "mla_preprocess_0_mix_aic": _runtime(_MLA),
}


def header_of(kernel: str, layout: str) -> tuple[str, ...]:
    """Return the header of a kernel's file.

    Parameters
    ----------
    kernel : str
        Kernel type, which is the file name without its extension.
    layout : str
        ``legacy36``, ``current62`` or ``minimal9``; only ``current62`` has enrichment columns.

    Returns
    -------
    tuple of str
        Column names in file order.
    """
    if layout == "legacy36":
        return LEGACY36
    if layout == "minimal9":
        return MINIMAL9
    return (*CURRENT62, *EXTRA_COLUMNS.get(kernel, ()))
