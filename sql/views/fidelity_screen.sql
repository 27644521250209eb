-- A quick look at every point from its two neighbours on each axis, without a run; the lookup itself is not asked.
-- example: Which kernels would be worst at a point in the middle of a gap, going by the neighbours that were measured?
create or replace view fidelity_screen as
with best_points as (
    select regime_id, axis_1, axis_2, axis_3, axis_4, latency_mean_us
    from point
    qualify row_number() over (
        partition by regime_id, axis_1, axis_2, axis_3, axis_4 order by latency_rank, latency_column) = 1
), places as (
    select p.regime_id, a.position, [p.axis_1, p.axis_2, p.axis_3, p.axis_4][a.position] as value,
        list_transform([1, 2, 3, 4], lambda i: if(i = a.position, null, [p.axis_1, p.axis_2, p.axis_3, p.axis_4][i])) as others,
        p.latency_mean_us as truth_us
    from best_points as p cross join (select unnest([1, 2, 3, 4]) as position) as a
), axis_values as (
    select regime_id, position, value, bool_and(value = floor(value)) over (partition by regime_id, position) as is_integer,
        lag(value, 2) over line as far_before, lag(value) over line as before, lead(value) over line as after,
        lead(value, 2) over line as far_after
    from (select distinct regime_id, position, value from places)
    window line as (partition by regime_id, position order by value)
), sides as (
    select *, coalesce(is_integer and (
            (value >= 16 and after - value = 1 and coalesce(value - before >= 8, true) and coalesce(far_after - after >= 8, true))
            or (before >= 16 and value - before = 1 and coalesce(before - far_before >= 8, true) and coalesce(after - value >= 8, true))),
        false) as is_paired
    from axis_values
), neighbours as (
    select *, lag(value) over line as lower, lag(truth_us) over line as lower_us, lead(value) over line as upper,
        lead(truth_us) over line as upper_us
    from places
    window line as (partition by regime_id, position, others order by value)
), predictions as (
    select n.*, s.is_paired, s.before is null or s.after is null as is_end,
        n.lower_us + (n.value - n.lower) / (n.upper - n.lower) * (n.upper_us - n.lower_us) as pred_us
    from neighbours as n join sides as s using (regime_id, position, value)
    where not (s.before is null and s.after is null)
)
select g.version_key, g.device, g.kernel_type, g.path, g.group_id, g.regime_id, 'screen' as engine,
    case when p.is_end then 'edge' when p.is_paired then 'boundary' when p.truth_us < 10 then 'small'
        else 'axis' || (p.position - 1) end as region,
    g.axis_names[p.position] as axis, p.value, p.others, p.lower, p.upper, p.truth_us, p.pred_us, p.pred_us / p.truth_us as ratio,
    if(p.lower > 0, p.upper / p.lower, null) as cell_ratio, abs(ln(p.pred_us / p.truth_us)) <= ln(1.15) as within_bar
from predictions as p join regime_group as g using (regime_id)
where p.position <= len(g.axis_names)
order by g.version_key, g.kernel_type, g.regime_id, p.position, p.others, p.value;
comment on view fidelity_screen is 'One row per point and axis that varies: the line through its two neighbours on the axis against its own latency; engine screen, so not what a lookup says [source: point]';
comment on column fidelity_screen.version_key is 'Version [profile_version.version_key]';
comment on column fidelity_screen.device is 'First part of the version key [text]';
comment on column fidelity_screen.kernel_type is 'Kernel [regime.kernel_type]';
comment on column fidelity_screen.path is 'Path that defines the axes [regime.path]';
comment on column fidelity_screen.group_id is 'Kernel and regime, the same in every version [regime_group.group_id]';
comment on column fidelity_screen.regime_id is 'Regime [regime.regime_id]';
comment on column fidelity_screen.engine is 'screen: neighbours by a window query, not the lookup [text]';
comment on column fidelity_screen.region is 'axis0 ... axis3; edge at the end of the axis, boundary at a step, small below 10 us [text]';
comment on column fidelity_screen.axis is 'Name of the axis [text]';
comment on column fidelity_screen.value is 'Value of the axis [axis unit]';
comment on column fidelity_screen.others is 'axis_1 ... axis_4 of the point, null for the axis [list of axis units]';
comment on column fidelity_screen.lower is 'Nearest smaller value with all other axes equal, null for none [axis unit]';
comment on column fidelity_screen.upper is 'Nearest larger value with all other axes equal, null for none [axis unit]';
comment on column fidelity_screen.truth_us is 'Latency of the point [us]';
comment on column fidelity_screen.pred_us is 'Value of the line through both neighbours, null without one of them [us]';
comment on column fidelity_screen.ratio is 'pred_us over truth_us [ratio]';
comment on column fidelity_screen.cell_ratio is 'upper over lower [ratio]';
comment on column fidelity_screen.within_bar is 'Whether the ratio is within a factor of 1.15 [boolean]';
