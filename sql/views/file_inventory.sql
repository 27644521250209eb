-- Health of every file: status, layout, size, byte order marks, counts, unknown columns, what to do.
-- example: Which files are Git-LFS pointers or were not loaded cleanly?
create or replace view file_inventory as
with issues as (
    select file_id, count(*) filter (severity = 'error') as error_count, count(*) filter (severity = 'warning') as warning_count
    from source_issue where file_id is not null group by file_id
)
select v.version_key, f.kernel_type, f.file_name, f.status, f.layout, f.size_bytes, f.bom_count,
    len(f.column_names) as column_count, f.unknown_columns, f.preferred_latency_column,
    f.rows_read, f.rows_stored, f.rows_rejected, f.rows_without_latency,
    coalesce(i.error_count, 0) as error_count, coalesce(i.warning_count, 0) as warning_count,
    f.status = 'loaded' and f.rows_rejected = 0 and coalesce(i.error_count + i.warning_count, 0) = 0 as is_clean,
    f.message, f.file_path, f.sha256
from source_file as f join profile_version as v using (version_id) left join issues as i using (file_id)
order by v.version_key, f.file_name;
comment on view file_inventory is 'One row per CSV file of every version [source: source_file, source_issue]';
comment on column file_inventory.version_key is 'Version [profile_version.version_key]';
comment on column file_inventory.kernel_type is 'Kernel, the stem of the file [source_file.kernel_type]';
comment on column file_inventory.file_name is 'File name inside the version folder [source_file.file_name]';
comment on column file_inventory.status is 'loaded, or why nothing was [source_file.status]';
comment on column file_inventory.layout is 'Column set, null when nothing was loaded [source_file.layout]';
comment on column file_inventory.size_bytes is 'Size of the file [bytes]';
comment on column file_inventory.bom_count is 'UTF-8 byte order marks at the start; 0 or 1 is normal [count]';
comment on column file_inventory.column_count is 'Columns in the header [count]';
comment on column file_inventory.unknown_columns is 'Header names that no migration knows [list of text]';
comment on column file_inventory.preferred_latency_column is 'First latency column of the header [CSV column name]';
comment on column file_inventory.rows_read is 'Data rows read = stored + rejected + without latency [count]';
comment on column file_inventory.rows_stored is 'Rows that are measurements [count]';
comment on column file_inventory.rows_rejected is 'Rows that could not be used [count]';
comment on column file_inventory.rows_without_latency is 'Rows that wait for a measurement [count]';
comment on column file_inventory.error_count is 'Errors that ingest noted about the file [count, source_issue]';
comment on column file_inventory.warning_count is 'Warnings that ingest noted about the file [count, source_issue]';
comment on column file_inventory.is_clean is 'Loaded, nothing rejected, nothing noted [boolean]';
comment on column file_inventory.message is 'What is wrong with the file and what to do, null when nothing [source_file.message]';
comment on column file_inventory.file_path is 'Path when it was ingested [text]';
comment on column file_inventory.sha256 is 'SHA-256 of the content [hex]';
