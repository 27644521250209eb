-- Rows of the wanted files that a path cannot place, by reason, the most frequent reason first.
-- param: path varchar [path name]
-- param: file_ids integer[] [source_file.file_id]
-- order: file, rows concerned
select file_id, reason, row_count, exists (select 1 from regime as r where r.file_id = d.file_id and r.path = $path) as has_regimes
from dropped_point as d
where path = $path and file_id in (select unnest($file_ids))
order by file_id, row_count desc, reason
