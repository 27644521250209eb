-- Regime and axes of the lightning indexer: query tokens and cache blocks; every other recorded meaning must be equal.
-- reads: cells
-- source: profiling RFC phase 2, section 4.3.1; columns that it does not name count where the CSV has them
-- source: a batch is its requests' [query, KV] lengths, and tokens grow in two ways (macro request_groupings): a cell is
-- source: placed once for each, so that its neighbours are the same requests with longer queries (prefill), or more
-- source: requests of the same kind (decode, where every token is a request); the number of requests alone serves neither
-- source: a row of an API path is placed under it and, if its CSV has one only, without it: the mapping may not tell it
with known_cells as (
    select *, operand_shapes[1] as query, operand_shapes[2] as cache, attention_context(cells) as context,
        coalesce(output_shapes[1][-1], runtime_topk) as topk,
        integer_list(runtime_actual_seq_lengths_values) as query_offsets,
        integer_list(runtime_actual_seq_lengths_kv_values) as kv_lengths,
        case len(operand_shapes[1]) when 3 then operand_shapes[1][1] when 4 then operand_shapes[1][1] * operand_shapes[1][2]
            end as tokens,
        if(is_measured, operand_formats[1:2], ['ND', 'ND']) as formats,
        if(list_contains(column_names, 'API Path'), nullif(trim(extra_json ->> '$."API Path"'), ''), null) as api_path
    from cells
), judged_cells as (
    select *, request_pairs(query_offsets, kv_lengths) as pairs,
        is_measured and api_path is not null and count(distinct coalesce(api_path, '')) over (partition by file_id) = 1
            as is_only_api_path,
        case when len(operand_shapes) = 0 then 'input_shapes_missing'
             when list_has_any([coalesce(operand_dtypes[1], ''), coalesce(operand_dtypes[2], '')], ['', 'DT_UNDEFINED'])
                 then 'input_dtypes_missing'
             when formats is null then 'input_formats_missing'
             when tokens is null or list_min(query) < 1 then 'query_shape_unextractable'
             when coalesce(len(cache), 0) < 2 or operand_gaps[1] + operand_gaps[2] > 0 then 'cache_shape_unextractable'
             when is_measured and list_contains(column_names, 'Runtime metadata_completeness')
                 and coalesce(runtime_metadata_completeness, '') <> 'complete' then 'runtime_metadata_incomplete'
             when topk <> runtime_topk then 'topk_inconsistent'
             else coalesce(missing_context(context || [{'name': 'topk', 'field': topk::varchar},
                     {'name': 'actual_seq_lengths_values', 'field': query_offsets::varchar},
                     {'name': 'actual_seq_lengths_kv_values', 'field': kv_lengths::varchar}], ['topk'],
                     ['actual_seq_lengths_values', 'actual_seq_lengths_kv_values'], column_names, is_measured),
                 request_problem(query_offsets, kv_lengths, tokens)) end as reason
    from known_cells
), placed_cells as (
    select *, unnest(if(reason is null, request_groupings(request_runs(pairs)), [null])) as request_grouping,
        coalesce(if(list_contains(column_names, 'Runtime phase'), runtime_phase, null), request_phase(pairs)) as phase
    from judged_cells
)
select item_id, file_id, input_limit,
    to_json(struct_pack(query_dtype := operand_dtypes[1], cache_dtype := operand_dtypes[2], cache_tail := cache[2:],
        input_formats := formats, query_rank := len(query), heads := query[-2], head_dim := query[-1], topk := topk,
        phase := phase, request_grouping := request_grouping, context := map_from_entries(list_transform(
            list_filter(context, lambda f: f.field is not null), lambda f: row(f.name, f.field))),
        api_path := unnest(if(is_only_api_path, [api_path, null], [api_path]))))::varchar as regime_key,
    coalesce(array_to_string(formats, ';'), '') as input_formats, '' as output_dtypes,
    coalesce(list_bool_and(list_transform(formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    tokens::double as axis_1, cache[1]::double as axis_2, 0.0::double as axis_3, 0.0::double as axis_4, reason
from placed_cells
