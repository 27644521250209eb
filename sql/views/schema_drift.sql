-- Columns that a kernel's CSV has in one version and lacks in another.
-- example: Which kernels of v0.15 lack runtime metadata that v0.18 recorded?
create or replace view schema_drift as
with files as (
    select f.file_id, v.version_key, f.kernel_type, f.layout, f.column_names
    from source_file as f join profile_version as v using (version_id) where f.status = 'loaded'
), columns_of_files as (
    select file_id, kernel_type, unnest(column_names) as csv_name from files
), fields_of_files as (
    select distinct c.file_id, c.kernel_type, coalesce(k.column_name, c.csv_name) as field
    from columns_of_files as c left join csv_column as k using (csv_name)
), kernels as (
    select kernel_type, count(distinct version_key) as version_count from files group by kernel_type
), column_owners as (
    select kernel_type, csv_name, count(*) as owner_count from columns_of_files group by kernel_type, csv_name
), field_owners as (
    select kernel_type, field, count(*) as owner_count from fields_of_files group by kernel_type, field
), all_columns as (
    select kernel_type, list(csv_name order by csv_name) as names,
        list(csv_name order by csv_name) filter (owner_count = 1) as single_names
    from column_owners group by kernel_type
), all_fields as (
    select kernel_type, list(field order by field) as names from field_owners group by kernel_type
), own_fields as (
    select file_id, list(field) as names from fields_of_files group by file_id
)
select f.version_key, f.kernel_type, f.layout, k.version_count, len(f.column_names) as column_count,
    list_filter(c.names, lambda name: not list_contains(f.column_names, name)) as missing_columns,
    list_filter(a.names, lambda name: not list_contains(o.names, name)) as missing_fields,
    if(k.version_count = 1, [], list_filter(coalesce(c.single_names, []), lambda name: list_contains(f.column_names, name)))
        as own_columns
from files as f
join kernels as k using (kernel_type) join all_columns as c using (kernel_type) join all_fields as a using (kernel_type)
join own_fields as o using (file_id)
order by f.kernel_type, f.version_key;
comment on view schema_drift is 'One row per version and loaded kernel CSV, compared with the same kernel in the other versions [source: source_file, csv_column]';
comment on column schema_drift.version_key is 'Version [profile_version.version_key]';
comment on column schema_drift.kernel_type is 'Kernel [source_file.kernel_type]';
comment on column schema_drift.layout is 'Column set of this file [source_file.layout]';
comment on column schema_drift.version_count is 'Versions that have a loaded CSV of the kernel; 1 = nothing to compare with [count]';
comment on column schema_drift.column_count is 'Columns in the header [count]';
comment on column schema_drift.missing_columns is 'Headers that some other version has and this file lacks, renamed ones included [list of CSV column names]';
comment on column schema_drift.missing_fields is 'Those that are missing after renamed headers are resolved [list of database or CSV column names]';
comment on column schema_drift.own_columns is 'Headers that no other version has [list of CSV column names]';
