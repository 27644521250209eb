-- Rows of a fused MLA preprocess kernel that agree with a target in everything but the number of tokens.
-- param: targets varchar [JSON list: id, position, kernel file, operand dtype, runtime fields]
-- source: complete rows only, whose 22 inputs and 5 outputs are those that their own runtime fields imply
with targets as (
    select unnest(from_json($targets, '[{"id": "INTEGER", "position": "INTEGER", "file_id": "INTEGER",
        "dtype": "VARCHAR", "num_tokens": "BIGINT", "hidden_size": "BIGINT", "local_num_heads": "BIGINT",
        "q_lora_rank": "BIGINT", "kv_lora_rank": "BIGINT", "qk_nope_head_dim": "BIGINT", "qk_rope_head_dim": "BIGINT",
        "block_size": "BIGINT", "cache_mode": "VARCHAR", "quant_mode": "VARCHAR", "weight_format": "VARCHAR",
        "enable_inner_out": "VARCHAR", "weight_quantized": "VARCHAR"}]'), recursive := true)
), agreeing as (
    select w.id, w.position, w.num_tokens as wanted, w.dtype, w.weight_format, m.*, m.runtime_num_tokens as t,
        m.runtime_q_lora_rank + m.runtime_kv_lora_rank + m.runtime_qk_rope_head_dim as f,
        m.runtime_local_num_heads * (m.runtime_qk_nope_head_dim + m.runtime_qk_rope_head_dim) as q,
        (m.runtime_num_tokens + m.runtime_block_size - 1) // m.runtime_block_size as c
    from targets as w join measurement as m on m.file_id = w.file_id
    where m.runtime_hidden_size = w.hidden_size and m.runtime_local_num_heads = w.local_num_heads
        and m.runtime_q_lora_rank = w.q_lora_rank and m.runtime_kv_lora_rank = w.kv_lora_rank
        and m.runtime_qk_nope_head_dim = w.qk_nope_head_dim and m.runtime_qk_rope_head_dim = w.qk_rope_head_dim
        and m.runtime_block_size = w.block_size and m.runtime_block_size > 0
        and m.runtime_cache_mode = w.cache_mode and m.runtime_quant_mode = w.quant_mode
        and m.runtime_weight_format = w.weight_format
        and lower(m.runtime_enable_inner_out) = lower(w.enable_inner_out)
        and lower(m.runtime_weight_quantized) = lower(w.weight_quantized)
        and coalesce(m.runtime_metadata_completeness, 'legacy') <> 'legacy'
), layouts as (
    select *, [c, runtime_block_size, 1, runtime_kv_lora_rank] as latent,
        [c, runtime_block_size, 1, runtime_qk_rope_head_dim] as rope
    from agreeing
)
select id, position, 0 as distance, file_id, row_id, line_number, latency_us, latency_rank, latency_column, signature_id,
    wanted, t as num_tokens
from layouts
where input_shapes = [[t, runtime_hidden_size], [1, runtime_hidden_size // 32, f, 32], [f], [runtime_q_lora_rank],
        [runtime_q_lora_rank], [1, runtime_q_lora_rank // 32, q, 32], [q], [runtime_kv_lora_rank],
        [t, runtime_qk_rope_head_dim], [t, runtime_qk_rope_head_dim],
        [runtime_local_num_heads, runtime_qk_nope_head_dim, runtime_kv_lora_rank], latent, rope,
        [t], [1], [1], [f], [1], [1], [q], [1], [1]]
    and output_shapes = [[t, runtime_local_num_heads, runtime_kv_lora_rank], latent,
        [t, runtime_local_num_heads, runtime_qk_rope_head_dim], rope, [t, runtime_q_lora_rank]]
    and input_dtypes[1] = dtype and input_dtypes[2] = 'INT8' and input_dtypes[6] = 'INT8'
    and input_formats[2] = weight_format and input_formats[6] = weight_format
    and output_dtypes = list_transform(range(5), lambda i: dtype)
    and output_formats = list_transform(range(5), lambda i: 'ND')
