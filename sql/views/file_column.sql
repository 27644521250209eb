-- Every column of every CSV header with its place.
-- example: Which files have an EP Size column, and where in the header does it stand?
create or replace view file_column as
with headers as (
    select file_id, unnest(column_names) as csv_name, generate_subscripts(column_names, 1) as position from source_file
), spread as (
    select f.kernel_type, h.csv_name, count(*) as file_count from headers as h join source_file as f using (file_id)
    group by f.kernel_type, h.csv_name
)
select v.version_key, f.kernel_type, f.file_name, f.layout, h.position, h.csv_name, c.table_name, c.column_name,
    s.file_count
from headers as h
join source_file as f using (file_id)
join profile_version as v using (version_id)
join spread as s on s.kernel_type = f.kernel_type and s.csv_name = h.csv_name
left join csv_column as c on c.csv_name = h.csv_name
order by v.version_key, f.kernel_type, h.position;
comment on view file_column is 'One row per version, CSV and column of its header [source: source_file, csv_column]';
comment on column file_column.version_key is 'Version [profile_version.version_key]';
comment on column file_column.kernel_type is 'Kernel [source_file.kernel_type]';
comment on column file_column.file_name is 'CSV of the header [source_file.file_name]';
comment on column file_column.layout is 'Column set of the file [source_file.layout]';
comment on column file_column.position is 'Place in the header, 1 = first [count]';
comment on column file_column.csv_name is 'Header as written [text]';
comment on column file_column.table_name is 'Table that the column fills, null when no migration knows it [csv_column.table_name]';
comment on column file_column.column_name is 'Column that it fills [csv_column.column_name]';
comment on column file_column.file_count is 'CSVs of the kernel, over all versions, that have the column [count]';
