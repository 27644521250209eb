-- Errors of held-out answers by how far their estimates lay apart and how wide their cell was, from 20 answers on.
-- param: kernels varchar[] [kernels, empty for all]
-- param: least integer [fewest answers of a bucket]
insert into error_quantile by name
with answers as (
    select v.version_id, p.kernel_type, p.path, p.spread, coalesce(p.cell_ratio, 'infinity'::double) as width,
        abs(p.log_ratio) as error
    from fidelity_probe as p join fidelity_run as r using (run_id)
    join profile_version as v on v.version_key = p.version_key
    where r.truth_kind = 'holdout' and r.is_stored_policy and p.answered and p.pred_us > 0 and p.source = 'INTERPOLATED'
        and p.region not in ('edge', 'on_grid') and (len($kernels) = 0 or list_contains($kernels, p.kernel_type))
), spreads as (
    select unnest([0, 0.02, 0.05, 0.1, 0.2]) as spread_low, unnest([0.02, 0.05, 0.1, 0.2, 'infinity'::double]) as spread_high
    union all
    select null, null
), widths as (
    select unnest([1, 1.1, 1.25, 1.5, 2, 4]) as width_low, unnest([1.1, 1.25, 1.5, 2, 4, 'infinity'::double]) as width_high
)
select a.version_id, a.kernel_type, a.path, s.spread_low, s.spread_high, w.width_low, w.width_high, count(*) as n,
    quantile_cont(a.error, 0.5) as q50, quantile_cont(a.error, 0.9) as q90, quantile_cont(a.error, 0.95) as q95
from answers as a
join spreads as s on (a.spread >= s.spread_low and (a.spread < s.spread_high or s.spread_high = 'infinity'))
    or (a.spread is null and s.spread_low is null)
join widths as w on a.width >= w.width_low and (a.width < w.width_high or w.width_high = 'infinity')
group by a.version_id, a.kernel_type, a.path, s.spread_low, s.spread_high, w.width_low, w.width_high
having count(*) >= $least
order by a.version_id, a.kernel_type, a.path, s.spread_low nulls last, w.width_low
