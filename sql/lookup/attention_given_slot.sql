-- Measurements that may answer attention targets, as they were read before.
-- param: slots varchar [JSON list of rows of lookup.attention_slot or attention_told_slot, without what is null]
select unnest(from_json($slots::varchar, '[{"row_id": "BIGINT", "file_id": "INTEGER", "signature_id": "BIGINT",
    "latency_us": "DOUBLE", "latency_column": "VARCHAR", "latency_rank": "INTEGER", "line_number": "BIGINT",
    "operand_shapes": "BIGINT[][]", "operand_dtypes": "VARCHAR[]", "operand_gaps": "BIGINT[]", "avg_seq_len": "DOUBLE",
    "runtime_avg_seq_len": "DOUBLE", "runtime_sparse_mode": "BIGINT", "runtime_num_key_value_heads": "BIGINT",
    "runtime_input_layout": "VARCHAR", "runtime_metadata_completeness": "VARCHAR", "runtime_topk": "BIGINT",
    "runtime_block_size": "BIGINT", "runtime_phase": "VARCHAR", "runtime_quant_mode": "VARCHAR",
    "runtime_num_heads": "BIGINT", "runtime_sparse_block_size": "BIGINT", "runtime_sparse_indices_valid_count": "BIGINT",
    "runtime_cache_layout": "VARCHAR", "runtime_kv_cache_mode": "VARCHAR", "runtime_sparse_indices_pattern": "VARCHAR",
    "runtime_actual_seq_lengths_values": "VARCHAR", "runtime_actual_seq_lengths_kv_values": "VARCHAR",
    "runtime_block_table_valid_blocks": "VARCHAR"}]'), recursive := true)
