-- The box around each target in every axis group: nearest lower and upper measured value per axis, and its corners.
-- param: targets varchar [JSON list: id, regime_id, axes]
-- param: groups varchar [JSON list: group_id and which axes vary]
-- param: aggregation varchar [mean, median, min or first]
with targets as (
    select unnest(from_json($targets, '[{"id": "INTEGER", "regime_id": "INTEGER", "t_1": "DOUBLE", "t_2": "DOUBLE",
        "t_3": "DOUBLE", "t_4": "DOUBLE"}]'), recursive := true)
), groups as (
    select unnest(from_json($groups, '[{"group_id": "INTEGER", "v_1": "BOOLEAN", "v_2": "BOOLEAN", "v_3": "BOOLEAN",
        "v_4": "BOOLEAN"}]'), recursive := true)
), wanted as (
    select *, if(v_1, -1, t_1) as k_1, if(v_2, -1, t_2) as k_2, if(v_3, -1, t_3) as k_3, if(v_4, -1, t_4) as k_4
    from targets cross join groups
), levelled as (
    select regime_id from levelled_regime where regime_id in (select regime_id from targets)
), clouds as not materialized (
    select regime_id, group_id, if(v_1, -1, axis_1) as k_1, if(v_2, -1, axis_2) as k_2, if(v_3, -1, axis_3) as k_3,
        if(v_4, -1, axis_4) as k_4, latency_column, latency_rank, axis_1, axis_2, axis_3, axis_4, 1 as point_count, measurement_count
    from point cross join groups where regime_id in (select regime_id from targets anti join levelled using (regime_id))
    union all
    select regime_id, group_id, k_1, k_2, k_3, k_4, latency_column, latency_rank, if(axis = 1, value, if(v_1, null, k_1)),
        if(axis = 2, value, if(v_2, null, k_2)), if(axis = 3, value, if(v_3, null, k_3)), if(axis = 4, value, if(v_4, null, k_4)),
        point_count, measurement_count
    from axis_level join groups on varying = v_1::int + 2 * v_2::int + 4 * v_3::int + 8 * v_4::int
    where regime_id in (from levelled)
), boxes as (
    select w.id, w.regime_id, w.group_id, c.latency_column, c.latency_rank,
        sum(point_count)::bigint as point_count, sum(c.measurement_count) as row_count,
        max(axis_1) filter (axis_1 <= t_1) as lo_1, min(axis_1) filter (axis_1 >= t_1) as hi_1,
        max(axis_2) filter (axis_2 <= t_2) as lo_2, min(axis_2) filter (axis_2 >= t_2) as hi_2,
        max(axis_3) filter (axis_3 <= t_3) as lo_3, min(axis_3) filter (axis_3 >= t_3) as hi_3,
        max(axis_4) filter (axis_4 <= t_4) as lo_4, min(axis_4) filter (axis_4 >= t_4) as hi_4
    from wanted as w join clouds as c using (regime_id, group_id, k_1, k_2, k_3, k_4)
    where is_kept(w.id, axis_1, axis_2, axis_3, axis_4)
    group by w.id, w.regime_id, w.group_id, c.latency_column, c.latency_rank
), ends as (
    select id, regime_id, group_id, latency_column, if(number & 1 > 0, hi_1, lo_1) as axis_1, if(number & 2 > 0, hi_2, lo_2) as axis_2,
        if(number & 4 > 0, hi_3, lo_3) as axis_3, if(number & 8 > 0, hi_4, lo_4) as axis_4
    from boxes cross join range(16) as corner(number)
    where (number & 1 = 0 or lo_1 <> hi_1) and (number & 2 = 0 or lo_2 <> hi_2)
        and (number & 4 = 0 or lo_3 <> hi_3) and (number & 8 = 0 or lo_4 <> hi_4)
), corners as (
    select e.*, p.first_line_number, p.measurement_count, p.is_conflicting, p.latency_max_us / p.latency_min_us as spread,
        case $aggregation when 'mean' then p.latency_mean_us when 'median' then p.latency_median_us
            when 'min' then p.latency_min_us else p.latency_first_us end as latency_us
    from ends as e join point as p using (regime_id, latency_column, axis_1, axis_2, axis_3, axis_4)
    where is_kept(e.id, p.axis_1, p.axis_2, p.axis_3, p.axis_4)
)
select b.*, c.* exclude (id, regime_id, group_id, latency_column)
from boxes as b left join corners as c using (id, regime_id, group_id, latency_column)
order by b.id, b.regime_id, b.latency_rank, b.latency_column, b.group_id, c.axis_1, c.axis_2, c.axis_3, c.axis_4
