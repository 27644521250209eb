-- Measured values of every axis of every regime, with the gap to the next one and the density rule that it breaks.
-- example: Where are the widest gaps in tokens of the regimes of DynamicQuant, and which of them break a rule?
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
    union all
    select version_id, kernel_type, 'communication', 0, null,
        to_json({'num_devices': num_devices, 'topology_tier': topology_tier})::varchar as regime_key, '', 1,
        'message_bytes', message_bytes::double, count(distinct latency_column), count(*)
    from measurement where message_bytes is not null
    group by version_id, kernel_type, num_devices, topology_tier, message_bytes
), neighbours as (
    select *, count(*) over same_axis as value_count, lag(value) over (same_axis order by value) as previous_value,
        lead(value) over (same_axis order by value) as next_value
    from measured_values
    window same_axis as (partition by version_id, kernel_type, regime_id, regime_key, position)
), required_values as (
    select path, kernel_type, axis_name, rule_name, list(required_value order by required_value)
        filter (required_value is not null) as required
    from axis_rule group by path, kernel_type, axis_name, rule_name
), limits as (
    select *, coalesce(lag(range_to) over (partition by path, kernel_type, axis_name order by range_from),
        '-infinity'::double) as value_from
    from axis_rule where required_value is null
), gaps as (
    select n.*, n.next_value - n.value as gap, if(n.value > 0, n.next_value / n.value, null) as ratio, q.rule_name,
        l.max_gap, l.max_ratio, greatest(n.value, l.range_from) + l.max_gap as gap_end,
        greatest(n.value, l.range_from) * l.max_ratio as ratio_end,
        list_filter(coalesce(q.required, []), lambda wanted: (wanted > n.value and coalesce(wanted < n.next_value, true))
            or (n.previous_value is null and wanted < n.value)) as missing_required
    from neighbours as n
    left join required_values as q on q.path = n.path and q.kernel_type = n.kernel_type and q.axis_name = n.axis_name
    left join limits as l on l.path = n.path and l.kernel_type = n.kernel_type and l.axis_name = n.axis_name
        and n.value >= l.value_from and n.value < coalesce(l.range_to, 'infinity'::double)
)
select v.version_key, g.kernel_type, g.path, g.input_limit, g.regime_id, g.regime_key, g.input_formats,
    g.position as axis_position, g.axis_name, g.value, g.point_count, g.measurement_count::bigint as measurement_count,
    g.value_count, g.previous_value, g.next_value, g.gap, g.ratio,
    if(g.gap is null, null, row_number() over (partition by g.version_id, g.kernel_type, g.regime_id, g.regime_key, g.position
        order by g.gap is null, g.ratio desc nulls first, g.gap desc, g.value)) as gap_rank,
    g.rule_name, g.max_gap, g.max_ratio, least(g.gap_end, g.ratio_end) as largest_next_value,
    g.missing_required, list_filter([if(g.next_value > g.gap_end, 'max_gap', null), if(g.next_value > g.ratio_end, 'max_ratio', null),
        if(len(g.missing_required) > 0, 'required', null)], lambda name: name is not null) as broken_limits
from gaps as g join profile_version as v using (version_id)
order by v.version_key, g.kernel_type, g.regime_id, g.regime_key, g.position, g.value;
comment on view coverage_axis is 'One row per regime, axis and measured value, ascending; values of all points of the regime whatever the other axes; collectives by group size and tier [source: point, regime, measurement, density_rule]';
comment on column coverage_axis.version_key is 'Version [profile_version.version_key]';
comment on column coverage_axis.kernel_type is 'Kernel [regime.kernel_type]';
comment on column coverage_axis.path is 'Path that defines the axes, communication for collectives [regime.path]';
comment on column coverage_axis.input_limit is 'Leading inputs that the path reads, 0 = all [count, regime.input_limit]';
comment on column coverage_axis.regime_id is 'Regime, null for collectives [regime.regime_id]';
comment on column coverage_axis.regime_key is 'Fields that are equal in the regime [canonical JSON, regime.regime_key]';
comment on column coverage_axis.input_formats is 'Physical formats of the operands [regime.input_formats]';
comment on column coverage_axis.axis_position is 'Place of the axis in regime.axis_names, 1 first [count]';
comment on column coverage_axis.axis_name is 'Name of the axis, e.g. M [text, regime.axis_names]';
comment on column coverage_axis.value is 'Measured value [elements, bytes for message_bytes; point.axis_1 ...]';
comment on column coverage_axis.point_count is 'Points with the value [count, point]';
comment on column coverage_axis.measurement_count is 'Measurements in those points [count]';
comment on column coverage_axis.value_count is 'Distinct values of the axis in the regime [count]';
comment on column coverage_axis.previous_value is 'Next smaller measured value, null for the smallest [unit of value]';
comment on column coverage_axis.next_value is 'Next larger measured value, null for the largest [unit of value]';
comment on column coverage_axis.gap is 'next_value minus value [unit of value]';
comment on column coverage_axis.ratio is 'next_value over value, null from 0 [ratio]';
comment on column coverage_axis.gap_rank is 'Rank of the gap on its axis in its regime by ratio, 1 = widest [rank]';
comment on column coverage_axis.rule_name is 'Density rule of the axis, null when it has none [axis_rule.rule_name]';
comment on column coverage_axis.max_gap is 'Most that next_value may be larger by, where the range of the limit begins above value larger than that begin; null when nothing limits it here [unit of value; axis_rule.max_gap]';
comment on column coverage_axis.max_ratio is 'Most times that next_value may be as large, counted likewise [ratio, axis_rule.max_ratio]';
comment on column coverage_axis.largest_next_value is 'Largest next_value that both limits allow [unit of value]';
comment on column coverage_axis.missing_required is 'Required values that are not measured and lie between here and next_value, or beyond the end of the axis [list, unit of value; axis_rule.required_value]';
comment on column coverage_axis.broken_limits is 'Which of max_gap, max_ratio and required the gap breaks, empty when none [list of text]';
