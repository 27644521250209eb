-- Points that were measured repeatedly, and how far the repetitions lie apart: what no interpolation can do better than.
-- example: At which coordinates do repeated measurements of one kernel differ by more than 15 %?
create or replace view noise_point as
select g.version_key, g.device, g.kernel_type, g.path, g.group_id, g.regime_id, g.axis_names,
    ([p.axis_1, p.axis_2, p.axis_3, p.axis_4])[1:len(g.axis_names)] as axis_values, p.latency_column,
    p.measurement_count as n_raw, p.latency_median_us as median_us, p.latency_min_us, p.latency_max_us,
    p.latency_max_us / p.latency_min_us as spread
from point as p join regime_group as g using (regime_id)
where p.measurement_count > 1
order by spread desc, g.version_key, g.kernel_type, g.regime_id, axis_values, p.latency_column;
comment on view noise_point is 'One row per point with more than one measurement, widest first [source: point]';
comment on column noise_point.version_key is 'Version [profile_version.version_key]';
comment on column noise_point.device is 'First part of the version key [text]';
comment on column noise_point.kernel_type is 'Kernel [regime.kernel_type]';
comment on column noise_point.path is 'Path that defines the axes [regime.path]';
comment on column noise_point.group_id is 'Kernel and regime, the same in every version [regime_group.group_id]';
comment on column noise_point.regime_id is 'Regime [regime.regime_id]';
comment on column noise_point.axis_names is 'Names of the axes [list of text, regime.axis_names]';
comment on column noise_point.axis_values is 'Coordinate along axis_names [axis unit, point.axis_1 ...]';
comment on column noise_point.latency_column is 'CSV or table column of the latencies [point.latency_column]';
comment on column noise_point.n_raw is 'Measurements on the point [count]';
comment on column noise_point.median_us is 'Their median [us]';
comment on column noise_point.latency_min_us is 'Smallest of them [us]';
comment on column noise_point.latency_max_us is 'Largest of them [us]';
comment on column noise_point.spread is 'Largest over smallest [ratio]';
