-- Measured points around one target by the side of it that they lie on along each axis: how many, and their extent.
-- param: id integer [number of the target]
-- param: first_id integer [first regime of the target]
-- param: last_id integer [last regime of the target, which has all those between]
-- param: t_1 double [target on axis 1]
-- param: t_2 double [target on axis 2]
-- param: t_3 double [target on axis 3]
-- param: t_4 double [target on axis 4]
select regime_id, latency_column, latency_rank, sign(axis_1 - $t_1) as s_1, sign(axis_2 - $t_2) as s_2, sign(axis_3 - $t_3) as s_3,
    sign(axis_4 - $t_4) as s_4, count(*) as point_count, sum(measurement_count) as row_count,
    min(axis_1) as min_1, max(axis_1) as max_1, min(axis_2) as min_2, max(axis_2) as max_2,
    min(axis_3) as min_3, max(axis_3) as max_3, min(axis_4) as min_4, max(axis_4) as max_4
from point
where regime_id between $first_id and $last_id and is_kept($id::integer, axis_1, axis_2, axis_3, axis_4)
group by all
