-- What 'Average Duration(us)' means in each CSV: the name changed its meaning from one column layout to the next.
-- example: In which files is Average Duration(us) a mean of the profiler and not a minimum of the microbenchmark?
create or replace view average_meaning as
with headers as (
    select file_id, version_id, kernel_type, file_name, layout, list_contains(column_names, 'Average Duration(us)') as is_there,
        list_filter(column_names, lambda name: name in ('Median Duration(us)', 'Std Duration(us)')
            or starts_with(name, 'Average ') and name <> 'Average Duration(us)') as old_names,
        list_filter(column_names, lambda name: starts_with(name, 'MicroBench ') or starts_with(name, 'Profiling ')) as new_names
    from source_file
)
select h.file_id, v.version_key, h.kernel_type, h.file_name, h.layout,
    case when not h.is_there then 'absent'
         when len(h.old_names) > 0 and len(h.new_names) = 0 then 'profiling_mean'
         when len(h.new_names) > 0 and len(h.old_names) = 0 then 'microbench_minimum' else 'mean_or_minimum' end as meaning,
    coalesce(h.old_names[1], h.new_names[1]) as told_by
from headers as h join profile_version as v using (version_id)
order by v.version_key, h.file_name;
comment on view average_meaning is 'One row per CSV, judged by the other names in its header [source: source_file]';
comment on column average_meaning.file_id is 'File [source_file.file_id]';
comment on column average_meaning.version_key is 'Version [profile_version.version_key]';
comment on column average_meaning.kernel_type is 'Kernel, the stem of the CSV [source_file.kernel_type]';
comment on column average_meaning.file_name is 'CSV in the version folder [source_file.file_name]';
comment on column average_meaning.layout is 'Column set, null when nothing was loaded [source_file.layout]';
comment on column average_meaning.meaning is 'profiling_mean (names of legacy36), microbench_minimum (names of current62), mean_or_minimum (neither or both: nothing tells), absent [identifier]';
comment on column average_meaning.told_by is 'First header name that tells, null when none does [CSV column name]';
