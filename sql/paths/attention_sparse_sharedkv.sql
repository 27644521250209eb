-- Regime and token axis of sparse attention over a shared KV cache: query tokens only, all recorded meaning must be equal.
-- reads: cells
-- source: profiling RFC phase 2, section 4.3.2; cache blocks are capacity, not the length that is read, so they are regime
-- source: both sides must tell topk, phase, request lengths and how the sparse indices were made, else the cell has no place
-- source: a batch grows in two ways, as in paths/attention_lightning_indexer.sql, and a cell is placed once for each
with known_cells as (
    select *, operand_shapes[1] as query, operand_shapes[2] as cache,
        attention_context(cells) || list_transform([
            {'name': 'sparse_block_size', 'field': runtime_sparse_block_size::varchar},
            {'name': 'sparse_indices_pattern', 'field': runtime_sparse_indices_pattern},
            {'name': 'sparse_indices_valid_count', 'field': runtime_sparse_indices_valid_count::varchar}],
            lambda f: {'name': f.name, 'field': if(list_contains(column_names, 'Runtime ' || f.name), trim(f.field), null)})
            as context,
        list_filter(operand_shapes, lambda shape, place: place > 2 and len(shape) > 2
            and list_contains(['INT32', 'INT64'], operand_dtypes[place]))[1][-1] as index_count,
        integer_list(runtime_actual_seq_lengths_values) as query_offsets,
        integer_list(runtime_actual_seq_lengths_kv_values) as kv_lengths,
        case len(operand_shapes[1]) when 3 then operand_shapes[1][1] when 4 then operand_shapes[1][1] * operand_shapes[1][2]
            end as tokens,
        if(is_measured, operand_formats[1:2], ['ND', 'ND']) as formats
    from cells
), judged_cells as (
    select *, request_pairs(query_offsets, kv_lengths) as pairs, coalesce(runtime_topk, index_count) as topk,
        case when len(operand_shapes) = 0 then 'input_shapes_missing'
             when list_has_any([coalesce(operand_dtypes[1], ''), coalesce(operand_dtypes[2], '')], ['', 'DT_UNDEFINED'])
                 then 'input_dtypes_missing'
             when formats is null then 'input_formats_missing'
             when tokens is null or list_min(query) < 1 then 'query_shape_unextractable'
             when coalesce(len(cache), 0) < 2 or operand_gaps[1] + operand_gaps[2] > 0 then 'cache_shape_unextractable'
             when is_measured and list_contains(column_names, 'Runtime metadata_completeness')
                 and coalesce(runtime_metadata_completeness, '') <> 'complete' then 'runtime_metadata_incomplete'
             when index_count <> runtime_topk then 'topk_inconsistent'
             else coalesce(missing_context(context || [{'name': 'topk', 'field': topk::varchar},
                     {'name': 'actual_seq_lengths_values', 'field': query_offsets::varchar},
                     {'name': 'actual_seq_lengths_kv_values', 'field': kv_lengths::varchar}], ['topk'],
                     ['actual_seq_lengths_values', 'actual_seq_lengths_kv_values', 'sparse_mode', 'cache_layout',
                      'kv_cache_mode', 'sparse_block_size', 'sparse_indices_pattern', 'sparse_indices_valid_count'],
                     column_names, is_measured),
                 request_problem(query_offsets, kv_lengths, tokens)) end as reason
    from known_cells
), placed_cells as (
    select *, unnest(if(reason is null, request_groupings(request_runs(pairs)), [null])) as request_grouping,
        coalesce(if(list_contains(column_names, 'Runtime phase'), runtime_phase, null), request_phase(pairs)) as phase
    from judged_cells
)
select item_id, file_id, input_limit,
    to_json(struct_pack(query_dtype := operand_dtypes[1], cache_dtype := operand_dtypes[2], cache_shape := cache,
        input_formats := formats, query_rank := len(query), heads := query[-2], head_dim := query[-1], topk := topk,
        phase := phase, request_grouping := request_grouping, context := map_from_entries(list_transform(
            list_filter(context, lambda f: f.field is not null), lambda f: row(f.name, f.field)))))::varchar as regime_key,
    coalesce(array_to_string(formats, ';'), '') as input_formats, '' as output_dtypes,
    coalesce(list_bool_and(list_transform(formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    tokens::double as axis_1, 0.0::double as axis_2, 0.0::double as axis_3, 0.0::double as axis_4, reason
from placed_cells
