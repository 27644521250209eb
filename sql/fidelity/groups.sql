-- Regimes of one version with what declared them, each with the name that it has in every version.
-- param: version_key varchar [profile_version.version_key]
select r.regime_id, r.file_id, r.kernel_type, r.path, r.input_limit, r.regime_key, r.input_formats, r.output_dtypes, r.is_nd,
    r.axis_names, r.latency_ranks, r.measurement_count, d.axis_transforms, d.backend_column, d.feasible_cells, g.group_id,
    g.dtype, g.device
from regime as r join regime_group as g using (regime_id) left join declared_file as d using (file_id)
where g.version_key = $version_key
order by r.kernel_type, r.path, r.regime_id
