-- Neighbours on an axis where more work took less time, by more than 10 %.
-- example: Where does a kernel become faster when one of its sizes grows?
create or replace view monotonicity_break as
with best_points as (
    select regime_id, axis_1, axis_2, axis_3, axis_4, latency_mean_us, first_line_number
    from point
    qualify row_number() over (
        partition by regime_id, axis_1, axis_2, axis_3, axis_4 order by latency_rank, latency_column) = 1
), places as (
    select p.regime_id, a.position, [p.axis_1, p.axis_2, p.axis_3, p.axis_4][a.position] as value,
        list_transform([1, 2, 3, 4], lambda i: if(i = a.position, null, [p.axis_1, p.axis_2, p.axis_3, p.axis_4][i])) as others,
        p.latency_mean_us as latency_us, p.first_line_number
    from best_points as p cross join (select unnest([1, 2, 3, 4]) as position) as a
), steps as (
    select *, lead(value) over line as next_value, lead(latency_us) over line as next_us,
        lead(first_line_number) over line as next_line_number
    from places
    window line as (partition by regime_id, position, others order by value)
)
select g.version_key, g.device, g.kernel_type, g.path, g.group_id, g.regime_id, g.axis_names[s.position] as axis, s.others,
    s.value, s.next_value, s.latency_us, s.next_us, s.next_us / s.latency_us as ratio, s.first_line_number as line_number,
    s.next_line_number
from steps as s join regime_group as g using (regime_id)
where s.next_us < 0.9 * s.latency_us and s.position <= len(g.axis_names)
order by ratio, g.version_key, g.kernel_type, g.regime_id, axis, s.others, s.value;
comment on view monotonicity_break is 'One row per pair of neighbours whose latency falls by more than 10 % along an axis, all other axes equal; the largest fall first [source: point]';
comment on column monotonicity_break.version_key is 'Version [profile_version.version_key]';
comment on column monotonicity_break.device is 'First part of the version key [text]';
comment on column monotonicity_break.kernel_type is 'Kernel [regime.kernel_type]';
comment on column monotonicity_break.path is 'Path that defines the axes [regime.path]';
comment on column monotonicity_break.group_id is 'Kernel and regime, the same in every version [regime_group.group_id]';
comment on column monotonicity_break.regime_id is 'Regime [regime.regime_id]';
comment on column monotonicity_break.axis is 'Name of the axis that grows [text]';
comment on column monotonicity_break.others is 'axis_1 ... axis_4 of both points, null for the axis that grows [list of axis units]';
comment on column monotonicity_break.value is 'Smaller value of the axis [axis unit]';
comment on column monotonicity_break.next_value is 'Next measured value [axis unit]';
comment on column monotonicity_break.latency_us is 'Latency at the smaller value [us]';
comment on column monotonicity_break.next_us is 'Latency at the next value [us]';
comment on column monotonicity_break.ratio is 'next_us over latency_us [ratio]';
comment on column monotonicity_break.line_number is 'Line of the first measurement at the smaller value [count]';
comment on column monotonicity_break.next_line_number is 'Line of the first measurement at the next value [count]';
