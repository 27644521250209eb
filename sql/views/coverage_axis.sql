-- Measured values of every axis of every regime, with the gap to the next one, widest gaps first in rank.
-- example: Where are the widest gaps in tokens of the regimes of DynamicQuant?
create or replace view coverage_axis as
with values_of_axes as (
    select regime_id, latency_column, measurement_count, unnest([{'position': 1, 'value': axis_1}, {'position': 2, 'value': axis_2},
        {'position': 3, 'value': axis_3}, {'position': 4, 'value': axis_4}], recursive := true)
    from point
), measured_values as (
    select r.version_id, r.kernel_type, r.path, r.input_limit, r.regime_id, r.regime_key, r.input_formats, a.position,
        r.axis_names[a.position] as axis_name, a.value, count(*) as point_count, sum(a.measurement_count) as measurement_count
    from values_of_axes as a join regime as r using (regime_id)
    where a.position <= len(r.axis_names)
    group by all
), neighbours as (
    select *, count(*) over (partition by regime_id, position) as value_count,
        lag(value) over (partition by regime_id, position order by value) as previous_value,
        lead(value) over (partition by regime_id, position order by value) as next_value
    from measured_values
), gaps as (
    select *, next_value - value as gap, if(value > 0, next_value / value, null) as ratio from neighbours
)
select v.version_key, g.kernel_type, g.path, g.input_limit, g.regime_id, g.regime_key, g.input_formats,
    g.position as axis_position, g.axis_name, g.value, g.point_count, g.measurement_count::bigint as measurement_count,
    g.value_count, g.previous_value, g.next_value, g.gap, g.ratio,
    if(g.gap is null, null, row_number() over (partition by g.regime_id, g.position
        order by g.gap is null, g.ratio desc nulls first, g.gap desc, g.value)) as gap_rank
from gaps as g join profile_version as v using (version_id)
order by v.version_key, g.kernel_type, g.regime_id, g.position, g.value;
comment on view coverage_axis is 'One row per regime, axis and measured value, ascending; values of all points of the regime whatever the other axes [source: point, regime]';
comment on column coverage_axis.version_key is 'Version [profile_version.version_key]';
comment on column coverage_axis.kernel_type is 'Kernel [regime.kernel_type]';
comment on column coverage_axis.path is 'Path that defines the axes [regime.path]';
comment on column coverage_axis.input_limit is 'Leading inputs that the path reads, 0 = all [count, regime.input_limit]';
comment on column coverage_axis.regime_id is 'Regime [regime.regime_id]';
comment on column coverage_axis.regime_key is 'Fields that are equal in the regime [canonical JSON, regime.regime_key]';
comment on column coverage_axis.input_formats is 'Physical formats of the operands [regime.input_formats]';
comment on column coverage_axis.axis_position is 'Place of the axis in regime.axis_names, 1 first [count]';
comment on column coverage_axis.axis_name is 'Name of the axis, e.g. M [text, regime.axis_names]';
comment on column coverage_axis.value is 'Measured value [elements, point.axis_1 ...]';
comment on column coverage_axis.point_count is 'Points with the value [count, point]';
comment on column coverage_axis.measurement_count is 'Measurements in those points [count]';
comment on column coverage_axis.value_count is 'Distinct values of the axis in the regime [count]';
comment on column coverage_axis.previous_value is 'Next smaller measured value, null for the smallest [elements]';
comment on column coverage_axis.next_value is 'Next larger measured value, null for the largest [elements]';
comment on column coverage_axis.gap is 'next_value minus value [elements]';
comment on column coverage_axis.ratio is 'next_value over value, null from 0 [ratio]';
comment on column coverage_axis.gap_rank is 'Rank of the gap on its axis in its regime by ratio, 1 = widest [rank]';
