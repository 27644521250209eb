-- Reasons for which rows were rejected, the most frequent first.
select version_key, file_name, column_name, reason, row_count, first_line_number, first_cell
from rejection_summary
order by row_count desc, version_key, file_name, reason, column_name
