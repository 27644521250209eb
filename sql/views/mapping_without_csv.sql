-- Operators whose mapping names a kernel that has no usable CSV.
-- example: Which operators can never be answered in this version, and which kernels are to be measured?
create or replace view mapping_without_csv as
select version_key, operator, dispatch, kernel_type, roles,
    case when file_id is null then 'absent' when status <> 'loaded' then status else 'no_measurement' end as problem,
    (select count(*) from assigned_kernel as o
        where o.version_key = a.version_key and o.operator = a.operator and o.is_usable) as usable_kernel_count
from assigned_kernel as a
where not is_usable
order by version_key, operator, kernel_type;
comment on view mapping_without_csv is 'One row per version, operator and kernel that the entry names and no lookup can read [source: assigned_kernel]';
comment on column mapping_without_csv.version_key is 'Version of the mapping [profile_version.version_key]';
comment on column mapping_without_csv.operator is 'Operator [op_mapping.operator]';
comment on column mapping_without_csv.dispatch is 'Lookup path; zero_cost and accepted_miss need no CSV [op_mapping.dispatch]';
comment on column mapping_without_csv.kernel_type is 'Kernel without usable CSV [text]';
comment on column mapping_without_csv.roles is 'Keys of the entry that name the kernel [list of text from op_mapping.entry_json]';
comment on column mapping_without_csv.problem is 'absent, the status of an unusable file, or no_measurement [identifier]';
comment on column mapping_without_csv.usable_kernel_count is 'Other kernels of the entry that are usable [count]';
