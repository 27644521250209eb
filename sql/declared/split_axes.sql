-- Kernels of one version that are declared on different axes.
select v.version_key, f.kernel_type, list(distinct d.axis_names::varchar || d.axis_transforms::varchar) as axes,
    list(distinct d.declaration) as declarations
from declared_file as d join source_file as f using (file_id) join profile_version as v using (version_id)
where f.rows_stored > 0
group by v.version_key, f.kernel_type
having count(distinct d.axis_names::varchar || d.axis_transforms::varchar) > 1
order by v.version_key, f.kernel_type
limit 5
