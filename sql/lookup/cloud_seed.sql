-- The point of each cloud that is nearest to the target in every orthant around it.
-- param: questions varchar [JSON list: id, cloud (regime, latency column, fixed axes), whether axis 1 counts by its root]
-- param: aggregation varchar [mean, median, min or first]
with questions as (
    select unnest(from_json($questions,
        '[{"id": "INTEGER", "regime_id": "INTEGER", "latency_column": "VARCHAR", "is_curved": "BOOLEAN",
        "v_1": "BOOLEAN", "v_2": "BOOLEAN", "v_3": "BOOLEAN", "v_4": "BOOLEAN", "t_1": "DOUBLE", "t_2": "DOUBLE",
        "t_3": "DOUBLE", "t_4": "DOUBLE"}]'),
        recursive := true)
), best as (
    select q.id, min(struct_pack(
        rank := if(v_1, (if(is_curved, sqrt(axis_1), axis_1) - if(is_curved, sqrt(t_1), t_1)) ** 2, 0)
        + if(v_2, (axis_2 - t_2) ** 2, 0)
        + if(v_3, (axis_3 - t_3) ** 2, 0) + if(v_4, (axis_4 - t_4) ** 2, 0), axis_1, axis_2, axis_3, axis_4,
        first_line_number := p.first_line_number, measurement_count := p.measurement_count,
        is_conflicting := p.is_conflicting, spread := p.latency_max_us / p.latency_min_us,
        latency_us := case $aggregation when 'mean' then p.latency_mean_us when 'median' then p.latency_median_us
            when 'min' then p.latency_min_us else p.latency_first_us end)) as point
    from questions as q join point as p on p.regime_id = q.regime_id and p.latency_column = q.latency_column
    where (v_1 or axis_1 = t_1) and (v_2 or axis_2 = t_2) and (v_3 or axis_3 = t_3) and (v_4 or axis_4 = t_4)
        and is_kept(q.id, axis_1, axis_2, axis_3, axis_4)
    group by q.id, v_1 and axis_1 >= t_1, v_2 and axis_2 >= t_2, v_3 and axis_3 >= t_3, v_4 and axis_4 >= t_4
)
select id, point.axis_1 as axis_1, point.axis_2 as axis_2, point.axis_3 as axis_3, point.axis_4 as axis_4,
    point.first_line_number as first_line_number, point.measurement_count as measurement_count,
    point.is_conflicting as is_conflicting, point.spread as spread, point.latency_us as latency_us
from best order by id, axis_1, axis_2, axis_3, axis_4
