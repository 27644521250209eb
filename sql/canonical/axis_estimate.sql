-- What each axis says of a target in the regime and latency rank that answer it, the answering axis as choice 1.
-- param: aggregation varchar [mean, median, min or first]
-- reads: target_place, brackets
-- order: kernel, dtype, latency rank, regime (ND first, most measured), axis
-- source: sqlinterp/lookup/solver.py; linear between the two neighbours (sqlinterp/interpolation.py)
with ends as (
    select b.place_id, b.axis, b.latency_rank, b.latency_column, b.regime_id, e.is_upper, b.point_count, b.row_count, b.x,
        b.lower_x, b.upper_x, case when b.axis <> 1 then b.k_1 when e.is_upper = 1 then b.upper_x else b.lower_x end as c_1,
        case when b.axis <> 2 then b.k_2 when e.is_upper = 1 then b.upper_x else b.lower_x end as c_2,
        case when b.axis <> 3 then b.k_3 when e.is_upper = 1 then b.upper_x else b.lower_x end as c_3,
        case when b.axis <> 4 then b.k_4 when e.is_upper = 1 then b.upper_x else b.lower_x end as c_4
    from brackets as b cross join (select 0 as is_upper union all select 1 as is_upper) as e
), neighbours_of_places as (
    select e.place_id, e.axis, e.latency_rank, e.latency_column, e.regime_id, e.is_upper, e.point_count, e.row_count, e.x,
        e.lower_x, e.upper_x, p.first_line_number, p.measurement_count, case when p.is_conflicting then 1 else 0 end as conflicts,
        case $aggregation when 'mean' then p.latency_mean_us when 'median' then p.latency_median_us
            when 'min' then p.latency_min_us else p.latency_first_us end as latency_us
    from ends as e join point as p on p.regime_id = e.regime_id and p.latency_column = e.latency_column
        and p.axis_1 = e.c_1 and p.axis_2 = e.c_2 and p.axis_3 = e.c_3 and p.axis_4 = e.c_4
), segments as (
    select place_id, axis, latency_rank, latency_column, regime_id, point_count, row_count, x, lower_x, upper_x,
        max(case when is_upper = 0 then latency_us end) as lower_us, max(case when is_upper = 1 then latency_us end) as upper_us,
        max(case when is_upper = 0 then first_line_number end) as lower_line_number,
        max(case when is_upper = 1 then first_line_number end) as upper_line_number,
        max(case when is_upper = 0 then measurement_count end) as lower_count,
        max(case when is_upper = 1 then measurement_count end) as upper_count, max(conflicts) as conflicts
    from neighbours_of_places
    group by place_id, axis, latency_rank, latency_column, regime_id, point_count, row_count, x, lower_x, upper_x
), estimates as (
    select t.target_id, t.position, t.distance, s.regime_id, r.file_id, r.is_nd, r.measurement_count, t.is_consensus,
        s.place_id, s.axis, s.latency_rank, s.latency_column, s.point_count, s.row_count, s.x, s.lower_x, s.upper_x,
        s.lower_us, s.lower_line_number, s.lower_count, s.upper_us, s.upper_line_number, s.upper_count,
        case when s.x = s.lower_x then s.lower_us when s.x = s.upper_x then s.upper_us
            else s.lower_us + (s.x - s.lower_x) / (s.upper_x - s.lower_x) * (s.upper_us - s.lower_us) end as latency_us
    from segments as s join target_place as t on t.place_id = s.place_id join regime as r on r.regime_id = s.regime_id
    where not (t.refuses_conflicts and s.conflicts = 1)
), ranked as (
    select target_id, position, distance, regime_id, file_id, is_consensus, place_id, axis, latency_rank, latency_column,
        point_count, row_count, x, lower_x, upper_x, lower_us, lower_line_number, lower_count, upper_us, upper_line_number,
        upper_count, latency_us, row_number() over (partition by target_id order by position, distance, latency_rank,
            case when is_nd then 0 else 1 end, measurement_count desc, regime_id, axis) as choice,
        first_value(place_id) over (partition by target_id order by position, distance, latency_rank,
            case when is_nd then 0 else 1 end, measurement_count desc, regime_id, axis) as chosen_place_id,
        first_value(latency_rank) over (partition by target_id order by position, distance, latency_rank,
            case when is_nd then 0 else 1 end, measurement_count desc, regime_id, axis) as chosen_rank
    from estimates where latency_us > 0
)
select target_id, position, distance, place_id, regime_id, file_id, is_consensus, axis, latency_rank, latency_column,
    point_count, row_count, x, lower_x, upper_x, lower_us, lower_line_number, lower_count, upper_us, upper_line_number,
    upper_count, latency_us, choice
from ranked where place_id = chosen_place_id and latency_rank = chosen_rank
