-- Measured M, K and N of each kernel that has these axes: how many, from where to where.
with coordinates as (
    select distinct version_key, kernel_type, axis_values[list_position(axis_names, 'M')] as m,
        axis_values[list_position(axis_names, 'K')] as k, axis_values[list_position(axis_names, 'N')] as n
    from measured_point where list_has_all(axis_names, ['M', 'K', 'N'])
)
select version_key, kernel_type, count(*) as point_count, count(distinct m) as m_values, min(m) as m_smallest,
    max(m) as m_largest, count(distinct k) as k_values, min(k) as k_smallest, max(k) as k_largest,
    count(distinct n) as n_values, min(n) as n_smallest, max(n) as n_largest
from coordinates
group by version_key, kernel_type
order by point_count desc, version_key, kernel_type
