-- The wanted measurements made at an expert-parallel size; those of files that do not record it serve any.
-- param: row_ids bigint[] [measurement.row_id]
-- param: ep_size integer [ranks; null is equal to no row that has a size]
select row_id, m.ep_size, list_contains(column_names, 'EP Size') as is_recorded
from measurement as m join source_file using (file_id)
where row_id in (select unnest($row_ids)) and (not list_contains(column_names, 'EP Size') or m.ep_size = $ep_size)
order by row_id
