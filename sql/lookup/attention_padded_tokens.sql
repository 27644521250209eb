-- Attention targets with the regimes whose query tokens fill the same blocks, the least padded preferred.
-- reads: matches
with judged as (
    select *, coalesce(is_agreed and padding_ratio > 1, false) as is_fit from matches
)
select item_id, axis_1, axis_2, axis_3, axis_4, reason, if(is_fit, measured_key, asked_key) as regime_key,
    if(is_fit, regime_id, null) as regime_id,
    is_nd, measurement_count, input_formats, output_dtypes, latency_ranks,
    if(batch_axis_status is null, [], [1]) as fixed_axes,
    [padding_ratio, measured_tokens] as preference,
    {'batch_axis_status': batch_axis_status, 'asked_q_tokens': asked_tokens, 'measured_q_tokens': measured_tokens,
        'padding_ratio': padding_ratio} as notes
from judged
qualify is_fit or (not bool_or(is_fit) over (partition by item_id)
    and row_number() over (partition by item_id order by regime_id) = 1)
order by item_id, regime_id
