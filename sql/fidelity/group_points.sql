-- The points of some regimes, each with the latency of the best column that it has.
-- param: regime_ids integer[] [regime.regime_id]
-- param: aggregation varchar [mean, median, min or first]
select p.regime_id, p.axis_1, p.axis_2, p.axis_3, p.axis_4,
    case $aggregation when 'median' then p.latency_median_us when 'min' then p.latency_min_us
        when 'first' then p.latency_first_us else p.latency_mean_us end as truth_us,
    p.latency_column, p.measurement_count, p.latency_max_us / nullif(p.latency_min_us, 0) as spread, p.is_conflicting,
    p.first_row_id, p.first_line_number
from point as p
where p.regime_id in (select unnest($regime_ids::integer[]))
qualify row_number() over (
    partition by p.regime_id, p.axis_1, p.axis_2, p.axis_3, p.axis_4 order by p.latency_rank, p.latency_column) = 1
order by p.regime_id, p.axis_1, p.axis_2, p.axis_3, p.axis_4
