-- CSV files that no operator's mapping names.
-- example: Which measured kernels does the simulator never ask for?
create or replace view csv_without_mapping as
select v.version_key, v.kind, f.kernel_type, f.file_name, f.status, f.rows_stored
from source_file as f
join profile_version as v using (version_id)
anti join (select file_id from assigned_kernel where file_id is not null) as a using (file_id)
order by v.version_key, f.kernel_type;
comment on view csv_without_mapping is 'One row per CSV that no entry of any version that reads it names [source: source_file, assigned_kernel]';
comment on column csv_without_mapping.version_key is 'Version of the file [profile_version.version_key]';
comment on column csv_without_mapping.kind is 'kernel or communication folder [profile_version.kind]';
comment on column csv_without_mapping.kernel_type is 'Kernel, the stem of the file [source_file.kernel_type]';
comment on column csv_without_mapping.file_name is 'File name inside the version folder [source_file.file_name]';
comment on column csv_without_mapping.status is 'loaded, or why nothing was [source_file.status]';
comment on column csv_without_mapping.rows_stored is 'Measurements in the file [count]';
