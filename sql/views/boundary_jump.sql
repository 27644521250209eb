-- Latency on both sides of the steps that an axis samples: an integer b and b + 1, far from the other values.
-- example: Which kernels are slower by more than 5 % just above a tile edge?
create or replace view boundary_jump as
with best_points as (
    select regime_id, axis_1, axis_2, axis_3, axis_4, latency_mean_us
    from point
    qualify row_number() over (
        partition by regime_id, axis_1, axis_2, axis_3, axis_4 order by latency_rank, latency_column) = 1
), places as (
    select p.regime_id, a.position, [p.axis_1, p.axis_2, p.axis_3, p.axis_4][a.position] as value,
        list_transform([1, 2, 3, 4], lambda i: if(i = a.position, null, [p.axis_1, p.axis_2, p.axis_3, p.axis_4][i])) as others,
        p.latency_mean_us as latency_us
    from best_points as p cross join (select unnest([1, 2, 3, 4]) as position) as a
), axis_values as (
    select regime_id, position, value, bool_and(value = floor(value)) over (partition by regime_id, position) as is_integer,
        lag(value) over line as before, lead(value) over line as after, lead(value, 2) over line as beyond
    from (select distinct regime_id, position, value from places)
    window line as (partition by regime_id, position order by value)
), pairs as (
    select regime_id, position, value as b from axis_values
    where is_integer and value >= 16 and after - value = 1
        and coalesce(value - before >= 8, true) and coalesce(beyond - after >= 8, true)
)
select g.version_key, g.device, g.kernel_type, g.path, g.group_id, g.regime_id, g.regime_key as regime, g.axis_names[q.position] as axis,
    q.b, lo.others, lo.latency_us as t_lo, hi.latency_us as t_hi, hi.latency_us / lo.latency_us as jump
from pairs as q
join regime_group as g using (regime_id)
join places as lo on lo.regime_id = q.regime_id and lo.position = q.position and lo.value = q.b
join places as hi on hi.regime_id = q.regime_id and hi.position = q.position and hi.value = q.b + 1 and hi.others = lo.others
where q.position <= len(g.axis_names)
order by g.version_key, g.kernel_type, g.regime_id, axis, q.b, lo.others;
comment on view boundary_jump is 'One row per step and place on the other axes where both sides were measured; a pair is b of at least 16 and b + 1, at least 8 from other values [source: point]';
comment on column boundary_jump.version_key is 'Version [profile_version.version_key]';
comment on column boundary_jump.device is 'First part of the version key [text]';
comment on column boundary_jump.kernel_type is 'Kernel [regime.kernel_type]';
comment on column boundary_jump.path is 'Path that defines the axes [regime.path]';
comment on column boundary_jump.group_id is 'Kernel and regime, the same in every version [regime_group.group_id]';
comment on column boundary_jump.regime_id is 'Regime [regime.regime_id]';
comment on column boundary_jump.regime is 'Fields that are equal in the regime [canonical JSON, regime.regime_key]';
comment on column boundary_jump.axis is 'Name of the axis with the step [text]';
comment on column boundary_jump.b is 'Last value below the step; b + 1 is the first above it [axis unit]';
comment on column boundary_jump.others is 'axis_1 ... axis_4 of both points, null for the axis with the step [list of axis units]';
comment on column boundary_jump.t_lo is 'Latency at b [us]';
comment on column boundary_jump.t_hi is 'Latency at b + 1 [us]';
comment on column boundary_jump.jump is 't_hi over t_lo [ratio]';
