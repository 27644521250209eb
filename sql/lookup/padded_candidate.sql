-- Measured groups that the target may pad: equal sizes after rounding up to 64.
-- reads: keys
-- param: aggregation varchar [mean, median, min or first]
select distinct k.id, k.position, k.distance, k.shapes, e.latency_rank, e.signature_id, e.row_id, e.line_number, e.latency_column,
    e.latency_min_us, e.latency_max_us, e.measurement_count, case $aggregation when 'mean' then e.latency_mean_us
        when 'median' then e.latency_median_us when 'min' then e.latency_min_us else e.latency_first_us end as latency_us
from keys as k join exact_key as e on e.file_id = k.file_id and e.match_key = k.key || k.suffix
