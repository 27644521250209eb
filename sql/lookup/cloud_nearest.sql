-- The points of each cloud within a radius of a centre, nearest first.
-- param: questions varchar [JSON list: id, cloud (regime, column, fixed axes), is axis 1 by its root, centre, radius, limit]
-- param: aggregation varchar [mean, median, min or first]
with questions as (
    select unnest(from_json($questions,
        '[{"id": "INTEGER", "regime_id": "INTEGER", "latency_column": "VARCHAR", "is_curved": "BOOLEAN",
        "v_1": "BOOLEAN", "v_2": "BOOLEAN", "v_3": "BOOLEAN", "v_4": "BOOLEAN", "t_1": "DOUBLE", "t_2": "DOUBLE",
        "t_3": "DOUBLE", "t_4": "DOUBLE", "c_1": "DOUBLE", "c_2": "DOUBLE", "c_3": "DOUBLE", "c_4": "DOUBLE",
        "radius": "DOUBLE", "limit": "INTEGER"}]'),
        recursive := true)
)
select q.id, p.axis_1, p.axis_2, p.axis_3, p.axis_4, p.first_line_number, p.measurement_count, p.is_conflicting,
    p.latency_max_us / p.latency_min_us as spread,
    case $aggregation when 'mean' then p.latency_mean_us when 'median' then p.latency_median_us
        when 'min' then p.latency_min_us else p.latency_first_us end as latency_us,
    sqrt(if(v_1, (if(is_curved, sqrt(axis_1), axis_1) - c_1) ** 2, 0) + if(v_2, (axis_2 - c_2) ** 2, 0)
        + if(v_3, (axis_3 - c_3) ** 2, 0) + if(v_4, (axis_4 - c_4) ** 2, 0)) as distance
from questions as q join point as p on p.regime_id = q.regime_id and p.latency_column = q.latency_column
where (v_1 or axis_1 = t_1) and (v_2 or axis_2 = t_2) and (v_3 or axis_3 = t_3) and (v_4 or axis_4 = t_4)
    and is_kept(q.id, axis_1, axis_2, axis_3, axis_4)
    and distance <= q.radius
qualify row_number() over (partition by q.id order by distance, axis_1, axis_2, axis_3, axis_4) <= q."limit"
order by q.id, axis_1, axis_2, axis_3, axis_4
