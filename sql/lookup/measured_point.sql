-- The points measured at the coordinates of targets, in every latency column.
-- param: targets varchar [JSON list: id, number of the plan, regime_id, axes]
-- param: aggregation varchar [mean, median, min or first]
-- order: target, latency column, regime
with targets as (
    select unnest(from_json($targets, '[{"id": "INTEGER", "target": "INTEGER", "regime_id": "INTEGER", "t_1": "DOUBLE",
        "t_2": "DOUBLE", "t_3": "DOUBLE", "t_4": "DOUBLE"}]'), recursive := true)
)
select id, p.regime_id, latency_column, latency_rank, axis_1, axis_2, axis_3, axis_4, first_line_number, measurement_count,
    is_conflicting, round(latency_min_us, 12) < round(latency_max_us, 12) as has_several,
    case $aggregation when 'mean' then latency_mean_us when 'median' then latency_median_us when 'min' then latency_min_us
        else latency_first_us end as latency_us
from point as p join targets as t
    on p.regime_id = t.regime_id and axis_1 = t_1 and axis_2 = t_2 and axis_3 = t_3 and axis_4 = t_4
where is_kept(t.target, axis_1, axis_2, axis_3, axis_4)
order by id, latency_rank, latency_column, p.regime_id
