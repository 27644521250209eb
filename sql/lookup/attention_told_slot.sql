-- Measurements that may answer attention targets, with what only some calls tell.
-- reads: near
select n.*, m.runtime_topk, m.runtime_block_size, m.runtime_phase, m.runtime_quant_mode, m.runtime_num_heads,
    m.runtime_sparse_block_size, m.runtime_sparse_indices_valid_count, m.runtime_cache_layout, m.runtime_kv_cache_mode,
    m.runtime_sparse_indices_pattern, m.runtime_actual_seq_lengths_values, m.runtime_actual_seq_lengths_kv_values,
    m.runtime_block_table_valid_blocks
from near as n join measurement as m on m.row_id = n.row_id and m.file_id = n.file_id
