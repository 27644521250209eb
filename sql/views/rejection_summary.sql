-- Rejected rows counted by file, column and reason.
-- example: What is the most frequent reason for a rejected row?
create or replace view rejection_summary as
select v.version_key, f.kernel_type, f.file_name, r.column_name, r.reason, count(*) as row_count,
    min(r.line_number) as first_line_number, arg_min(r.cell, r.row_number) as first_cell
from rejected_row as r join source_file as f using (file_id) join profile_version as v using (version_id)
group by v.version_key, f.kernel_type, f.file_name, r.column_name, r.reason
order by row_count desc, v.version_key, f.kernel_type, r.reason, r.column_name;
comment on view rejection_summary is 'One row per file, column and reason [source: rejected_row]';
comment on column rejection_summary.version_key is 'Version [profile_version.version_key]';
comment on column rejection_summary.kernel_type is 'Kernel, the stem of the file [source_file.kernel_type]';
comment on column rejection_summary.file_name is 'File name inside the version folder [source_file.file_name]';
comment on column rejection_summary.column_name is 'CSV column that is wrong, null when the whole row is [text]';
comment on column rejection_summary.reason is 'Why the rows were rejected [identifier, rejected_row.reason]';
comment on column rejection_summary.row_count is 'Rows rejected for the reason [count]';
comment on column rejection_summary.first_line_number is 'Physical line of the first of them [count]';
comment on column rejection_summary.first_cell is 'Offending cell or row of the first of them, cut to 200 characters [text]';
