-- The nearest measured values at or below and at or above each placed target along every single axis that may vary.
-- reads: target_place
-- source: sql/lookup/neighbours.sql for one axis; a target beyond the ends of its line has no row, and of several
-- source: latency columns of one rank the last one on the line counts
with axes as (
    select 1 as axis union all select 2 as axis union all select 3 as axis union all select 4 as axis
), target_lines as (
    select t.place_id, t.regime_id, a.axis,
        case a.axis when 1 then t.axis_1 when 2 then t.axis_2 when 3 then t.axis_3 else t.axis_4 end as x,
        case when a.axis = 1 then 0 else t.axis_1 end as k_1, case when a.axis = 2 then 0 else t.axis_2 end as k_2,
        case when a.axis = 3 then 0 else t.axis_3 end as k_3, case when a.axis = 4 then 0 else t.axis_4 end as k_4
    from target_place as t cross join axes as a
    where (a.axis = 1 and t.varies_1) or (a.axis = 2 and t.varies_2) or (a.axis = 3 and t.varies_3)
        or (a.axis = 4 and t.varies_4)
), needed_lines as (
    select regime_id, axis, k_1, k_2, k_3, k_4, 4 * min(place_id) + axis as line_id
    from target_lines group by regime_id, axis, k_1, k_2, k_3, k_4
), needed_regimes as (
    select distinct regime_id from target_place
), regime_columns as (
    select p.regime_id, p.latency_rank, p.latency_column,
        row_number() over (partition by p.regime_id order by p.latency_rank, p.latency_column) as number
    from point as p join needed_regimes as r on r.regime_id = p.regime_id
    group by p.regime_id, p.latency_rank, p.latency_column
), columns_of_lines as (
    select l.regime_id, l.axis, l.k_1, l.k_2, l.k_3, l.k_4, c.latency_rank, c.latency_column,
        100 * l.line_id + c.number as line_id
    from needed_lines as l join regime_columns as c on c.regime_id = l.regime_id
), point_lines as (
    select p.regime_id, a.axis, p.latency_rank, p.latency_column, p.measurement_count,
        case a.axis when 1 then p.axis_1 when 2 then p.axis_2 when 3 then p.axis_3 else p.axis_4 end as x,
        case when a.axis = 1 then 0 else p.axis_1 end as k_1, case when a.axis = 2 then 0 else p.axis_2 end as k_2,
        case when a.axis = 3 then 0 else p.axis_3 end as k_3, case when a.axis = 4 then 0 else p.axis_4 end as k_4
    from point as p join needed_regimes as r on r.regime_id = p.regime_id cross join axes as a
), marks as (
    select c.line_id, p.x, p.x as measured_x, p.measurement_count, cast(null as bigint) as place_id, 0 as axis,
        0 as latency_rank, cast(null as varchar) as latency_column
    from point_lines as p join columns_of_lines as c on c.regime_id = p.regime_id and c.axis = p.axis and c.k_1 = p.k_1
        and c.k_2 = p.k_2 and c.k_3 = p.k_3 and c.k_4 = p.k_4 and c.latency_rank = p.latency_rank
        and c.latency_column = p.latency_column
    union all
    select c.line_id, t.x, null, null, t.place_id, t.axis, c.latency_rank, c.latency_column
    from target_lines as t join columns_of_lines as c on c.regime_id = t.regime_id and c.axis = t.axis and c.k_1 = t.k_1
        and c.k_2 = t.k_2 and c.k_3 = t.k_3 and c.k_4 = t.k_4
), neighbours as (
    select place_id, axis, latency_rank, latency_column,
        max(measured_x) over (partition by line_id order by x
            range between unbounded preceding and current row) as lower_x,
        min(measured_x) over (partition by line_id order by x
            range between current row and unbounded following) as upper_x,
        count(measured_x) over (partition by line_id) as point_count,
        sum(measurement_count) over (partition by line_id) as row_count
    from marks
), columns_on_lines as (
    select t.place_id, t.regime_id, t.axis, t.k_1, t.k_2, t.k_3, t.k_4, t.x, n.latency_rank, n.latency_column, n.point_count,
        n.row_count, n.lower_x, n.upper_x,
        row_number() over (partition by t.place_id, t.axis, n.latency_rank order by n.latency_column desc) as place
    from neighbours as n join target_lines as t on t.place_id = n.place_id and t.axis = n.axis
    where n.place_id is not null and n.point_count > 0
)
select place_id, regime_id, axis, k_1, k_2, k_3, k_4, latency_rank, latency_column, point_count,
    cast(row_count as bigint) as row_count, x, lower_x, upper_x
from columns_on_lines where place = 1 and lower_x is not null and upper_x is not null
