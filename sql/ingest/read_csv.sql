-- One CSV file into staging, every cell as text; any irregular row makes the read fail.
-- param: path varchar [text]
-- param: columns struct [column name to VARCHAR, in file order]
create or replace temp table raw_row as
select row_number() over () as row_number, *
from read_csv($path, columns = $columns, header = true, auto_detect = false, delim = ',', quote = '"',
    escape = '"', strict_mode = true, ignore_errors = false, null_padding = false, max_line_size = 8000000)
