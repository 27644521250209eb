-- Groups of equal measurements in one size class of the files of a few kernels and those between, under all their keys.
-- param: first_file integer [first file of the kernels]
-- param: last_file integer [last file of the kernels]
-- param: size_class bigint [size class of the wanted keys]
-- param: most bigint [at most so many groups]
-- param: aggregation varchar [mean, median, min or first]
select file_id, match_key, is_bare, row_id, line_number, latency_column, latency_rank, signature_id, measurement_count,
    coalesce(latency_min_us, latency_mean_us) as latency_min_us,
    coalesce(latency_max_us, latency_mean_us) as latency_max_us,
    coalesce(case $aggregation when 'median' then latency_median_us
        when 'min' then latency_min_us when 'first' then latency_first_us end, latency_mean_us) as latency_us
from exact_key
where size_class = $size_class::bigint and file_id between $first_file and $last_file
limit $most
