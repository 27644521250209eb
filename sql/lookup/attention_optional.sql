-- Accepted measurements whose other metadata does not contradict what the attention target's call tells.
-- reads: accepted, slots
-- param: told varchar [JSON list: item and what its call tells, under the names of the table measurement]
-- source: blank cells and absent columns agree with everything, but a blank top-k or block size agrees with none told
with told as (
    select unnest(from_json($told::varchar, '[{"item": "INTEGER", "runtime_topk": "BIGINT", "runtime_block_size": "BIGINT",
        "runtime_phase": "VARCHAR", "runtime_quant_mode": "VARCHAR", "runtime_num_heads": "BIGINT",
        "runtime_sparse_block_size": "BIGINT", "runtime_sparse_indices_valid_count": "BIGINT",
        "runtime_cache_layout": "VARCHAR", "runtime_kv_cache_mode": "VARCHAR", "runtime_sparse_indices_pattern": "VARCHAR",
        "runtime_actual_seq_lengths_values": "VARCHAR", "runtime_actual_seq_lengths_kv_values": "VARCHAR",
        "runtime_block_table_valid_blocks": "VARCHAR"}]'), recursive := true)
)
select a.* from accepted as a join told as t on item = item_id join slots as m on m.row_id = a.row_id
where attention_agrees(attention_told(t.runtime_topk, 'Runtime topk', column_names), m.runtime_topk)
    and attention_agrees(attention_told(t.runtime_block_size, 'Runtime block_size', column_names), m.runtime_block_size)
    and coalesce(attention_word(m.runtime_phase) = t.runtime_phase, true)
    and coalesce(attention_word(m.runtime_quant_mode) = t.runtime_quant_mode, true)
    and coalesce(m.runtime_num_heads = t.runtime_num_heads, true)
    and coalesce(m.runtime_sparse_block_size = t.runtime_sparse_block_size, true)
    and coalesce(m.runtime_sparse_indices_valid_count = t.runtime_sparse_indices_valid_count, true)
    and coalesce(attention_word(m.runtime_cache_layout) = t.runtime_cache_layout, true)
    and coalesce(attention_word(m.runtime_kv_cache_mode) = t.runtime_kv_cache_mode, true)
    and coalesce(attention_word(m.runtime_sparse_indices_pattern) = t.runtime_sparse_indices_pattern, true)
    and coalesce(integer_list(m.runtime_actual_seq_lengths_values) = integer_list(t.runtime_actual_seq_lengths_values), true)
    and coalesce(integer_list(m.runtime_actual_seq_lengths_kv_values) = integer_list(t.runtime_actual_seq_lengths_kv_values), true)
    and coalesce(integer_list(m.runtime_block_table_valid_blocks) = integer_list(t.runtime_block_table_valid_blocks), true)
