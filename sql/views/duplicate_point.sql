-- Points that several measurements fell on, and how far those lie apart.
-- example: Where do repeated measurements of one coordinate differ by more than 10 %?
create or replace view duplicate_point as
select v.version_key, r.kernel_type, r.path, r.input_limit, r.regime_id, r.regime_key, r.input_formats, r.output_dtypes,
    r.axis_names, ([p.axis_1, p.axis_2, p.axis_3, p.axis_4])[1:len(r.axis_names)] as axis_values, p.latency_column,
    p.measurement_count, p.latency_min_us, p.latency_max_us, p.latency_mean_us,
    p.latency_max_us - p.latency_min_us as spread_us, p.latency_max_us / p.latency_min_us as spread_ratio, p.first_line_number
from point as p join regime as r using (regime_id) join profile_version as v on v.version_id = r.version_id
where p.measurement_count > 1
order by spread_ratio desc, v.version_key, r.kernel_type, r.regime_id, axis_values, p.latency_column;
comment on view duplicate_point is 'One row per point with more than one measurement, widest first; a kernel that is looked up in several ways repeats per path and input limit [source: point, regime]';
comment on column duplicate_point.version_key is 'Version [profile_version.version_key]';
comment on column duplicate_point.kernel_type is 'Kernel [regime.kernel_type]';
comment on column duplicate_point.path is 'Path that placed the measurements [regime.path]';
comment on column duplicate_point.input_limit is 'Leading inputs that the path reads, 0 = all [count, regime.input_limit]';
comment on column duplicate_point.regime_id is 'Regime of the point [regime.regime_id]';
comment on column duplicate_point.regime_key is 'Fields that are equal in the regime [canonical JSON, regime.regime_key]';
comment on column duplicate_point.input_formats is 'Physical formats of the operands [regime.input_formats]';
comment on column duplicate_point.output_dtypes is 'Output dtypes [regime.output_dtypes]';
comment on column duplicate_point.axis_names is 'Names of the axes [list of text, regime.axis_names]';
comment on column duplicate_point.axis_values is 'Coordinate of the point along axis_names [elements, point.axis_1 ...]';
comment on column duplicate_point.latency_column is 'CSV column of the latencies [point.latency_column]';
comment on column duplicate_point.measurement_count is 'Measurements on the point [count]';
comment on column duplicate_point.latency_min_us is 'Smallest of them [us]';
comment on column duplicate_point.latency_max_us is 'Largest of them [us]';
comment on column duplicate_point.latency_mean_us is 'Their mean [us]';
comment on column duplicate_point.spread_us is 'Largest minus smallest [us]';
comment on column duplicate_point.spread_ratio is 'Largest over smallest [ratio]';
comment on column duplicate_point.first_line_number is 'Line of the first of them in its CSV [count]';
