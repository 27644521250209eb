-- Column names of kernel files.
-- param: file_ids integer[] [files of the kernels]
select file_id, column_names
from source_file
where file_id in (select unnest($file_ids))
order by file_id
