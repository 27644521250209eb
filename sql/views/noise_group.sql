-- How far repeated measurements of a regime lie apart, and the step of the clock that its latencies were read from.
-- example: Which regimes are so noisy that a bar of 15 % says nothing about interpolation?
create or replace view noise_group as
with repeats as (
    select regime_id, kernel_type, version_key, spread from noise_point
), of_regimes as (
    select regime_id, count(*) as n_repeat_points, median(spread) as spread_p50, quantile_cont(spread, 0.9) as spread_p90
    from repeats group by regime_id
), of_kernels as (
    select version_key, kernel_type, count(*) as n_repeat_points, quantile_cont(spread, 0.9) as spread_p90
    from repeats group by version_key, kernel_type
), latencies as (
    select distinct regime_id, unnest([latency_min_us, latency_max_us]) as latency_us from point
), steps as (
    select regime_id, latency_us, latency_us - lag(latency_us) over (partition by regime_id order by latency_us) as step_us
    from latencies
), smallest_steps as (
    select regime_id, count(*) as n_latencies, min(step_us) filter (step_us > 1e-9 * latency_us) as step_us
    from steps group by regime_id
), resolutions as (
    select s.regime_id, s.step_us as resolution_us
    from smallest_steps as s join latencies as l using (regime_id)
    where s.n_latencies >= 10 and s.step_us > 0
    group by s.regime_id, s.step_us
    having bool_and(abs(l.latency_us / s.step_us - round(l.latency_us / s.step_us)) < 1e-3)
)
select g.version_key, g.device, g.kernel_type, g.path, g.group_id, g.regime_id, coalesce(r.n_repeat_points, 0) as n_repeat_points,
    r.spread_p50, r.spread_p90, coalesce(k.n_repeat_points, 0) as kernel_repeat_points, k.spread_p90 as kernel_spread_p90,
    case when r.n_repeat_points >= 5 then r.spread_p90 when k.n_repeat_points >= 5 then k.spread_p90 else 1.0 end as spread_floor,
    s.resolution_us
from regime_group as g
left join of_regimes as r using (regime_id)
left join of_kernels as k on k.version_key = g.version_key and k.kernel_type = g.kernel_type
left join resolutions as s on s.regime_id = g.regime_id
order by g.version_key, g.kernel_type, g.regime_id;
comment on view noise_group is 'One row per regime. A ratio of answer and truth inside max(spread_floor, 1 + resolution_us / (2 * truth)) is noise [source: noise_point, point]';
comment on column noise_group.version_key is 'Version [profile_version.version_key]';
comment on column noise_group.device is 'First part of the version key [text]';
comment on column noise_group.kernel_type is 'Kernel [regime.kernel_type]';
comment on column noise_group.path is 'Path that defines the axes [regime.path]';
comment on column noise_group.group_id is 'Kernel and regime, the same in every version [regime_group.group_id]';
comment on column noise_group.regime_id is 'Regime [regime.regime_id]';
comment on column noise_group.n_repeat_points is 'Points of the regime with more than one measurement [count]';
comment on column noise_group.spread_p50 is 'Median of largest over smallest repetition at those points, null without any [ratio]';
comment on column noise_group.spread_p90 is 'Their 90th percentile [ratio]';
comment on column noise_group.kernel_repeat_points is 'Such points of all regimes of the kernel [count]';
comment on column noise_group.kernel_spread_p90 is '90th percentile at those points [ratio]';
comment on column noise_group.spread_floor is 'spread_p90 of the regime from 5 points on, else of the kernel from 5 points on, else 1 [ratio]';
comment on column noise_group.resolution_us is 'Smallest step between latencies when all of them are multiples of it, null otherwise or below 10 latencies [us]';
