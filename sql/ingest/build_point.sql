-- Points: measurements of one coordinate, regime and latency column, aggregated in every supported way.
insert into point
select regime_id, latency_column, min(p.latency_rank), axis_1, axis_2, axis_3, axis_4,
    avg(latency_us order by latency_us), median(latency_us), min(latency_us), arg_min(latency_us, item_id), max(latency_us),
    count(*), min(item_id), arg_min(line_number, item_id),
    min(signature_id) <> max(signature_id) and round(min(latency_us), 12) <> round(max(latency_us), 12)
from placed_row as p
join regime as r on r.file_id = p.file_id and r.path = p.path and r.input_limit = p.input_limit
    and r.regime_key = p.regime_key and r.input_formats = p.input_formats and r.output_dtypes = p.output_dtypes
where reason is null
group by regime_id, latency_column, axis_1, axis_2, axis_3, axis_4
order by regime_id, axis_1, axis_2, axis_3, axis_4, min(p.latency_rank), latency_column
