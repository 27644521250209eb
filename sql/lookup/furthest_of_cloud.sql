-- The point of one cloud that lies furthest in a direction.
-- source: sql/lookup/cloud_support.sql, which answers many questions
-- param: id integer [number of the target]
-- param: regime_id integer [regime of the cloud]
-- param: latency_column varchar [its latency column]
-- param: is_curved boolean [whether axis 1 counts by its root]
-- param: low_1 double [least value on axis 1]
-- param: high_1 double [greatest value]
-- param: low_2 double [least value on axis 2]
-- param: high_2 double [greatest value]
-- param: low_3 double [least value on axis 3]
-- param: high_3 double [greatest value]
-- param: low_4 double [least value on axis 4]
-- param: high_4 double [greatest value]
-- param: c_1 double [direction on axis 1, 0 where it is fixed]
-- param: c_2 double [direction on axis 2, 0 where it is fixed]
-- param: c_3 double [direction on axis 3, 0 where it is fixed]
-- param: c_4 double [direction on axis 4, 0 where it is fixed]
-- param: aggregation varchar [mean, median, min or first]
-- order: the furthest, of several the one with the least coordinates
select axis_1, axis_2, axis_3, axis_4, first_line_number, measurement_count, is_conflicting,
    latency_max_us / latency_min_us as spread,
    case $aggregation when 'mean' then latency_mean_us when 'median' then latency_median_us
        when 'min' then latency_min_us else latency_first_us end as latency_us
from point
where regime_id = $regime_id and latency_column = $latency_column and axis_1 between $low_1 and $high_1
    and axis_2 between $low_2 and $high_2 and axis_3 between $low_3 and $high_3 and axis_4 between $low_4 and $high_4
    and is_kept($id::integer, axis_1, axis_2, axis_3, axis_4)
order by -($c_1 * if($is_curved, sqrt(axis_1), axis_1) + $c_2 * axis_2 + $c_3 * axis_3 + $c_4 * axis_4),
    axis_1, axis_2, axis_3, axis_4
limit 1
