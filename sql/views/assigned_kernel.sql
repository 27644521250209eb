-- Every kernel that an operator's mapping entry names, with the CSV that a lookup would read for it.
-- example: Which kernels may answer aten.bmm.default, and has each one rows?
create or replace view assigned_kernel as
with names as (
    select m.version_id, m.operator, m.dispatch, json_extract_string(t.atom, '$') as kernel_type,
        regexp_replace(regexp_replace(t.fullkey, '^\$\.', ''), '\.?["\[].*$', '') as role
    from op_mapping as m, json_tree(m.entry_json) as t
    where t.type = 'VARCHAR' and regexp_matches(t.fullkey, 'kernel_type|[.]sub_kernels\[')
), kernels as (
    select version_id, operator, min(dispatch) as dispatch, kernel_type, list_sort(list(distinct role)) as roles
    from names
    group by version_id, operator, kernel_type
), readers as (
    select k.*, v.version_key, if(starts_with(k.kernel_type, 'hcom_') and shared.file_id is not null,
        shared.file_id, own.file_id) as file_id
    from kernels as k
    join profile_version as v using (version_id)
    left join source_file as own on own.version_id = k.version_id and own.kernel_type = k.kernel_type
    left join source_file as shared on shared.version_id = v.communication_version_id and shared.kernel_type = k.kernel_type
)
select r.version_key, r.operator, r.dispatch, r.kernel_type, r.roles, r.file_id, f.status,
    coalesce(f.rows_stored, 0) as rows_stored, coalesce(f.rows_stored, 0) > 0 as is_usable
from readers as r left join source_file as f using (file_id)
order by r.version_key, r.operator, r.kernel_type;
comment on view assigned_kernel is 'One row per version, operator and kernel that its entry names in any role [source: op_mapping, source_file]';
comment on column assigned_kernel.version_key is 'Version of the mapping [profile_version.version_key]';
comment on column assigned_kernel.operator is 'Operator [op_mapping.operator]';
comment on column assigned_kernel.dispatch is 'Lookup path of the entry [op_mapping.dispatch]';
comment on column assigned_kernel.kernel_type is 'Kernel named by the entry [text]';
comment on column assigned_kernel.roles is 'Keys of the entry that name the kernel, e.g. kernel_type, sub_kernels [list of text from op_mapping.entry_json]';
comment on column assigned_kernel.file_id is 'CSV that a lookup reads, hcom_ kernels from the communication folder first; null = none [source_file.file_id]';
comment on column assigned_kernel.status is 'Status of that file, null = none [source_file.status]';
comment on column assigned_kernel.rows_stored is 'Measurements in that file, 0 without a file [count, source_file.rows_stored]';
comment on column assigned_kernel.is_usable is 'Whether there is at least one measurement [boolean]';
