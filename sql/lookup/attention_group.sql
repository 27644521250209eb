-- Groups of equal measurements that answer attention targets, a row without one for targets that have none.
-- reads: wanted, candidates
-- param: aggregation varchar [mean, median, min or first]
with groups as (
    select item_id, signature_id, latency_rank, latency_column, padding_ratio, seq_distance, measured_tokens,
        measured_mean, measured_seq,
        min(row_id) as first_row, arg_min(line_number, row_id) as line_number,
        any_value(operand_shapes) as measured_shapes,
        count(*) as measurement_count, min(latency_us) as latency_min_us, max(latency_us) as latency_max_us,
        case any_value(aggregation) when 'mean' then avg(latency_us order by latency_us) when 'median' then median(latency_us)
            when 'min' then min(latency_us) else arg_min(latency_us, row_id) end as latency
    from candidates cross join (select $aggregation::varchar as aggregation)
    group by item_id, signature_id, latency_rank, latency_column, padding_ratio, seq_distance, measured_tokens,
        measured_mean, measured_seq
)
select w.item_id, query is null as is_unreadable, missing_columns, tokens, seq, w.sparse_mode, w.kv_heads, w.layout,
    g.* exclude (item_id, latency, first_row), latency as latency_us, first_row as row_id
from wanted as w left join groups as g using (item_id)
