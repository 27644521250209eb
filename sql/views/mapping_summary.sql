-- How many operators of each version take which lookup path by which query mode, and how many of those have data.
-- example: How many operators of a version are compute lookups, and how many of them can be answered?
create or replace view mapping_summary as
with usable as (
    select version_key, operator, bool_or(is_usable) as has_csv, bool_and(is_usable) as has_every_csv
    from assigned_kernel group by version_key, operator
), totals as (
    select version_id, count(*) as operator_count from op_mapping group by version_id
)
select v.version_key, m.dispatch, m.query_mode, count(*) as operator_count, count(*) / any_value(t.operator_count) as share,
    count(*) filter (u.operator is not null) as with_kernel_count, count(*) filter (u.has_csv) as with_csv_count,
    count(*) filter (u.has_every_csv) as with_every_csv_count
from op_mapping as m
join profile_version as v using (version_id)
join totals as t using (version_id)
left join usable as u on u.version_key = v.version_key and u.operator = m.operator
group by v.version_key, m.dispatch, m.query_mode
order by v.version_key, operator_count desc, m.dispatch, m.query_mode;
comment on view mapping_summary is 'One row per version, lookup path and query mode [source: op_mapping, assigned_kernel]';
comment on column mapping_summary.version_key is 'Version of the mapping [profile_version.version_key]';
comment on column mapping_summary.dispatch is 'Lookup path that the entries select [op_mapping.dispatch]';
comment on column mapping_summary.query_mode is 'query_mode of the entries, null when they have none [op_mapping.query_mode]';
comment on column mapping_summary.operator_count is 'Operators of the row [count, op_mapping]';
comment on column mapping_summary.share is 'Operators of the row over all operators of the version [ratio 0..1]';
comment on column mapping_summary.with_kernel_count is 'Those whose entry names a kernel in any role [count]';
comment on column mapping_summary.with_csv_count is 'Those with a usable CSV for at least one named kernel [count]';
comment on column mapping_summary.with_every_csv_count is 'Those with a usable CSV for every named kernel [count]';
