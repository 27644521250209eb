-- Every measured point with its coordinate and mean latency.
-- example: Which M, K and N of MatMulV2 were measured in the newest version?
create or replace view measured_point as
select v.version_key, r.kernel_type, r.path, r.input_limit, r.regime_id, r.regime_key, r.axis_names,
    ([p.axis_1, p.axis_2, p.axis_3, p.axis_4])[1:len(r.axis_names)] as axis_values, p.latency_column,
    p.measurement_count, p.latency_mean_us
from point as p join regime as r using (regime_id) join profile_version as v on v.version_id = r.version_id
order by v.version_key, r.kernel_type, r.regime_id, axis_values, p.latency_column;
comment on view measured_point is 'One row per point; a kernel that is looked up in several ways repeats per path and input limit [source: point, regime]';
comment on column measured_point.version_key is 'Version [profile_version.version_key]';
comment on column measured_point.kernel_type is 'Kernel [regime.kernel_type]';
comment on column measured_point.path is 'Path that placed the measurements [regime.path]';
comment on column measured_point.input_limit is 'Leading inputs that the path reads, 0 = all [count, regime.input_limit]';
comment on column measured_point.regime_id is 'Regime of the point [regime.regime_id]';
comment on column measured_point.regime_key is 'Fields that are equal in the regime [canonical JSON, regime.regime_key]';
comment on column measured_point.axis_names is 'Names of the axes [list of text, regime.axis_names]';
comment on column measured_point.axis_values is 'Coordinate of the point along axis_names [elements, point.axis_1 ...]';
comment on column measured_point.latency_column is 'CSV column of the latencies [point.latency_column]';
comment on column measured_point.measurement_count is 'Measurements on the point [count]';
comment on column measured_point.latency_mean_us is 'Their mean [us]';
