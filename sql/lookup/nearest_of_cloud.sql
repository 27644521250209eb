-- The points of one cloud within a radius of a centre, the nearest ones.
-- source: sql/lookup/cloud_nearest.sql, which answers many questions
-- param: id integer [number of the target]
-- param: regime_id integer [regime of the cloud]
-- param: latency_column varchar [its latency column]
-- param: is_curved boolean [whether axis 1 counts by its root]
-- param: low_1 double [least value on axis 1 of the sphere]
-- param: high_1 double [greatest value]
-- param: low_2 double [least value on axis 2 of the sphere]
-- param: high_2 double [greatest value]
-- param: low_3 double [least value on axis 3 of the sphere]
-- param: high_3 double [greatest value]
-- param: low_4 double [least value on axis 4 of the sphere]
-- param: high_4 double [greatest value]
-- param: v_1 boolean [whether axis 1 varies]
-- param: c_1 double [centre on axis 1]
-- param: v_2 boolean [whether axis 2 varies]
-- param: c_2 double [centre on axis 2]
-- param: v_3 boolean [whether axis 3 varies]
-- param: c_3 double [centre on axis 3]
-- param: v_4 boolean [whether axis 4 varies]
-- param: c_4 double [centre on axis 4]
-- param: radius double [greatest distance]
-- param: limit integer [at most so many points]
-- param: aggregation varchar [mean, median, min or first]
-- order: distance, coordinates
select axis_1, axis_2, axis_3, axis_4, first_line_number, measurement_count, is_conflicting,
    latency_max_us / latency_min_us as spread,
    case $aggregation when 'mean' then latency_mean_us when 'median' then latency_median_us
        when 'min' then latency_min_us else latency_first_us end as latency_us,
    sqrt(if($v_1, (if($is_curved, sqrt(axis_1), axis_1) - $c_1) ** 2, 0) + if($v_2, (axis_2 - $c_2) ** 2, 0)
        + if($v_3, (axis_3 - $c_3) ** 2, 0) + if($v_4, (axis_4 - $c_4) ** 2, 0)) as distance
from point
where regime_id = $regime_id and latency_column = $latency_column and axis_1 between $low_1 and $high_1
    and axis_2 between $low_2 and $high_2 and axis_3 between $low_3 and $high_3 and axis_4 between $low_4 and $high_4
    and is_kept($id::integer, axis_1, axis_2, axis_3, axis_4) and distance <= $radius
order by distance, axis_1, axis_2, axis_3, axis_4
limit $limit
