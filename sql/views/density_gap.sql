-- Where density rules are broken: stretches of an axis with too few measured values, the worst first.
-- example: On which axes of MatMulV2 are most values missing, and between which measured ones?
create or replace view density_gap as
with sides as (
    select *, unnest(['inside', 'below', 'above']) as place from coverage_axis where len(broken_limits) > 0
), wanted_values as (
    select * exclude (missing_required, value, next_value), if(place = 'below', null, value) as value,
        case place when 'inside' then next_value when 'below' then value end as next_value,
        list_filter(missing_required, lambda wanted: if(place = 'below', wanted < value, wanted > value)
            and (place = 'inside') = (wanted > value and next_value is not null)) as missing_required
    from sides
), stretches as (
    select *, row_number() over (order by version_key, kernel_type, path, input_limit, regime_id, regime_key, axis_position,
            value nulls first, next_value) as stretch,
        coalesce(value, missing_required[1]) as low, coalesce(next_value, missing_required[-1]) as high,
        if(place = 'inside', list_filter(broken_limits, lambda name: name <> 'required' or len(missing_required) > 0),
            ['required']) as broken
    from wanted_values
    where len(missing_required) > 0 or place = 'inside' and next_value > largest_next_value
), parts as (
    select s.stretch, s.low, s.high, r.range_from, r.range_to, r.max_gap, r.max_ratio,
        greatest(s.low, r.range_from) as part_low, least(s.high, coalesce(r.range_to, s.high)) as part_high
    from stretches as s join axis_rule as r on r.path = s.path and r.kernel_type = s.kernel_type
        and r.axis_name = s.axis_name and r.range_from < s.high and coalesce(r.range_to > s.low, true)
), steps as (
    select stretch, sum(greatest(ceil(round((part_high - part_low) / max_gap, 9)),
            ceil(round(ln(part_high / part_low) / ln(max_ratio), 9))))
        + (min(range_from) > any_value(low))::integer
        + (max(coalesce(range_to, high)) < any_value(high))::integer as step_count
    from parts group by stretch
), counts as (
    select *, greatest(least(coalesce(step_count - (place = 'inside')::integer, 0), 1e15), len(missing_required), 1)::bigint
            as missing_count
    from stretches left join steps using (stretch)
)
select version_key, kernel_type, path, input_limit, regime_id, regime_key, axis_position, axis_name, rule_name, place,
    value, next_value, next_value - value as gap, high / nullif(low, 0) as ratio, if(place = 'inside', max_gap, null) as max_gap,
    if(place = 'inside', max_ratio, null) as max_ratio, broken as broken_limits, missing_required, missing_count, value_count,
    row_number() over (partition by version_key order by place <> 'inside', missing_count desc, high / nullif(low, 0) desc nulls last,
        stretch) as gap_rank
from counts
order by version_key, gap_rank;
comment on view density_gap is 'One row per stretch of an axis of a regime that breaks a density rule: between two measured values, or from an end of the axis to a required value; stretches inside come first [source: coverage_axis, axis_rule]';
comment on column density_gap.version_key is 'Version [profile_version.version_key]';
comment on column density_gap.kernel_type is 'Kernel [regime.kernel_type]';
comment on column density_gap.path is 'Path that defines the axes, communication for collectives [regime.path]';
comment on column density_gap.input_limit is 'Leading inputs that the path reads, 0 = all [count, regime.input_limit]';
comment on column density_gap.regime_id is 'Regime, null for collectives [regime.regime_id]';
comment on column density_gap.regime_key is 'Fields that are equal in the regime [canonical JSON, regime.regime_key]';
comment on column density_gap.axis_position is 'Place of the axis in regime.axis_names, 1 first [count]';
comment on column density_gap.axis_name is 'Name of the axis [text, regime.axis_names]';
comment on column density_gap.rule_name is 'Rule that is broken [axis_rule.rule_name]';
comment on column density_gap.place is 'inside (between two measured values), below the smallest or above the largest one [identifier]';
comment on column density_gap.value is 'Measured value at the lower end, null below the smallest [elements, bytes for message_bytes]';
comment on column density_gap.next_value is 'Measured value at the upper end, null above the largest [unit of value]';
comment on column density_gap.gap is 'next_value minus value, null beyond an end [unit of value]';
comment on column density_gap.ratio is 'Upper over lower end, a required value where nothing is measured; null from 0 [ratio]';
comment on column density_gap.max_gap is 'Limit of the rule at value, null when it has none there [unit of value; axis_rule.max_gap]';
comment on column density_gap.max_ratio is 'Limit of the rule at value, null when it has none there [ratio, axis_rule.max_ratio]';
comment on column density_gap.broken_limits is 'Which of max_gap, max_ratio and required the stretch breaks [list of text]';
comment on column density_gap.missing_required is 'Required values in the stretch, none of them measured [list, unit of value; axis_rule.required_value]';
comment on column density_gap.missing_count is 'How many more values would fill the stretch in the steps that the rule allows, ends of its ranges among them; at most 10**15 [count]';
comment on column density_gap.value_count is 'Distinct values of the axis that the regime has [count]';
comment on column density_gap.gap_rank is 'Rank in the version: stretches inside first, then by missing_count and ratio, 1 = worst [rank]';
