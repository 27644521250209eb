-- Row and line numbers of a file that was repaired before it was read.
-- param: file_id integer [source_file.file_id]
-- param: row_numbers bigint[] [data row of each staged row]
-- param: line_numbers bigint[] [physical line of each staged row]
update staged_row set
    row_number = $row_numbers[rowid - first_row + 1],
    line_number = $line_numbers[rowid - first_row + 1]
from (select min(rowid) as first_row from staged_row where file_id = $file_id)
where file_id = $file_id
