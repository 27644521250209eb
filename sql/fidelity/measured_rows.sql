-- What the calls of some measurements looked like: operands, results and runtime metadata.
-- param: row_ids bigint[] [measurement.row_id]
select row_id, operand_shapes, operand_dtypes, operand_gaps, output_shapes, output_dtypes,
    coalesce(runtime_avg_seq_len, avg_seq_len) as avg_seq_len, runtime_num_heads as num_heads, runtime_sparse_mode as sparse_mode,
    runtime_num_key_value_heads as num_kv_heads, runtime_input_layout as input_layout, runtime_block_size as block_size,
    runtime_quant_mode as quant_mode, runtime_phase as phase, runtime_kv_cache_mode as kv_cache_mode,
    runtime_cache_layout as cache_layout, runtime_topk as topk
from measurement
where row_id in (select unnest($row_ids::bigint[]))
order by row_id
