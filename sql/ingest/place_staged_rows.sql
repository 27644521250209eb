-- Row and line numbers of a file that was repaired before it was read.
-- param: row_numbers bigint[] [data row of each staged row]
-- param: line_numbers bigint[] [physical line of each staged row]
-- template: staged_part is the table of the file
create or replace temp table staged_part as
select p.*, $row_numbers[rowid - first_rowid + 1] as row_number, $line_numbers[rowid - first_rowid + 1] as line_number
from staged_part as p, (select min(rowid) as first_rowid from staged_part)
