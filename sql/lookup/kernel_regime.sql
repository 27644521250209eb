-- Regimes of a kernel in a version, with the axes and what declared them.
-- param: version_id integer [the version]
-- param: kernel varchar [the kernel]
select r.regime_id, r.file_id, r.path, r.input_limit, r.regime_key, r.input_formats, r.output_dtypes, r.is_nd, r.axis_names,
    r.latency_ranks, r.measurement_count, d.axis_transforms, d.backend_column
from regime as r left join declared_file as d using (file_id)
where r.version_id = $version_id and r.kernel_type = $kernel
order by r.regime_id
