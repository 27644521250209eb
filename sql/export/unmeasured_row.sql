-- Rows without latency of one kernel in one version.
-- param: version_id integer [profile_version.version_id]
-- param: kernel_type varchar [source_file.kernel_type]
-- order: file_id, row_number
select * exclude (version_id, kernel_type) from unmeasured_row
where version_id = $version_id and kernel_type = $kernel_type
order by file_id, row_number
