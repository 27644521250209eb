-- Latency of equal signatures between two versions, by kernel, the largest median change first.
select old_version_key, new_version_key, kernel_type, count(*) as signature_count, median(ratio) as median_ratio,
    min(ratio) as smallest_ratio, max(ratio) as largest_ratio, median(profiling_ratio) as median_profiling_ratio,
    count(*) filter (ratio not between 1 / 1.15 and 1.15) as beyond_15_percent,
    count(*) filter (is_like_for_like) as like_for_like_count
from version_diff
group by old_version_key, new_version_key, kernel_type
order by abs(ln(median_ratio)) desc, old_version_key, new_version_key, kernel_type
