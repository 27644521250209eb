-- CSV files of one header into staging, every cell as text. Irregular rows are left out: the caller compares the counts.
-- param: paths varchar[] [text]
-- param: file_ids integer[] [source_file.file_id of each path]
-- param: columns struct [column name to VARCHAR, in file order]
-- param: longest_line bigint [bytes]
insert into staged_row by name
select $file_ids[list_position($paths, filename)] as file_id, * exclude (filename)
from read_csv($paths, columns = $columns, header = true, auto_detect = false, delim = ',', quote = '"', escape = '"',
    strict_mode = true, ignore_errors = true, null_padding = false, max_line_size = $longest_line, filename = true)
