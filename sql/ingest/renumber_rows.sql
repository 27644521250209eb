-- True row and line numbers of a file that was repaired before it was read.
-- param: file_id integer [source_file.file_id]
-- param: row_numbers bigint[] [data row of each staged row]
-- param: line_numbers bigint[] [physical line of each staged row]
update staged_row set line_number = $line_numbers[row_number], row_number = $row_numbers[row_number]
where file_id = $file_id
