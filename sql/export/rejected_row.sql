-- Rows of one kernel in one version that could not be used.
-- param: version_id integer [profile_version.version_id]
-- param: kernel_type varchar [source_file.kernel_type]
-- order: file, row, column
select r.* from rejected_row as r join source_file as f using (file_id)
where f.version_id = $version_id and f.kernel_type = $kernel_type
order by r.file_id, r.row_number, r.column_name, r.reason, r.cell, r.line_number
