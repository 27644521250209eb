-- Numbered rows of one kernel as measurements.
-- param: file_id integer [the file]
-- param: latency_column varchar [column of the table]
insert into measurement by name
select n.row_id, f.file_id, f.version_id, f.kernel_type, n.row_number, n.line_number, n.signature_id, n.latency_us,
    $latency_column as latency_column, 0 as latency_rank, n.latency_us as raw_latency_us
from numbered_row as n, source_file as f
where f.file_id = $file_id
order by n.row_id
