-- Measured values next to one target on each axis of a group, in regimes whose values are stored.
-- param: first_id integer [first regime of the target]
-- param: last_id integer [last regime of the target, which has all those between]
-- param: varying tinyint [axes of the group: 1, 2, 4 and 8 for the first to the fourth, added up]
-- param: k_1 double [target on axis 1, -1 where it varies]
-- param: k_2 double [target on axis 2, likewise]
-- param: k_3 double [target on axis 3, likewise]
-- param: k_4 double [target on axis 4, likewise]
-- param: target double[] [target on all axes]
select regime_id, latency_column, latency_rank, axis, max(value) filter (value <= $target[axis]) as lower,
    min(value) filter (value >= $target[axis]) as upper, sum(point_count) as point_count, sum(measurement_count) as row_count
from axis_level
where regime_id between $first_id and $last_id and varying = $varying
    and k_1 = $k_1 and k_2 = $k_2 and k_3 = $k_3 and k_4 = $k_4
group by all
