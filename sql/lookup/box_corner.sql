-- Measured points between the ends of the boxes around one target, among them all their corners.
-- param: id integer [number of the target]
-- param: first_id integer [first regime of the target]
-- param: last_id integer [last regime of the target]
-- param: low_1 double [least end on axis 1]
-- param: high_1 double [greatest end on axis 1]
-- param: low_2 double [least end on axis 2]
-- param: high_2 double [greatest end on axis 2]
-- param: low_3 double [least end on axis 3]
-- param: high_3 double [greatest end on axis 3]
-- param: low_4 double [least end on axis 4]
-- param: high_4 double [greatest end on axis 4]
-- param: aggregation varchar [mean, median, min or first]
select regime_id, latency_column, axis_1, axis_2, axis_3, axis_4, first_line_number, measurement_count, is_conflicting,
    latency_max_us / latency_min_us as spread,
    case $aggregation when 'mean' then latency_mean_us when 'median' then latency_median_us
        when 'min' then latency_min_us else latency_first_us end as latency_us
from point
where regime_id between $first_id and $last_id and axis_1 between $low_1 and $high_1 and axis_2 between $low_2 and $high_2
    and axis_3 between $low_3 and $high_3 and axis_4 between $low_4 and $high_4
    and is_kept($id::integer, axis_1, axis_2, axis_3, axis_4)
