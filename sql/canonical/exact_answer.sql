-- The exact answer of each target that has one: of the groups under its keys, the best.
-- param: aggregation varchar [mean, median, min or first]
-- reads: key_groups
-- order: match quality, dtype, kernel, latency column, content (place for first), rule
-- source: sqlinterp/lookup/exact.py; contradicting groups are no answer where the kernel demands one latency
with ranked as (
    select target_id, position, file_id, rule, quality, distance, is_unique, row_id, line_number, latency_column,
        latency_rank, signature_id, measurement_count, latency_min_us, latency_max_us, latency_us,
        rank() over (partition by target_id order by quality, distance, position, latency_rank) as place
    from key_groups
), equally_good as (
    select target_id, position, file_id, rule, quality, distance, is_unique, row_id, line_number, latency_column,
        latency_rank, signature_id, measurement_count, latency_min_us, latency_max_us, latency_us,
        row_number() over (partition by target_id order by case $aggregation when 'first' then row_id
            else signature_id end, rule) as choice,
        min(round(latency_min_us, 12)) over (partition by target_id) as least_us,
        max(round(latency_max_us, 12)) over (partition by target_id) as greatest_us
    from ranked where place = 1
)
select target_id, case when is_unique and least_us < greatest_us then null else 'MEASURED' end as source,
    case when is_unique and least_us < greatest_us then null else latency_us end as latency_us,
    case when is_unique and least_us < greatest_us then 'ambiguous_semantic_match' end as miss_reason,
    position, file_id, rule, quality, distance, row_id, line_number, latency_column, latency_rank, signature_id,
    measurement_count, latency_min_us, latency_max_us
from equally_good where choice = 1
