-- The points measured at the coordinates of placed targets, in every latency column.
-- param: aggregation varchar [mean, median, min or first]
-- reads: target_place
select t.place_id, p.regime_id, p.latency_column, p.latency_rank, p.axis_1, p.axis_2, p.axis_3, p.axis_4,
    p.first_line_number, p.measurement_count, p.is_conflicting,
    round(p.latency_min_us, 12) < round(p.latency_max_us, 12) as has_several,
    case $aggregation when 'mean' then p.latency_mean_us when 'median' then p.latency_median_us
        when 'min' then p.latency_min_us else p.latency_first_us end as latency_us
from point as p join target_place as t on t.regime_id = p.regime_id and t.axis_1 = p.axis_1 and t.axis_2 = p.axis_2
    and t.axis_3 = p.axis_3 and t.axis_4 = p.axis_4
