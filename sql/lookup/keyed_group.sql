-- Groups of equal measurements under the wanted keys, each with the place of its key among them.
-- param: file_ids integer[] [file of each wanted key]
-- param: keys varchar[] [wanted keys]
-- param: classes bigint[] [size classes of all the keys, empty for every class]
-- param: aggregation varchar [mean, median, min or first]
select wanted.place, e.is_bare, e.row_id, e.line_number, e.latency_column, e.latency_rank, e.signature_id,
    e.measurement_count, coalesce(e.latency_min_us, e.latency_mean_us) as latency_min_us,
    coalesce(e.latency_max_us, e.latency_mean_us) as latency_max_us,
    coalesce(case $aggregation when 'median' then e.latency_median_us
        when 'min' then e.latency_min_us when 'first' then e.latency_first_us end, e.latency_mean_us) as latency_us
from exact_key as e
join (select unnest(range(len($keys))) as place, unnest($file_ids) as file_id, unnest($keys) as match_key) as wanted
    on e.file_id = wanted.file_id and e.match_key = wanted.match_key
where len($classes::bigint[]) = 0 or e.size_class in $classes::bigint[]
