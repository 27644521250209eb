-- Matching measurements of equal content as one group, aggregated.
-- param: aggregation varchar [mean, median, min or first]
-- reads: matches
select id, position, distance, file_id, signature_id, latency_rank, latency_column, min(row_id) as row_id,
    arg_min(line_number, row_id) as line_number, count(*) as measurement_count, min(latency_us) as latency_min_us,
    max(latency_us) as latency_max_us,
    case $aggregation when 'mean' then avg(latency_us order by latency_us) when 'median' then median(latency_us)
        when 'min' then min(latency_us) else arg_min(latency_us, row_id) end as latency_us
from matches
group by id, position, distance, file_id, signature_id, latency_rank, latency_column
order by id, position, distance, latency_rank, signature_id
