-- The targets of a path that reads enrichment columns, under the names of the table measurement; null = not known.
-- param: targets varchar [JSON list: item, place of its kind, shapes of operands and outputs, enrichment]
-- param: kinds varchar [JSON list: kernel file, input limit, dtypes, gaps]
-- param: columns varchar [JSON map of each kernel file to the names of its CSV columns]
select * exclude (kind), unnest(kind),
    map_extract_value(from_json($columns::varchar, '"MAP(INTEGER, VARCHAR[])"'), kind.file_id) as column_names, false as is_measured
from (select * replace (from_json($kinds::varchar, '[{"file_id": "INTEGER", "kernel_type": "VARCHAR", "input_limit": "INTEGER",
          "is_batched": "BOOLEAN", "operand_dtypes": "VARCHAR[]", "operand_gaps": "BIGINT[]",
          "output_dtypes": "VARCHAR[]"}]')[kind + 1] as kind)
      from (select unnest(from_json($targets::varchar, '[{"item_id": "INTEGER", "kind": "INTEGER", "operand_shapes": "BIGINT[][]",
          "operand_formats": "VARCHAR[]", "output_shapes": "BIGINT[][]",
          "output_formats": "VARCHAR[]", "ep_size": "INTEGER", "avg_seq_len": "DOUBLE", "runtime_avg_seq_len": "DOUBLE",
          "runtime_batch_size": "BIGINT", "runtime_num_heads": "BIGINT", "runtime_num_key_value_heads": "BIGINT",
          "runtime_sparse_mode": "BIGINT", "runtime_input_layout": "VARCHAR", "runtime_block_size": "BIGINT",
          "runtime_quant_mode": "VARCHAR", "runtime_phase": "VARCHAR", "runtime_kv_cache_mode": "VARCHAR",
          "runtime_metadata_completeness": "VARCHAR", "runtime_actual_seq_lengths_shape": "VARCHAR",
          "runtime_actual_seq_lengths_values": "VARCHAR", "runtime_actual_seq_lengths_kv_shape": "VARCHAR",
          "runtime_actual_seq_lengths_kv_values": "VARCHAR", "runtime_block_table_shape": "VARCHAR",
          "runtime_block_table_valid_blocks": "VARCHAR", "runtime_topk": "BIGINT", "runtime_cache_layout": "VARCHAR",
          "runtime_sparse_block_size": "BIGINT", "runtime_sparse_indices_pattern": "VARCHAR",
          "runtime_sparse_indices_valid_count": "BIGINT", "extra_json": "VARCHAR"}]'), recursive := true)))
