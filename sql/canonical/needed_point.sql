-- All points of the regimes of placed targets, for cells on two and three axes.
-- param: aggregation varchar [mean, median, min or first]
-- reads: target_place
with needed_regimes as (
    select distinct regime_id from target_place
)
select p.regime_id, p.latency_column, p.latency_rank, p.axis_1, p.axis_2, p.axis_3, p.axis_4, p.first_line_number,
    p.measurement_count, p.is_conflicting, case $aggregation when 'mean' then p.latency_mean_us
        when 'median' then p.latency_median_us when 'min' then p.latency_min_us else p.latency_first_us end as latency_us
from point as p join needed_regimes as r on r.regime_id = p.regime_id
