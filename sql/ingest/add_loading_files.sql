-- The staged files, with what is known about each of them; one list per field.
-- param: file_ids integer[] [source_file.file_id]
-- param: first_rows bigint[] [rowid of the first staged row]
-- param: core_ratios double[] [ratio, null = no envelope]
-- param: prefer_profiling boolean[] [flag]
-- param: has_counters boolean[] [flag]
-- param: has_enrichment boolean[] [flag]
insert into loading_file
select file_id, version_id, kernel_type, layout is not distinct from 'comm6' as is_communication,
    core_ratio, prefer_profiling, first_row, has_counters, has_enrichment
from (
    select unnest($file_ids) as file_id, unnest($first_rows) as first_row, unnest($core_ratios) as core_ratio,
        unnest($prefer_profiling) as prefer_profiling, unnest($has_counters) as has_counters,
        unnest($has_enrichment) as has_enrichment
) join source_file using (file_id)
