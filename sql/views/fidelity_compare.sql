-- Two recorded runs on the coordinates that both asked for: which one was nearer to the truth.
-- example: Is multilinear nearer to the truth than griddata_linear on the same probes?
create or replace view fidelity_compare as
with answered_probes as (
    select * from fidelity_probe where answered
), best_of_coordinate as (
    select * from answered_probes
    qualify row_number() over (partition by run_id, group_id, region, scheme, holdout_id, x0, x1, x2, x3 order by probe_id) = 1
)
select a.run_id as base_run_id, b.run_id as cmp_run_id, a.kernel_type, a.region, count(*) as n,
    median(a.ratio) as base_med, median(b.ratio) as cmp_med, avg(a.within_bar::integer) as base_within_rate,
    avg(b.within_bar::integer) as cmp_within_rate, avg(b.within_bar::integer) - avg(a.within_bar::integer) as delta_within,
    count(*) filter (abs(b.log_ratio) < abs(a.log_ratio)) as n_better, count(*) filter (abs(b.log_ratio) > abs(a.log_ratio)) as n_worse
from best_of_coordinate as a join best_of_coordinate as b
    on a.group_id = b.group_id and a.region = b.region and a.scheme = b.scheme
        and a.holdout_id is not distinct from b.holdout_id and a.x0 = b.x0 and a.x1 is not distinct from b.x1
        and a.x2 is not distinct from b.x2 and a.x3 is not distinct from b.x3 and a.run_id <> b.run_id
group by a.run_id, b.run_id, a.kernel_type, a.region
order by a.run_id, b.run_id, a.kernel_type, a.region;
comment on view fidelity_compare is 'One row per ordered pair of runs, kernel and region; probes that both answered [source: fidelity_probe]';
comment on column fidelity_compare.base_run_id is 'Run that is compared with [fidelity_run.run_id]';
comment on column fidelity_compare.cmp_run_id is 'Run that is compared [fidelity_run.run_id]';
comment on column fidelity_compare.kernel_type is 'Kernel [regime.kernel_type]';
comment on column fidelity_compare.region is 'Region [text]';
comment on column fidelity_compare.n is 'Probes that both answered [count]';
comment on column fidelity_compare.base_med is 'Median ratio of the first run [ratio]';
comment on column fidelity_compare.cmp_med is 'Median ratio of the second run [ratio]';
comment on column fidelity_compare.base_within_rate is 'Share within the bar in the first run [fraction]';
comment on column fidelity_compare.cmp_within_rate is 'Share within the bar in the second run [fraction]';
comment on column fidelity_compare.delta_within is 'Second share less the first [fraction]';
comment on column fidelity_compare.n_better is 'Probes where the second run was nearer to the truth [count]';
comment on column fidelity_compare.n_worse is 'Probes where the first run was nearer [count]';
