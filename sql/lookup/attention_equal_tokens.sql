-- Attention targets with the regimes of as many query tokens, one row per regime, one without when there is none.
-- reads: matches
with judged as (
    select *, coalesce(is_agreed and padding_ratio = 1, false) as is_fit from matches
)
select item_id, axis_1, axis_2, axis_3, axis_4,
    coalesce(reason, if(not is_fit and bool_or(is_agreed and padding_ratio > 1) over (partition by item_id),
        'q_tokens_unmeasured', null)) as reason,
    if(is_fit, measured_key, asked_key) as regime_key, if(is_fit, regime_id, null) as regime_id,
    is_nd, measurement_count, input_formats, output_dtypes, latency_ranks,
    if(batch_axis_status is null, [], [1]) as fixed_axes,
    {'batch_axis_status': batch_axis_status} as notes
from judged
qualify is_fit or (not bool_or(is_fit) over (partition by item_id)
    and row_number() over (partition by item_id order by regime_id) = 1)
order by item_id, regime_id
