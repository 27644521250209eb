-- How far two versions differ where both measured: whether one can be the truth for the other.
-- example: Which version may serve as ground truth for another, kernel by kernel and dtype by dtype?
create or replace view version_drift as
with best_points as (
    select g.version_key, g.group_id, g.kernel_type, g.dtype, p.axis_1, p.axis_2, p.axis_3, p.axis_4, p.latency_mean_us as latency_us
    from point as p join regime_group as g using (regime_id)
    qualify row_number() over (partition by p.regime_id, p.axis_1, p.axis_2, p.axis_3, p.axis_4
        order by p.latency_rank, p.latency_column) = 1
), shared_points as (
    select a.kernel_type, a.dtype, a.version_key as v_a, b.version_key as v_b, b.latency_us / a.latency_us as ratio,
        a.latency_us = b.latency_us as is_copied
    from best_points as a join best_points as b using (group_id, axis_1, axis_2, axis_3, axis_4)
    where a.version_key <> b.version_key
), families as (
    select kernel_type, dtype, v_a, v_b, count(*) as n_shared, count(*) filter (is_copied) as n_identical,
        avg(is_copied::integer) > 0.05 as has_copies
    from shared_points group by kernel_type, dtype, v_a, v_b
), drifts as (
    select f.kernel_type as kernel, f.dtype, f.v_a, f.v_b, f.n_shared, f.n_identical, count(s.ratio) as n,
        median(s.ratio) as med, avg((abs(ln(s.ratio)) <= ln(1.15))::integer) as within_rate
    from families as f left join shared_points as s on s.kernel_type = f.kernel_type and s.dtype = f.dtype
        and s.v_a = f.v_a and s.v_b = f.v_b and not (f.has_copies and s.is_copied)
    group by f.kernel_type, f.dtype, f.v_a, f.v_b, f.n_shared, f.n_identical
)
select *, n >= 30 and med between 1 / 1.05 and 1.05 and within_rate >= 0.9 as is_truth
from drifts
order by kernel, dtype, v_a, v_b;
comment on view version_drift is 'One row per kernel, dtype and ordered pair of versions that share coordinates of equal regimes [source: point, regime_group]';
comment on column version_drift.kernel is 'Kernel [regime.kernel_type]';
comment on column version_drift.dtype is 'Values of the regime fields that name dtypes [text, regime_group.dtype]';
comment on column version_drift.v_a is 'Version that would be asked [profile_version.version_key]';
comment on column version_drift.v_b is 'Version that would be the truth [profile_version.version_key]';
comment on column version_drift.n_shared is 'Points that both measured [count]';
comment on column version_drift.n_identical is 'Of those, points with the same latency to the last bit [count]';
comment on column version_drift.n is 'Points that count: all shared ones, without the identical ones if those are more than 5 % and so were copied [count]';
comment on column version_drift.med is 'Median of the latency in v_b over that in v_a [ratio]';
comment on column version_drift.within_rate is 'Share of those ratios within a factor of 1.15 [fraction]';
comment on column version_drift.is_truth is 'Whether v_b may be the truth for v_a: 30 points or more, median within 1.05, 90 % within 1.15 [boolean]';
