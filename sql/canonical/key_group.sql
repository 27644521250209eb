-- The groups of equal measurements under the keys of targets, one row per target, key and group.
-- param: aggregation varchar [mean, median, min or first]
-- reads: target_key
-- source: a leading 1 is taken off to match, never to match by another rule (sqlinterp/lookup/exact.py)
with needed_files as (
    select distinct file_id from target_key
), slices as (
    select e.file_id, e.match_key, e.is_bare, e.row_id, e.line_number, e.latency_column, e.latency_rank, e.signature_id,
        e.measurement_count, coalesce(e.latency_min_us, e.latency_mean_us) as latency_min_us,
        coalesce(e.latency_max_us, e.latency_mean_us) as latency_max_us,
        coalesce(case $aggregation when 'median' then e.latency_median_us when 'min' then e.latency_min_us
            when 'first' then e.latency_first_us end, e.latency_mean_us) as latency_us
    from exact_key as e join needed_files as f on f.file_id = e.file_id
)
select t.target_id, t.position, t.file_id, t.match_key, t.rule, t.quality, t.distance, t.is_unique, s.is_bare, s.row_id,
    s.line_number, s.latency_column, s.latency_rank, s.signature_id, s.measurement_count, s.latency_min_us,
    s.latency_max_us, s.latency_us
from slices as s join target_key as t on t.file_id = s.file_id and t.match_key = s.match_key
where t.rule = 'batch_strip' or not s.is_bare
