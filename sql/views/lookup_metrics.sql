-- M1 to M5 of each logged run: how much of what a simulator asked was answered.
-- example: Which share of the simulated latency has measured data in my last run?
create or replace view lookup_metrics as
with calls as (
    select run_id, version_key, mode, op, input_shapes, call_count, is_zero_cost, analytic_us, source, candidate_source,
        source is not null and source <> 'PARTIAL' as is_hit
    from lookup_log
), operators as (
    select c.run_id, c.version_key, c.mode, coalesce(min(f.fused_name), c.op) as logical_op,
        bool_and(c.is_hit) as is_hit, bool_and(c.is_zero_cost) as is_zero_cost
    from calls as c left join fused_operator as f on starts_with(c.op, f.prefix)
    group by c.run_id, c.version_key, c.mode, c.op
), logical_operators as (
    select run_id, version_key, mode, logical_op, bool_and(is_hit) as is_hit, bool_and(is_zero_cost) as is_zero_cost
    from operators group by run_id, version_key, mode, logical_op
), operator_counts as (
    select run_id, version_key, mode, count(*) as operators, count(*) filter (where is_hit) as hit_operators,
        count(*) filter (where not is_zero_cost) as compute_operators,
        count(*) filter (where is_hit and not is_zero_cost) as hit_compute_operators
    from logical_operators group by run_id, version_key, mode
), variants as (
    select run_id, version_key, mode, op, input_shapes, bool_or(is_hit) as is_hit
    from calls where not is_zero_cost group by run_id, version_key, mode, op, input_shapes
), variant_counts as (
    select run_id, version_key, mode, count(*) as variants, count(*) filter (where is_hit) as hit_variants
    from variants group by run_id, version_key, mode
), call_counts as (
    select run_id, version_key, mode, sum(call_count)::bigint as calls,
        coalesce(sum(call_count) filter (where is_hit), 0)::bigint as hit_calls,
        coalesce(sum(call_count) filter (where source = 'INTERPOLATED'), 0)::bigint as interpolated_calls,
        coalesce(sum(call_count) filter (where source = 'EXTRAPOLATED'), 0)::bigint as extrapolated_calls,
        coalesce(sum(call_count) filter (where source = 'PARTIAL'), 0)::bigint as partial_calls,
        coalesce(sum(call_count) filter (where candidate_source is not null), 0)::bigint as candidate_calls,
        fsum(analytic_us) as analytic_us,
        if(count(analytic_us) > 0, coalesce(fsum(analytic_us) filter (where is_hit), 0), null) as hit_us
    from calls group by run_id, version_key, mode
)
select c.run_id, c.version_key, c.mode, c.hit_calls / c.calls as m1, o.hit_operators / o.operators as m2,
    o.hit_compute_operators / nullif(o.compute_operators, 0) as m3, v.hit_variants / nullif(v.variants, 0) as m4,
    c.hit_us / nullif(c.analytic_us, 0) as m5, c.hit_calls, c.calls, o.hit_operators, o.operators,
    o.hit_compute_operators, o.compute_operators, coalesce(v.hit_variants, 0) as hit_variants,
    coalesce(v.variants, 0) as variants, c.hit_us, c.analytic_us, c.interpolated_calls, c.partial_calls, c.candidate_calls,
    c.extrapolated_calls
from call_counts as c
join operator_counts as o on o.run_id = c.run_id and o.version_key = c.version_key and o.mode = c.mode
left join variant_counts as v on v.run_id = c.run_id and v.version_key = c.version_key and v.mode = c.mode
order by c.run_id, c.version_key, c.mode;
comment on view lookup_metrics is 'One row per logged run; a hit is a complete answer, PARTIAL is none [source: lookup_log]';
comment on column lookup_metrics.run_id is 'Run that was logged [lookup_log.run_id]';
comment on column lookup_metrics.version_key is 'Version that answered [profile_version.version_key]';
comment on column lookup_metrics.mode is 'Rollout mode of the run [lookup_log.mode]';
comment on column lookup_metrics.m1 is 'Calls that were hits, those that cost nothing included [ratio]';
comment on column lookup_metrics.m2 is 'Operators whose every call was a hit, fused ones counted once [ratio]';
comment on column lookup_metrics.m3 is 'The same without operators that cost nothing [ratio]';
comment on column lookup_metrics.m4 is 'Distinct pairs of operator and input shapes that were hits, without those that cost nothing [ratio]';
comment on column lookup_metrics.m5 is 'Calls that were hits, weighted by the simulator''s own estimate of each; null when it gave none [ratio]';
comment on column lookup_metrics.hit_calls is 'Calls that were hits [count, lookup_log.call_count]';
comment on column lookup_metrics.calls is 'Calls [count, lookup_log.call_count]';
comment on column lookup_metrics.hit_operators is 'Operators whose every call was a hit [count]';
comment on column lookup_metrics.operators is 'Operators, fused ones counted once [count]';
comment on column lookup_metrics.hit_compute_operators is 'Those of them that cost something and were hits [count]';
comment on column lookup_metrics.compute_operators is 'Those of them that cost something [count]';
comment on column lookup_metrics.hit_variants is 'Distinct pairs of operator and input shapes that were hits [count]';
comment on column lookup_metrics.variants is 'Distinct pairs of operator and input shapes [count]';
comment on column lookup_metrics.hit_us is 'The simulator''s own estimates of the hits together [us]';
comment on column lookup_metrics.analytic_us is 'The simulator''s own estimates of all calls that have one [us]';
comment on column lookup_metrics.interpolated_calls is 'Calls that were answered by interpolation [count]';
comment on column lookup_metrics.partial_calls is 'Calls whose answer lacks a part [count]';
comment on column lookup_metrics.candidate_calls is 'Calls that interpolation would have answered, or answered differently [count]';
comment on column lookup_metrics.extrapolated_calls is 'Calls that were answered beyond the measured range, which their kernel allows [count]';
