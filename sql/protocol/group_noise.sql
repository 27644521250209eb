-- How many measurements and points regimes have, how far repetitions lie apart, and the step of their clock.
-- param: regime_ids integer[] [the regimes]
with points as (
    select *, latency_max_us / latency_min_us as spread
    from point where regime_id in (select unnest($regime_ids))
), latencies as (
    select distinct unnest([latency_min_us, latency_max_us]) as latency_us from points
), steps as (
    select latency_us, latency_us - lag(latency_us) over (order by latency_us) as step_us from latencies
), smallest_step as (
    select min(step_us) filter (step_us > 1e-9 * latency_us) as step_us, count(*) as latency_count from steps
), resolutions as (
    select round(any_value(step_us), 9) as resolution_us from smallest_step cross join latencies
    where latency_count >= 10 and step_us > 0
    having bool_and(abs(latency_us / step_us - round(latency_us / step_us)) < 1e-3)
)
select coalesce(sum(measurement_count), 0)::bigint as n_raw,
    count(distinct row(axis_1, axis_2, axis_3, axis_4)) as n_points,
    count(*) filter (measurement_count > 1) as n_repeat_points,
    median(spread) filter (measurement_count > 1) as spread_p50,
    quantile_cont(spread, 0.9) filter (measurement_count > 1) as spread_p90,
    (select resolution_us from resolutions) as resolution_us
from points
