-- Probes of one group outside bar and noise in a recorded run, with the axis that their region is about.
-- param: run_id varchar [recorded_run.run_id]
-- param: group_id varchar [regime_group.group_id]
select list_filter([p.x0, p.x1, p.x2, p.x3], lambda value: value is not null) as x, abs(p.log_ratio) as apart,
    nullif(regexp_extract(p.region, '^(?:axis|gap|extrap|under)(\d)', 1), '') as axis
from fidelity_probe as p
where p.run_id = $run_id and p.group_id = $group_id and p.answered and not p.within_bar and not p.within_noise
order by p.probe_id
