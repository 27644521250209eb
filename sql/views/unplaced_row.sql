-- Measurements that no lookup by regime and axes can use, and why: EP Size or runtime metadata missing, odd shapes.
-- example: Which attention rows can never be matched because their runtime metadata is missing?
create or replace view unplaced_row as
select v.version_key, f.kernel_type, f.file_name, d.path, d.reason, d.row_count, d.row_count / f.rows_stored as share
from dropped_point as d join source_file as f using (file_id) join profile_version as v using (version_id)
order by v.version_key, f.kernel_type, d.path, d.row_count desc, d.reason;
comment on view unplaced_row is 'One row per file, path and reason [source: dropped_point, source_file]';
comment on column unplaced_row.version_key is 'Version [profile_version.version_key]';
comment on column unplaced_row.kernel_type is 'Kernel [source_file.kernel_type]';
comment on column unplaced_row.file_name is 'CSV of the rows [source_file.file_name]';
comment on column unplaced_row.path is 'Path that could not place them [dropped_point.path]';
comment on column unplaced_row.reason is 'What is missing, csv: before names of CSV columns [identifier, dropped_point.reason]';
comment on column unplaced_row.row_count is 'Measurements concerned [count, dropped_point.row_count]';
comment on column unplaced_row.share is 'Measurements concerned over all measurements of the file [ratio 0..1]';
