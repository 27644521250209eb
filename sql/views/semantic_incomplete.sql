-- Rows whose EP Size or runtime metadata is blank where other rows of the kernel have it.
-- example: Which DispatchFFNCombine rows can no lookup find because their EP Size is blank?
create or replace view semantic_incomplete as
with cells as (
    unpivot (select file_id, kernel_type, row_id, columns('^(ep_size|avg_seq_len|runtime_.*)$')::varchar from measurement)
    on columns('^(ep_size|avg_seq_len|runtime_.*)$') into name column_name value cell
), filled_cells as (
    select file_id, kernel_type, row_id, column_name from cells where trim(cell) <> ''
), kernel_columns as (
    select distinct kernel_type, column_name from filled_cells
), file_columns as (
    select distinct file_id, column_name from filled_cells
), blank_cells as (
    select m.row_id, h.csv_name, f.column_name is not null as is_in_file
    from measurement as m
    join kernel_columns as k using (kernel_type)
    join (select column_name, csv_name from csv_column where table_name = 'measurement') as h using (column_name)
    left join file_columns as f on f.file_id = m.file_id and f.column_name = k.column_name
    anti join filled_cells as c on c.row_id = m.row_id and c.column_name = k.column_name
), incomplete_rows as (
    select row_id, coalesce(list(csv_name order by csv_name) filter (is_in_file), []) as blank_columns,
        coalesce(list(csv_name order by csv_name) filter (not is_in_file), []) as absent_columns
    from blank_cells group by row_id
)
select v.version_key, m.kernel_type, f.file_name, m.row_id, m.row_number, m.line_number, m.input_shapes,
    i.blank_columns, i.absent_columns
from incomplete_rows as i
join (select row_id, file_id, version_id, kernel_type, row_number, line_number, input_shapes from measurement) as m using (row_id)
join source_file as f using (file_id) join profile_version as v on v.version_id = m.version_id
order by m.row_id;
comment on view semantic_incomplete is 'One row per measurement that lacks metadata which the kernel has elsewhere [source: measurement, csv_column]';
comment on column semantic_incomplete.version_key is 'Version [profile_version.version_key]';
comment on column semantic_incomplete.kernel_type is 'Kernel [measurement.kernel_type]';
comment on column semantic_incomplete.file_name is 'CSV of the row [source_file.file_name]';
comment on column semantic_incomplete.row_id is 'Measurement [measurement.row_id]';
comment on column semantic_incomplete.row_number is 'Data row, 1 = first after the header [count]';
comment on column semantic_incomplete.line_number is 'Physical line where the row starts [count]';
comment on column semantic_incomplete.input_shapes is 'Input shapes by slot [elements, measurement.input_shapes]';
comment on column semantic_incomplete.blank_columns is 'Blank here, filled in other rows of the same file [list of CSV column names]';
comment on column semantic_incomplete.absent_columns is 'Absent or blank in the whole file, filled in the file of another version [list of CSV column names]';
