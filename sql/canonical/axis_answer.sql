-- The answer of each target that one axis answers: linear between two neighbours, or the consensus of all axes.
-- reads: axis_estimates
-- source: sqlinterp/lookup/estimates.py; the consensus is the median of the estimates, the mean of the middle two
with ordered as (
    select target_id, latency_us, row_number() over (partition by target_id order by latency_us, axis) as place,
        count(*) over (partition by target_id) as estimate_count
    from axis_estimates where is_consensus and lower_x < upper_x
), consensus as (
    select target_id, avg(latency_us) as latency_us from ordered
    where estimate_count > 1 and 2 * place between estimate_count and estimate_count + 2
    group by target_id
)
select e.target_id, case when e.lower_x = e.upper_x then 'MEASURED' else 'INTERPOLATED' end as source,
    coalesce(c.latency_us, e.latency_us) as latency_us,
    case when e.lower_x = e.upper_x then 'exact_coordinate' when c.target_id is not null then 'bracket_consensus'
        else 'linear_1d' end as method,
    e.position, e.distance, e.regime_id, e.file_id, e.axis, e.latency_rank, e.latency_column, e.lower_x, e.upper_x,
    e.lower_us, e.lower_line_number, e.upper_us, e.upper_line_number, e.point_count, e.row_count
from axis_estimates as e left join consensus as c on c.target_id = e.target_id
where e.choice = 1
