-- Placed rows of declared tables, whose regime and axes were read with them.
insert into placed_row by name
select m.row_id as item_id, m.file_id, 0 as input_limit, d.regime_key, '' as input_formats, '' as output_dtypes,
    true as is_nd, d.axis_1, d.axis_2, d.axis_3, d.axis_4, null as reason,
    'declared:' || array_to_string(f.axis_names, ',') as path, m.version_id, m.kernel_type, m.latency_us, m.latency_column,
    m.latency_rank, m.line_number, m.signature_id
from declared_row as d
join (select row_id, file_id, version_id, kernel_type, latency_us, latency_column, latency_rank, line_number, signature_id
    from measurement) as m using (row_id)
join declared_file as f on f.file_id = m.file_id
order by m.row_id
