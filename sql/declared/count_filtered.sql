-- How many rows of files the filters of their declaration left out.
-- param: file_ids integer[] [the files]
select coalesce(sum(rows_filtered), 0)::bigint as rows_filtered
from declared_file
where file_id in (select unnest($file_ids))
