-- Placed rows of one path joined with their measurement; the path's reason keeps the others out.
-- param: path varchar [path name]
-- reads: placed
select placed.*, $path as path, m.version_id, m.kernel_type, m.latency_us, m.latency_column, m.latency_rank, m.line_number,
    m.signature_id
from placed join measurement as m on m.row_id = placed.item_id
