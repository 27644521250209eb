-- Why logged lookups were not answered completely: operators and reasons, the most frequent first.
-- example: Which operators were missed most often, and which shapes should be measured next?
create or replace view miss_reason as
with misses as (
    select run_id, version_key, mode, op, dispatch, coalesce(miss_reason, 'unknown') as miss_reason, input_shapes,
        call_count, analytic_us, source, candidate_source
    from lookup_log where source is null or source = 'PARTIAL'
)
select run_id, version_key, mode, op, dispatch, miss_reason, sum(call_count)::bigint as calls,
    count(distinct input_shapes) as variants, fsum(analytic_us) as analytic_us,
    list_sort(list(distinct input_shapes)) as input_shapes,
    coalesce(sum(call_count) filter (where source = 'PARTIAL'), 0)::bigint as partial_calls,
    coalesce(sum(call_count) filter (where candidate_source is not null), 0)::bigint as candidate_calls
from misses
group by run_id, version_key, mode, op, dispatch, miss_reason
order by run_id, version_key, mode, calls desc, op, miss_reason;
comment on view miss_reason is 'One row per logged run, operator and reason of a miss or partial answer [source: lookup_log]';
comment on column miss_reason.run_id is 'Run that was logged [lookup_log.run_id]';
comment on column miss_reason.version_key is 'Version that was asked [profile_version.version_key]';
comment on column miss_reason.mode is 'Rollout mode of the run [lookup_log.mode]';
comment on column miss_reason.op is 'Operator [lookup_log.op]';
comment on column miss_reason.dispatch is 'Lookup path of its mapping entry [lookup_log.dispatch]';
comment on column miss_reason.miss_reason is 'Why there is no complete answer [lookup_log.miss_reason]';
comment on column miss_reason.calls is 'Calls without a complete answer [count, lookup_log.call_count]';
comment on column miss_reason.variants is 'Distinct input shapes among them [count]';
comment on column miss_reason.analytic_us is 'The simulator''s own estimates of those calls, null when it gave none [us]';
comment on column miss_reason.input_shapes is 'Those shapes [list of text, lookup_log.input_shapes]';
comment on column miss_reason.partial_calls is 'Calls that were answered in part [count]';
comment on column miss_reason.candidate_calls is 'Calls that interpolation would have answered [count]';
