-- Measurements that an attention target accepts: tokens equal or in the same blocks, mean length within 16 tokens.
-- reads: wanted, slots
-- source: blocks of 32 tokens are there for the join alone, so that not every pair of target and row is looked at
-- source: profiling RFC phase 1, section 5.6; a blank cell agrees only with a target that does not tell
with operands as (
    select *, operand_dtypes[1] as dtype, if(operand_gaps[1] = 0, operand_shapes[1], null) as shape,
        if(operand_gaps[2] = 0, operand_shapes[2], null) as key_shape
    from slots
), measured as (
    select *, attention_query(shape, key_shape[-1]) as measured_query,
        floor(coalesce(runtime_avg_seq_len, avg_seq_len) / 32) as seq_block
    from operands
), blocks as (
    select *, unnest(list_distinct([floor((seq - 16) / 32), floor((seq + 16) / 32)])) as seq_block from wanted
), pairs as (
    select w.*, row_id, signature_id, latency_us, latency_column, latency_rank, line_number, operand_shapes,
        measured_query[1] as measured_tokens,
        if(has_runtime_mean, runtime_avg_seq_len, m.avg_seq_len) as measured_mean,
        attention_padding(tokens, measured_tokens) as padding_ratio,
        runtime_sparse_mode, runtime_num_key_value_heads, runtime_input_layout, runtime_metadata_completeness
    from blocks as w join measured as m on m.file_id = w.file_id and m.dtype = w.dtype and m.seq_block = w.seq_block
        and measured_query[2] = heads and measured_query[3] = head_dim
)
select *, trunc(measured_mean) as measured_seq,
    abs(trunc(measured_mean) - seq) + if(attention_is_legacy(runtime_metadata_completeness), 0.5, 0) as seq_distance
from pairs
where len(missing_columns) = 0 and padding_ratio is not null and measured_mean >= 0
    and abs(trunc(measured_mean) - seq) <= 16
    and attention_agrees(sparse_mode, runtime_sparse_mode) and attention_agrees(kv_heads, runtime_num_key_value_heads)
    and attention_agrees(layout, attention_word(runtime_input_layout))
