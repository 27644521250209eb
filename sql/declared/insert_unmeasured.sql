-- Rows of one kernel without a latency.
-- param: file_id integer [the file]
-- param: row_numbers bigint[] [data rows]
-- param: line_numbers bigint[] [lines of those rows]
insert into unmeasured_row by name
select f.file_id, f.version_id, f.kernel_type, unnest($row_numbers) as row_number, unnest($line_numbers) as line_number
from source_file as f
where f.file_id = $file_id
