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
), clouds as not materialized (
    select regime_id, group_id, if(v_1, -1, axis_1) as k_1, if(v_2, -1, axis_2) as k_2, if(v_3, -1, axis_3) as k_3,
        if(v_4, -1, axis_4) as k_4, p.* exclude (regime_id)
    from point as p cross join groups where regime_id in (select regime_id from targets)
), boxes as (
    select w.id, w.regime_id, w.group_id, c.latency_column, c.latency_rank, w.k_1, w.k_2, w.k_3, w.k_4,
        count(*) as point_count, sum(c.measurement_count) as row_count,
        max(axis_1) filter (axis_1 <= t_1) as lo_1, min(axis_1) filter (axis_1 >= t_1) as hi_1,
        max(axis_2) filter (axis_2 <= t_2) as lo_2, min(axis_2) filter (axis_2 >= t_2) as hi_2,
        max(axis_3) filter (axis_3 <= t_3) as lo_3, min(axis_3) filter (axis_3 >= t_3) as hi_3,
        max(axis_4) filter (axis_4 <= t_4) as lo_4, min(axis_4) filter (axis_4 >= t_4) as hi_4
    from wanted as w join clouds as c using (regime_id, group_id, k_1, k_2, k_3, k_4)
    where is_kept(w.id, axis_1, axis_2, axis_3, axis_4)
    group by w.id, w.regime_id, w.group_id, c.latency_column, c.latency_rank, w.k_1, w.k_2, w.k_3, w.k_4
), corners as (
    select b.id, b.regime_id, b.group_id, b.latency_column, c.axis_1, c.axis_2, c.axis_3, c.axis_4, c.first_line_number,
        c.measurement_count, c.is_conflicting, c.latency_max_us / c.latency_min_us as spread,
        case $aggregation when 'mean' then c.latency_mean_us when 'median' then c.latency_median_us
            when 'min' then c.latency_min_us else c.latency_first_us end as latency_us
    from boxes as b join clouds as c
        on c.regime_id = b.regime_id and c.group_id = b.group_id and c.latency_column = b.latency_column
            and c.k_1 = b.k_1 and c.k_2 = b.k_2 and c.k_3 = b.k_3 and c.k_4 = b.k_4
            and c.axis_1 in (lo_1, hi_1) and c.axis_2 in (lo_2, hi_2) and c.axis_3 in (lo_3, hi_3) and c.axis_4 in (lo_4, hi_4)
            and is_kept(b.id, c.axis_1, c.axis_2, c.axis_3, c.axis_4)
)
select b.* exclude (k_1, k_2, k_3, k_4), c.* exclude (id, regime_id, group_id, latency_column)
from boxes as b left join corners as c using (id, regime_id, group_id, latency_column)
order by b.id, b.regime_id, b.latency_rank, b.latency_column, b.group_id, c.axis_1, c.axis_2, c.axis_3, c.axis_4
