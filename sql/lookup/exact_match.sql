-- Measured groups that match each target, best first: identical, then relabelled.
-- reads: keys
-- param: aggregation varchar [mean, median, min or first]
-- order: match quality, dtype, kernel, latency column, content (place in the file for 'first')
select k.id, k.position, k.distance, k.rule, k.quality, e.row_id, e.line_number, e.latency_column, e.latency_rank,
    e.latency_min_us, e.latency_max_us, e.measurement_count, case $aggregation when 'mean' then e.latency_mean_us
        when 'median' then e.latency_median_us when 'min' then e.latency_min_us else e.latency_first_us end as latency_us
from keys as k join exact_key as e on e.file_id = k.file_id and e.match_key = k.key || k.suffix
where k.rule = 'batch_strip' or not e.is_bare
order by id, quality, distance, position, e.latency_rank,
    if($aggregation = 'first', e.row_id, e.signature_id), rule
