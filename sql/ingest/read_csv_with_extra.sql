-- CSV files with unknown columns into a staged part; the cells of those columns become one JSON object.
-- param: paths varchar[] [text]
-- param: file_ids integer[] [source_file.file_id of each path]
-- param: columns struct [column name to VARCHAR, in file order]
-- param: extras varchar[] [unknown names, in file order]
-- param: longest_line bigint [bytes]
-- template: staged_part is the table to make; has_odd_number and number_cells stand for expressions over the decimal columns
create or replace temp table staged_part as
select $file_ids[file_index::bigint + 1] as file_id,
    columns(lambda name: name not like 'extra:%' and not list_contains(getvariable('decimal_columns'), name)),
    finite_number(columns(lambda name: list_contains(getvariable('decimal_columns'), name))),
    to_json(map($extras, list_value(*columns('extra:.*'))))::varchar as extra_json,
    if(has_odd_number, to_json(number_cells)::varchar, null) as odd_numbers
from read_csv($paths, columns = $columns, header = true, auto_detect = false, delim = ',', quote = '"', escape = '"',
    strict_mode = true, ignore_errors = true, null_padding = false, max_line_size = $longest_line)
