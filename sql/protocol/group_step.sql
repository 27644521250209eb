-- Steps between neighbours along each axis: how many go down by more than a tenth, and the jumps at boundary pairs.
-- param: regime_ids integer[] [the regimes]
-- param: pairs varchar [JSON list of boundary pairs: position, lower]
with pairs as (
    select unnest(from_json($pairs, '[{"position": "INTEGER", "lower": "DOUBLE"}]'), recursive := true)
), best_points as (
    select regime_id, axis_1, axis_2, axis_3, axis_4, latency_mean_us as latency_us
    from point where regime_id in (select unnest($regime_ids))
    qualify row_number() over (
        partition by regime_id, axis_1, axis_2, axis_3, axis_4 order by latency_rank, latency_column) = 1
), places as (
    select regime_id, latency_us, unnest([
        {'position': 1, 'value': axis_1, 'others': [axis_2, axis_3, axis_4]},
        {'position': 2, 'value': axis_2, 'others': [axis_1, axis_3, axis_4]},
        {'position': 3, 'value': axis_3, 'others': [axis_1, axis_2, axis_4]},
        {'position': 4, 'value': axis_4, 'others': [axis_1, axis_2, axis_3]}], recursive := true)
    from best_points
), steps as (
    select position, value, latency_us, lag(value) over line as previous, lag(latency_us) over line as previous_us
    from places
    window line as (partition by regime_id, position, others order by value)
)
select s.position, count(*) filter (latency_us < 0.9 * previous_us) as break_count,
    median(abs(ln(latency_us / previous_us))) filter (p.lower is not null and value = p.lower + 1) as pair_jump
from steps as s left join pairs as p on p.position = s.position and p.lower = s.previous
where previous is not null
group by s.position
order by s.position
