-- Regimes of a kernel that several files of one version hold, of which a lookup could see only one.
with rows_of_files as (
    select distinct m.version_id, m.kernel_type, d.regime_key, m.file_id
    from declared_row as d join (select row_id, file_id, version_id, kernel_type from measurement) as m using (row_id)
)
select v.version_key, r.kernel_type, r.regime_key, list(f.file_path order by f.file_id) as file_paths
from rows_of_files as r join profile_version as v using (version_id) join source_file as f using (file_id)
group by v.version_key, r.kernel_type, r.regime_key
having count(*) > 1
order by v.version_key, r.kernel_type, r.regime_key
limit 5
