-- Rows just read, as staged rows; the cells of unknown columns become one JSON object.
-- param: file_id integer [source_file.file_id]
insert into staged_row by name
select $file_id as file_id, row_number + 1 as line_number,
    columns(lambda name: name not like 'extra:%'),
    replace((select to_json(extras) from (select columns('extra:.*')) as extras)::varchar, '"extra:', '"') as extra_json
from raw_row
