-- Attention targets at the measured sequence length within 16 tokens of their own, which exact lookups accept as theirs.
-- reads: matches
with lengths as (
    select m.item_id, m.regime_id,
        arg_min(p.axis_1, abs(p.axis_1 - m.axis_1) + if(p.axis_1 > m.axis_1, 0.5, 0)) as measured_seq
    from matches as m join point as p on p.regime_id = m.regime_id and abs(p.axis_1 - m.axis_1) between 1 and 16
    where is_agreed and padding_ratio is not null group by m.item_id, m.regime_id
), judged as (
    select *, measured_seq is not null as is_fit from matches left join lengths using (item_id, regime_id)
)
select item_id, if(is_fit, measured_seq, axis_1) as axis_1, axis_2, axis_3, axis_4, reason,
    if(is_fit, measured_key, asked_key) as regime_key, if(is_fit, regime_id, null) as regime_id,
    is_nd, measurement_count, input_formats, output_dtypes, latency_ranks,
    if(batch_axis_status is null, [], [1]) as fixed_axes,
    [padding_ratio, abs(measured_seq - judged.axis_1), measured_tokens] as preference,
    {'batch_axis_status': batch_axis_status, 'asked_seq': judged.axis_1, 'measured_seq': measured_seq,
        'asked_q_tokens': if(padding_ratio > 1, asked_tokens, null),
        'measured_q_tokens': if(padding_ratio > 1, measured_tokens, null),
        'padding_ratio': nullif(padding_ratio, 1)} as notes
from judged
qualify is_fit or (not bool_or(is_fit) over (partition by item_id)
    and row_number() over (partition by item_id order by regime_id) = 1)
order by item_id, regime_id
