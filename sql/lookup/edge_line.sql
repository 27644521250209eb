-- What was measured next to targets that lie beyond one end of a line, with the range of each axis in the regime.
-- param: targets varchar [JSON list: id, regime_id, axes]
-- param: aggregation varchar [mean, median, min or first]
-- order: target, latency column, axis, distance from the target
with targets as (
    select unnest(from_json($targets, '[{"id": "INTEGER", "regime_id": "INTEGER", "t_1": "DOUBLE", "t_2": "DOUBLE",
        "t_3": "DOUBLE", "t_4": "DOUBLE"}]'), recursive := true)
), ranges as (
    select id, regime_id, latency_column, latency_rank, min(axis_1) as lo_1, max(axis_1) as hi_1, min(axis_2) as lo_2,
        max(axis_2) as hi_2, min(axis_3) as lo_3, max(axis_3) as hi_3, min(axis_4) as lo_4, max(axis_4) as hi_4
    from targets join point using (regime_id) where is_kept(id, axis_1, axis_2, axis_3, axis_4)
    group by id, regime_id, latency_column, latency_rank
), axes as (
    select unnest([1, 2, 3, 4]) as axis
), wanted as (
    select id, regime_id, axis, [t_1, t_2, t_3, t_4][axis] as asked, if(axis = 1, -1, t_1) as k_1, if(axis = 2, -1, t_2) as k_2,
        if(axis = 3, -1, t_3) as k_3, if(axis = 4, -1, t_4) as k_4
    from targets cross join axes
), lines as (
    select axis, [axis_1, axis_2, axis_3, axis_4][axis] as x, if(axis = 1, -1, axis_1) as k_1, if(axis = 2, -1, axis_2) as k_2,
        if(axis = 3, -1, axis_3) as k_3, if(axis = 4, -1, axis_4) as k_4, p.*
    from point as p cross join axes where regime_id in (select regime_id from targets)
), near as (
    select w.id, w.asked, l.*, max(x) over line as top, min(x) over line as bottom,
        row_number() over (partition by id, regime_id, latency_column, axis order by x) as place
    from wanted as w join lines as l using (regime_id, axis, k_1, k_2, k_3, k_4)
    where is_kept(id, axis_1, axis_2, axis_3, axis_4)
    window line as (partition by id, regime_id, latency_column, axis)
    qualify (top < asked and x >= top / 2) or (bottom > asked and place <= 2)
)
select r.*, n.axis, n.axis_1, n.axis_2, n.axis_3, n.axis_4, n.first_line_number, n.measurement_count, n.is_conflicting,
    n.latency_max_us / n.latency_min_us as spread,
    case $aggregation when 'mean' then n.latency_mean_us when 'median' then n.latency_median_us
        when 'min' then n.latency_min_us else n.latency_first_us end as latency_us
from ranges as r left join near as n using (id, regime_id, latency_column)
order by r.id, r.regime_id, r.latency_rank, r.latency_column, n.axis, abs(n.x - n.asked)
