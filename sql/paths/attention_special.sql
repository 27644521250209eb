-- Regime and axes seq, batch, heads, head dim of attention; query tokens and all that changes the kernel must be equal.
-- reads: cells
-- source: profiling RFC phase 1, section 5.6; lengths are axes, so lists of lengths are not in the regime
-- source: rows that do not tell their batch have has_batch = false and axis_2 = 0, and are never mixed with rows that do
-- source: context is what a target may leave open; rows of two contexts are never mixed
with slots as (
    select *, if(operand_gaps[1] = 0, operand_shapes[1], null) as shape,
        if(operand_gaps[2] = 0, operand_shapes[2], null) as key_shape,
        nullif(concat_ws(',', 
            if(list_has_any(column_names, ['Runtime avg_seq_len', 'avg_seq_len']), null, 'Runtime avg_seq_len'),
            if(list_contains(column_names, 'Runtime input_layout'), null, 'Runtime input_layout'),
            if(list_contains(column_names, 'Runtime num_key_value_heads'), null, 'Runtime num_key_value_heads'),
            if(list_contains(column_names, 'Runtime sparse_mode'), null, 'Runtime sparse_mode')), '') as absent_columns
    from cells
), queries as (
    select *, attention_query(shape, key_shape[-1]) as query,
        attention_seq(runtime_avg_seq_len, avg_seq_len, column_names) as seq,
        attention_layout(attention_word(runtime_input_layout), len(shape), runtime_sparse_mode, is_measured) as layout,
        integer_list(runtime_actual_seq_lengths_shape) as length_count,
        integer_list(runtime_actual_seq_lengths_values) as lengths
    from slots
), fields as (
    select *, attention_batch(runtime_batch_size, shape, query[1], length_count, lengths) as batch,
        attention_sparse_mode(runtime_sparse_mode, layout, is_measured) as sparse_mode,
        attention_kv_heads(runtime_num_key_value_heads, key_shape, layout, is_measured) as kv_heads
    from queries
)
select item_id, file_id, input_limit,
    to_json(struct_pack(meaning := struct_pack(dtype := operand_dtypes[1], sparse_mode := sparse_mode,
            num_kv_heads := kv_heads, input_layout := layout,
            quant_mode := attention_told(attention_word(runtime_quant_mode), 'Runtime quant_mode', column_names)),
        q_tokens := query[1], has_batch := batch is not null, context := struct_pack(
            phase := attention_told(attention_word(runtime_phase), 'Runtime phase', column_names),
            kv_cache_mode := attention_told(
                attention_word(runtime_kv_cache_mode), 'Runtime kv_cache_mode', column_names),
            cache_layout := attention_told(attention_word(runtime_cache_layout), 'Runtime cache_layout', column_names),
            block_size := attention_told(runtime_block_size, 'Runtime block_size', column_names),
            topk := attention_told(runtime_topk, 'Runtime topk', column_names))))::varchar as regime_key,
    coalesce(array_to_string(operand_formats[1:3], ';'), '') as input_formats,
    coalesce(output_dtypes[1], '') as output_dtypes,
    coalesce(list_bool_and(list_transform(operand_formats[1:3], lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    seq::double as axis_1, coalesce(batch, 0)::double as axis_2, query[2]::double as axis_3, query[3]::double as axis_4,
    case when shape is null then 'input_shapes_missing'
         when coalesce(operand_dtypes[1], '') in ('', 'DT_UNDEFINED') then 'input_dtypes_missing'
         when query is null then 'q_shape_normalize_failed'
         when absent_columns is not null then 'semantic_context_missing:csv:' || absent_columns
         when seq is null or sparse_mode is null or kv_heads is null or layout is null
             then if(is_measured, 'semantic_context_missing:csv:', 'semantic_context_missing:target:') || concat_ws(',',
                 if(seq is null, 'avg_seq_len', null), if(layout is null, 'input_layout', null),
                 if(kv_heads is null, 'num_kv_heads', null), if(sparse_mode is null, 'sparse_mode', null)) end as reason
from fields
