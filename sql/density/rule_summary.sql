-- The density rules in their order, what they are about, and how often the measured values break them.
with abouts as (
    select rule_name, min(rowid) as place, any_value(axis_name) as axis_name,
        list(distinct path order by path) filter (path is not null) as paths,
        list(distinct kernel_type order by kernel_type) filter (kernel_type is not null) as kernels,
        list(distinct required_value order by required_value) filter (required_value is not null) as required,
        list(distinct {'range_from': range_from, 'range_to': range_to, 'max_gap': max_gap, 'max_ratio': max_ratio})
            filter (range_from is not null) as limits, any_value(source) as source
    from density_rule group by rule_name
), uses as (
    select rule_name, count(*) as axis_count from coverage_axis where previous_value is null group by rule_name
), gaps as (
    select rule_name, count(*) as gap_count, sum(missing_count)::bigint as missing_count from density_gap group by rule_name
)
select a.rule_name, a.axis_name, coalesce(a.paths, []) as paths, coalesce(a.kernels, []) as kernels,
    list_sort(coalesce(a.limits, [])) as limits, coalesce(a.required, []) as required,
    coalesce(u.axis_count, 0) as axis_count, coalesce(g.gap_count, 0) as gap_count,
    coalesce(g.missing_count, 0) as missing_count
from abouts as a left join uses as u using (rule_name) left join gaps as g using (rule_name)
order by a.place
