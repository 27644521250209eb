-- The points of one version with what a lookup should say there: the latency in the best column that the point has.
-- param: version_id integer [profile_version.version_id]
-- param: aggregation varchar [mean, median, min or first]
select r.regime_id, r.file_id, r.kernel_type, r.path, r.input_limit, r.regime_key, r.input_formats, r.output_dtypes,
    r.axis_names, p.axis_1, p.axis_2, p.axis_3, p.axis_4,
    case $aggregation when 'median' then p.latency_median_us when 'min' then p.latency_min_us
        when 'first' then p.latency_first_us else p.latency_mean_us end as truth_us,
    p.latency_column, p.measurement_count, p.latency_max_us / nullif(p.latency_min_us, 0) as spread,
    p.first_row_id, p.first_line_number
from regime as r join point as p using (regime_id)
where r.version_id = $version_id
qualify row_number() over (
    partition by p.regime_id, p.axis_1, p.axis_2, p.axis_3, p.axis_4 order by p.latency_rank, p.latency_column) = 1
order by r.kernel_type, r.path, r.regime_id, p.axis_1, p.axis_2, p.axis_3, p.axis_4
