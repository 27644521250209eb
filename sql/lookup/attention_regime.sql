-- Axes of each attention target and the measured regimes whose meaning it shares, whatever their query tokens.
-- reads: placed
-- param: path varchar [path name]
-- source: profiling RFC phase 1, section 5.6; a blank context agrees with all, a blank top-k or block size with none told
-- source: rows that do not tell their batch answer a target that does only where no others do, and the other way round
with pairs as (
    select p.item_id, p.reason, p.axis_1, p.axis_2, p.axis_3, p.axis_4, p.regime_key as asked_key,
        r.regime_key as measured_key, regime_id, r.is_nd, measurement_count, r.input_formats, r.output_dtypes, latency_ranks,
        (p.regime_key ->> '$.q_tokens')::bigint as asked_tokens,
        (r.regime_key ->> '$.q_tokens')::bigint as measured_tokens,
        p.regime_key ->> '$.has_batch' = 'true' as is_batch_asked, r.regime_key ->> '$.has_batch' = 'true' as has_batch,
        p.regime_key -> '$.context' as asked, r.regime_key -> '$.context' as had
    from placed as p left join regime as r
        on r.path = $path and r.file_id = p.file_id and r.input_limit = p.input_limit
            and r.regime_key ->> '$.meaning' = p.regime_key ->> '$.meaning'
            and (p.output_dtypes in ('', r.output_dtypes) or r.output_dtypes = '')
), judged as (
    select * exclude (asked, had), coalesce(had ->> 'phase' = asked ->> 'phase', true)
        and coalesce(had ->> 'kv_cache_mode' = asked ->> 'kv_cache_mode', true)
        and coalesce(had ->> 'cache_layout' = asked ->> 'cache_layout', true)
        and attention_agrees(asked ->> 'block_size', had ->> 'block_size')
        and attention_agrees(asked ->> 'topk', had ->> 'topk') as is_context_shared
    from pairs
)
select * exclude (is_context_shared) replace (if(has_batch, axis_2, 0.0) as axis_2),
    attention_padding(asked_tokens, measured_tokens) as padding_ratio,
    is_context_shared and has_batch = if(is_batch_asked, bool_or(has_batch) filter (is_context_shared) over tokens,
        bool_and(has_batch) filter (is_context_shared) over tokens) as is_agreed,
    case when has_batch and is_batch_asked then null when has_batch then 'batch_axis_constant'
         when is_batch_asked then 'batch_unknown_in_csv' else 'batch_unknown' end as batch_axis_status
from judged window tokens as (partition by item_id, measured_tokens)
